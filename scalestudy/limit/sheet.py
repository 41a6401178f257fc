"""The physical sheet over one band: from a place inside the support to the point v of the curve."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import numpy as np

from scalestudy.errors import LawError
from scalestudy.limit.bands import REACH, Band
from scalestudy.limit.charts import BulkChart, Chart, HardChart, Mask, SoftChart, newton
from scalestudy.limit.curve import Complex, Curve, Real

SPACING = 0.1
NODES_TO_EDGE_BY_EIGENVALUES = 12.0


@dataclass(frozen=True)
class Place:
    """Places inside a band: distances to both edges, each to full relative accuracy, and tau."""

    from_left: Real
    from_right: Real
    tau: Real

    def take(self, index: Mask) -> Place:
        """Return some of the places."""
        return Place(self.from_left[index], self.from_right[index], self.tau[index])


@dataclass(frozen=True)
class Point:
    """Points of the curve, ``v = base + u``, with u the coordinate of the nearer edge's chart."""

    v: Complex
    u: Complex
    near_left: Mask


class Sheet:
    """Solves ``K(v) = r`` over one band, from a table of starting points built once.

    Each half of the band is worked in the chart of its own edge, and handed to the plain chart where u is no
    longer small against v.

    Parameters
    ----------
    curve : Curve
        The law's curve.
    band : Band
        The interval.
    left, right : HardChart or SoftChart
        Charts of its two edges.
    """

    def __init__(self, curve: Curve, band: Band, left: HardChart | SoftChart, right: SoftChart) -> None:
        self.curve, self.band, self.left, self.right = curve, band, left, right
        self._bulk = BulkChart(curve)
        self.nodes = np.linspace(-REACH, REACH, 2 * round(REACH / SPACING) + 1)
        self._table()

    def place(self, tau: Real) -> Place:
        """Return the places at given tau."""
        return Place(self.band.from_left(tau), self.band.from_right(tau), tau)

    def solve(self, place: Place) -> Point:
        """Return the physical points over places strictly inside the band, one-dimensional arrays."""
        in_left = place.tau < 0.0
        u = self._first_guess(place.tau)
        base = np.where(in_left, self.left.base, self.right.base)
        near = np.abs(u) < 0.5 * np.abs(base)
        v = base + u
        for zone, chart, distance in (
            (in_left & near, self.left, place.from_left),
            (~in_left & near, self.right, place.from_right),
        ):
            if zone.any():
                u[zone] = self._solve_in(chart, u[zone], distance[zone], place.take(zone))
                v[zone] = chart.base + u[zone]
        far = ~near
        if far.any():
            r = self.band.left + place.from_left[far]
            v[far] = self._solve_in(self._bulk, v[far], r, place.take(far))
            u[far] = v[far] - base[far]
        return Point(v, u, in_left & near)

    def _solve_in(self, chart: Chart, u: Complex, target: Real, place: Place) -> Complex:
        u, converged = newton(chart, u, target)
        if not converged.all():
            lost = ~converged
            restart = self._by_eigenvalues(self.band.left + place.from_left[lost]) - chart.base
            u[lost], converged = newton(chart, restart, target[lost], steps=60)
            if not converged.all():
                raise LawError(
                    f"The law at a2 / (a2 + b2) = {self.curve.t:.6g}, ratio {self.curve.c:.6g} cannot be "
                    "solved in double precision: its support is about to split. Move beta slightly."
                )
        return u

    def _by_eigenvalues(self, r: Real) -> Complex:
        """Return the one root below the real axis; rounding can only make real roots slightly complex."""
        roots = self.curve.roots(r)
        best = np.argmax(-roots.imag / np.abs(roots), axis=-1)
        chosen: Complex = np.take_along_axis(roots, best[..., None], axis=-1)[..., 0]
        return chosen

    def _table(self) -> None:
        place = self.place(self.nodes)
        middle = len(self.nodes) // 2
        charts = [self.left] * middle + [self.right] * (len(self.nodes) - middle)
        targets = np.where(self.nodes < 0.0, place.from_left, place.from_right)
        u = self._by_eigenvalues(self.band.left + place.from_left) - np.array(
            [chart.base for chart in charts]
        )
        # Eigenvalues cannot tell the two roots apart that merge at a soft edge: walk there from the inside.
        reach = round(NODES_TO_EDGE_BY_EIGENVALUES / SPACING)
        first = middle - reach if isinstance(self.left, SoftChart) else 0
        for chart, zone in ((self.left, slice(first, middle)), (self.right, slice(middle, middle + reach))):
            u[zone] = newton(chart, u[zone], targets[zone], steps=8)[0]
        walks = [(self.right, range(middle + reach, len(self.nodes)), -1)]
        if isinstance(self.left, SoftChart):
            walks.append((self.left, range(middle - reach, -1, -1), 1))
        for chart, indices, inward in walks:
            for k in indices:
                u[k] = _newton_scalar(
                    chart, complex(u[k + inward] ** 2 / u[k + 2 * inward]), float(targets[k])
                )
        slope = np.concatenate([self.left.slope(u[:middle]), self.right.slope(u[middle:])])
        self._u, self._du = u, self.band.jacobian(self.nodes) / slope
        self._middle = middle

    def _first_guess(self, tau: Real) -> Complex:
        """Cubic Hermite interpolation of u; the two halves belong to different charts."""
        k = np.clip(((tau + REACH) / SPACING).astype(np.intp), 0, len(self.nodes) - 2)
        s = (tau - self.nodes[k]) / SPACING
        u0, u1, d0, d1 = self._u[k], self._u[k + 1], self._du[k] * SPACING, self._du[k + 1] * SPACING
        u1 = u1 + np.where(k + 1 == self._middle, self.right.base - self.left.base, 0.0)
        guess: Complex = u0 + s * (
            d0 + s * (3.0 * (u1 - u0) - 2.0 * d0 - d1 + s * (2.0 * (u0 - u1) + d0 + d1))
        )
        return guess


def _newton_scalar(chart: Chart, u: complex, target: float) -> complex:
    # The charts are plain arithmetic, which Python's complex numbers do ten times faster than 0-d arrays.
    value, slope = (
        cast("Callable[[complex], complex]", chart.value),
        cast("Callable[[complex], complex]", chart.slope),
    )
    for _ in range(30):
        step = (value(u) - target) / slope(u)
        u -= step
        if abs(step) <= 1e-10 * abs(u):
            break
    return u
