r"""Gram laws kappa of the tokens: what general tokens put in the place of orthonormal ones.

A law of the tokens' Gram matrix X X^T enters only through

    chi(w) = int w / (w - t) dkappa(t),     1 - chi = -int t / (w - t) dkappa(t),
    argument(w) = int arg(w - t) dkappa(t),

the first two, and the difference of chi between two points, to full relative accuracy. Mean 1 is a property
of every kappa here: scores have unit variance.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np
import numpy.typing as npt

from scalestudy.errors import LawError
from scalestudy.limit.law import Complex, Real
from scalestudy.limit.marchenko_pastur import MarchenkoPastur

CHUNK = 1 << 21
SAME = 1e-12


@dataclass(frozen=True)
class Response:
    """chi, 1 - chi and dchi/dw at some points w, and (chi(w) - chi(base)) / (w - base)."""

    chi: Complex
    rest: Complex
    slope: Complex
    divided: Complex


class GramLaw(Protocol):
    """A law of X X^T with mean one."""

    @property
    def is_identity(self) -> bool:
        """Whether X X^T = I, for which the law has a closed form."""

    def around(self, base: float) -> Callable[[Complex], Response]:
        """Return the function that gives chi and its relatives at w off the support, for a base < 0."""

    def argument(self, w: Complex) -> Real:
        """Integral of arg(w - t) dkappa(t), Im w >= 0."""

    def gaps(self) -> list[tuple[float, float]]:
        """Components of (0, infinity) outside the support, ascending; the last one is unbounded."""


class Atoms:
    """Finitely many atoms: orthonormal or parseval tokens, or the spectrum of a given token matrix.

    Parameters
    ----------
    places, weights : array, shape (n,)
        Distinct ascending places t >= 0 and their probabilities.
    """

    def __init__(self, places: Real, weights: Real) -> None:
        self.places, self.weights = places, weights

    @property
    def is_identity(self) -> bool:
        """Whether the only atom is at 1."""
        return len(self.places) == 1

    def around(self, base: float) -> Callable[[Complex], Response]:
        """Return the function that sums chi and its relatives over atoms."""
        t, p = self.places, self.weights
        columns = np.stack([p, -p * t, -p * t / (base - t)], axis=1)

        def sums(points: Complex) -> Complex:
            inverse = 1.0 / (points[:, None] - t)
            one, rest, divided = (inverse @ columns).T
            return np.stack([points * one, rest, -((inverse * inverse) @ (p * t)), divided])

        return lambda w: Response(*self._in_chunks(sums, w, 4))

    def argument(self, w: Complex) -> Real:
        """Mean angle at which the atoms are seen."""

        def angles(points: Complex) -> Complex:
            mean: Real = np.angle(points[:, None] - self.places) @ self.weights
            return mean[None, :].astype(np.complex128)

        angle: Real = self._in_chunks(angles, w, 1)[0].real
        return angle

    def gaps(self) -> list[tuple[float, float]]:
        """Spaces between atoms."""
        ends = [0.0, *self.places[self.places > 0.0].tolist(), math.inf]
        return list(pairwise(ends))

    def _in_chunks(self, function: Callable[[Complex], Complex], w: Complex, rows: int) -> Complex:
        """Bound the memory of the (points, atoms) table."""
        flat = np.asarray(w).ravel()
        size = max(1, CHUNK // len(self.places))
        parts = [function(flat[i : i + size]) for i in range(0, len(flat), size)]
        table: Complex = np.concatenate(parts, axis=1).reshape(rows, *np.shape(w))
        return table


class MarchenkoPasturGram:
    """Spherical and gaussian tokens: Marchenko-Pastur with ratio gamma = ell / d, in closed form.

    Parameters
    ----------
    gamma : float
        ell / d.
    """

    is_identity = False

    def __init__(self, gamma: float) -> None:
        self._law = MarchenkoPastur(1.0, gamma)
        self._gamma = gamma

    def around(self, base: float) -> Callable[[Complex], Response]:
        """Return the function for chi = -w g, with 1 - chi = g / (1 + gamma g) by the equation of g."""
        gamma, at_base = self._gamma, float(self._law.stieltjes(base).real)

        def response(w: Complex) -> Response:
            g: Complex = np.asarray(self._law.stieltjes(w), dtype=np.complex128)
            inner, linear = 1.0 + gamma * g, w - 1.0 + gamma
            # The equation gamma w g^2 + (w - 1 + gamma) g + 1 = 0 at both points, subtracted.
            divided = at_base / (inner * (gamma * w * (g + at_base) + linear))
            return Response(-w * g, g / inner, g / (inner * (2.0 * gamma * w * g + linear)), divided)

        return response

    def argument(self, w: Complex) -> Real:
        """Imaginary part of ``-w g - log g + log(1 + gamma g) / gamma``, and pi."""
        g: Complex = np.asarray(self._law.stieltjes(w), dtype=np.complex128)
        angle: Real = np.pi - (w * g).imag - np.angle(g) + np.angle(1.0 + self._gamma * g) / self._gamma
        return angle

    def gaps(self) -> list[tuple[float, float]]:
        """Below the bulk, where it does not touch zero, and above it."""
        left, right = self._law.support()[-1]
        return [*([(0.0, left)] if left > 0.0 else []), (right, math.inf)]


def orthonormal(gamma: float) -> GramLaw:
    """X X^T = I: a single atom at 1."""
    _require(gamma <= 1.0, gamma, "orthonormal", "at most 1")
    return Atoms(np.ones(1), np.ones(1))


def parseval(gamma: float) -> GramLaw:
    """X^T X = gamma I: an atom of mass 1/gamma at gamma, the rest at 0."""
    _require(gamma >= 1.0, gamma, "parseval", "at least 1")
    if gamma == 1.0:
        return orthonormal(gamma)
    return Atoms(np.array([0.0, gamma]), np.array([1.0 - 1.0 / gamma, 1.0 / gamma]))


ENSEMBLES: dict[str, Callable[[float], GramLaw]] = {
    "identity": orthonormal,
    "orthonormal": orthonormal,
    "spherical": MarchenkoPasturGram,
    "gaussian": MarchenkoPasturGram,
    "parseval": parseval,
}


def gram_law(tokens: str | npt.ArrayLike, gamma: float) -> GramLaw:
    """Return kappa for an ensemble's name or for a token matrix (ell x d), rows scaled to unit norm.

    Raises
    ------
    LawError
        Unknown name, an ensemble that does not exist at this gamma, or a matrix that is not a token matrix or
        not of the given gamma.
    """
    if isinstance(tokens, str):
        if tokens not in ENSEMBLES:
            raise LawError(f"Invalid tokens {tokens!r}. Must be one of {', '.join(ENSEMBLES)}, or a matrix.")
        return ENSEMBLES[tokens](gamma)
    return _spectrum(np.asarray(tokens, dtype=np.float64), gamma)


def _spectrum(matrix: Real, gamma: float) -> GramLaw:
    if matrix.ndim != 2 or min(matrix.shape) == 0:
        raise LawError(f"Invalid tokens of shape {matrix.shape}. Must be a matrix, one token a row.")
    norms = np.linalg.norm(matrix, axis=1, keepdims=True)
    if not (np.isfinite(norms).all() and (norms > 0.0).all()):
        raise LawError("Invalid tokens. Every row must be finite and different from zero.")
    ell, d = matrix.shape
    if not math.isclose(gamma, ell / d, rel_tol=1e-9):
        raise LawError(f"Invalid gamma {gamma!r} for tokens of shape {matrix.shape}. Must be {ell / d!r}.")
    rows = matrix / norms
    squares = np.linalg.eigvalsh(rows @ rows.T if ell <= d else rows.T @ rows)
    squares = np.concatenate([np.zeros(max(0, ell - d)), squares])
    # Eigenvalues that differ by rounding only are one atom: orthonormal rows must give a single one.
    places, counts = np.unique(np.where(squares < SAME * squares.max(), 0.0, squares), return_counts=True)
    starts = np.flatnonzero(np.diff(places, prepend=-1.0) > SAME * places[-1])
    weights = np.add.reduceat(counts, starts) / ell
    centres = np.add.reduceat(places * counts, starts) / (weights * ell)
    return Atoms(centres / (centres @ weights), weights)


def _require(holds: bool, gamma: float, name: str, bound: str) -> None:
    if not holds:
        raise LawError(f"Invalid gamma {gamma!r} for {name} tokens. Must be {bound}.")
