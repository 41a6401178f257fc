from itertools import pairwise

import numpy as np
import pytest
from convergence_reference import integral
from scipy.optimize import brentq

from scalestudy.convergence import w1_between
from scalestudy.convergence.between import bulk_moment
from scalestudy.limit import GaussianEquivalentLaw, MarchenkoPastur

PAIRS = [
    (GaussianEquivalentLaw(1.0), MarchenkoPastur(np.expm1(1.0))),
    (GaussianEquivalentLaw(0.3, 1.0, 0.25), MarchenkoPastur(np.expm1(0.09))),
    (GaussianEquivalentLaw(1.0), GaussianEquivalentLaw.from_statistics(1.7052608069, 0.9964998231)),
    (MarchenkoPastur(1.0, 4.0), MarchenkoPastur(1.0, 0.5)),
]


def by_quadrature(first, second):
    """Sum over pieces that are cut at every jump and crossing."""

    def gap(p):
        return first.ppf(p) - second.ppf(p)

    jumps = np.concatenate([np.cumsum(first.masses()), np.cumsum(second.masses())])
    ends = np.unique(np.clip(np.concatenate([np.linspace(0.0, 1.0, 401), jumps]), 0.0, 1.0))
    inside = np.nextafter(ends[:-1], 1.0), np.nextafter(ends[1:], 0.0)
    crossings = [brentq(gap, a, b, xtol=1e-15) for a, b in zip(*inside, strict=True) if gap(a) * gap(b) < 0.0]
    ends = np.unique(np.concatenate([ends, crossings]))
    return sum(integral(lambda p: np.abs(gap(p)), a, b) for a, b in pairwise(ends))


@pytest.mark.parametrize("pair", PAIRS)
def test_equals_quadrature(pair):
    assert w1_between(*pair) == pytest.approx(by_quadrature(*pair), rel=1e-9)


@pytest.mark.parametrize("pair", PAIRS)
def test_is_a_distance(pair):
    first, second = pair
    assert w1_between(first, second) == pytest.approx(w1_between(second, first), rel=1e-12)
    assert w1_between(first, first) == 0.0
    assert w1_between(first, second) >= abs(first.mean() - second.mean()) - 1e-14


def test_scaled_laws_differ_by_their_means():
    assert w1_between(MarchenkoPastur(1.0), MarchenkoPastur(3.0)) == pytest.approx(2.0, abs=1e-13)


@pytest.mark.parametrize("law", [pair[0] for pair in PAIRS])
@pytest.mark.parametrize("mass", [0.5, 0.74, 0.9, 0.997, 1.0])
@pytest.mark.parametrize("order", [1, 2])
def test_moments_of_the_bulk(law, mass, order):
    ends = np.unique(np.clip(np.concatenate([[0.0], np.cumsum(law.masses()), [mass]]), 0.0, mass))
    pieces = pairwise(ends)
    expected = sum(integral(lambda p: law.ppf(p) ** order, a, b) for a, b in pieces)
    assert bulk_moment(law, order, mass) == pytest.approx(expected, rel=1e-11)
