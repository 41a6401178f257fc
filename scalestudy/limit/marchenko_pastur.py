r"""The Marchenko-Pastur law, which the attention bulk is *not*: the contrast of every convergence figure.

For X of size n x N with i.i.d. entries of variance sigma^2 it is the limit law of X X^T / N, ratio = n / N.
With lam = min(ratio, 1/ratio) and ``x = s (1 + lam - 2 sqrt(lam) cos eta)``, 0 <= eta <= pi, everything is
elementary:

    cdf = (2/pi) [eta/2 + sin(eta) / (2 sqrt(lam)) - (1 - lam) psi / (2 lam)],
    psi = atan2(sqrt(lam) sin(eta), 1 - sqrt(lam) cos(eta)),
    int x dF = sigma^2 (eta - sin(eta) cos(eta)) / pi,

the first for the continuous part, which has mass min(1, 1/ratio); the rest is an atom at 0.
"""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from typing import Any

import numpy as np
import numpy.typing as npt

from scalestudy.errors import LawError
from scalestudy.limit.law import Complex, Real, at_complex, at_points, at_probabilities, draw, order_of
from scalestudy.limit.parameters import DIGITS, positive

RATIO_RANGE = (1e-6, 1e6)
TABLE_SIZE = 2001
QUANTILE_STEPS = 60


class MarchenkoPastur:
    """Marchenko-Pastur law of given variance and ratio rows / columns.

    Parameters
    ----------
    variance : float
        Entry variance sigma^2, which is also the mean of the law.
    ratio : float, optional
        Rows over columns; above 1 the law has an atom of mass 1 - 1/ratio at 0. The default, 1, is the law of
        a square matrix, on [0, 4 variance].

    Raises
    ------
    LawError
        A parameter is not positive and finite, or ratio is outside [1e-6, 1e6].

    Examples
    --------
    >>> law = MarchenkoPastur(1.0, 4.0)
    >>> law.support(), law.masses()
    ([(0.0, 0.0), (1.0, 9.0)], [0.75, 0.25])
    >>> print(law.cdf(0.0), law.ppf(0.5))
    0.75 0.0
    >>> MarchenkoPastur(-1.0)
    Traceback (most recent call last):
    scalestudy.errors.LawError: Invalid variance -1.0. Must be positive and finite.
    """

    def __init__(self, variance: float, ratio: float = 1.0) -> None:
        exact_variance, exact_ratio = positive("variance", variance), positive("ratio", ratio)
        if not RATIO_RANGE[0] <= ratio <= RATIO_RANGE[1]:
            raise LawError(
                f"Invalid ratio {ratio!r}. Must be in [{RATIO_RANGE[0]:g}, {RATIO_RANGE[1]:g}], "
                "the range in which double precision holds the law's stated accuracy."
            )
        self.variance, self.ratio = float(variance), float(ratio)
        with localcontext() as context:
            context.prec = DIGITS
            root = exact_ratio.sqrt()
            self._left = _two_doubles(exact_variance * (1 - root) ** 2)
            self._right = _two_doubles(exact_variance * (1 + root) ** 2)
            self._excess = float(1 - min(exact_ratio, 1 / exact_ratio))
            self._atom = float(max(Decimal(0), 1 - 1 / exact_ratio))
        self._lam = min(self.ratio, 1.0 / self.ratio)
        self._mass = min(1.0, 1.0 / self.ratio)
        self._table = np.linspace(0.0, math.pi, TABLE_SIZE)
        self._table_cdf = self._mass_at(self._table)

    def __repr__(self) -> str:
        return f"MarchenkoPastur(variance={self.variance!r}, ratio={self.ratio!r})"

    def pdf(self, x: npt.ArrayLike) -> Any:
        """Density of the continuous part; infinite at an atom and, for ratio = 1, at the hard edge."""
        return at_points(self._pdf, x)

    def cdf(self, x: npt.ArrayLike) -> Any:
        """Distribution function, the atom at 0 included."""
        return at_points(self._cdf, x)

    def ppf(self, p: npt.ArrayLike) -> Any:
        """Smallest x with cdf(x) >= p; 0 up to the atom's mass."""
        return at_probabilities(lambda values: self._x_at(self._eta_at(values), values), p)

    def partial_mean(self, p: npt.ArrayLike) -> Any:
        """Integral of ppf over [0, p]."""
        return at_probabilities(self._partial_mean, p)

    def stieltjes(self, z: npt.ArrayLike) -> Any:
        """m(z) = integral of dF(x) / (x - z); on the support, the limit from the upper half plane."""
        return at_complex(self._stieltjes, z)

    def mean(self) -> float:
        """First moment, the variance of the entries."""
        return self.variance

    def moment(self, k: int) -> float:
        """k-th moment, by Narayana numbers."""
        order = order_of(k)
        terms = (
            math.comb(order, j) * math.comb(order - 1, j) * self.ratio**j / (j + 1) for j in range(order)
        )
        return self.variance**order * math.fsum(terms) if order else 1.0

    def support(self) -> list[tuple[float, float]]:
        """Intervals of the support; for ratio > 1 the atom is (0.0, 0.0)."""
        bulk = (self._left[0], self._right[0])
        return [(0.0, 0.0), bulk] if self._atom else [bulk]

    def masses(self) -> list[float]:
        """Probability of each interval of `support`."""
        return [self._atom, self._mass] if self._atom else [1.0]

    def hard_edge_coefficient(self) -> float:
        """C in pdf ~ C / sqrt(x) at 0: 1 / (pi sigma) for ratio = 1, otherwise 0."""
        return 1.0 / (math.pi * math.sqrt(self.variance)) if self.ratio == 1.0 else 0.0

    def rvs(
        self, size: int | tuple[int, ...] | None = None, seed: int | np.random.Generator | None = None
    ) -> Any:
        """Independent draws, the atom included."""
        return draw(self, size, seed)

    def _distances(self, x: Real) -> tuple[Real, Real]:
        """Return x - left and right - x, clipped at zero, from edges kept in two doubles."""
        above = (x - self._left[0]) - self._left[1]
        below = (self._right[0] - x) + self._right[1]
        return np.maximum(above, 0.0), np.maximum(below, 0.0)

    def _pdf(self, x: Real) -> Real:
        singular = (x == 0.0) & (self._left[0] == 0.0 or self._atom > 0.0)
        above, below = self._distances(np.where(np.isfinite(x), x, -1.0))
        bulk = (x > self._left[0]) & (x < self._right[0])
        scale = 2.0 * np.pi * self.ratio * self.variance
        density = np.sqrt(below) * np.sqrt(above) / np.where(bulk, x, 1.0) / scale
        return np.where(singular, np.inf, np.where(bulk, density, 0.0))

    def _cdf(self, x: Real) -> Real:
        above, below = self._distances(np.clip(x, -1.0, 2.0 * self._right[0]))
        continuous = self._mass * self._mass_at(2.0 * np.arctan2(np.sqrt(above), np.sqrt(below)))
        return np.where(x < 0.0, 0.0, self._atom + continuous)

    def _mass_at(self, eta: Real) -> Real:
        """Distribution function of the continuous part, normalised."""
        root, sine = math.sqrt(self._lam), np.sin(eta)
        psi = np.arctan2(root * sine, 1.0 - root * np.cos(eta))
        mass = (eta + sine / root - self._excess * psi / self._lam) / np.pi
        return np.clip(mass, 0.0, 1.0)

    def _eta_at(self, p: Real) -> Real:
        """Solve for eta by Newton's method inside the cell of a table."""
        target = np.clip((p - self._atom) / self._mass, 0.0, 1.0)
        cell = np.clip(np.searchsorted(self._table_cdf, target, side="right") - 1, 0, TABLE_SIZE - 2)
        low, high = self._table[cell], self._table[cell + 1]
        rise = self._table_cdf[cell + 1] - self._table_cdf[cell]
        eta = low + (high - low) * np.clip(
            (target - self._table_cdf[cell]) / np.where(rise > 0.0, rise, 1.0), 0.0, 1.0
        )
        root = math.sqrt(self._lam)
        for _ in range(QUANTILE_STEPS):
            miss = self._mass_at(eta) - target
            slope = (
                2.0
                / np.pi
                * np.sin(eta) ** 2
                / ((1.0 - root) ** 2 + 4.0 * root * np.sin(0.5 * eta) ** 2 + 1e-300)
            )
            step = np.where(slope > 0.0, miss / np.where(slope > 0.0, slope, 1.0), 0.0)
            eta = np.clip(eta - step, low, high)
            if ((np.abs(step) < 1e-12 * eta) | (np.abs(miss) < 1e-16)).all():
                break
        return eta

    def _x_at(self, eta: Real, p: Real) -> Real:
        span = self._right[0] - self._left[0]
        # Each half from its own edge, so that the distance to it keeps its digits.
        lower = self._left[0] + span * np.sin(0.5 * eta) ** 2
        upper = self._right[0] - span * np.cos(0.5 * eta) ** 2
        lowest = 0.0 if self._atom else self._left[0]
        return np.select(
            [p <= self._atom, p >= 1.0, eta < 2.0], [lowest, self._right[0], lower], default=upper
        )

    def _partial_mean(self, p: Real) -> Real:
        eta = self._eta_at(p)
        partial: Real = self.variance * (eta - np.sin(eta) * np.cos(eta)) / np.pi
        return partial

    def _stieltjes(self, z: Complex) -> Complex:
        upper = np.where(z.imag < 0.0, z.conj(), z)
        linear = upper - self.variance * (1.0 - self.ratio)
        root = np.sqrt(upper - self._left[0]) * np.sqrt(upper - self._right[0])
        # Of the two forms of a quadratic's root, the one that adds numbers of like sign.
        small = np.abs(linear + root) < np.abs(linear - root)
        direct = (root - linear) / (2.0 * self.ratio * self.variance * upper)
        m = np.where(small, direct, -2.0 / np.where(small, 1.0, linear + root))
        return np.where(z.imag < 0.0, m.conj(), m)


def _two_doubles(value: Decimal) -> tuple[float, float]:
    high = float(value)
    return high, float(value - Decimal(high))
