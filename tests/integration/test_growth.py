"""Growing a study in any direction computes the new blocks only and changes no old value."""

import numpy as np
import pytest

EDITS = [
    {"trials": {16: 10, 24: 7}},
    {"grid": {"d": [16, 20, 24, 32], "beta": [0.5, 1.0], "gamma": [1.0], "psi": [1.0]}, "trials": 5},
    {"grid": {"d": [16, 24], "beta": [0.25, 0.5, 0.75, 1.0, 2.0], "gamma": [1.0], "psi": [1.0]}},
    {"grid": {"d": [16, 24], "beta": [0.5, 1.0], "gamma": [0.5, 1.0], "psi": [1.0]}},
    {"grid": {"d": [16, 24], "beta": [0.5, 1.0], "gamma": [1.0], "psi": [0.5, 1.0, 2.0]}},
]


@pytest.mark.parametrize("edit", EDITS, ids=["trials", "d", "beta", "gamma", "psi"])
def test_growth(study, loaded, edit):
    made = study()
    assert made.call("sweep", "--serial").returncode == 0
    before, written = loaded(made.store), made.mtimes()
    made.write(**edit)
    result = made.call("sweep", "--serial")
    assert result.returncode == 0, result.stderr
    after = loaded(made.store)
    kept = made.mtimes()
    again = {name for name, when in written.items() if kept[name] != when}
    # A last block that was not full is computed again whole; every other old block is left alone.
    short = {name for name in written if name.startswith("c.1.") and name.endswith(".1")}
    assert again <= (short if "trials" in edit else set())
    assert len(kept) > len(written)
    old = after.sel(d=before.d, beta=before.beta, gamma=before.gamma, psi=before.psi)
    values = before.squared_singular_values
    region = old.squared_singular_values.isel(
        trial=slice(before.sizes["trial"]), rank=slice(before.sizes["rank"])
    ).values
    done = np.isfinite(values.values)
    np.testing.assert_array_equal(region[done], values.values[done])
    assert made.call("sweep", "--serial").stdout.startswith("Nothing to do")


def test_asking_for_less_leaves_the_store_as_it_is(study, loaded):
    made = study()
    assert made.call("sweep", "--serial").returncode == 0
    before = loaded(made.store)
    made.write(trials=1, grid={"d": [16], "beta": [1.0], "gamma": [1.0], "psi": [1.0]})
    assert made.call("sweep", "--serial").returncode == 0
    assert loaded(made.store).identical(before)
