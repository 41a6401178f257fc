"""Numbers that belong to a point but not to a trial: realised sizes, degree n_d, theta1 and theta2 of Q_n."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scalestudy.ensembles import Sizes, degree, theta_exact, theta_monte_carlo

POLYNOMIAL_MODELS = ("Y_Q", "Y_Q_lin")
SMALLEST_POLYNOMIAL_D = 16


@lru_cache(maxsize=4096)
def polynomial_statistics(
    d: int, beta: float, c: float, samples: int | None, seed: int
) -> tuple[int, float, float]:
    """Return (n_d, theta1_Q, theta2_Q): exact, or by Monte Carlo with `samples` draws.

    The Monte Carlo draws are keyed by (seed, samples), so that they are common to all d and beta.
    """
    n = degree(d, c)
    if samples is None:
        return n, *theta_exact(beta, n)
    return n, *theta_monte_carlo(beta, n, samples, seed)


def coordinate_values(
    axes: dict[str, Sequence[Any]], models: Sequence[str], polynomial: dict[str, Any], seed: int
) -> dict[str, NDArray[Any]]:
    """Return the values of every coordinate of a study, axes in the order given.

    Parameters
    ----------
    axes : dict
        Values of ``d``, ``beta``, ``gamma`` and ``psi``.
    models : sequence of str
        The rungs; without Y_Q and Y_Q_lin the degree is 0 and the thetas are NaN.
    polynomial : dict
        ``c``, ``theta`` and, for Monte Carlo, ``samples``.
    seed : int
        The study's seed.
    """
    ds, betas, gammas, psis = axes["d"], axes["beta"], axes["gamma"], axes["psi"]
    degrees = np.zeros(len(ds), dtype=np.int64)
    theta1, theta2 = np.full((2, len(ds), len(betas)), np.nan)
    if any(name in models for name in POLYNOMIAL_MODELS):
        for i, d in enumerate(ds):
            for j, beta in enumerate(betas):
                degrees[i], theta1[i, j], theta2[i, j] = polynomial_statistics(
                    d, beta, polynomial["c"], polynomial.get("samples"), seed
                )
    return {
        "d": np.array(ds, dtype=np.int64),
        "beta": np.array(betas, dtype=np.float64),
        "gamma": np.array(gammas, dtype=np.float64),
        "psi": np.array(psis, dtype=np.float64),
        "model": np.array(list(models), dtype=object),
        "ell": np.array([[Sizes.at(d, gamma, 1.0).ell for gamma in gammas] for d in ds], dtype=np.int64),
        "d_qk": np.array([[Sizes.at(d, 1.0, psi).d_qk for psi in psis] for d in ds], dtype=np.int64),
        "degree": degrees,
        "theta1_Q": theta1,
        "theta2_Q": theta2,
    }
