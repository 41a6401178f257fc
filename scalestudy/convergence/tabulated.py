r"""A law that is asked millions of times: its distribution as polynomials, checked against the law itself.

On an interval [l, r] of the support the coordinate is theta in [0, pi], ``x = l + (r - l) sin^2(theta/2)``.
There both

    F(x)    and    H(x) = integral of F over [0, x] = x F(x) - G(F(x))

are smooth up to the ends, at a hard edge (F ~ sqrt(x - l)) as at a soft one (F ~ (r - x)^{3/2}). So each of
`CELLS` equal cells of theta gets a polynomial through Chebyshev nodes. Cells in which the polynomials miss
the law, at places between the nodes, by more than `TOLERANCE` are not used: values there go to the law.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scalestudy.convergence.bulk import Real
from scalestudy.limit import Law

CELLS = 256
DEGREE = 7
TOLERANCE = 1e-13

# In a cell s runs from -1 to 1: powers of it are much better conditioned than on [0, 1].
_NODES = np.cos(np.pi * (np.arange(DEGREE + 1) + 0.5) / (DEGREE + 1))
_TO_COEFFICIENTS = np.linalg.inv(np.vander(_NODES, increasing=True))
_CHECKS = np.array([-1.0, -0.9, -0.4, 0.0, 0.65, 1.0])


@dataclass(frozen=True)
class _Piece:
    """One interval of the support: coefficients of shape (DEGREE + 1, CELLS), ascending powers."""

    left: float
    right: float
    mass: Real
    area: Real
    good: NDArray[np.bool_]


class TabulatedLaw:
    """The distribution function of a law and its integral, to `TOLERANCE`, in a tenth of the time or less.

    Parameters
    ----------
    law : Law
        The law.
    """

    def __init__(self, law: Law) -> None:
        self.law = law
        self._pieces = [_tabulate(law, left, right) for left, right in law.support() if left < right]

    def cdf(self, x: Real) -> Real:
        """Distribution function."""
        return self._at(x, "mass", self.law.cdf)

    def area(self, x: Real) -> Real:
        """Integral of the distribution function over [0, x]."""
        return self._at(x, "area", lambda values: area(self.law, values))

    @property
    def is_smooth(self) -> bool:
        """Whether every cell is used."""
        return all(bool(piece.good.all()) for piece in self._pieces)

    def _at(self, x: Real, name: str, exact: Callable[[Real], Real]) -> Real:
        values = np.ravel(x)
        result = np.empty_like(values)
        rest = np.ones(values.shape, dtype=bool)
        for piece in self._pieces:
            some = (values > piece.left) & (values < piece.right)
            cell, s = _locate(piece, values[some])
            result[some] = _polynomial(getattr(piece, name), cell, s)
            some[some] = piece.good[cell]
            rest &= ~some
        if rest.any():
            result[rest] = exact(values[rest])
        return result.reshape(np.shape(x))


def area(law: Law, x: Real) -> Real:
    """Return the integral of a law's distribution function over [0, x], x F(x) - G(F(x))."""
    mass = law.cdf(x)
    return np.asarray(x * mass - law.partial_mean(mass))


def _tabulate(law: Law, left: float, right: float) -> _Piece:
    def of_law(s: Real) -> tuple[Real, Real]:
        theta = np.pi / CELLS * (np.arange(CELLS)[:, None] + 0.5 * (1.0 + s))
        x = np.clip(left + (right - left) * np.sin(0.5 * theta) ** 2, left, right)
        return law.cdf(x), area(law, x)

    mass, integral = (_TO_COEFFICIENTS @ values.T for values in of_law(_NODES))
    powers = np.vander(_CHECKS, DEGREE + 1, increasing=True)
    misses = [
        np.abs(powers @ fitted - values.T).max(axis=0)
        for fitted, values in zip((mass, integral), of_law(_CHECKS), strict=True)
    ]
    good = (misses[0] <= TOLERANCE) & (misses[1] <= TOLERANCE * law.mean())
    return _Piece(left, right, mass, integral, good)


def _locate(piece: _Piece, x: Real) -> tuple[NDArray[np.intp], Real]:
    """Cell, and place in it from -1 to 1."""
    theta = 2.0 * np.arctan2(np.sqrt(x - piece.left), np.sqrt(piece.right - x))
    place = theta * (CELLS / np.pi)
    cell = np.minimum(place.astype(np.intp), CELLS - 1)
    return cell, 2.0 * (place - cell) - 1.0


def _polynomial(coefficients: Real, cell: NDArray[np.intp], s: Real) -> Real:
    total: Real = coefficients[-1][cell]
    for row in coefficients[-2::-1]:
        total *= s
        total += row[cell]
    return total
