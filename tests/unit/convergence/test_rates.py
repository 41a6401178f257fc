import numpy as np
import pytest
import xarray as xr

from scalestudy.convergence import d_needed, rates
from scalestudy.errors import AnalysisError

D = [64, 128, 256, 512, 1024]


def planted(
    alpha=0.8,
    limit=0.0,
    d=D,
    trials=20,
    scatter=0.1,
    seed=0,
    models=("sqrt_d_A", "Y_Q", "Y_f_lin"),
    factor=3.0,
):
    """Distances with a known power law and lognormal trials; no two models share their scatter."""
    rng = np.random.default_rng(seed)
    mean = limit + factor * np.array(d, dtype=float) ** -alpha
    noise = np.exp(scatter * rng.standard_normal((len(d), 2, trials, len(models))) - scatter**2 / 2)
    return xr.Dataset(
        {"w1": (("d", "beta", "trial", "model"), mean[:, None, None, None] * noise)},
        coords={
            "d": list(d),
            "beta": [0.5, 1.0],
            "model": list(models),
            "degree": ("d", [6 if value < 100 else 8 for value in d]),
        },
    )


def test_layout_and_labels():
    result = rates(planted())
    assert result["exponent"].dims == ("beta", "model")
    assert result["local_exponent"].dims == ("beta", "model", "d_pair")
    assert result["mean"].dims == ("beta", "model", "d")
    np.testing.assert_allclose(result["d_pair"], np.sqrt(np.array(D[:-1]) * D[1:]))
    np.testing.assert_array_equal(result["d_lower"], D[:-1])
    np.testing.assert_array_equal(result["d_upper"], D[1:])
    assert all(result[name].attrs["long_name"] for name in result.data_vars)
    assert result.attrs == {"measure": "w1", "dim": "d", "samples": 2000, "seed": 0, "level": 0.95}


def test_finds_what_was_planted():
    result = rates(planted(alpha=0.8, trials=200, scatter=0.02))
    assert np.abs(result["exponent"] - 0.8).max() < 0.01
    assert np.abs(result["local_exponent"] - 0.8).max() < 0.03
    assert np.abs(result["prefactor"] / 3.0 - 1.0).max() < 0.05
    assert (result["limit_contains_zero"] != 0.0).all()
    assert (result["points_used"] == 5.0).all()


def test_finds_a_planted_limit():
    result = rates(planted(alpha=0.8, limit=0.05, trials=200, scatter=0.02))
    assert np.abs(result["limit"] - 0.05).max() < 0.005
    assert (result["limit_contains_zero"] == 0.0).all()
    assert (result["p_value"] < 1e-6).all()
    assert (result["limit_p_value"] > 1e-3).all()


def test_intervals_surround_their_estimates():
    result = rates(planted(limit=0.01))
    for name in ("exponent", "prefactor", "limit", "limit_exponent", "limit_prefactor", "local_exponent"):
        assert (result[f"{name}_low"] <= result[name]).all(), name
        assert (result[f"{name}_high"] >= result[name]).all(), name


def test_is_deterministic_and_the_seed_matters():
    data = planted()
    xr.testing.assert_identical(rates(data), rates(data))
    assert not rates(data)["exponent_low"].equals(rates(data, seed=1)["exponent_low"])


def test_a_level_of_half_is_narrower():
    wide, narrow = rates(planted()), rates(planted(), level=0.5)
    assert (
        (narrow["exponent_high"] - narrow["exponent_low"])
        < 0.5 * (wide["exponent_high"] - wide["exponent_low"])
    ).all()


def test_order_and_laziness_of_d_do_not_matter():
    data = planted()
    xr.testing.assert_identical(rates(data), rates(data.isel(d=[3, 0, 4, 1, 2]).chunk(d=1)))


def test_stepped_rungs_are_marked():
    assert rates(planted())["stepped"].values.tolist() == [False, True, False]
    assert not rates(planted().isel(d=slice(1, None)))["stepped"].any()


def test_two_points_give_a_slope_and_no_limit():
    result = rates(planted(d=[64, 256]))
    assert np.isfinite(result["exponent_low"]).all()
    for name in ("limit", "limit_low", "limit_contains_zero", "chi2_reduced", "p_value"):
        assert np.isnan(result[name]).all(), name


def test_a_single_trial_or_none_is_not_used():
    data = planted()
    data["w1"][4, :, 1:] = np.nan
    data["w1"][3] = np.nan
    result = rates(data)
    assert (result["points_used"] == 3.0).all()
    assert np.isnan(result["mean"].isel(d=[3, 4])).all()
    assert np.isnan(result["local_exponent"].isel(d_pair=[2, 3])).all()
    xr.testing.assert_allclose(result["exponent"], rates(data.isel(d=slice(3)))["exponent"])


def test_one_usable_point_is_nan_not_an_error():
    data = planted()
    data["w1"][1:] = np.nan
    result = rates(data)
    assert (result["points_used"] == 1.0).all()
    assert np.isnan(result["exponent"]).all()


def test_local_exponents_skip_nothing():
    """Where the d between was not done there is no pair of neighbours, rather than a slope across it."""
    data = planted()
    data["w1"][2] = np.nan
    assert np.isnan(rates(data)["local_exponent"]).values[0, 0].tolist() == [False, True, True, False]


def test_a_measure_without_trials_has_no_intervals():
    data = planted(scatter=0.0)
    result = rates(data.assign(w1_pooled=data["w1"].mean("trial")), "w1_pooled")
    np.testing.assert_allclose(result["exponent"], 0.8, atol=1e-12)
    for name in ("exponent_low", "limit_high", "p_value", "limit_contains_zero", "stderr"):
        assert np.isnan(result[name]).all(), name


def test_a_distance_of_zero_has_no_rate():
    data = planted()
    data["w1"][..., 0] = 0.0
    result = rates(data)
    assert (result["points_used"].isel(model=0) == 0.0).all()
    assert np.isfinite(result["exponent"].isel(model=1)).all()


def test_along_another_dimension():
    data = planted()
    assert rates(data, dim="beta")["exponent"].dims == ("d", "model")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"measure": "w2"}, "Invalid measure 'w2'. Must be one of w1"),
        ({"dim": "gamma"}, "Invalid dim 'gamma' for w1. Must be one of d, beta, model"),
        ({"dim": "trial"}, "Invalid dim 'trial' for w1"),
        ({"dim": "model"}, "values must be positive numbers"),
        ({"samples": 0}, "Invalid samples 0"),
        ({"level": 1.0}, "level 1.0"),
    ],
)
def test_what_cannot_be_fitted(options, message):
    with pytest.raises(AnalysisError, match=message):
        rates(planted(), **options)


def test_one_d_is_no_study_of_d():
    with pytest.raises(AnalysisError, match="at least 2 values of d; this has 1"):
        rates(planted(d=[64]))


def test_negative_distances_are_refused():
    with pytest.raises(AnalysisError, match="w1 has negative values"):
        rates(-planted())


class TestNeeded:
    def test_between_two_d(self):
        data = planted(alpha=1.0, factor=3.0, scatter=0.02, trials=100)
        result = d_needed(data, 0.01, "w1")
        assert np.abs(result["d_needed"] / 300.0 - 1.0).max() < 0.02
        assert ((result["d_needed_low"] < 300.0) & (result["d_needed_high"] > 300.0)).mean() > 0.6
        assert not result["extrapolated"].any()
        assert not result["at_smallest"].any()

    def test_beyond_the_largest(self):
        result = d_needed(planted(alpha=0.5, scatter=0.02, trials=100), 0.01, "w1")
        assert result["extrapolated"].all()
        assert np.abs(result["d_needed"] / 90_000.0 - 1.0).max() < 0.2
        assert result["stepped"].values.tolist() == [False, True, False]

    def test_is_predicted_from_the_largest_three(self):
        data = planted(alpha=0.5, scatter=0.0)
        data["w1"][0] *= 5.0
        np.testing.assert_allclose(d_needed(data, 0.01, "w1")["d_needed"], 90_000.0)

    def test_below_the_smallest_is_an_upper_bound(self):
        result = d_needed(planted(), 1.0, "w1")
        assert (result["d_needed"] == 64.0).all()
        assert result["at_smallest"].all()

    def test_for_good_and_not_for_once(self):
        data = planted(alpha=1.0, scatter=0.0)
        data["w1"][1] = 1e-4
        assert (d_needed(data, 0.01, "w1")["d_needed"] > 256.0).all()

    def test_what_does_not_fall_is_never_there(self):
        data = planted(alpha=-0.1, factor=1.0, scatter=0.01)
        result = d_needed(data, 0.01, "w1")
        assert np.isinf(result["d_needed"]).all()
        assert np.isinf(result["d_needed_high"]).all()

    def test_a_flat_distance_has_no_upper_end(self):
        result = d_needed(planted(alpha=0.02, factor=1.0, scatter=0.3), 0.01, "w1")
        assert np.isinf(result["d_needed_high"]).all()

    def test_one_usable_point_is_nan(self):
        data = planted()
        data["w1"][1:] = np.nan
        assert np.isnan(d_needed(data, 0.01, "w1")["d_needed"]).all()

    @pytest.mark.parametrize("target", [0.0, -1.0, np.nan])
    def test_the_target_is_positive(self, target):
        with pytest.raises(AnalysisError, match="Invalid target"):
            d_needed(planted(), target, "w1")
