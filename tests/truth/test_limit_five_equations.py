"""Tabulated laws against THEORY.md, section 4, solved in mpmath without the package's curve."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
from general_reference import CASES, GeneralReference, atoms

from scalestudy.limit import GaussianEquivalentLaw


@pytest.mark.parametrize("name", CASES)
def test_tables_solve_the_five_equations(name):
    theta1, theta2, ratio, gamma, tokens, g_kappa, probabilities = CASES[name]
    law = GaussianEquivalentLaw.from_statistics(theta1, theta2, ratio, gamma=gamma, tokens=tokens)
    reference = GeneralReference(mp.mpf(theta1) - mp.mpf(theta2), mp.mpf(theta2), mp.mpf(ratio), g_kappa)
    for x in law.ppf(probabilities):
        density, mass = reference.density_and_mass(x, 1.5 * law.support()[-1][1])
        assert abs(law.cdf(x) - mass) < 2e-10
        assert abs(law.pdf(x) / density - 1) < 1e-7
    for z in (0.3 + 0.2j, 2.0 + 0.05j, 9.0 + 1.0j):
        m = reference.from_above(mp.mpc(z))[0]
        assert abs(law.stieltjes(z) / m - 1) < 1e-11


def test_a_token_matrix_solves_the_five_equations():
    tokens = np.array([[3.0, 0.0], [1.0, 2.0], [2.0, -1.0]])
    law = GaussianEquivalentLaw(0.5, 1.5, 1.0, tokens)
    rows = mp.matrix((tokens / np.linalg.norm(tokens, axis=1, keepdims=True)).tolist())
    places = mp.eigsy(rows * rows.T, eigvals_only=True)
    g_kappa = atoms(places, [mp.mpf(1) / 3] * 3)
    reference = GeneralReference(mp.expm1(0.25) - 0.25, mp.mpf(0.25), mp.mpf(1.5), g_kappa)
    x = law.ppf(0.4)
    density, mass = reference.density_and_mass(x, 1.5 * law.support()[-1][1])
    assert abs(law.cdf(x) - mass) < 2e-10
    assert abs(law.pdf(x) / density - 1) < 1e-7
