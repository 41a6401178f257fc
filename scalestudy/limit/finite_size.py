"""Exact facts at finite size, for orthonormal tokens: what tests and overlays compare a single draw with.

Given the queries, a row of scores is Gaussian with variance chi^2(d_qk) / d_qk, so that

    E exp(t S_ij) = (1 - t^2 / d_qk)^(-d_qk / 2),        t^2 < d_qk,

and likewise ``E exp(t |q_i|^2 / d_qk) = (1 - 2 t / d_qk)^(-d_qk / 2)`` for the conditional variance.
"""

from __future__ import annotations

import math

from scalestudy.errors import LawError


def score_mgf(t: float, d_qk: int) -> float:
    """E exp(t S_ij), finite only for t^2 < d_qk.

    Examples
    --------
    >>> round(score_mgf(1.0, 1000), 6)
    1.649134
    >>> score_mgf(4.0, 16)
    Traceback (most recent call last):
    scalestudy.errors.LawError: Invalid t 4.0 at d_qk 16. E exp(t S) is finite only for t^2 < d_qk.
    """
    if not t * t < d_qk:
        raise LawError(f"Invalid t {t!r} at d_qk {d_qk!r}. E exp(t S) is finite only for t^2 < d_qk.")
    return math.exp(_log_mgf(t, d_qk))


def mean_row_normalizer(beta: float, d_qk: int) -> float:
    """E[D_i] = e^{-beta^2/2} E exp(beta S_ij), D_i = Z_i / (ell e^{beta^2/2})."""
    _require(beta, d_qk, 1)
    return math.exp(_log_mgf(beta, d_qk) - beta**2 / 2)


def var_row_normalizer(beta: float, ell: int, d_qk: int) -> float:
    """Var[D_i], to leading order ``(e^{beta^2} - 1) / ell + beta^4 / (2 d_qk)``.

    Conditionally on the query the summands are independent: the first term is the mean of their conditional
    variance, the rest the variance of their conditional mean.
    """
    _require(beta, d_qk, 2)
    # h(t) = E exp(t |q|^2 / d_qk) is the score's generating function at sqrt(2 t).
    twice = _log_mgf(2 * beta, d_qk) - beta**2
    once = _log_mgf(math.sqrt(2.0) * beta, d_qk) - beta**2
    mean_squared = 2 * _log_mgf(beta, d_qk) - beta**2
    within = math.exp(once) * math.expm1(twice - once) / ell
    between = math.exp(mean_squared) * math.expm1(once - mean_squared)
    return within + between


def mean_square_y(beta: float, d_qk: int) -> float:
    """E of the mean squared singular value of Y (M2): e^{-beta^2} E exp(2 beta S_ij)."""
    _require(beta, d_qk, 2)
    return math.exp(_log_mgf(2 * beta, d_qk) - beta**2)


def mean_square_y_f(beta: float, d_qk: int) -> float:
    """E of the mean squared singular value of Y_f (M3): E f(S_ij)^2."""
    _require(beta, d_qk, 2)
    return math.expm1(_log_mgf(2 * beta, d_qk) - beta**2) - 2 * math.expm1(_log_mgf(beta, d_qk) - beta**2 / 2)


def mean_square_y_f_lin(beta: float) -> float:
    """E of the mean squared singular value of Y_f_lin (M6) at any size: theta1 = e^{beta^2} - 1."""
    return math.expm1(beta**2)


def _log_mgf(t: float, d_qk: int) -> float:
    return -0.5 * d_qk * math.log1p(-t * t / d_qk)


def _require(beta: float, d_qk: int, multiple: int) -> None:
    if not (multiple * beta) ** 2 < d_qk:
        raise LawError(
            f"Invalid beta {beta!r} at d_qk {d_qk!r}. This moment is finite only for "
            f"{multiple**2 if multiple > 1 else ''}{' ' if multiple > 1 else ''}beta^2 < d_qk."
        )
