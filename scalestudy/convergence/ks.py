"""The Kolmogorov-Smirnov distance of spectra to a law, over the same rank-aligned range as `w1`."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from scalestudy.convergence.bulk import Bulk, Real, bulk_of
from scalestudy.limit import Law


def ks(squares: npt.ArrayLike, law: Law, drop: int = 3) -> Real:
    """Return ``sup |min(F_n, 1 - k/n) - min(F, 1 - k/n)|``, k = drop: the sup where `w1` is the integral.

    Parameters
    ----------
    squares : array_like of shape (..., n)
        Squared singular values; NaN in a spectrum gives NaN.
    law : Law
        What they are measured against; atoms are allowed.
    drop : int
        Largest values left out.

    Returns
    -------
    ndarray of shape (...)
        At drop = 0 the statistic of `scipy.stats.ks_1samp`, for a law without atoms.

    Raises
    ------
    AnalysisError
        Unless 0 <= drop < n.
    """
    bulk = bulk_of(squares, drop)
    return ks_of_bulk(bulk, law.cdf(bulk.values), law)


def ks_of_bulk(bulk: Bulk, masses: Real, law: Law) -> Real:
    """Return `ks` of spectra whose law.cdf(values) is already known.

    Parameters
    ----------
    bulk : Bulk
        Sorted spectra, values of shape (..., m).
    masses : ndarray of shape (..., m)
        law.cdf(bulk.values).
    law : Law
        The law.
    """
    ranks = np.arange(bulk.kept) / bulk.n
    top = bulk.mass
    at = np.minimum(masses, top)
    before = np.minimum(masses - _atoms_at(law, bulk.values), top)
    # F_n is a step ahead of the law at a value, or a step behind just before it; past the last kept value
    # the law still rises to the mass kept, where both are equal.
    ahead = ranks + 1.0 / bulk.n - at
    return np.asarray(np.maximum(ahead, before - ranks).max(axis=-1))


def _atoms_at(law: Law, values: Real) -> Real:
    """Mass of the law at exactly these values."""
    mass = np.zeros_like(values)
    for (left, right), weight in zip(law.support(), law.masses(), strict=True):
        if left == right:
            mass[values == left] = weight
    return mass
