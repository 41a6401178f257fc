"""The serial loop is the reference: any number of Dask workers stores the same bits."""

import numpy as np
import pytest

pytestmark = pytest.mark.distributed


def test_serial_one_and_two_workers_store_the_same_values(study, same):
    # float32 and all rungs at a d where BLAS would use several threads if it were let.
    grid = {"d": [16, 160], "beta": [1.0], "gamma": [0.5, 1.0], "psi": [1.0]}
    serial, one, two = (study(grid=grid, trials=3) for _ in range(3))
    for made, options in [(serial, ["--serial"]), (one, ["--workers", 1]), (two, ["--workers", 2])]:
        result = made.call("sweep", *options)
        assert result.returncode == 0, result.stderr
    same(serial.store, one.store)
    same(serial.store, two.store)


def test_the_comparison_can_fail(study, same):
    left, right = study(), study(seed=8)
    assert left.call("sweep", "--serial").returncode == 0
    assert right.call("sweep", "--serial").returncode == 0
    with pytest.raises(AssertionError, match=r"squared_singular_values|row_normalizer"):
        same(left.store, right.store)


def test_spectra_of_different_length_and_different_trials_live_in_one_dataset(study, loaded):
    made = study()
    assert made.call("sweep", "--serial").returncode == 0
    dataset = loaded(made.store)
    squares = dataset.squared_singular_values
    assert squares.sizes["rank"] == 24
    assert squares.sizes["trial"] == 6
    assert np.isfinite(squares.sel(d=16).isel(rank=slice(16))).all()
    assert np.isnan(squares.sel(d=16).isel(rank=slice(16, None))).all()
    assert np.isfinite(squares.sel(d=24).isel(trial=slice(3))).all()
    assert np.isnan(squares.sel(d=24).isel(trial=slice(3, None))).all()
    assert {"ell", "d_qk", "degree", "theta1_Q", "theta2_Q"} <= set(dataset.coords)
    assert squares.attrs["units"] == "1"


def test_a_run_prints_where_what_and_how_to_open(study):
    made = study()
    result = made.run("sweep", "--workers", 2)
    assert result.returncode == 0
    assert "Traceback" not in result.stderr
    assert result.stderr == ""
    for piece in ("Dashboard: http://127.0.0.1:", "sqrt_d_A_perp", "Store: ", "xarray.open_zarr"):
        assert piece in result.stdout
