r"""Exact Wasserstein-1 distance of spectra to a law, rank-aligned: no quadrature, no midpoint rule.

With F_n the empirical distribution of one spectrum, Q the law's quantile function and k values dropped,

    w1 = integral over p in [0, 1 - k/n] of |F_n^{-1}(p) - Q(p)| dp
       = integral over x of |min(F_n, 1 - k/n) - min(F, 1 - k/n)| dx.

On step i, a = i/n < p < b = (i + 1)/n, the empirical quantile is one value x, and Q crosses it at
c = min(max(F(x), a), b). With G the law's partial mean, the integral of Q from 0, the step contributes

    x (2 c - a - b) + G(a) + G(b) - 2 G(c).

At a knot between two steps on the same side of the law, the two G cancel: G is needed where the side changes,
and in the steps that Q crosses. There c = F(x), and with H(x) = x F(x) - G(F(x)), the integral of F over
[0, x], the step contributes 2 H(x) - x (a + b) + G(a) + G(b).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from scalestudy.convergence.bulk import Bulk, Real, bulk_of
from scalestudy.convergence.tabulated import TabulatedLaw, area
from scalestudy.limit import Law


def w1(squares: npt.ArrayLike, law: Law, drop: int = 3) -> Real:
    """Return the exact W1 distance of each spectrum to a law, its `drop` largest values left out.

    Parameters
    ----------
    squares : array_like of shape (..., n)
        Squared singular values; NaN in a spectrum gives NaN.
    law : Law
        What they are measured against.
    drop : int
        Largest values left out, with the law's uppermost mass drop/n.

    Returns
    -------
    ndarray of shape (...)

    Raises
    ------
    AnalysisError
        Unless 0 <= drop < n.

    Examples
    --------
    >>> from scalestudy.limit import MarchenkoPastur
    >>> print(w1([0.0, 0.0, 0.0], MarchenkoPastur(2.0), drop=0))
    2.0
    """
    return w1_of_bulk(bulk_of(squares, drop), law)


def w1_pooled(squares: npt.ArrayLike, law: Law, drop: int = 3) -> float:
    """Return the W1 distance of the trial-averaged F_n to a law: bias, without the scatter of one draw.

    Parameters
    ----------
    squares : array_like of shape (..., n)
        Spectra of all trials.
    law, drop
        As for `w1`; every trial loses its own largest values.
    """
    return float(w1_of_bulk(bulk_of(squares, drop).pooled(), law))


def w1_of_bulk(bulk: Bulk, law: Law, masses: Real | None = None, table: TabulatedLaw | None = None) -> Real:
    """Return `w1` of sorted spectra.

    Parameters
    ----------
    bulk : Bulk
        Sorted spectra, values of shape (..., m).
    law : Law
        The law.
    masses : ndarray of shape (..., m), optional
        law.cdf(bulk.values), if it is known already.
    table : TabulatedLaw, optional
        The law's table, for many spectra.
    """
    values, m = bulk.values, bulk.kept
    if masses is None:
        masses = law.cdf(values) if table is None else table.cdf(values)
    knots = np.arange(m + 1) / bulk.n
    above, below = masses >= knots[1:], masses <= knots[:-1]  # x >= Q(b), or x <= Q(a)
    inside = ~(above | below | np.isnan(masses))
    steps = np.where(above, values, -values) / bulk.n
    some = values[inside]
    areas = area(law, some) if table is None else table.area(some)
    steps[inside] = 2.0 * areas - some * (knots[:-1] + knots[1:])[np.nonzero(inside)[-1]]
    weights = np.zeros((*values.shape[:-1], m + 1))
    weights[..., 1:] += np.where(above, -1.0, 1.0)
    weights[..., :-1] += np.where(below, -1.0, 1.0)
    distance = steps.sum(axis=-1) + weights @ _partial_mean_where(law, knots, weights)
    return np.asarray(np.maximum(distance, 0.0))


def floor(law: Law, n: int, drop: int = 3) -> float:
    """Return the least `w1` that any spectrum of length n can have: that of the mid-quantiles Q((i + 1/2)/n).

    Parameters
    ----------
    law : Law
        The law.
    n : int
        Length of the spectrum.
    drop : int
        Largest values left out.
    """
    m = n - drop
    edges = law.partial_mean(np.arange(m + 1) / n)
    middles = law.partial_mean((np.arange(m) + 0.5) / n)
    return float(np.sum((edges[1:] - middles) - (middles - edges[:-1])))


def _partial_mean_where(law: Law, knots: Real, weights: Real) -> Real:
    """G at the knots that any spectrum needs, zero at the others."""
    needed = weights.reshape(-1, len(knots)).any(axis=0)
    partial = np.zeros_like(knots)
    partial[needed] = law.partial_mean(knots[needed])
    return partial
