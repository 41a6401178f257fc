"""Means over trials with the interval that error bars show."""

from __future__ import annotations

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy import special

LEVEL = 0.95
"""Coverage of every error bar."""

Real = NDArray[np.float64]


def mean_and_error(values: Real) -> tuple[Real, Real]:
    """Return means over the last axis, and half the width of their 95 % intervals (Student's t).

    Parameters
    ----------
    values : ndarray of shape (..., trials)
        NaN where a trial was not done.

    Returns
    -------
    mean, error : ndarray of shape (...)
        The error is NaN where there are fewer than two trials, the mean where there are none.

    Examples
    --------
    >>> mean, error = mean_and_error(np.array([[1.0, 3.0, np.nan], [2.0, np.nan, np.nan]]))
    >>> mean, error.round(3)
    (array([2., 2.]), array([12.706,    nan]))
    """
    there = np.isfinite(values)
    count = there.sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        mean = np.where(there, values, 0.0).sum(axis=-1) / np.where(count > 0, count, np.nan)
        squares = np.where(there, values - mean[..., None], 0.0) ** 2
        freedom = np.where(count > 1, count - 1, np.nan)
        error = np.sqrt(squares.sum(axis=-1) / freedom / count) * special.stdtrit(freedom, 0.5 + LEVEL / 2)
    return mean, error


def over_trials(data: xr.DataArray) -> tuple[Real, Real]:
    """Return `mean_and_error` of a variable with a dimension trial, in the order of its other dimensions."""
    others = [name for name in data.dims if name != "trial"]
    return mean_and_error(np.asarray(data.transpose(*others, "trial").values, dtype=np.float64))
