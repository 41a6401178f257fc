"""Distances and rates against numbers known from theory, from the literature, or planted."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from scipy import stats

import scalestudy
from scalestudy.convergence import d_needed, distances, floor, ks, rates, w1, w1_between
from scalestudy.convergence.bulk import bulk_of
from scalestudy.convergence.ks import ks_of_bulk
from scalestudy.convergence.tabulated import TabulatedLaw
from scalestudy.convergence.wasserstein import w1_of_bulk
from scalestudy.limit import GaussianEquivalentLaw, MarchenkoPastur

SPEC = """
name: small
seed: 7
grid: {{d: [32, 64, 128], beta: [1.0]}}
trials: {{32: 16, 64: 12, 128: 8}}
store: {store}
"""

PUBLISHED = """
name: published
seed: 2026
grid: {{d: [1000], beta: [1.0]}}
trials: 10
store: {store}
"""


@pytest.mark.parametrize(
    ("beta", "gamma", "psi", "distance"), [(1, 1, 1, 0.2155), (1, 0.5, 1, 0.1146), (1, 1, 0.5, 0.3900)]
)
def test_the_bulk_is_not_marchenko_pastur(beta, gamma, psi, distance):
    law = GaussianEquivalentLaw(beta, gamma, psi)
    assert w1_between(law, MarchenkoPastur(law.theta1)) == pytest.approx(distance, abs=5e-5)


@pytest.mark.parametrize(("beta", "share"), [(0.5, 0.25), (1.0, 0.125), (2.0, 0.0024)])
def test_and_is_least_so_at_large_beta(beta, share):
    law = GaussianEquivalentLaw(beta)
    assert w1_between(law, MarchenkoPastur(law.theta1)) / law.theta1 == pytest.approx(share, rel=0.03)


def test_truncation_bias_is_at_least_the_lost_variance():
    """Degree 8 at beta = 1: theta1_Q = 1.7052608069, theta2_Q = 0.9964998231."""
    nu = GaussianEquivalentLaw(1.0)
    truncated = GaussianEquivalentLaw.from_statistics(1.7052608069, 0.9964998231)
    bias = w1_between(truncated, nu)
    assert nu.theta1 - 1.7052608069 <= bias < 2.0 * (nu.theta1 - 1.7052608069)


def test_floor_falls_like_one_over_n():
    """For a law on one interval it is the integral of 1/4 over the support, over n, to leading order."""
    law = GaussianEquivalentLaw(1.0)
    (left, right), *_ = law.support()
    assert floor(law, 100_000, 0) * 100_000 == pytest.approx(0.25 * (right - left), rel=2e-3)


@pytest.mark.parametrize("beta", [0.3, 1.0, 2.0])
def test_a_thousand_values_by_table_and_by_law(beta):
    """The table may cost n times its tolerance; 1e-9 is what is promised."""
    law = GaussianEquivalentLaw(beta)
    table = TabulatedLaw(law)
    spectra = law.ppf(np.random.default_rng(0).random((20, 1000)))
    for drop in (0, 3):
        bulk = bulk_of(spectra, drop)
        by_table = w1_of_bulk(bulk, law, table=table)
        np.testing.assert_allclose(
            by_table, w1(spectra, law, drop), rtol=0.0, atol=1e-11 * max(1.0, law.mean())
        )
        np.testing.assert_allclose(
            ks_of_bulk(bulk, table.cdf(bulk.values), law), ks(spectra, law, drop), atol=1e-12
        )
    middles = law.ppf((np.arange(1000) + 0.5) / 1000)
    least = w1_of_bulk(bulk_of(middles, 3), law, table=table)
    assert least == pytest.approx(floor(law, 1000, 3), rel=0.0, abs=1e-11 * max(1.0, law.mean()))


def test_ks_of_independent_draws_has_kolmogorovs_law():
    """P-values of 400 samples are uniform; false alarm 1e-3. The twin draws from a law 3 % wider."""
    law, other = GaussianEquivalentLaw(1.0), GaussianEquivalentLaw(1.0)
    samples = law.rvs((400, 2000), seed=0)

    def uniformity(spectra):
        p = stats.kstwo.sf(ks(spectra, other, drop=0), 2000)
        return stats.kstest(p, "uniform").pvalue

    assert uniformity(samples) > 1e-3
    assert uniformity(1.03 * samples) < 1e-6


def planted(alpha, limit, trials, scatter, studies=200, d=(64, 128, 256, 512, 1024, 2048)):
    """Studies whose trial means tend to limit + 3 d^-alpha, with lognormal trials."""
    rng = np.random.default_rng(11)
    d = np.array(d)
    trials = np.broadcast_to(trials, d.shape)
    mean = limit + 3.0 * d[:, None] ** -float(alpha)
    values = mean * np.exp(scatter * rng.standard_normal((studies, len(d), trials.max())) - 0.5 * scatter**2)
    for k, count in enumerate(trials):
        values[:, k, count:] = np.nan
    return xr.Dataset({"w1": (("study", "d", "trial"), values)}, coords={"d": d})


def coverage(result, name, truth, shrink=1.0):
    """Share of the studies whose interval, shrunk about its estimate, covers the truth."""
    low, middle, high = result[f"{name}_low"], result[name], result[f"{name}_high"]
    low, high = middle - shrink * (middle - low), middle + shrink * (high - middle)
    return float(((low <= truth) & (truth <= high)).mean())


STUDIES = [
    # alpha, limit, trials, scatter
    (0.8, 0.0, 20, 0.1),
    (0.8, 0.05, 20, 0.1),
    (0.5, 0.05, 20, 0.05),
    (0.7, 0.03, [200, 100, 50, 20, 10, 6], 0.1),
    (0.7, 0.03, 5, 0.1),
]


@pytest.mark.parametrize(("alpha", "limit", "trials", "scatter"), STUDIES)
def test_intervals_cover_what_was_planted(alpha, limit, trials, scatter):
    """95 % intervals cover the truth in 90 to 99 % of 200 studies.

    At nominal coverage one of these 17 checks fails with probability 1.2e-3 + 4e-4, the binomial tails, for a
    new seed; here it is fixed. The twin below halves the intervals, which brings coverage to about 67 %.
    """
    result = rates(planted(alpha, limit, trials, scatter), samples=1000)
    truths = {"limit": limit, "limit_exponent": alpha, "limit_prefactor": 3.0}
    if limit == 0.0:
        truths |= {"exponent": alpha, "prefactor": 3.0}
    for name, truth in truths.items():
        assert 0.90 <= coverage(result, name, truth) <= 0.99, name


def test_half_intervals_would_be_noticed():
    result = rates(planted(0.8, 0.05, 20, 0.1), samples=500)
    for name, truth in {"limit": 0.05, "limit_exponent": 0.8}.items():
        assert coverage(result, name, truth, shrink=0.5) < 0.8, name


def test_two_trials_at_three_sizes_have_honest_intervals():
    """As above; resampled means of two trials take three values, and used to cover in 76 %."""
    result = rates(planted(0.8, 0.0, 2, 0.2, d=(64, 256, 1024)), samples=500)
    assert 0.90 <= coverage(result, "exponent", 0.8) <= 0.99


def test_a_limit_is_told_from_none():
    """A planted limit far above its error is never missed; one that is not there is found in 2.5 %.

    There is no answer where chi^2 rejects the curve, in 1 % of studies, or all of the interval is negative,
    in 2.5 %: of 200 more than 8, or 18, are so with a probability of 2e-4, or 1e-4.
    """
    found = rates(planted(0.8, 0.05, 20, 0.02), samples=500)["limit_contains_zero"]
    none = rates(planted(0.8, 0.0, 20, 0.02), samples=500)["limit_contains_zero"]
    assert not (found == 1.0).any()
    assert np.isnan(found).sum() <= 8
    assert (none == 0.0).mean() < 0.07
    assert np.isnan(none).sum() <= 18


def bent(limit=0.0, studies=100):
    """Studies of a curve that is no power law, as those of d_scaling: cheap and exact at small d."""
    d, trials = (64, 128, 256, 512, 1024, 2048), [800, 400, 200, 100, 40, 12]
    study = planted(0.0, 0.0, trials, 0.15, d=d, studies=studies)
    curve = limit + 0.35 / (1.0 + np.array(d) / 100.0)
    return study.assign(w1=study["w1"] / 3.0 * xr.DataArray(curve, dims="d"))


@pytest.mark.parametrize("limit", [0.0, 0.02])
def test_no_limit_is_denied_by_a_curve_that_fits_nothing(limit):
    """Neither power law nor power law with a limit: such means used to give the interval [0, 0]."""
    result = rates(bent(limit), samples=300)
    assert (result["limit_p_value"] < 0.01).mean() > 0.9
    said = np.isfinite(result["limit_high"])
    np.testing.assert_array_equal(said, np.isfinite(result["limit_contains_zero"]))
    wrong = said & ((limit < result["limit_low"]) | (result["limit_high"] < limit))
    assert wrong.mean() < 0.1


def test_a_prediction_reckons_with_a_bend(monkeypatch):
    """Where the exponent rises the interval covers in 90 % and more; without the parabola hardly ever."""
    target = 0.35 / (1.0 + 8192 / 100.0)

    def share():
        found = d_needed(bent(), target, "w1", samples=300)
        assert found["extrapolated"].all()
        return float(((found["d_needed_low"] <= 8192) & (found["d_needed_high"] >= 8192)).mean())

    assert share() >= 0.9
    monkeypatch.setattr("scalestudy.convergence.needed.BENT_P_VALUE", 0.0)
    assert share() < 0.6


@pytest.fixture(scope="module", name="small")
def _small(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    (folder / "small.yaml").write_text(SPEC.format(store=folder / "small.zarr"))
    return distances(scalestudy.run(folder / "small.yaml", serial=True)).compute().squeeze()


def test_a_real_study_converges_rung_by_rung(small):
    mean = small["w1"].mean("trial")
    assert (mean.diff("d") < 0.0).all()
    assert mean.sel(d=128, model="Y_f_lin") < 0.3 * mean.sel(d=128, model="sqrt_d_A_perp")
    assert (small["w1"].min("trial") > small["floor"]).all()
    assert (small["w1_pooled"] <= mean + 1e-12).all()
    assert (small["trials_used"] == [16, 12, 8]).all()


def test_a_real_study_departs_from_marchenko_pastur(small):
    gaussian = small.sel(model="Y_f_lin", d=128)
    assert abs(gaussian["w1_mp"].mean() - 0.2155) < 0.05
    assert gaussian["w1"].mean() < 0.3 * gaussian["w1_mp"].mean()


def test_a_real_study_obeys_its_error_budget(small):
    """No rung is further from nu than the next rung and the step to it, in any trial."""
    bound = small["w1_to_next"].values + small["w1"].values[..., 1:]
    finite = np.isfinite(bound)
    assert finite.sum() == 6 * (16 + 12 + 8)
    assert (small["w1"].values[..., :-1][finite] <= bound[finite] + 1e-12).all()


def test_a_real_study_has_the_exact_row_normalisers(small):
    """E[D] = e^{-1/2} (1 - 1/d)^{-d/2}, within 5 standard errors of the mean over trials."""
    for d, trials in ((32, 16), (64, 12), (128, 8)):
        values = small["d_mean"].sel(d=d).values[:trials]
        expected = np.exp(-0.5) * (1.0 - 1.0 / d) ** (-d / 2)
        assert abs(values.mean() - expected) < 5.0 * stats.sem(values)


def test_a_real_study_has_a_rate(small):
    result = rates(small).sel(model="Y_f_lin")
    assert 0.5 < result["exponent"] < 1.1
    assert result["exponent_low"] < result["exponent"] < result["exponent_high"]


@pytest.mark.slow
def test_the_published_table(tmp_path):
    """[B]: d = 1000, ten trials. Curve errors agree to 0.004; with other seeds they change by 0.002."""
    (tmp_path / "p.yaml").write_text(PUBLISHED.format(store=tmp_path / "p.zarr"))
    found = distances(scalestudy.run(tmp_path / "p.yaml", serial=True)).compute().squeeze()
    curve = [0.0068, 0.0, 0.0313, 0.0265, 0.0165, 0.0352, 0.0389]
    l1 = [0.0202, 0.0, 0.0320, 0.0322, 0.0381, 0.0486, 0.0501]
    np.testing.assert_allclose(found["curve"], curve, atol=0.004)
    np.testing.assert_allclose(found["l1"], l1, atol=0.008)
    assert found["s1_A"].mean() == pytest.approx(1.0011, abs=5e-4)
    assert found["d_mean"].mean() == pytest.approx(0.99994, abs=2e-3)
    assert found["d_std"].mean() == pytest.approx(0.047, abs=2e-3)
    # [B] gives the largest deviation of one draw; it is an extreme value, and trials surround it.
    assert found["d_max"].min() < 0.199 < found["d_max"].max()
