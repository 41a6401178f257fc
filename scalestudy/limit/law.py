"""What every limit law offers, and the array rules they share: any shape in, the same shape out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from scalestudy.errors import LawError

Real = npt.NDArray[np.float64]
Complex = npt.NDArray[np.complex128]
Mask = npt.NDArray[np.bool_]


class Law(Protocol):
    """A limit law of squared singular values on [0, infinity); names as in scipy.stats.

    Arguments may have any shape; a scalar gives a scalar. NaN gives NaN, as does p outside [0, 1].
    """

    def pdf(self, x: npt.ArrayLike) -> Any:
        """Density; infinite at a hard edge or an atom."""

    def cdf(self, x: npt.ArrayLike) -> Any:
        """Distribution function, atoms included."""

    def ppf(self, p: npt.ArrayLike) -> Any:
        """Smallest x with cdf(x) >= p: at a probability met in a gap, the gap's lower end."""

    def partial_mean(self, p: npt.ArrayLike) -> Any:
        """Integral of ppf over [0, p]; at p = 1 the mean."""

    def stieltjes(self, z: npt.ArrayLike) -> Any:
        """m(z) = integral of dF(x) / (x - z); on the support, the limit from the upper half plane."""

    def mean(self) -> float:
        """First moment."""

    def moment(self, k: int) -> float:
        """k-th moment about zero, k >= 0."""

    def support(self) -> list[tuple[float, float]]:
        """Disjoint intervals in ascending order; an atom is an interval of length zero."""

    def masses(self) -> list[float]:
        """Probability of each interval of `support`."""

    def hard_edge_coefficient(self) -> float:
        """C in pdf ~ C / sqrt(x) as x -> 0; zero where the density has no such singularity."""

    def rvs(
        self, size: int | tuple[int, ...] | None = None, seed: int | np.random.Generator | None = None
    ) -> Any:
        """Independent draws; a scalar when size is None."""


def at_points(function: Callable[[Real], Real], x: npt.ArrayLike) -> Any:
    """Apply a function of one-dimensional, NaN-free arrays to anything array-like."""
    return _apply(function, np.asarray(x, dtype=np.float64), lambda values: ~np.isnan(values))


def at_probabilities(function: Callable[[Real], Real], p: npt.ArrayLike) -> Any:
    """Apply a function of probabilities; NaN outside [0, 1]."""
    return _apply(function, np.asarray(p, dtype=np.float64), lambda values: (values >= 0.0) & (values <= 1.0))


def at_complex(function: Callable[[Complex], Complex], z: npt.ArrayLike) -> Any:
    """Apply a function of complex arrays."""
    return _apply(function, np.asarray(z, dtype=np.complex128), lambda values: np.isfinite(values))


def _apply(function: Callable[[Any], Any], values: Any, valid: Callable[[Any], Any]) -> Any:
    flat = values.ravel()
    good = valid(flat)
    result = np.full(flat.shape, np.nan, dtype=flat.dtype)
    if good.any():
        result[good] = function(flat[good])
    return result.reshape(values.shape)[()]


def order_of(k: int) -> int:
    """Return the order of a moment, or say why it is not one."""
    if not isinstance(k, (int, np.integer)) or k < 0:
        raise LawError(f"Invalid moment order {k!r}. Must be an integer >= 0.")
    return int(k)


def draw(law: Law, size: int | tuple[int, ...] | None, seed: int | np.random.Generator | None) -> Any:
    """Draw by inversion."""
    return law.ppf(np.random.default_rng(seed).random(size))
