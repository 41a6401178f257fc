"""The closed form against fifty-digit arithmetic, and that arithmetic against quadrature."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
from limit_reference import ReferenceLaw

from scalestudy.limit import GaussianEquivalentLaw

LAWS = [
    # beta, psi (gamma = 1): c = 1/psi from 1/50 to 50, unsplit, split, and next to the split
    (1e-4, 50.0),
    (1e-4, 1.0),
    (1e-4, 0.25),
    (0.01, 0.02),
    (0.3, 0.25),
    (0.5, 0.5),
    (1.0, 1.0),
    (1.0, 0.1988),
    (1.0, 0.1987),
    (1.0, 0.02),
    (2.0, 50.0),
    (2.0, 0.02),
    (5.0, 1.0),
]
BULK = (0.01, 0.2, 0.6, 0.95)
NEAR = (1e-9, 1e-6, 5e-4, 1 - 5e-4, 1 - 1e-6, 1 - 1e-9)


@pytest.mark.parametrize(("beta", "psi"), LAWS)
def test_closed_form_has_fifteen_digits(beta, psi):
    law, reference = GaussianEquivalentLaw(beta, 1.0, psi), ReferenceLaw(mp.mpf(beta), 1 / mp.mpf(psi))
    for left, right in law.support():
        for fraction in (*BULK, *NEAR):
            x = left + (right - left) * fraction
            density, mass = reference.density_and_mass(x)
            tolerance = 1e-12 if fraction in BULK or (left == 0.0 and fraction < 0.5) else 1e-10
            assert abs(law.pdf(x) / density - 1) < tolerance, (x, fraction)
            assert abs(law.cdf(x) - mass) < 2e-15, (x, fraction)


@pytest.mark.parametrize(("beta", "psi"), LAWS)
def test_edges_and_moments(beta, psi):
    law, reference = GaussianEquivalentLaw(beta, 1.0, psi), ReferenceLaw(mp.mpf(beta), 1 / mp.mpf(psi))
    edges = [x for interval in law.support() for x in interval]
    assert edges[0] == 0.0
    assert len(edges) == 1 + len(reference.edges())
    for x, exact in zip(edges[1:], reference.edges(), strict=True):
        assert abs(x / exact - 1) < 1e-15
    for k in range(7):
        assert abs(law.moment(k) / reference.moment(k) - 1) < 1e-14


@pytest.mark.parametrize(("beta", "psi"), LAWS)
def test_quantiles_and_masses(beta, psi):
    law = GaussianEquivalentLaw(beta, 1.0, psi)
    p = np.concatenate([np.linspace(0, 1, 501), 10.0 ** -np.arange(1, 300, 7), 1 - 10.0 ** -np.arange(1, 16)])
    np.testing.assert_allclose(law.cdf(law.ppf(p)), p, rtol=0.0, atol=1e-15)
    if len(law.support()) == 2:
        (_, low), (high, _) = law.support()
        for x in (low, 0.5 * (low + high), high):
            assert abs(law.cdf(x) - (1 - mp.mpf(psi))) < 1e-15


def test_hard_edge_keeps_its_digits():
    for beta, psi in LAWS:
        law, reference = GaussianEquivalentLaw(beta, 1.0, psi), ReferenceLaw(mp.mpf(beta), 1 / mp.mpf(psi))
        x = 1e-18 * law.mean()
        density, mass = reference.density_and_mass(x)
        assert abs(law.pdf(x) / density - 1) < 1e-12
        assert abs(law.cdf(x) / mass - 1) < 1e-12


@pytest.mark.parametrize(("beta", "c", "x"), [(1, 1, "0.5"), (0.3, 4, "0.3")])
def test_the_reference_distribution_is_the_integral_of_its_density(beta, c, x):
    reference, x = ReferenceLaw(mp.mpf(beta), mp.mpf(c)), mp.mpf(x)
    with mp.workdps(25):
        middle = (x + reference.edges()[-1]) / 2
        tail = mp.quad(reference.pdf, [x, middle], maxdegree=4) + mp.quad(
            lambda s: 2 * s * reference.pdf(reference.edges()[-1] - s * s),
            [mp.mpf(10) ** -12, mp.sqrt(reference.edges()[-1] - middle)],
            maxdegree=4,
        )
    assert abs(1 - tail - reference.cdf(x)) < 1e-11


@pytest.mark.parametrize(
    ("beta", "psi", "fraction"), [(1.0, 1.0, 0.3), (0.3, 0.25, 0.9), (0.01, 1.0, 0.5), (3.0, 2.0, 0.8)]
)
def test_partial_mean_against_quadrature(beta, psi, fraction):
    law = GaussianEquivalentLaw(beta, 1.0, psi)
    nodes, weights = np.polynomial.legendre.leggauss(400)
    # x dF from the quantile up to the right edge, whose square root x = right - u^2 removes.
    right = law.support()[-1][1]
    low = law.ppf(fraction)
    u = 0.5 * (nodes + 1.0) * np.sqrt(right - low)
    x = right - u * u
    tail = 0.5 * np.sqrt(right - low) * np.sum(weights * 2.0 * u * x * law.pdf(x))
    expected = law.mean() - tail
    assert law.partial_mean(fraction) == pytest.approx(expected, rel=0.0, abs=1e-10 * law.mean())
    assert law.partial_mean([0.0, 1.0]).tolist() == pytest.approx(
        [0.0, law.mean()], abs=1e-15 * law.mean(), rel=0.0
    )
