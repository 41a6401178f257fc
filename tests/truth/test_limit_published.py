"""Values of THEORY.md, sections 3 and 5: forty-digit numbers, rounded there."""

from __future__ import annotations

import numpy as np
import pytest
from limit_reference import DENSITIES, SUPPORTS

from scalestudy.limit import GaussianEquivalentLaw, MarchenkoPastur


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
