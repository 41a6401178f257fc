"""Properties that hold for every spectrum and law."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from scalestudy.convergence import floor, ks, w1, w1_between, w1_pooled
from scalestudy.limit import GaussianEquivalentLaw, MarchenkoPastur

LAWS = (
    GaussianEquivalentLaw(1.0),
    GaussianEquivalentLaw(0.3, 1.0, 0.25),
    GaussianEquivalentLaw(1.6, 0.5, 2.0),
    MarchenkoPastur(1.7),
    MarchenkoPastur(0.5, 3.0),
)
laws = st.sampled_from(LAWS)
values = st.one_of(st.floats(0.0, 30.0), st.just(0.0), st.floats(0.0, 1e-12))
spectra = hnp.arrays(np.float64, st.integers(4, 25), elements=values)
drops = st.integers(0, 3)
few = settings(max_examples=100, deadline=None)


@few
@given(spectra, laws, drops)
def test_bounds(spectrum, law, drop):
    n = len(spectrum)
    kept = 1.0 - drop / n
    distance = w1(spectrum, law, drop)
    bulk = np.sort(spectrum)[: n - drop]
    means = abs(bulk.sum() / n - law.partial_mean(kept))
    assert distance >= max(floor(law, n, drop), means) - 1e-12
    assert distance <= bulk.sum() / n + law.partial_mean(kept) + 1e-12
    assert ks(spectrum, law, drop) <= kept + 1e-15
    if all(left < right for left, right in law.support()):
        assert ks(spectrum, law, drop) >= 0.5 / n - 1e-12


@few
@given(spectra, laws, drops)
def test_ks_bounds_w1(spectrum, law, drop):
    """The integral of |F_n - F| is at most its sup times the range over which it can differ from 0."""
    bulk = np.sort(spectrum)[: len(spectrum) - drop]
    reach = max(bulk[-1], law.ppf(1.0 - drop / len(spectrum)))
    assert w1(spectrum, law, drop) <= ks(spectrum, law, drop) * reach + 1e-12


@few
@given(spectra, laws, drops, st.randoms(use_true_random=False))
def test_order_does_not_matter(spectrum, law, drop, random):
    shuffled = list(spectrum)
    random.shuffle(shuffled)
    assert w1(shuffled, law, drop) == w1(spectrum, law, drop)
    assert ks(shuffled, law, drop) == ks(spectrum, law, drop)


@few
@given(spectra, laws, st.integers(1, 3), st.floats(0.0, 1e9))
def test_what_is_dropped_is_not_seen(spectrum, law, drop, outlier):
    ordered = np.sort(spectrum)
    other = ordered.copy()
    other[-drop:] = np.maximum(ordered[-drop - 1], outlier)
    assert w1(other, law, drop) == w1(spectrum, law, drop)


@few
@given(spectra, laws, drops, st.floats(0.0, 3.0))
def test_triangle_inequality(spectrum, law, drop, shift):
    """Moving a spectrum changes its distance by no more than it was moved."""
    other = spectrum + shift
    moved = np.abs(np.sort(spectrum) - np.sort(other))[: len(spectrum) - drop].sum() / len(spectrum)
    assert abs(w1(spectrum, law, drop) - w1(other, law, drop)) <= moved + 1e-11


@few
@given(spectra, laws, drops)
def test_repeated_trials_pool_to_one(spectrum, law, drop):
    pooled = w1_pooled(np.stack([spectrum] * 3), law, drop)
    assert abs(pooled - w1(spectrum, law, drop)) < 1e-11


@few
@given(hnp.arrays(np.float64, (3, 8), elements=values), laws, drops)
def test_pooling_never_adds_distance(trials, law, drop):
    assert w1_pooled(trials, law, drop) <= w1(trials, law, drop).mean() + 1e-11


@few
@given(spectra, st.floats(0.01, 100.0), drops)
def test_units_do_not_matter(spectrum, scale, drop):
    law, scaled = MarchenkoPastur(1.3, 0.7), MarchenkoPastur(1.3 * scale, 0.7)
    expected = scale * w1(spectrum, law, drop)
    assert abs(w1(scale * spectrum, scaled, drop) - expected) <= 1e-11 * scale


@few
@given(laws, laws, spectra)
def test_laws_and_spectra_are_points_of_one_metric_space(first, second, spectrum):
    apart = w1_between(first, second)
    assert abs(w1(spectrum, first, 0) - w1(spectrum, second, 0)) <= apart + 1e-9
