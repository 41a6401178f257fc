"""The law for general tokens: the same methods as the closed form, from tables built once."""

from __future__ import annotations

import numpy as np

from scalestudy.errors import LawError
from scalestudy.limit.general_curve import conjugated, make_general_curve
from scalestudy.limit.general_edges import find_edges
from scalestudy.limit.gram import GramLaw
from scalestudy.limit.law import Complex, Real
from scalestudy.limit.parameters import Statistics
from scalestudy.limit.tabulated_band import TabulatedBand

TOTALS_TOLERANCE = 1e-7


class TabulatedLaw:
    """The limit law for tokens with Gram law kappa; arrays are one-dimensional and free of NaN.

    There is no atom at zero, whatever kappa: the independent part W has full rank.

    Parameters
    ----------
    statistics : Statistics
        Variances and ratio.
    kappa : GramLaw
        Law of the tokens' Gram matrix.

    Raises
    ------
    LawError
        The tables miss their tolerance, or their masses and mean do not add up to 1 and theta1.
    """

    def __init__(self, statistics: Statistics, kappa: GramLaw) -> None:
        self._scale = statistics.theta1
        self._curve = make_general_curve(statistics, kappa)
        edges = find_edges(self._curve)
        between = [float(self._curve.mass(np.array([complex(edge.u)]))[0]) for edge in edges[2::2]]
        masses = [0.0, *between, 1.0]
        self._bands = [
            TabulatedBand(self._curve, *ends)
            for ends in zip(edges[::2], edges[1::2], masses[:-1], masses[1:], strict=True)
        ]
        self._on_curve = np.concatenate([band.u for band in self._bands])
        self.cdf_error = max(band.cdf_error for band in self._bands)
        mass, mean = np.sum([band.totals() for band in self._bands], axis=0)
        if abs(mass - 1.0) > TOTALS_TOLERANCE or abs(mean - 1.0) > TOTALS_TOLERANCE:
            raise LawError(f"The law's tables do not add up: mass {mass!r}, mean {mean!r} theta1.")

    def intervals(self) -> list[tuple[float, float, float]]:
        """Return left end, right end and mass of each interval of the support."""
        scale = self._scale
        return [(b.band.left**2 * scale, b.band.right**2 * scale, b.band.mass) for b in self._bands]

    def pdf(self, x: Real) -> Real:
        """Density; infinite at the hard edge, zero at the soft ones."""
        density = np.where(x == 0.0, np.inf, 0.0)
        for band, (left, right, _) in zip(self._bands, self.intervals(), strict=True):
            inside = (x > left) & (x < right)
            place = x[inside] / self._scale
            density[inside] = band.density(band.tau(place)) / (2.0 * self._scale * np.sqrt(place))
        return density

    def cdf(self, x: Real) -> Real:
        """Distribution function."""
        mass = np.zeros_like(x)
        for band, (left, right, _) in zip(self._bands, self.intervals(), strict=True):
            mass[x >= right] = band.band.mass_upto
            inside = (x > left) & (x < right)
            mass[inside] = band.mass(band.tau(x[inside] / self._scale))
        return mass

    def ppf(self, p: Real) -> Real:
        """Smallest x with cdf(x) >= p."""
        x = np.zeros_like(p)
        for band, (_, right, _) in zip(self._bands, self.intervals(), strict=True):
            x[p > band.band.mass_below] = right
            inside = (p > band.band.mass_below) & (p < band.band.mass_upto)
            x[inside] = band.x(band.quantile(p[inside])) * self._scale
        return x

    def partial_mean(self, p: Real) -> Real:
        """Integral of ppf over [0, p]."""
        partial, below = np.zeros_like(p), 0.0
        for band in self._bands:
            whole = float(band.partial_mean(np.array([np.inf]))[0])
            partial[p > band.band.mass_below] = below + whole
            inside = (p > band.band.mass_below) & (p < band.band.mass_upto)
            partial[inside] = below + band.partial_mean(band.quantile(p[inside]))
            below += whole
        return partial * self._scale

    def moment(self, k: int) -> float:
        """k-th moment, by a contour integral around the support."""
        return self._curve.moment(k, self._on_curve) * self._scale**k

    def hard_edge_coefficient(self) -> float:
        """C in pdf ~ C / sqrt(x) at 0."""
        return self._curve.hard_edge_coefficient() / float(np.sqrt(self._scale))

    def stieltjes(self, z: Complex) -> Complex:
        """Return m(z) = int dnu / (x - z), exactly; on the support, its limit from the upper half plane."""
        lower = z.imag < 0.0
        u = self._curve.physical(conjugated(z, lower) / self._scale)
        return conjugated(self._curve.stieltjes(u) / self._scale, lower)
