import numpy as np
import pytest
from convergence_reference import MODELS, integral, jittered

from scalestudy.convergence import VARIABLES, floor, ks, w1, w1_between, w1_pooled
from scalestudy.convergence.curves import curve_error, histogram_distance
from scalestudy.convergence.laws import Point, why_not
from scalestudy.convergence.point import measure_point
from scalestudy.convergence.tabulated import TOLERANCE
from scalestudy.limit import GaussianEquivalentLaw, MarchenkoPastur

ELL, TRIALS = 30, 5
POINT = Point(d=60, ell=ELL, d_qk=20, beta=1.0, truncated=(1.7, 0.99))
NU = GaussianEquivalentLaw(1.0, 0.5, 1.0 / 3.0)
CONTRAST = MarchenkoPastur(np.expm1(1.0))


@pytest.fixture(name="squares")
def _squares():
    spectra = [jittered(NU, TRIALS, ELL, seed=k, scatter=1.0) for k in range(len(MODELS))]
    squares = np.full((TRIALS, len(MODELS), ELL + 6), np.nan)
    squares[..., :ELL] = np.stack(spectra, axis=1)
    return squares


@pytest.fixture(name="normalizer")
def _normalizer():
    rows = np.full((TRIALS, ELL + 6), np.nan)
    rows[:, :ELL] = 1.0 + 0.1 * np.random.default_rng(0).standard_normal((TRIALS, ELL))
    return rows


@pytest.fixture(name="found")
def _found(squares, normalizer):
    return measure_point(squares, normalizer, POINT, MODELS, drop=2)


def test_every_variable_has_its_shape(found):
    lengths = {"trial": TRIALS, "model": len(MODELS), "pair": len(MODELS) - 1}
    assert list(found) == list(VARIABLES)
    for name, variable in VARIABLES.items():
        assert found[name].shape == tuple(lengths[dim] for dim in variable.dims), name
        assert np.isfinite(found[name]).all(), name


def test_laws_are_those_of_the_realised_ratios(found, squares):
    spectra = squares[..., :ELL]
    # The table of the law that is used for many spectra costs n times its tolerance at most.
    close = {"rtol": 0.0, "atol": 2.0 * ELL * TOLERANCE}
    np.testing.assert_allclose(found["w1"], w1(spectra, NU, 2), **close)
    np.testing.assert_allclose(found["w1_relative"], w1(spectra, NU, 2) / np.expm1(1.0), **close)
    np.testing.assert_allclose(found["ks"], ks(spectra, NU, 2), **close)
    np.testing.assert_allclose(found["w1_mp"], w1(spectra, CONTRAST, 2), **close)
    assert found["floor"] == floor(NU, ELL, 2)
    assert found["w1_nu_mp"] == pytest.approx(w1_between(NU, CONTRAST), rel=1e-13)
    truncated = GaussianEquivalentLaw.from_statistics(1.7, 0.99, 1.5)
    assert found["truncation_bias"] == w1_between(truncated, NU)
    assert found["w1_pooled"][3] == pytest.approx(w1_pooled(spectra[:, 3], NU, 2), abs=1e-10)
    assert found["w1_pooled_mp"][3] == pytest.approx(w1_pooled(spectra[:, 3], CONTRAST, 2), abs=1e-10)


def test_measures_of_the_bulk(found, squares):
    bulk = squares[..., 2:ELL]
    np.testing.assert_allclose(found["edge_gap"], bulk[..., 0] - NU.support()[-1][1])
    expected = bulk.sum(axis=-1) / ELL / NU.partial_mean(1.0 - 2 / ELL) - 1.0
    np.testing.assert_allclose(found["mean_error"], expected, rtol=1e-12)
    second = integral(lambda p: NU.ppf(p) ** 2, 0.0, 1.0 - 2 / ELL)
    expected = (bulk**2).sum(axis=-1) / ELL / second - 1.0
    np.testing.assert_allclose(found["second_moment_error"], expected, rtol=1e-9)


def test_neighbours_are_a_metric_with_the_law(found):
    """The error budget telescopes: each rung is at most one step further from nu than the next."""
    bound = found["w1_to_next"] + found["w1"][:, 1:]
    assert (found["w1"][:, :-1] <= bound + 1e-12).all()


def test_published_distances(found, squares):
    reference = squares[:, 1, :ELL]
    assert found["curve"][1] == 0.0
    assert found["l1"][1] == 0.0
    assert found["curve"][4] == curve_error(squares[:, 4, :ELL], reference, 2)
    assert found["l1"][4] == histogram_distance(squares[:, 4, :ELL], reference, 1.0, 2)


def test_diagnostics(found, squares, normalizer):
    rows = normalizer[:, :ELL]
    np.testing.assert_allclose(found["d_mean"], rows.mean(axis=1))
    np.testing.assert_allclose(found["d_std"], rows.std(axis=1))
    np.testing.assert_allclose(found["d_max"], np.abs(rows - 1.0).max(axis=1))
    np.testing.assert_allclose(found["s1_A"], np.sqrt(squares[:, 0, 0] / ELL))


def test_a_trial_that_is_not_complete_is_not_used(squares, normalizer):
    whole = measure_point(squares[1:], normalizer[1:], POINT, MODELS, drop=2)
    squares[0, 4, 7] = np.nan
    found = measure_point(squares, normalizer, POINT, MODELS, drop=2)
    assert found["trials_used"] == TRIALS - 1
    for name, variable in VARIABLES.items():
        if "trial" in variable.dims:
            assert np.isnan(found[name][0]).all(), name
            np.testing.assert_array_equal(found[name][1:], whole[name])
        else:
            np.testing.assert_array_equal(found[name], whole[name])


def test_nothing_done_leaves_what_the_laws_say():
    found = measure_point(np.full((3, 7, ELL), np.nan), None, POINT, MODELS)
    assert found["trials_used"] == 0
    assert np.isnan(found["w1"]).all()
    assert np.isnan(found["curve"]).all()
    assert found["floor"] > 0.0


def test_a_part_of_the_ladder(squares):
    found = measure_point(squares[:, 4:6], None, POINT, ("Y_Q", "Y_Q_lin"))
    assert found["w1_to_next"].shape == (TRIALS, 1)
    assert np.isnan(found["curve"]).all()
    assert np.isnan(found["s1_A"]).all()
    assert np.isnan(found["d_mean"]).all()
    assert np.isfinite(found["w1"]).all()


def test_batches_change_nothing(squares, normalizer, found, monkeypatch):
    monkeypatch.setattr("scalestudy.convergence.point.BATCH", 300)
    again = measure_point(squares, normalizer, POINT, MODELS, drop=2)
    for name in VARIABLES:
        np.testing.assert_allclose(again[name], found[name], rtol=1e-13, err_msg=name)


def test_without_a_law_the_rest_is_measured(squares, normalizer):
    point = Point(d=20, ell=ELL, d_qk=20, beta=1.0, truncated=(1.7, 0.99))
    assert why_not(point, "orthonormal") == ["Invalid gamma 1.5 for orthonormal tokens. Must be at most 1."]
    found = measure_point(squares, normalizer, point, MODELS)
    for name in ("w1", "ks", "floor", "w1_pooled", "truncation_bias", "w1_nu_mp", "mean_error"):
        assert np.isnan(found[name]).all(), name
    for name in ("w1_mp", "w1_to_next", "curve", "d_std", "s1_A"):
        assert np.isfinite(found[name]).all(), name


def test_a_law_that_fails_when_it_is_used_is_a_warning(squares, monkeypatch):
    from scalestudy.errors import LawError

    def fail(*_):
        raise LawError("its support is about to split")

    monkeypatch.setattr("scalestudy.convergence.point.floor", fail)
    with pytest.warns(UserWarning, match="d = 60, beta = 1: its support is about to split"):
        found = measure_point(squares, None, POINT, MODELS)
    assert np.isnan(found["floor"])
    assert np.isfinite(found["w1_mp"]).all()


def test_no_truncated_law():
    """At degree 1 there is no noise, and that law is another one."""
    point = Point(d=60, ell=ELL, d_qk=20, beta=1.0, truncated=(1.0, 1.0))
    assert any("theta1" in reason for reason in why_not(point, "orthonormal"))
    found = measure_point(np.full((1, 7, ELL), np.nan), None, point, MODELS)
    assert np.isnan(found["truncation_bias"])
    assert found["floor"] > 0.0
