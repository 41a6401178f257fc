from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

from scalestudy.errors import LawError
from scalestudy.limit import MarchenkoPastur

RATIOS = [1e-6, 0.02, 0.5, 1.0, 3.0, 1e4]


@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize("fraction", [1e-6, 0.1, 0.7, 1 - 1e-6])
def test_against_quadrature(ratio, fraction):
    law = MarchenkoPastur(2.0, ratio)
    left, right = law.support()[-1]
    x = left + (right - left) * fraction
    with mp.workdps(40):
        lam, variance = mp.mpf(ratio), mp.mpf(2)
        a, b = variance * (1 - mp.sqrt(lam)) ** 2, variance * (1 + mp.sqrt(lam)) ** 2

        def density(s):
            return mp.sqrt((b - s) * (s - a)) / (2 * mp.pi * lam * variance * s)

        # s = b - u^2 removes the right edge's root.
        low = mp.sqrt(b - mp.mpf(x))
        upper = mp.quad(lambda u: 2 * u * density(b - u * u), mp.linspace(0, low, 9))
        mean = mp.quad(lambda u: 2 * u * (b - u * u) * density(b - u * u), mp.linspace(0, low, 9))
    assert abs(law.pdf(x) / density(mp.mpf(x)) - 1) < 1e-13
    assert abs(law.cdf(x) - (1 - upper)) < 1e-12
    if fraction == 0.7:
        assert abs(law.partial_mean(law.cdf(x)) - (2 - mean)) < 1e-9


def test_the_atom_is_everywhere():
    law = MarchenkoPastur(1.0, 4.0)
    assert law.support() == [(0.0, 0.0), (1.0, 9.0)]
    assert law.masses() == [0.75, 0.25]
    assert law.pdf([0.0, 0.5]).tolist() == [np.inf, 0.0]
    assert law.cdf([-1e-9, 0.0, 0.5]).tolist() == [0.0, 0.75, 0.75]
    assert law.ppf([0.0, 0.3, 0.75]).tolist() == [0.0, 0.0, 0.0]
    assert law.ppf(0.7500001) > 1.0
    assert law.partial_mean([0.75, 1.0]).tolist() == pytest.approx([0.0, 1.0])
    draws = law.rvs(20_000, seed=1)
    # Six standard errors of a proportion: a false alarm has probability 2e-9.
    assert abs((draws == 0.0).mean() - 0.75) < 6 * np.sqrt(0.75 * 0.25 / 20_000)
    assert law.stieltjes(1e-9j) * 1e-9j == pytest.approx(-0.75, rel=1e-6)


@pytest.mark.parametrize("ratio", RATIOS)
def test_moments(ratio):
    law = MarchenkoPastur(2.0, ratio)
    assert law.moment(0) == 1.0
    assert law.moment(1) == law.mean() == 2.0
    assert law.moment(2) == pytest.approx(4.0 * (1.0 + ratio), rel=1e-15)
    assert law.moment(3) == pytest.approx(8.0 * (1.0 + 3.0 * ratio + ratio**2), rel=1e-15)


def test_hard_edge():
    law = MarchenkoPastur(2.0)
    assert law.hard_edge_coefficient() == pytest.approx(law.pdf(1e-200) * 1e-100, rel=1e-14)
    assert MarchenkoPastur(2.0, 0.5).hard_edge_coefficient() == 0.0


@pytest.mark.parametrize("arguments", [(0.0,), (-1.0,), (np.nan,), (1.0, 0.0), (1.0, np.inf), (1.0, 1e7)])
def test_bad_parameters(arguments):
    with pytest.raises(LawError, match="Must be"):
        MarchenkoPastur(*arguments)


def test_stieltjes_off_the_axis():
    law = MarchenkoPastur(1.5, 0.6)
    x = law.ppf((np.arange(20_000) + 0.5) / 20_000)
    z = np.array([1.0 + 1.0j, 1.0 - 1.0j, -2.0, 20.0])
    np.testing.assert_allclose(law.stieltjes(z), np.mean(1.0 / (x[:, None] - z), axis=0), rtol=1e-7)
