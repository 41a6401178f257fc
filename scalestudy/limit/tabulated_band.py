"""One interval of a general law's support: exact values at nodes in tau, splines between them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import BSpline, make_interp_spline

from scalestudy.errors import LawError
from scalestudy.limit.bands import Band
from scalestudy.limit.general_curve import GeneralCurve
from scalestudy.limit.general_edges import Edge
from scalestudy.limit.law import Complex, Mask, Real

HARD_REACH, SOFT_REACH = 28.0, 17.0
FIRST_SPACING = 0.2
ROUNDS = 30
LEAVE_STEPS = 9
CDF_TOLERANCE = 1e-10
PDF_TOLERANCE = 1e-7
INTERIOR = 12.0
NODES_MAXIMUM = 6000
QUANTILE_STEPS = 12


@dataclass(frozen=True)
class Exact:
    """Exact values at some tau: u on the curve, log of the density in r, and the distribution function."""

    u: Complex
    log_density: Real
    mass: Real


class TabulatedBand:
    """Density, distribution and partial mean over one interval, in units of theta1.

    Nodes are solved by walking in from the right edge; the walk must arrive at the left one. Midpoints of all
    cells are then solved too, and where the splines miss them they join the nodes, until none is missed.

    Parameters
    ----------
    curve : GeneralCurve
        The law's curve.
    left, right : Edge
        The ends; left is the hard edge if its x is 0.
    below, upto : float
        The distribution function at the ends.

    Attributes
    ----------
    cdf_error : float
        Largest error of the splines in F at the midpoints, measured when the tables were built.

    Raises
    ------
    LawError
        The walk does not arrive, or a tolerance is not met.
    """

    def __init__(self, curve: GeneralCurve, left: Edge, right: Edge, below: float, upto: float) -> None:
        self._curve, self._hard = curve, left.x == 0.0
        self.band = Band(float(np.sqrt(left.x)), float(np.sqrt(right.x)), below, upto)
        reach = HARD_REACH if self._hard else SOFT_REACH
        cells = round((reach + SOFT_REACH) / FIRST_SPACING)
        nodes = np.linspace(-reach, SOFT_REACH, cells + 1)
        exact = self._exact(nodes, self._walk(nodes, left, right))
        self.cdf_error = np.inf
        for _ in range(ROUNDS):
            self._tabulate(nodes, exact)
            middle = 0.5 * (nodes[1:] + nodes[:-1])
            truth = self._between(nodes, middle, exact)
            miss = np.abs(self._mass_spline(middle) - truth.mass)
            miss_density = np.abs(np.expm1(self._density_spline(middle) - truth.log_density))
            self.cdf_error = float(miss.max())
            # Next to an edge the density is known no better than x itself, and splines follow its power law.
            coarse = (miss > CDF_TOLERANCE) | ((miss_density > PDF_TOLERANCE) & (np.abs(middle) < INTERIOR))
            if not coarse.any():
                return
            # A spline needs its neighbours: refine those cells too.
            coarse[1:] |= coarse[:-1]
            coarse[:-1] |= coarse[1:]
            if coarse.sum() + len(nodes) > NODES_MAXIMUM:
                break
            nodes, exact = _insert(nodes, exact, middle, truth, coarse)
        raise LawError(
            f"The law's tables miss their tolerance: {self.cdf_error:.1e} in the distribution function, "
            f"limit {CDF_TOLERANCE:.0e}. Its support is about to split; move beta or a ratio slightly."
        )

    def x(self, tau: Real) -> Real:
        """Place, in units of theta1, from the nearer edge."""
        r = np.where(
            tau < 0.0, self.band.left + self.band.from_left(tau), self.band.right + self.band.from_right(tau)
        )
        return r * r

    def tau(self, x: Real) -> Real:
        """Coordinate of places strictly inside."""
        r = np.sqrt(x)
        with np.errstate(divide="ignore"):
            tau: Real = np.log(r - self.band.left) - np.log(self.band.right - r)
        return np.clip(tau, -700.0, 700.0)

    def density(self, tau: Real) -> Real:
        """Density in r; beyond the table by the power law of the edge."""
        low, high = self._beyond(tau)
        inside = self._density_spline(np.clip(tau, self._first, self._last))
        left_power = 0.0 if self._hard else 0.5
        return np.exp(inside - left_power * low - 0.5 * high)

    def mass(self, tau: Real) -> Real:
        """Distribution function; beyond the table by the power law of the edge."""
        low, high = self._beyond(tau)
        band = self.band
        top = band.mass_upto
        mass = self._mass_spline(np.clip(tau, self._first, self._last))
        left_power = 1.0 if self._hard else 1.5
        mass = np.where(low > 0.0, band.mass_below + self._first_mass * np.exp(-left_power * low), mass)
        mass = np.where(high > 0.0, top - self._last_mass * np.exp(-1.5 * high), mass)
        return np.clip(mass, band.mass_below, top)

    def quantile(self, p: Real) -> Real:
        """Tau at which the distribution function is p, strictly inside the band's masses."""
        band, nodes = self.band, self._nodes
        cell = np.clip(np.searchsorted(self._node_mass, p, side="right") - 1, 0, len(nodes) - 2)
        low, high = nodes[cell], nodes[cell + 1]
        rise = np.maximum(self._node_mass[cell + 1] - self._node_mass[cell], 1e-300)
        tau = low + (high - low) * np.clip((p - self._node_mass[cell]) / rise, 0.0, 1.0)
        for _ in range(QUANTILE_STEPS):
            miss = self._mass_spline(tau) - p
            step = miss / (np.exp(self._density_spline(tau)) * band.jacobian(tau))
            tau = np.clip(tau - step, low, high)
            if (np.abs(miss) < 1e-15).all():
                break
        left_power = 1.0 if self._hard else 1.5
        first, last = p - band.mass_below, band.mass_upto - p
        with np.errstate(divide="ignore"):
            tau = np.where(
                first < self._first_mass, self._first + np.log(first / self._first_mass) / left_power, tau
            )
            return np.where(last < self._last_mass, self._last - np.log(last / self._last_mass) / 1.5, tau)

    def partial_mean(self, tau: Real) -> Real:
        """Integral of x dF from the band's left end."""
        return self._mean_spline(np.clip(tau, self._first, self._last))

    def totals(self) -> tuple[float, float]:
        """Mass and mean of the tables, which must be those of the law."""
        flow: BSpline = make_interp_spline(self._nodes, self._flow, k=5)
        return float(flow.integrate(self._first, self._last)), float(self.partial_mean(np.array([np.inf]))[0])

    def _beyond(self, tau: Real) -> tuple[Real, Real]:
        return np.maximum(self._first - tau, 0.0), np.maximum(tau - self._last, 0.0)

    def _walk(self, nodes: Real, left: Edge, right: Edge) -> Complex:
        """Solve node after node from the right edge; the path must end at the left one."""
        r, found = np.sqrt(self.x(nodes)), np.empty(len(nodes), dtype=np.complex128)
        u, _ = self._curve.newton(self._leave(right, r[-1] ** 2), r[-1:] ** 2)
        found[-1] = u[0]
        for k in range(len(nodes) - 2, -1, -1):
            found[k] = self._curve.follow(complex(found[k + 1]), float(r[k + 1]), float(r[k]))
        if abs(found[0] - left.u) > 1e-2 * (abs(left.u) + abs(right.u)):
            raise LawError(
                "The support of this law cannot be resolved: no path leads "
                f"from its edge {right.x:.6g} theta1 to {left.x:.6g} theta1."
            )
        return found

    def _between(self, nodes: Real, middle: Real, exact: Exact) -> Exact:
        """Exact values at midpoints, from the spline of u or, where that is off the path, by following it."""
        guess = make_interp_spline(nodes, exact.u, k=3)(middle)
        u, last = self._curve.newton(guess, self.x(middle), steps=8)
        off = np.abs(u - guess) > 0.2 * np.abs(np.diff(exact.u))
        off |= (last > 1e-6) | (u.imag <= 0.0)
        r_nodes, r = np.sqrt(self.x(nodes)), np.sqrt(self.x(middle))
        for k in np.flatnonzero(off):
            u[k] = self._curve.follow(complex(exact.u[k + 1]), float(r_nodes[k + 1]), float(r[k]))
        return self._exact(middle, u)

    def _leave(self, edge: Edge, x: float) -> Complex:
        """First point inside: u - w_edge = i sqrt(2 |x - x_edge| / z'')."""
        step = 1e-4 * abs(edge.u)
        for _ in range(LEAVE_STEPS):
            around = np.array([complex(edge.u - step), complex(edge.u + step)])
            slopes = self._curve.z_and_slope(around)[1].real
            curvature = (slopes[1] - slopes[0]) / (2.0 * step)
            if slopes[0] < 0.0 < slopes[1]:
                return np.array([edge.u + 1j * np.sqrt(2.0 * (edge.x - x) / curvature)])
            step *= 0.1
        raise LawError(
            f"The support of this law cannot be resolved: its edge {edge.x:.6g} theta1 is not isolated."
        )

    def _exact(self, tau: Real, u: Complex) -> Exact:
        log_density = np.log(2.0 / np.pi * np.sqrt(self.x(tau)) * self._curve.stieltjes(u).imag)
        return Exact(u, log_density, self._curve.mass(u))

    def _tabulate(self, nodes: Real, exact: Exact) -> None:
        self._nodes, self.u = nodes, exact.u
        self._first, self._last = float(nodes[0]), float(nodes[-1])
        # Close to an edge F is a difference of numbers of order one: keep the nodes in order.
        self._node_mass = np.maximum.accumulate(exact.mass)
        self._flow = np.exp(exact.log_density) * self.band.jacobian(nodes)
        power = 1.0 if self._hard else 1.5
        self._first_mass = float(self._flow[0] / power)
        self._last_mass = float(self._flow[-1] / 1.5)
        self._mass_spline: BSpline = make_interp_spline(nodes, exact.mass, k=5)
        self._density_spline: BSpline = make_interp_spline(nodes, exact.log_density, k=5)
        self._mean_spline: BSpline = make_interp_spline(
            nodes, self.x(nodes) * self._flow, k=5
        ).antiderivative()


def _insert(nodes: Real, exact: Exact, middle: Real, truth: Exact, chosen: Mask) -> tuple[Real, Exact]:
    """Add the chosen midpoints, in order."""
    places = np.flatnonzero(chosen) + 1
    return np.insert(nodes, places, middle[chosen]), Exact(
        np.insert(exact.u, places, truth.u[chosen]),
        np.insert(exact.log_density, places, truth.log_density[chosen]),
        np.insert(exact.mass, places, truth.mass[chosen]),
    )
