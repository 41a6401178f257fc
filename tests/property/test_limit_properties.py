"""What must hold of a limit law at every beta and ratio."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from scalestudy.limit import GaussianEquivalentLaw, MarchenkoPastur

LOG_BETA = st.floats(math.log(1e-4), math.log(5.0))
LOG_RATIO = st.floats(math.log(1 / 50), math.log(50))
EVEN = np.linspace(0.0, 1.0, 401)


@st.composite
def closed_laws(draw):
    return GaussianEquivalentLaw(math.exp(draw(LOG_BETA)), 1.0, math.exp(-draw(LOG_RATIO)))


@st.composite
def contrasts(draw):
    return MarchenkoPastur(math.exp(draw(LOG_BETA)), math.exp(draw(LOG_RATIO)))


@st.composite
def general_laws(draw):
    gamma = draw(st.sampled_from([0.25, 0.5, 1.0, 2.0, 4.0]))
    tokens = draw(st.sampled_from(["spherical", "parseval"] if gamma >= 1.0 else ["gaussian"]))
    beta, ratio = math.exp(draw(st.floats(math.log(0.1), math.log(3.0)))), draw(st.floats(0.25, 4.0))
    return GaussianEquivalentLaw(beta, gamma, gamma / ratio, tokens)


def check_distribution(law, tolerance):
    """From 0 to 1, monotone, inverted by ppf, and its partial mean is monotone and convex."""
    right = law.support()[-1][1]
    x = np.sort(np.concatenate([right * EVEN**4, law.ppf(EVEN)]))
    mass = law.cdf(x)
    assert np.all(np.diff(mass) >= -tolerance)
    assert law.cdf(-1.0) == 0.0
    assert law.cdf(right) == law.cdf(np.inf) == 1.0
    atom = law.cdf(0.0)
    np.testing.assert_allclose(law.cdf(law.ppf(EVEN)), np.maximum(EVEN, atom), rtol=0.0, atol=tolerance)
    assert np.all(np.diff(law.ppf(EVEN)) >= 0.0)
    partial = law.partial_mean(EVEN)
    assert partial[-1] == pytest.approx(law.mean(), rel=10 * tolerance + 1e-14)
    slopes = np.diff(partial) / np.diff(EVEN)
    quantiles = law.ppf(EVEN)
    slack = 1e3 * tolerance * law.mean()
    assert np.all(slopes >= quantiles[:-1] - slack)
    assert np.all(slopes <= quantiles[1:] + slack)


def panel_masses(law, a, b):
    """Integrals of the density over panels [a, b] of sqrt(x), by one Gauss rule each."""
    nodes, weights = np.polynomial.legendre.leggauss(40)
    angle = 0.25 * np.pi * (nodes + 1.0)
    s = a[:, None] + (b - a)[:, None] * np.sin(angle) ** 2
    ds = 0.25 * np.pi * weights * (b - a)[:, None] * np.sin(2.0 * angle)
    return np.sum(ds * 2.0 * s * law.pdf(s * s), axis=1)


def check_density(law, low, high, tolerance):
    """The density, integrated between two quantiles, gives what cdf says.

    A panel is halved until its halves agree with it: next to a split the density dips within a millionth.
    """
    total = 0.0
    for left, right in law.support():
        if left == right:
            continue
        ends = np.sqrt(np.clip(law.ppf(np.linspace(low, high, 161)), left, right))
        a, b = ends[:-1], ends[1:]
        for _ in range(40):
            middle = 0.5 * (a + b)
            halves = panel_masses(law, a, middle) + panel_masses(law, middle, b)
            done = np.abs(halves - panel_masses(law, a, b)) < 1e-3 * tolerance
            total += halves[done].sum()
            a, b = np.concatenate([a[~done], middle[~done]]), np.concatenate([middle[~done], b[~done]])
            if not len(a):
                break
        assert not len(a)
    expected = law.cdf(law.ppf(high)) - law.cdf(law.ppf(low))
    assert total == pytest.approx(expected, rel=0.0, abs=tolerance)


NEXT_TO_A_SPLIT = GaussianEquivalentLaw.from_statistics(
    0.0974776, 0.0930145, 2.0, gamma=0.25, tokens="gaussian"
)


@given(closed_laws())
@settings(max_examples=60, deadline=None)
def test_closed_form_is_a_distribution(law):
    check_distribution(law, 1e-12)


@given(closed_laws(), st.floats(0.1, 0.5), st.floats(0.55, 1.0))
@settings(max_examples=60, deadline=None)
def test_closed_form_density_integrates_to_its_distribution(law, low, high):
    check_density(law, low, high, 1e-7)


@given(contrasts(), st.floats(0.1, 0.5), st.floats(0.55, 1.0))
@settings(max_examples=60, deadline=None)
def test_marchenko_pastur_is_a_distribution(law, low, high):
    check_distribution(law, 1e-12)
    atom = law.cdf(0.0)
    check_density(law, atom + (1 - atom) * low, atom + (1 - atom) * high, 1e-10)


@given(general_laws(), st.floats(0.1, 0.5), st.floats(0.55, 1.0))
@example(NEXT_TO_A_SPLIT, 0.25, 1.0)
@settings(max_examples=5, deadline=None)
def test_general_law_is_a_distribution(law, low, high):
    check_distribution(law, 1e-9)
    check_density(law, low, high, 1e-7)


@given(LOG_BETA, LOG_RATIO, st.floats(-20.0, 20.0))
@settings(max_examples=40, deadline=None)
def test_scaling_both_variances_scales_the_law(log_beta, log_ratio, log_scale):
    beta, ratio, scale = math.exp(log_beta), math.exp(log_ratio), math.exp(log_scale)
    law = GaussianEquivalentLaw(beta, 1.0, 1.0 / ratio)
    theta2 = 0.5 * law.theta1
    one, other = (
        GaussianEquivalentLaw.from_statistics(s * law.theta1, s * theta2, ratio) for s in (1.0, scale)
    )
    np.testing.assert_allclose(other.ppf(EVEN), scale * one.ppf(EVEN), rtol=1e-9)


@given(LOG_RATIO)
@settings(max_examples=20, deadline=None)
def test_small_beta_tends_to_a_product_law_at_rate_beta_squared(log_ratio):
    laws = [GaussianEquivalentLaw(beta, 1.0, math.exp(-log_ratio)) for beta in (1e-2, 1e-3, 1e-4)]
    means = [law.moment(2) / law.theta2**2 for law in laws]
    assert abs(means[1] - means[2]) <= 0.0101 * abs(means[0] - means[1]) + 1e-11
    ratio = math.exp(log_ratio)
    assert means[2] == pytest.approx(2.0 + ratio, rel=1e-7)


def test_small_beta_gives_the_product_of_two_ginibre_matrices():
    law = GaussianEquivalentLaw(1e-4)
    for k in range(1, 7):
        fuss_catalan = math.comb(3 * k, k) / (2 * k + 1)
        assert law.moment(k) / law.theta2**k == pytest.approx(fuss_catalan, rel=1e-6)
    # Its density diverges as x^(-2/3) above the scale on which the noise matters.
    x = np.array([1e-6, 1e-4]) * law.mean()
    slope = np.log(law.pdf(x[1]) / law.pdf(x[0])) / np.log(100.0)
    assert slope == pytest.approx(-2.0 / 3.0, abs=0.02)


def test_large_beta_gives_marchenko_pastur():
    law = GaussianEquivalentLaw(5.0)
    contrast = MarchenkoPastur(law.theta1)
    assert np.abs(law.cdf(contrast.ppf(EVEN)) - EVEN).max() < 1e-8
