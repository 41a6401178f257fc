import numpy as np
import pytest
from convergence_reference import jittered, w1_by_quadrature

from scalestudy.convergence import floor, w1, w1_pooled
from scalestudy.errors import AnalysisError
from scalestudy.limit import GaussianEquivalentLaw, MarchenkoPastur

LAWS = {
    "nu": GaussianEquivalentLaw(1.0),
    "nu with a gap": GaussianEquivalentLaw(0.3, 1.0, 0.25),
    "nu at beta 2": GaussianEquivalentLaw(2.0, 0.5, 1.0),
    "square": MarchenkoPastur(1.7),
    "wide": MarchenkoPastur(1.0, 0.5),
    "with an atom": MarchenkoPastur(1.0, 4.0),
}


@pytest.fixture(params=LAWS, name="law")
def _law(request):
    return LAWS[request.param]


@pytest.mark.parametrize(("n", "drop"), [(1, 0), (7, 0), (7, 3), (24, 0), (24, 3)])
def test_equals_quadrature(law, n, drop):
    rng = np.random.default_rng(n)
    top = law.support()[-1][1]
    samples = (
        rng.random(n) * top * 1.5,
        jittered(law, 1, n, seed=n)[0],
        np.zeros(n),
        np.full(n, law.mean()),
        np.full(n, 2.0 * top),
    )
    for values in samples:
        assert w1(values, law, drop) == pytest.approx(w1_by_quadrature(values, law, drop), rel=0.0, abs=1e-9)


def test_a_midpoint_rule_would_be_noticed():
    law = LAWS["nu"]
    values = jittered(law, 1, 40, seed=0)[0]
    midpoint = np.abs(np.sort(values) - law.ppf((np.arange(40) + 0.5) / 40)).mean()
    assert abs(midpoint - w1_by_quadrature(values, law, 0)) > 1e-3


@pytest.mark.parametrize("drop", [0, 3, 50])
@pytest.mark.parametrize("n", [64, 1000])
def test_mid_quantiles_reach_the_floor(law, n, drop):
    middles = law.ppf((np.arange(n) + 0.5) / n)
    assert w1(middles, law, drop) == pytest.approx(
        floor(law, n, drop), rel=0.0, abs=1e-12 * max(1.0, law.mean())
    )


def test_floor_is_the_quadrature_of_mid_quantiles(law):
    middles = law.ppf((np.arange(20) + 0.5) / 20)
    assert floor(law, 20, 2) == pytest.approx(w1_by_quadrature(middles, law, 2), rel=0.0, abs=1e-11)


@pytest.mark.parametrize("drop", [0, 3])
def test_no_spectrum_is_below_the_floor(law, drop):
    middles = law.ppf((np.arange(50) + 0.5) / 50)
    rng = np.random.default_rng(3)
    moved = middles * (1.0 + 0.02 * rng.standard_normal((200, 50)))
    assert (w1(moved, law, drop) >= floor(law, 50, drop) - 1e-13).all()


def test_dropping_is_rank_aligned(law):
    """What is dropped may be anything, and the law loses the same mass from its top."""
    n, drop = 200, 5
    spectrum = jittered(law, 1, n, seed=2)[0]
    outliers = spectrum.copy()
    outliers[:drop] = 1e6
    assert w1(outliers, law, drop) == w1(spectrum, law, drop)
    # Were F_n of the kept values compared with the whole law, even exact quantiles would be far off.
    middles = law.ppf((np.arange(n) + 0.5) / n)
    assert w1(middles[:-drop], law, drop=0) > 2.0 * w1(middles, law, drop)


def test_order_does_not_matter(law):
    values = jittered(law, 1, 30, seed=4)[0]
    shuffled = np.random.default_rng(0).permutation(values)
    assert w1(shuffled, law, 3) == w1(values, law, 3)


def test_many_spectra_at_once_equal_one_by_one(law):
    spectra = jittered(law, 12, 33, seed=5).reshape(3, 4, 33)
    together = w1(spectra, law, 2)
    assert together.shape == (3, 4)
    alone = [[w1(spectrum, law, 2) for spectrum in row] for row in spectra]
    np.testing.assert_allclose(together, alone, rtol=0.0, atol=1e-14 * law.mean())


def test_a_shift_beyond_the_support_costs_the_difference_of_means():
    law = LAWS["square"]
    assert w1([10.0, 11.0, 12.0], law, drop=0) == pytest.approx(11.0 - 1.7, abs=1e-14)


def test_nan_makes_a_spectrum_nan_even_among_the_dropped(law):
    spectra = jittered(law, 2, 10, seed=0)
    spectra[0, 4] = np.nan
    result = w1(spectra, law, 3)
    assert np.isnan(result[0])
    assert np.isfinite(result[1])


def test_single_precision_is_measured_in_double(law):
    spectra = jittered(law, 2, 10, seed=0).astype(np.float32)
    np.testing.assert_array_equal(w1(spectra, law), w1(spectra.astype(np.float64), law))


@pytest.mark.parametrize("drop", [-1, 4, 7])
def test_drop_must_leave_something(drop):
    with pytest.raises(AnalysisError, match=rf"Invalid drop {drop}. Must be at least 0 and less than .* 4\."):
        w1([1.0, 2.0, 3.0, 4.0], LAWS["nu"], drop)


@pytest.mark.parametrize("drop", [0, 2])
def test_pooled_is_the_distance_of_the_mean_distribution(law, drop):
    """Against the integral over x of |mean of min(F_n, kept) - min(F, kept)|, on a fine grid."""
    spectra = jittered(law, 5, 9, seed=8, scatter=1.5)
    top = max(spectra.max(), law.support()[-1][1])
    x = (np.arange(100_000) + 0.5) * top / 100_000
    kept = 1.0 - drop / 9
    steps = np.mean(
        [np.minimum(np.searchsorted(np.sort(s), x, side="right") / 9, kept) for s in spectra], axis=0
    )
    expected = np.abs(steps - np.minimum(law.cdf(x), kept)).mean() * top
    assert w1_pooled(spectra, law, drop) == pytest.approx(expected, abs=3e-5 * law.mean())


def test_pooled_of_one_trial_is_its_distance(law):
    spectrum = jittered(law, 1, 25, seed=6)
    assert w1_pooled(spectrum, law, 3) == pytest.approx(w1(spectrum[0], law, 3), abs=1e-13)


def test_pooling_leaves_bias_and_removes_scatter():
    law = LAWS["nu"]
    spectra = jittered(law, 400, 50, seed=9, scatter=2.0)
    assert w1_pooled(spectra, law, 3) < 0.5 * w1(spectra, law, 3).mean()
