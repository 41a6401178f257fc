"""The truncated exponential Q_n of [P] and its two Gaussian statistics theta_1, theta_2.

With chi a standard Gaussian, ``P_n(x) = sum_{k<=n} x^k / k!`` and
``Q_n(x) = e^{-beta^2/2} (P_n(beta x) - E[P_n(beta chi)])``. The odd moments of chi vanish and
``E[chi^{2j}] = (2j-1)!!``, hence ``E[P_n(beta chi)] = P_{floor(n/2)}(beta^2/2)``.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray


def degree(d: int, c: float = 2.0) -> int:
    """Degree of the polynomial rungs, ``n_d = ceil(c log d / log log d)`` [P].

    Parameters
    ----------
    d : int
        Dimension of a token, at least 16: below that the formula is not monotone, or not defined.
    c : float
        The constant; positive.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        If d < 16 or c <= 0.

    Examples
    --------
    >>> degree(1000)
    8
    """
    if d < 16:
        raise ValueError(f"Invalid d = {d} for the polynomial models. Must be at least 16.")
    if not c > 0:
        raise ValueError(f"Invalid c = {c}. Must be positive.")
    return math.ceil(c * math.log(d) / math.log(math.log(d)))


def _truncated_exponential(x: float, n: int) -> float:
    """P_n(x), by Horner's rule."""
    total = 1.0
    for k in range(n, 0, -1):
        total = 1.0 + x * total / k
    return total


def coefficients(beta: float, n: int) -> NDArray[np.float64]:
    """Coefficients of Q_n in ascending powers.

    Parameters
    ----------
    beta : float
        Inverse temperature.
    n : int
        Degree, inclusive, at least 1.

    Returns
    -------
    (n + 1,) ndarray
        The constant ``-e^{-b} (P_{floor(n/2)}(b) - 1)``, b = beta^2/2, is formed without cancellation.

    Raises
    ------
    ValueError
        If n < 1.
    """
    if n < 1:
        raise ValueError(f"Invalid degree = {n}. Must be at least 1.")
    b = 0.5 * beta * beta
    half = n // 2
    # P_half(b) - 1 = b * (1 + b/2 (1 + b/3 (...)))
    tail = 0.0
    for k in range(half, 0, -1):
        tail = b / k * (1.0 + tail)
    result = np.empty(n + 1)
    result[0] = -tail
    term = 1.0
    for k in range(1, n + 1):
        term *= beta / k
        result[k] = term
    result *= math.exp(-b)
    return result


def theta_exact(beta: float, n: int) -> tuple[float, float]:
    """Variance and squared linear coefficient of Q_n under the Gaussian law [P].

    Parameters
    ----------
    beta : float
        Inverse temperature.
    n : int
        Degree, inclusive, at least 1.

    Returns
    -------
    theta1_Q : float
        ``Var[Q_n(chi)]``. Derivatives of P_n are again truncated exponentials, so the k-th Hermite
        coefficient is ``e^{-b} beta^k E[P_{n-k}(beta chi)] / sqrt(k!)``, b = beta^2/2, and the variance is
        the sum of their squares: no cancellation at any beta, and theta1_Q >= theta2_Q exactly.
    theta2_Q : float
        ``E[Q_n'(chi)]^2``, the term k = 1.

    Raises
    ------
    ValueError
        If n < 1.

    Examples
    --------
    >>> [round(value, 10) for value in theta_exact(1.0, 8)]
    [1.7052608069, 0.9964998231]
    """
    if n < 1:
        raise ValueError(f"Invalid degree = {n}. Must be at least 1.")
    b = 0.5 * beta * beta
    squares = []
    weight = math.exp(-2.0 * b)
    for k in range(1, n + 1):
        weight *= beta * beta / k
        squares.append(weight * _truncated_exponential(b, (n - k) // 2) ** 2)
    # Summed upwards from theta2_Q, so that rounding cannot put theta1_Q below it.
    return sum(squares), squares[0]


def theta_monte_carlo(beta: float, n: int, samples: int, seed: int) -> tuple[float, float]:
    """Estimate `theta_exact` from Gaussian samples, as [B] does with 200,000 of them.

    Parameters
    ----------
    beta : float
        Inverse temperature.
    n : int
        Degree, inclusive, at least 1.
    samples : int
        Number of samples, at least 1.
    seed : int
        Seed of the samples.

    Returns
    -------
    theta1_Q : float
        Mean of ``Q_n(chi)^2``.
    theta2_Q : float
        Squared mean of ``Q_n'(chi)``.

    Raises
    ------
    ValueError
        If n or samples is below 1.
    """
    if samples < 1:
        raise ValueError(f"Invalid samples = {samples}. Must be at least 1.")
    Q = np.polynomial.Polynomial(coefficients(beta, n))
    chi = np.random.default_rng(seed).standard_normal(samples)
    return float(np.mean(Q(chi) ** 2)), float(np.mean(Q.deriv()(chi)) ** 2)


def noise_variance(beta: float) -> float:
    """Variance of the noise of the Gaussian equivalent, ``e^b - 1 - b`` with b = beta^2 [P].

    Parameters
    ----------
    beta : float
        Inverse temperature.

    Returns
    -------
    float
        By its series where the formula would cancel.

    Raises
    ------
    ValueError
        If e^{beta^2} overflows.
    """
    b = beta * beta
    if b > 700:
        raise ValueError(f"Invalid beta = {beta}. Must be at most 26, or e^(beta^2) overflows.")
    if b > 1:
        return math.expm1(b) - b
    total, term = 0.0, b
    for k in range(2, 20):
        term *= b / k
        total += term
    return total
