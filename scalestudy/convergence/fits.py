"""Power laws with and without a limit, fitted to one set of trial means or to thousands at once.

``C x^-alpha`` is a weighted straight line in log-log. ``w_inf + C x^-alpha`` is linear in (w_inf, C) once
alpha is given, so alpha is searched on a grid, for all data sets in one matrix product, and refined by a
parabola; there are no starting values and no local minima to be caught in.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import optimize, special

from scalestudy.convergence.bulk import Real

ALPHAS = np.linspace(0.02, 4.0, 797)
"""Exponents tried with a limit: below them a power of d cannot be told from a constant."""


@dataclass(frozen=True)
class Fit:
    """``limit + prefactor * x ** -exponent`` for one or many data sets, each field of shape (...)."""

    exponent: Real
    prefactor: Real
    limit: Real

    def at(self, x: float | Real) -> Real:
        """Return the fitted values; x of shape (k,) is for a single data set."""
        return np.asarray(self.limit + self.prefactor * np.power(x, -self.exponent))


def power_law(x: Real, y: Real, log_error: Real) -> Fit:
    """Fit ``C x^-alpha`` by least squares in log-log.

    Parameters
    ----------
    x : ndarray of shape (k,)
        Positive, not all equal.
    y : ndarray of shape (..., k)
        Positive.
    log_error : ndarray of shape (k,)
        Standard errors of log(y); the weights are their inverse squares.
    """
    weights = log_error**-2.0
    weights = weights / weights.sum()
    log_x, log_y = np.log(x), np.log(y)
    center = weights @ log_x
    slope = (weights * (log_x - center)) / np.sum(weights * (log_x - center) ** 2)
    exponent = -(log_y @ slope)
    prefactor = np.exp(log_y @ weights + exponent * center)
    return Fit(exponent, prefactor, np.zeros_like(exponent))


def scatter(x: Real, y: Real, log_error: Real) -> float:
    """Return the scatter of log(y) about a power law beyond its errors, 0 if they explain all of it.

    Where data are no pure power law, weights of their errors alone make the fit one of the points that happen
    to be cheap. The scatter tau that, added in squares to the errors, brings chi^2 to its expectation is the
    Paule-Mandel estimate of random-effects meta-analysis (J. Res. Natl. Bur. Stand. 87, 377, 1982).

    Parameters
    ----------
    x, y, log_error : ndarray of shape (k,)
        As for `power_law`.
    """
    freedom = len(x) - 2

    def excess(tau: float) -> float:
        error = np.hypot(log_error, tau)
        residual = np.log(y / power_law(x, y, error).at(x))
        return float(np.sum((residual / error) ** 2)) - freedom

    if freedom < 1 or excess(0.0) <= 0.0:
        return 0.0
    upper = float(np.ptp(np.log(y))) + float(log_error.max())
    return float(optimize.brentq(excess, 0.0, upper)) if excess(upper) < 0.0 else upper


def power_law_with_limit(x: Real, y: Real, log_error: Real, typical: Real, *, negative: bool = False) -> Fit:
    """Fit ``w_inf + C x^-alpha`` by least squares, alpha in the range of `ALPHAS`.

    Parameters
    ----------
    x : ndarray of shape (k,)
        Positive, at least three different ones.
    y : ndarray of shape (..., k)
        Data.
    log_error : ndarray of shape (k,)
        Relative standard errors.
    typical : ndarray of shape (k,)
        What they are relative to.
    negative : bool
        Whether w_inf may be negative. If not, and the best one is, the fit is that with w_inf = 0.
    """
    weight = 1.0 / (log_error * typical)
    weight = weight / weight.max()
    scale = np.exp(np.log(x).mean())
    rows = np.reshape(y, (-1, len(x))) * weight
    exponent, factor, limit = _best(x / scale, rows, weight, weight / np.linalg.norm(weight))
    if not negative:
        below = limit < 0.0
        exponent[below], factor[below], limit[below] = _best(x / scale, rows[below], weight, np.zeros(len(x)))
    outer = np.shape(y)[:-1]
    prefactor = factor * scale**exponent
    return Fit(exponent.reshape(outer), prefactor.reshape(outer), limit.reshape(outer))


def fitted_means(x: Real, mean: Real, log_error: Real, rounds: int = 4) -> Real:
    """Return the values of `power_law_with_limit` at x, errors being relative to these values themselves.

    Errors relative to the measured means would weigh a mean more for lying low, and pull the limit down.
    """
    typical = mean
    for _ in range(rounds):
        fit = power_law_with_limit(x, mean, log_error, typical)
        typical = np.maximum(fit.at(x), 0.1 * mean)
    return typical


def _best(x: Real, rows: Real, weight: Real, constant: Real) -> tuple[Real, Real, Real]:
    """Exponent, factor and limit of each weighted row; `constant` is the unit vector of a limit, or zero."""

    def without_constant(vectors: Real) -> Real:
        return vectors - (vectors @ constant)[..., None] * constant

    rest = without_constant(rows)
    shapes = without_constant(weight * x ** -ALPHAS[:, None])
    shapes /= np.linalg.norm(shapes, axis=1)[:, None]
    explained = (rest @ shapes.T) ** 2
    best = np.clip(explained.argmax(axis=1), 1, len(ALPHAS) - 2)
    left, middle, right = (explained[np.arange(len(rows)), best + shift] for shift in (-1, 0, 1))
    bend = np.minimum(left - 2.0 * middle + right, -np.finfo(float).tiny)
    shift = np.clip(0.5 * (left - right) / bend, -1.0, 1.0)
    exponent = ALPHAS[best] + shift * (ALPHAS[1] - ALPHAS[0])
    # At the refined exponent the rest is linear, for each row its own.
    power = weight * x ** -exponent[:, None]
    shape = without_constant(power)
    factor = np.sum(shape * rest, axis=1) / np.sum(shape * shape, axis=1)
    limit = (rows - factor[:, None] * power) @ constant / np.linalg.norm(weight)
    return exponent, factor, limit


def goodness(residual: Real, error: Real, parameters: int) -> tuple[float, float]:
    """Return chi^2 per degree of freedom and its p-value; NaN where no degrees of freedom are left."""
    freedom = len(residual) - parameters
    if freedom < 1:
        return np.nan, np.nan
    chi2 = float(np.sum((residual / error) ** 2))
    return chi2 / freedom, float(special.chdtrc(freedom, chi2))
