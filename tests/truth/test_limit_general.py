"""The law for general tokens: against the closed form, against finer tables, and against simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from scalestudy.limit import GaussianEquivalentLaw, tabulated_band
from scalestudy.limit.general import TabulatedLaw
from scalestudy.limit.gram import orthonormal
from scalestudy.limit.parameters import statistics_from_beta

SIMULATED = [
    ("spherical", 0.5),
    ("spherical", 1.0),
    ("spherical", 2.0),
    ("gaussian", 0.5),
    ("gaussian", 1.0),
    ("gaussian", 2.0),
    ("parseval", 1.0),
    ("parseval", 2.0),
]
PROBABILITIES = np.arange(1, 20) / 20.0
TRIALS = 10
FALSE_ALARM = 1e-6


@pytest.mark.parametrize(
    ("beta", "psi"),
    [(1.0, 1.0), (0.3, 0.25), (1e-4, 1.0), (5.0, 1.0), (3.0, 0.02), (1.0, 50.0), (1.0, 0.1987), (0.1, 0.05)],
)
def test_single_atom_agrees_with_the_closed_form(beta, psi):
    tabulated = TabulatedLaw(statistics_from_beta(beta, 1.0, psi), orthonormal(1.0))
    closed = GaussianEquivalentLaw(beta, 1.0, psi)
    p = np.concatenate([np.linspace(0.0, 1.0, 2001), [1e-9, 1e-12, 1 - 1e-9]])
    x = closed.ppf(p)
    assert np.abs(tabulated.cdf(x) - p).max() < 1e-9
    inner = closed.ppf(np.linspace(0.0253, 0.9713, 1501))
    np.testing.assert_allclose(tabulated.pdf(inner), closed.pdf(inner), rtol=1e-6)
    assert np.abs(tabulated.partial_mean(p) - closed.partial_mean(p)).max() < 1e-8 * closed.mean()
    for k in range(7):
        assert tabulated.moment(k) == pytest.approx(closed.moment(k), rel=1e-12)
    assert tabulated.hard_edge_coefficient() == pytest.approx(closed.hard_edge_coefficient(), rel=1e-12)
    z = np.array([0.5 + 1e-3j, 2.0, -1.0, 1.0 - 1.0j]) * closed.mean()
    np.testing.assert_allclose(
        tabulated.stieltjes(z), closed.stieltjes(z), rtol=1e-12, atol=1e-12 / closed.mean()
    )


@pytest.mark.parametrize(("tokens", "gamma"), [("spherical", 2.0), ("gaussian", 0.5), ("parseval", 2.0)])
@pytest.mark.parametrize("beta", [0.1, 1.0, 3.0])
def test_finer_tables_change_nothing(tokens, gamma, beta, monkeypatch):
    law = GaussianEquivalentLaw(beta, gamma, 1.0, tokens)
    monkeypatch.setattr(tabulated_band, "FIRST_SPACING", 0.04)
    monkeypatch.setattr(tabulated_band, "CDF_TOLERANCE", 1e-12)
    finer = GaussianEquivalentLaw(beta, gamma, 1.0, tokens)
    x = finer.ppf(np.linspace(0.0, 1.0, 1999))
    assert np.abs(law.cdf(x) - finer.cdf(x)).max() < 1e-9


def squared_singular_values(rng, tokens, ell, gamma, beta=1.0, psi=1.0):
    d = round(ell / gamma)
    d_qk = round(psi * d)
    x = rng.standard_normal((ell, d)) / np.sqrt(d)
    if tokens == "spherical":
        x /= np.linalg.norm(x, axis=1, keepdims=True)
    if tokens == "parseval":
        x = np.linalg.qr(x)[0] * np.sqrt(gamma)
    scores = (x @ rng.standard_normal((d, d_qk))) @ (x @ rng.standard_normal((d, d_qk))).T / np.sqrt(d_qk)
    noise = np.sqrt(np.expm1(beta**2) - beta**2) * rng.standard_normal((ell, ell))
    matrix = (beta * scores + noise) / np.sqrt(ell)
    return np.linalg.eigvalsh(matrix @ matrix.T)


def worst_excess(law, spectra):
    """Largest deviation of the trial-averaged distribution from the law, over what chance and 3 / ell allow.

    Above 1 has probability below FALSE_ALARM for normal fluctuations (Student's t, Bonferroni over the
    quantiles); 3 / ell is allowed to the finite-size bias, which is O(1 / ell).
    """
    x, ell = law.ppf(PROBABILITIES), spectra.shape[1]
    counted = np.mean(spectra[:, :, None] <= x, axis=1)
    t = stats.t.isf(FALSE_ALARM / (2 * len(x)), len(spectra) - 1)
    allowed = t * counted.std(axis=0, ddof=1) / np.sqrt(len(spectra)) + 3.0 / ell
    return float(np.max(np.abs(counted.mean(axis=0) - PROBABILITIES) / allowed))


def simulate(tokens, ell, gamma):
    rng = np.random.default_rng([2026, ell, round(2 * gamma), len(tokens)])
    return np.stack([squared_singular_values(rng, tokens, ell, gamma) for _ in range(TRIALS)])


@pytest.mark.parametrize(("tokens", "gamma"), SIMULATED)
def test_simulation(tokens, gamma):
    assert worst_excess(GaussianEquivalentLaw(1.0, gamma, 1.0, tokens), simulate(tokens, 300, gamma)) < 1.0


@pytest.mark.slow
@pytest.mark.parametrize(("tokens", "gamma"), SIMULATED)
def test_large_simulation(tokens, gamma):
    assert worst_excess(GaussianEquivalentLaw(1.0, gamma, 1.0, tokens), simulate(tokens, 2000, gamma)) < 1.0


def test_simulation_notices_the_wrong_tokens():
    spectra = simulate("spherical", 300, 1.0)
    assert worst_excess(GaussianEquivalentLaw(1.0), spectra) > 2.0
    assert worst_excess(GaussianEquivalentLaw(1.1, 1.0, 1.0, "spherical"), spectra) > 2.0


def test_a_token_matrix_is_its_gram_spectrum():
    rng = np.random.default_rng(5)
    basis = np.linalg.qr(rng.standard_normal((60, 30)))[0]
    p = np.linspace(0.0, 1.0, 101)
    rows = GaussianEquivalentLaw(1.0, 0.5, 1.0, basis.T)
    np.testing.assert_array_equal(rows.ppf(p), GaussianEquivalentLaw(1.0, 0.5, 1.0).ppf(p))
    signs = np.concatenate([np.eye(8), np.eye(8)])
    frame = GaussianEquivalentLaw(1.0, 2.0, 1.0, signs)
    np.testing.assert_allclose(
        frame.ppf(p), GaussianEquivalentLaw(1.0, 2.0, 1.0, "parseval").ppf(p), rtol=1e-7
    )
    sample = rng.standard_normal((400, 800))
    near = GaussianEquivalentLaw(1.0, 0.5, 1.0, sample)
    assert np.abs(near.cdf(GaussianEquivalentLaw(1.0, 0.5, 1.0, "spherical").ppf(p)) - p).max() < 5e-3
