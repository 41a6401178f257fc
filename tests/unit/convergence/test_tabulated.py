import numpy as np
import pytest

from scalestudy.convergence.tabulated import TOLERANCE, TabulatedLaw, area
from scalestudy.limit import GaussianEquivalentLaw, MarchenkoPastur

LAWS = {
    "nu": GaussianEquivalentLaw(1.0),
    "small beta": GaussianEquivalentLaw(0.1),
    "large beta": GaussianEquivalentLaw(3.0),
    "a gap": GaussianEquivalentLaw(0.3, 1.0, 0.25),
    "about to split": GaussianEquivalentLaw(1.0, 1.0, 1.0 / 5.03),
    "square": MarchenkoPastur(1.7),
    "an atom": MarchenkoPastur(1.0, 4.0),
}


def places(law):
    """All over the support, at its ends, in gaps, and outside."""
    ends = np.array(law.support()).ravel()
    random = law.ppf(np.random.default_rng(0).random(20_000))
    between = 0.5 * (ends[1:] + ends[:-1])
    return np.concatenate([random, ends, np.nextafter(ends, 0.0), between, [0.0, 1e-300, 1e-9, 1e9, -1.0]])


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_equals_the_law(law):
    table, x = TabulatedLaw(law), places(law)
    np.testing.assert_allclose(table.cdf(x), law.cdf(x), rtol=0.0, atol=2.0 * TOLERANCE)
    scale = np.maximum(np.abs(x), law.mean())
    np.testing.assert_allclose(table.area(x) / scale, area(law, x) / scale, rtol=0.0, atol=2.0 * TOLERANCE)


def test_any_shape_and_nan():
    table = TabulatedLaw(LAWS["nu"])
    x = np.array([[1.0, np.nan], [20.0, 0.5]])
    assert np.isnan(table.cdf(x)).tolist() == [[False, True], [False, False]]
    assert table.cdf(x)[1, 0] == 1.0


def test_where_polynomials_fail_the_law_is_asked():
    """A law with a kink inside a cell, which no polynomial follows."""

    class Kinked:
        def support(self):
            return [(0.0, 2.0)]

        def mean(self):
            return 0.75

        def cdf(self, x):
            return np.where(x < 1.01, 0.75 * x / 1.01, 0.75 + 0.25 * (x - 1.01) / 0.99)

        def partial_mean(self, p):
            low = 0.5 * np.minimum(p, 0.75) ** 2 * 1.01 / 0.75
            over = np.maximum(p - 0.75, 0.0)
            return low + 1.01 * over + 0.5 * over**2 * 0.99 / 0.25

    law = Kinked()
    table = TabulatedLaw(law)
    assert not table.is_smooth
    x = np.linspace(0.0, 2.0, 10_001)
    np.testing.assert_allclose(table.cdf(x), law.cdf(x), rtol=0.0, atol=2.0 * TOLERANCE)
    assert TabulatedLaw(LAWS["nu"]).is_smooth
