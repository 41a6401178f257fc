"""Values of THEORY.md, sections 3 and 5: forty-digit numbers, rounded there."""

from __future__ import annotations

import numpy as np
import pytest

from scalestudy.limit import GaussianEquivalentLaw, MarchenkoPastur

DENSITIES = [
    # beta, c, x, pdf, cdf
    (1.0, 1.0, 0.01, 2.807449282741, 0.0562352125302),
    (1.0, 1.0, 0.5, 0.3534848406074, 0.382931301759),
    (1.0, 1.0, 2.0, 0.1243054581613, 0.685852215853),
    (1.0, 1.0, 6.0, 0.03200441696617, 0.944871223912),
    (0.5, 2.0, 0.2, 0.6787125983718, 0.666395536389),
    (0.5, 2.0, 1.0, 0.1484654680808, 0.90553611206),
    (0.3, 4.0, 0.001, 129.7266905741, 0.266867897109),
    (0.3, 4.0, 0.03, 0.0, 0.75),
    (0.3, 4.0, 0.5, 0.2151783440085, 0.931796108772),
]

SUPPORTS = [
    (1.0, 1.0, [(0.0, 9.009542550375312)]),
    (0.5, 2.0, [(0.0, 2.299954488694481)]),
    (0.3, 4.0, [(0.0, 0.01245658192213), (0.05399104395815, 1.12620059271)]),
]


@pytest.mark.parametrize(("beta", "c", "x", "pdf", "cdf"), DENSITIES)
def test_density_and_distribution(beta, c, x, pdf, cdf):
    law = GaussianEquivalentLaw(beta, 1.0, 1.0 / c)
    assert law.pdf(x) == pytest.approx(pdf, rel=5e-13, abs=0.0)
    assert law.cdf(x) == pytest.approx(cdf, rel=0.0, abs=1e-12)


@pytest.mark.parametrize(("beta", "c", "support"), SUPPORTS)
def test_support(beta, c, support):
    np.testing.assert_allclose(GaussianEquivalentLaw(beta, 1.0, 1.0 / c).support(), support, rtol=5e-13)


@pytest.mark.parametrize(
    ("beta", "critical"), [(0.25, 1.67), (0.5, 2.49), (0.75, 3.56), (1.0, 5.03), (1.5, 10.8), (2.0, 30.2)]
)
def test_support_splits_above_the_critical_ratio(beta, critical):
    below, above = (GaussianEquivalentLaw(beta, 1.0, 1.0 / (critical * s)) for s in (0.99, 1.01))
    assert len(below.support()) == 1
    assert len(above.support()) == 2
    assert above.masses()[0] == pytest.approx(1.0 - 1.0 / above.ratio, abs=1e-15)


@pytest.mark.parametrize(
    ("psi", "gamma", "distance"), [(1.0, 1.0, 0.2155), (1.0, 0.5, 0.1146), (0.5, 1.0, 0.3900)]
)
def test_distance_to_marchenko_pastur(gamma, psi, distance):
    law = GaussianEquivalentLaw(1.0, gamma, psi)
    p = (np.arange(20_000) + 0.5) / 20_000
    assert np.abs(law.ppf(p) - MarchenkoPastur(law.theta1).ppf(p)).mean() == pytest.approx(distance, abs=5e-5)


def test_hard_edge_coefficient():
    law = GaussianEquivalentLaw(1.0)
    assert law.hard_edge_coefficient() == pytest.approx(0.28139, abs=5e-6)
    assert law.pdf(1e-300) * 1e-150 == pytest.approx(law.hard_edge_coefficient(), rel=1e-13)
    assert law.cdf(1e-300) * 1e150 == pytest.approx(2.0 * law.hard_edge_coefficient(), rel=1e-13)
