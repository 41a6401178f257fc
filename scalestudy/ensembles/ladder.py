"""The ladder of seven matrices, written as in [P] and [B]: literal, dense, the reference of fast code."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scalestudy.ensembles.polynomial import coefficients, noise_variance

MODELS = ("sqrt_d_A", "sqrt_d_A_perp", "Y", "Y_f", "Y_Q", "Y_Q_lin", "Y_f_lin")
"""Names of M0 ... M6, in ladder order; those of [B], where ell = d."""


def ladder(
    scores: NDArray[np.float64],
    noise: NDArray[np.float64],
    beta: float,
    degree: int,
    theta1_Q: float,
    theta2_Q: float,
) -> dict[str, NDArray[np.float64]]:
    """Build M0 ... M6 from one draw.

    Parameters
    ----------
    scores : (ell, ell) ndarray
        S.
    noise : (ell, ell) ndarray
        W, i.i.d. N(0, 1); M5 and M6 share it.
    beta : float
        Inverse temperature.
    degree : int
        Degree n of the polynomial rungs.
    theta1_Q, theta2_Q : float
        Statistics of Q_n, see `theta_exact`.

    Returns
    -------
    dict of str to (ell, ell) ndarray
        Keyed and ordered as `MODELS`:

        | M0 | ``sqrt_d_A``      | sqrt(ell) A
        | M1 | ``sqrt_d_A_perp`` | sqrt(ell) (A - u u^T)
        | M2 | ``Y``             | e^{beta S} / (e^{beta^2/2} sqrt(ell))
        | M3 | ``Y_f``           | (e^{beta S - beta^2/2} - 1) / sqrt(ell)
        | M4 | ``Y_Q``           | Q_n(S) / sqrt(ell)
        | M5 | ``Y_Q_lin``       | (sqrt(theta2_Q) S + sqrt(theta1_Q - theta2_Q) W) / sqrt(ell)
        | M6 | ``Y_f_lin``       | (beta S + sqrt(e^{beta^2} - 1 - beta^2) W) / sqrt(ell)
    """
    ell = len(scores)
    root = np.sqrt(ell)
    weights = np.exp(beta * scores - (beta * scores).max(axis=1, keepdims=True))
    A = weights / weights.sum(axis=1, keepdims=True)
    u = np.full(ell, 1 / root)
    Q = np.polynomial.Polynomial(coefficients(beta, degree))
    matrices = (
        root * A,
        root * (A - np.outer(u, u)),
        np.exp(beta * scores - beta**2 / 2) / root,
        np.expm1(beta * scores - beta**2 / 2) / root,
        Q(scores) / root,
        (np.sqrt(theta2_Q) * scores + np.sqrt(theta1_Q - theta2_Q) * noise) / root,
        (beta * scores + np.sqrt(noise_variance(beta)) * noise) / root,
    )
    return dict(zip(MODELS, matrices, strict=True))
