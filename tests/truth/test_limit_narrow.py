"""Narrow intervals and gaps of general laws: they resolve, or the constructor says that they do not."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
from general_reference import GeneralReference, atoms, marchenko_pastur

from scalestudy.errors import LawError
from scalestudy.limit import GaussianEquivalentLaw, general, general_edges
from scalestudy.limit.general import TabulatedLaw
from scalestudy.limit.gram import Atoms
from scalestudy.limit.parameters import statistics_from_beta

# Lowest intervals that are specks of width ~ beta^2 / 2, and one law that almost splits.
SPECKS = [
    (0.1, 0.25, 0.0625, "gaussian"),
    (0.01, 0.1, 0.01, "spherical"),
    (1e-3, 0.5, 0.25, "spherical"),
    (1e-3, 4.0, 0.25, "parseval"),
    (1e-4, 1.0, 0.25, "spherical"),
    (1e-3, 4.0, 4.0, "parseval"),
]
CRITICAL = 2.002236


def next_to_the_split(ratio):
    """Return the gaussian law that splits where the ratio passes CRITICAL."""
    return GaussianEquivalentLaw.from_statistics(0.0974776, 0.0930145, ratio, gamma=0.25, tokens="gaussian")


def check_masses(beta, gamma, psi, tokens):
    """Tables invert, and the interval below a gap has the mass of the scores' null space."""
    law = GaussianEquivalentLaw(beta, gamma, psi, tokens)
    p = np.linspace(0.0, 1.0, 401)
    assert np.abs(law.cdf(law.ppf(p)) - p).max() < 1e-9
    if len(law.support()) == 2:
        assert abs(law.masses()[0] - (1.0 - min(psi, 1.0) / gamma)) < 1e-12
    return law


@pytest.mark.parametrize(("beta", "gamma", "psi", "tokens"), SPECKS)
def test_specks_resolve(beta, gamma, psi, tokens):
    check_masses(beta, gamma, psi, tokens)


@pytest.mark.slow
@pytest.mark.parametrize("beta", [1e-3, 0.1, 0.5, 1.0, 2.0, 4.0])
@pytest.mark.parametrize("psi", [0.25, 1.0, 4.0])
@pytest.mark.parametrize(
    ("tokens", "gamma"),
    [("orthonormal", gamma) for gamma in (0.25, 0.5, 1.0)]
    + [("spherical", gamma) for gamma in (0.25, 0.5, 1.0, 2.0, 4.0)]
    + [("parseval", gamma) for gamma in (1.0, 2.0, 4.0)],
)
def test_every_point_of_a_grid_resolves(beta, gamma, psi, tokens):
    check_masses(beta, gamma, psi, tokens)


@pytest.mark.parametrize("tokens", ["gaussian", "parseval"])
def test_specks_solve_the_five_equations(tokens):
    if tokens == "gaussian":
        beta, gamma, psi, g_kappa = 0.1, 0.25, 0.0625, marchenko_pastur(0.25)
    else:
        beta, gamma, psi, g_kappa = 0.1, 2.0, 0.25, atoms([mp.mpf(0), mp.mpf(2)], [mp.mpf(1) / 2] * 2)
    law = GaussianEquivalentLaw(beta, gamma, psi, tokens)
    b2 = mp.mpf(beta) ** 2
    reference = GeneralReference(mp.expm1(b2) - b2, b2, mp.mpf(gamma) / psi, g_kappa)
    x = law.ppf(0.5)
    density, mass = reference.density_and_mass(x, 1.5 * law.support()[-1][1])
    assert abs(law.cdf(x) - mass) < 2e-10
    assert abs(law.pdf(x) / density - 1) < 1e-7


@pytest.mark.parametrize("distance", [1e-2, 1e-4, -1e-4, 1e-5])
def test_a_law_next_to_its_split_holds_its_accuracy(distance):
    law = next_to_the_split(CRITICAL * (1.0 + distance))
    assert len(law.support()) == (2 if distance > 0.0 else 1)
    x = law.ppf(np.linspace(0.0, 1.0, 401))
    assert np.all(np.diff(law.cdf(x)) > 0.0)


@pytest.mark.parametrize("ratio", [2.002234, 2.002236])
def test_a_law_at_its_split_is_refused(ratio):
    with pytest.raises(LawError, match=r"next to a split of the support|two edges nearly coincide"):
        next_to_the_split(ratio)


@pytest.mark.parametrize("distance", [1e-1, 1e-3, 1e-5])
def test_a_missed_gap_is_noticed(distance, monkeypatch):
    ratio = CRITICAL * (1.0 + distance)
    assert len(next_to_the_split(ratio).support()) == 2
    monkeypatch.setattr(general_edges, "_rising", lambda *_: [])
    with pytest.raises(LawError, match="a gap that was not found lies there"):
        next_to_the_split(ratio)


def test_spaces_between_atoms_hold_no_gap(monkeypatch):
    # Atoms a factor 100 apart, noise of 1e-4: were there a gap over their space, skipping it would fail.
    kappa = Atoms(np.array([2.0, 200.0]) / 101.0, np.array([0.5, 0.5]))
    p = np.linspace(0.0, 1.0, 201)
    law = TabulatedLaw(statistics_from_beta(0.01, 1.0, 100.0), kappa)
    monkeypatch.setattr(general_edges, "NARROW", 1e9)
    skipped = TabulatedLaw(statistics_from_beta(0.01, 1.0, 100.0), kappa)
    np.testing.assert_array_equal(skipped.ppf(p), law.ppf(p))


def test_masses_that_do_not_add_up_are_noticed(monkeypatch):
    # Below 1e-7 of the mass nothing is promised; just above it must be seen.
    monkeypatch.setattr(general.TabulatedBand, "totals", lambda self: (self.band.mass * (1.0 + 1.1e-7), 1.0))
    with pytest.raises(LawError, match="tables do not add up"):
        GaussianEquivalentLaw(1.0, 1.0, 1.0, "spherical")
