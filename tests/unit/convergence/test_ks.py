import numpy as np
import pytest
from convergence_reference import jittered
from scipy import stats

from scalestudy.convergence import ks
from scalestudy.errors import AnalysisError
from scalestudy.limit import GaussianEquivalentLaw, MarchenkoPastur

LAWS = [GaussianEquivalentLaw(1.0), GaussianEquivalentLaw(0.3, 1.0, 0.25), MarchenkoPastur(1.7)]


def brute_force(values, law, drop):
    """The sup over a grid that has a place on both sides of every value, where alone it can be reached."""
    values = np.sort(values)
    n = len(values)
    kept = 1.0 - drop / n
    places = np.concatenate([values, np.nextafter(values, -np.inf), [0.0, -1e-300, 1e9]])
    empirical = np.minimum(np.searchsorted(values, places, side="right") / n, kept)
    return np.abs(empirical - np.minimum(law.cdf(places), kept)).max()


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("n", [1, 5, 200])
def test_equals_scipy_without_dropping(law, n):
    for seed in range(20):
        values = jittered(law, 1, n, seed, scatter=3.0)[0]
        assert ks(values, law, drop=0) == pytest.approx(stats.ks_1samp(values, law.cdf).statistic, rel=1e-15)


@pytest.mark.parametrize("law", [*LAWS, MarchenkoPastur(1.0, 4.0)])
@pytest.mark.parametrize("drop", [0, 1, 6])
def test_equals_brute_force(law, drop):
    for seed in range(20):
        values = jittered(law, 1, 20, seed, scatter=3.0)[0]
        assert ks(values, law, drop) == pytest.approx(brute_force(values, law, drop), abs=1e-15)


def test_an_atom_met_exactly_is_no_distance():
    law = MarchenkoPastur(1.0, 4.0)
    p = (np.arange(400) + 0.5) / 400
    assert ks(law.ppf(p), law, drop=0) == pytest.approx(0.5 / 400, rel=1e-9)
    assert stats.ks_1samp(law.ppf(p), law.cdf).statistic > 0.7


def test_what_is_dropped_does_not_count():
    law = LAWS[0]
    values = jittered(law, 1, 50, seed=1)[0]
    outliers = values.copy()
    outliers[:4] = 1e5
    assert ks(outliers, law, 4) == ks(values, law, 4)
    assert ks(outliers, law, 0) > ks(values, law, 0)


def test_many_spectra_at_once_and_nan():
    law = LAWS[0]
    spectra = jittered(law, 6, 30, seed=1).reshape(2, 3, 30)
    spectra[1, 2, 0] = np.nan
    together = ks(spectra, law)
    assert np.isnan(together[1, 2])
    assert together[0, 1] == ks(spectra[0, 1], law)


def test_drop_must_leave_something():
    with pytest.raises(AnalysisError, match="Invalid drop 3"):
        ks([1.0, 2.0, 3.0], LAWS[0], drop=3)
