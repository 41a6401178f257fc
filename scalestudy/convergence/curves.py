"""Distances between rungs as published: sorted trial-mean curves, and histograms (THEORY section 7, [B])."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

BINS = 120
_RANGE_AT_BETA_ONE = 8.0


def bulk(squares: NDArray[np.floating], drop: int) -> NDArray[np.floating]:
    """Return spectra without their `drop` largest values.

    Parameters
    ----------
    squares : ndarray of shape (..., ell)
        Squared singular values, descending.
    drop : int
        How many to leave out, less than ell.

    Returns
    -------
    ndarray of shape (..., ell - drop)
    """
    return squares[..., drop:]


def curve_error(squares: NDArray[np.floating], reference: NDArray[np.floating], drop: int = 3) -> float:
    """Return the mean absolute difference of two trial-averaged sorted spectra, [B]'s "mean curve error".

    Parameters
    ----------
    squares, reference : ndarray of shape (trials, ell)
        Squared singular values, descending.
    drop : int
        Largest values left out of each trial.
    """
    mean, other = (bulk(values, drop).mean(axis=0) for values in (squares, reference))
    return float(np.abs(mean - other).mean())


def histogram_distance(
    squares: NDArray[np.floating], reference: NDArray[np.floating], beta: float = 1.0, drop: int = 3
) -> float:
    """Return the L1 distance of two pooled bulk histograms, 120 bins on [0, 8] at beta = 1.

    At other beta the range scales with the mean of the law, theta1 = e^(beta^2) - 1.

    Parameters
    ----------
    squares, reference : ndarray of shape (trials, ell)
        Squared singular values, descending.
    beta : float
        Inverse temperature.
    drop : int
        Largest values left out of each trial.
    """
    top = _RANGE_AT_BETA_ONE * np.expm1(beta**2) / np.expm1(1.0)
    densities = [
        np.histogram(bulk(values, drop), bins=BINS, range=(0.0, top), density=True)[0]
        for values in (squares, reference)
    ]
    return float(np.abs(densities[0] - densities[1]).sum() * top / BINS)
