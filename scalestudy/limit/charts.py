"""Local coordinates on the curve ``r = K(v)``: where each is used, its equation loses no digits.

A chart writes ``v = base + u`` and gives ``value(u) = K(base + u) - K(base)`` without cancellation, so that a
root u of ``value(u) = r - K(base)`` has full *relative* accuracy even when u is 1e-150. Newton's method in
the right chart is all the root finding the law needs.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from scalestudy.limit.curve import Complex, Curve, Real, SoftEdge

Mask = npt.NDArray[np.bool_]


class Chart(Protocol):
    """A coordinate u around ``base``, in which K is ``K(base) + value(u)``."""

    base: complex

    def value(self, u: Complex) -> Complex:
        """K(base + u) - K(base)."""

    def slope(self, u: Complex) -> Complex:
        """K'(base + u), the derivative of `value`."""


class BulkChart:
    """The plain coordinate u = v, for points away from every edge."""

    base: complex = 0.0

    def __init__(self, curve: Curve) -> None:
        self.value = curve.value
        self.slope = curve.slope


class HardChart:
    """Around the hard edge, where K(base) = 0: ``K(v) = u T(u)`` with T(0) != 0."""

    def __init__(self, curve: Curve) -> None:
        self.base = curve.v_hard
        self.slope_at_base = complex(curve.slope(np.array(self.base)))
        self._curve = curve
        self._y = (self.base * self.base).real

    def value(self, u: Complex) -> Complex:
        """K(base + u)."""
        curve, v = self._curve, self.base + u
        rational = (1.0 + curve.q * v * self.base) / ((1.0 - curve.q * v * v) * (1.0 - curve.q * self._y))
        return u * (curve.t - 1.0 / (self.base * v) + curve.one_minus_t * rational)

    def slope(self, u: Complex) -> Complex:
        """K'(base + u)."""
        return self._curve.slope(self.base + u)


class SoftChart:
    """Around a critical point, where K'(base) = 0: ``K(v) - K(base) = u^2 S(u)``."""

    def __init__(self, curve: Curve, edge: SoftEdge) -> None:
        self.base = complex(edge.v)
        self.edge = edge
        self._minus, self._plus = 1.0 - curve.root_q * edge.v, 1.0 + curve.root_q * edge.v
        self._root_q = curve.root_q
        self._weight = 0.5 * curve.one_minus_t * curve.root_q
        self.curvature = float(self._parts(np.array(0.0 + 0.0j))[0].real)

    def _parts(self, u: Complex) -> tuple[Complex, Complex]:
        """S(u) and S'(u), by partial fractions of v / (1 - q v^2)."""
        v = self.base + u
        minus, plus = self._minus - self._root_q * u, self._plus + self._root_q * u
        a, b, e = 1.0 / (self._minus**2 * minus), 1.0 / (self._plus**2 * plus), 1.0 / (self.base**2 * v)
        return e + self._weight * (a - b), self._weight * self._root_q * (a / minus + b / plus) - e / v

    def value(self, u: Complex) -> Complex:
        """K(base + u) - K(base)."""
        return u * u * self._parts(u)[0]

    def slope(self, u: Complex) -> Complex:
        """K'(base + u)."""
        s, ds = self._parts(u)
        return u * (2.0 * s + u * ds)

    def first_guess(self, distance: Real) -> Complex:
        """Leading-order u, below the real axis, at r = r_edge + distance inside the band."""
        return -1j * np.sqrt(np.abs(distance / self.curvature))


def newton(chart: Chart, u: Complex, target: Real, steps: int = 12) -> tuple[Complex, Mask]:
    """Solve ``chart.value(u) = target`` from starting points, all at once.

    Returns
    -------
    u : complex array
        The roots, where it converged.
    converged : bool array
        Whether the last step was at rounding level and the root is below the real axis. Inside the support
        that makes it *the* root, since there is only one complex pair.
    """
    for _ in range(steps):
        step = (chart.value(u) - target) / chart.slope(u)
        u = u - step
        small = np.abs(step) <= 1e-9 * np.abs(u)
        if small.all():
            break
    # The last step was below 1e-9 of u, and Newton's method squares that.
    return u, small & ((chart.base + u).imag < 0.0)
