"""The published experiment ([B]: d = ell = d_qk = 1000, beta = 1, 10 trials, drop 3), from its sweep file."""

from pathlib import Path

import numpy as np
import pytest

import scalestudy
from scalestudy.convergence.curves import curve_error, histogram_distance

SWEEP = Path(__file__).parents[2] / "sweeps" / "paper_table.yaml"

# model: L1 to sqrt_d_A_perp, mean curve error to it.
PUBLISHED = {
    "sqrt_d_A": (0.0202, 0.0068),
    "sqrt_d_A_perp": (0.0, 0.0),
    "Y": (0.0320, 0.0313),
    "Y_f": (0.0322, 0.0265),
    "Y_Q": (0.0381, 0.0165),
    "Y_Q_lin": (0.0486, 0.0352),
    "Y_f_lin": (0.0501, 0.0389),
}


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    store = tmp_path_factory.mktemp("published") / "paper_table.zarr"
    return scalestudy.run(SWEEP, store=str(store), serial=True).squeeze().load()


@pytest.mark.parametrize("model", PUBLISHED)
def test_distances_between_rungs(table, model):
    squares = table.squared_singular_values
    reference = squares.sel(model="sqrt_d_A_perp").values
    found = squares.sel(model=model).values
    l1, curve = PUBLISHED[model]
    assert curve_error(found, reference) == pytest.approx(curve, abs=0.004)
    assert histogram_distance(found, reference) == pytest.approx(l1, abs=0.012)


def test_top_values(table):
    top = table.squared_singular_values.isel(rank=0).mean("trial")
    assert float(top.sel(model="sqrt_d_A")) == pytest.approx(1002.21, rel=0.005)
    assert float(top.sel(model="Y")) == pytest.approx(1004.40, rel=0.005)
    largest = np.sqrt(table.squared_singular_values.sel(model="sqrt_d_A", rank=0) / 1000)
    assert float(largest.mean()) == pytest.approx(1.0011, abs=0.002)


def test_row_normalizers(table):
    assert float(table.row_normalizer.mean()) == pytest.approx(1.0, abs=0.002)
    assert float(table.row_normalizer.std("token").mean()) == pytest.approx(0.047, abs=0.003)


def test_polynomial(table):
    assert int(table.degree) == 8
    assert float(table.theta1_Q) == pytest.approx(1.7052608069, abs=1e-10)
    assert float(table.theta2_Q) == pytest.approx(0.9964998231, abs=1e-10)


def test_a_wrong_beta_is_far_from_the_table(tmp_path):
    # The same comparison at beta = 1.05 must fail: M1 and M6 part by more than the tolerance.
    spec = scalestudy.load_spec(SWEEP, set=["grid.beta=1.05", "trials=2", "models=[sqrt_d_A_perp, Y_f_lin]"])
    wrong = scalestudy.run(spec, store=str(tmp_path / "wrong.zarr"), serial=True).squeeze().load()
    top = wrong.squared_singular_values.sel(model="Y_f_lin", rank=0).mean()
    assert float(top) != pytest.approx(8.88, abs=0.3)
