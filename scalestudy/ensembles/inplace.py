"""The ladder's matrices built fast: one exponential, row chunks that stay in cache, no temporaries.

`ladder` is the definition; these functions give the same matrices (tested against it) in arrays the caller
owns. M0 needs no builder: it is M1 plus ``1 1^T / sqrt(ell)``. So is M2 with M3, but where softmax condenses
(large beta) almost every entry of M3 is -1, and their sum would keep no digit of M2: hence `exponential`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scalestudy.ensembles.polynomial import coefficients

Matrix = NDArray[np.floating]

# e^{beta S} - 1 is formed directly below this beta, where subtracting 1 afterwards would lose digits; there
# beta S cannot overflow, so the row maximum is not needed.
SMALL_BETA = 0.25

_CHUNK = 1 << 14  # numbers a chunk: 128 kB of float64, so that a chunk and its result share a core's L2 cache


@dataclass(frozen=True, slots=True)
class Exponentials:
    """One exponential of the scores, from which M0 ... M3 are made.

    Attributes
    ----------
    values : (ell, ell) ndarray
        ``e^{beta S_ij - shift_i} - offset``.
    shift : (ell,) ndarray
        Row maxima of beta S, or zeros where beta is small.
    offset : float
        0, or 1 where beta is small.
    mean : (ell,) ndarray
        Row means of `values`.
    """

    values: Matrix
    shift: NDArray[np.float64]
    offset: float
    mean: NDArray[np.float64]

    def row_normalizer(self, beta: float) -> NDArray[np.float64]:
        """D_i = Z_i / (ell e^{beta^2/2}) with Z_i = sum_j e^{beta S_ij}; shape (ell,)."""
        normalizer: NDArray[np.float64] = np.exp(self.shift - beta * beta / 2) * (self.mean + self.offset)
        return normalizer


def _chunks(ell: int) -> Iterator[slice]:
    rows = max(1, _CHUNK // ell)
    return (slice(start, min(start + rows, ell)) for start in range(0, ell, rows))


def exponentials(scores: Matrix, beta: float, out: Matrix) -> Exponentials:
    """Exponentiate the scores once.

    Parameters
    ----------
    scores : (ell, ell) ndarray
        S; kept.
    beta : float
        Inverse temperature.
    out : (ell, ell) ndarray
        Becomes `Exponentials.values`.

    Returns
    -------
    Exponentials
    """
    ell = len(scores)
    small = beta < SMALL_BETA
    shift = np.zeros(ell)
    mean = np.empty(ell)
    for rows in _chunks(ell):
        chunk = out[rows]
        np.multiply(scores[rows], beta, out=chunk)
        if small:
            np.expm1(chunk, out=chunk)
        else:
            largest = chunk.max(axis=1)
            shift[rows] = largest
            chunk -= largest[:, None]
            np.exp(chunk, out=chunk)
        mean[rows] = chunk.mean(axis=1)
    return Exponentials(values=out, shift=shift, offset=1.0 if small else 0.0, mean=mean)


def softmax_bulk(source: Exponentials, out: Matrix) -> None:
    """Write M1 = sqrt(ell) (A - u u^T) into `out`, (ell, ell); `source` is kept.

    Row i is ``(values_i - mean_i) / (sqrt(ell) (mean_i + offset))``, which does not cancel at small beta.
    """
    ell = len(out)
    dtype = out.dtype
    mean = source.mean.astype(dtype)[:, None]
    scale = (1.0 / (math.sqrt(ell) * (source.mean + source.offset))).astype(dtype)[:, None]
    for rows in _chunks(ell):
        chunk = out[rows]
        np.subtract(source.values[rows], mean[rows], out=chunk)
        chunk *= scale[rows]


def exponential(source: Exponentials, beta: float, out: Matrix) -> None:
    """Write M2 = e^{beta S - beta^2/2} / sqrt(ell) into `out`, (ell, ell); `source` is kept."""
    ell = len(out)
    scale = (np.exp(source.shift - beta * beta / 2) / math.sqrt(ell)).astype(out.dtype)[:, None]
    for rows in _chunks(ell):
        chunk = out[rows]
        np.add(source.values[rows], source.offset, out=chunk)
        chunk *= scale[rows]


def centred_exponential(source: Exponentials, beta: float) -> Matrix:
    """Turn `source.values` into M3 = (e^{beta S - beta^2/2} - 1) / sqrt(ell), in place, and return it.

    With ``a_i = e^{shift_i - beta^2/2}`` it is ``a_i values - 1``, and where one was already taken off,
    ``a values + (e^{-beta^2/2} - 1)``, which does not cancel at small beta.
    """
    out = source.values
    ell = len(out)
    b = beta * beta / 2
    scale = (np.exp(source.shift - b) / math.sqrt(ell)).astype(out.dtype)[:, None]
    constant = (math.expm1(-b) if source.offset else -1.0) / math.sqrt(ell)
    for rows in _chunks(ell):
        chunk = out[rows]
        chunk *= scale[rows]
        chunk += constant
    return out


def polynomial(scores: Matrix, beta: float, degree: int, out: Matrix) -> None:
    """Write M4 = Q_n(S) / sqrt(ell) into `out`, (ell, ell), by Horner's rule; `scores` is kept."""
    ell = len(scores)
    ascending = [float(value) / math.sqrt(ell) for value in coefficients(beta, degree)]
    for rows in _chunks(ell):
        chunk, x = out[rows], scores[rows]
        np.multiply(x, ascending[-1], out=chunk)
        for value in ascending[-2:0:-1]:
            chunk += value
            chunk *= x
        chunk += ascending[0]


def linear_model(scores: Matrix, noise: Matrix, variance: float, theta2: float, out: Matrix) -> None:
    """Write (sqrt(theta2) S + sqrt(variance) W) / sqrt(ell) into `out`, (ell, ell): M5 and M6.

    Parameters
    ----------
    scores, noise : (ell, ell) ndarray
        S and W.
    variance : float
        Variance of the noise. One below zero, which a Monte Carlo estimate can give, counts as zero.
    theta2 : float
        Variance of the linear part.
    out : (ell, ell) ndarray
        May be `noise` itself, whose last use this then is.
    """
    ell = len(scores)
    signal = math.sqrt(theta2 / ell)
    strength = math.sqrt(max(variance, 0.0) / ell)
    scratch = np.empty_like(out[next(_chunks(ell))])
    for rows in _chunks(ell):
        chunk = out[rows]
        term = scratch[: len(chunk)]
        np.multiply(scores[rows], signal, out=term)
        np.multiply(noise[rows], strength, out=chunk)
        chunk += term
