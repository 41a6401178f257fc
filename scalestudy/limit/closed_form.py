r"""The law of orthonormal tokens: density, distribution and partial mean in closed form on the curve.

With m = -v / (s2 r) and ``int v dr = r v - int K dv`` every quantity is the imaginary part of an elementary
function at the physical point v (Im v < 0) over r = sqrt(x / s2), y = v^2:

    pdf(x) = -Im v / (pi s2 r)
    cdf(x) = 1 + [2 arg v - 2 r Im v + t Im y - arg(1 - q y) / c] / pi
    int_0^x x' dF = s2 (1 - (2 / pi) Im [ r^3 v / 3 - J(y) / 6 ]),       J = int phi(y)^3 / y^2 dy,

    J = -1/y + 3 t log y + 3 t^2 y + t^3 y^2 / 2 + 3 o log h + 6 t o L + (3 t^2 / c)(L - y)
        + 3 o^2 h + (3 t o / c)(h - L) + o^3 h^2 / 2,

o = 1 - t, h = y / (1 - q y), L = -log(1 - q y) / q. Next to the hard edge the distribution is written in
the edge's chart, where it has full relative accuracy down to the smallest double.
"""

from __future__ import annotations

import numpy as np

from scalestudy.limit.bands import Band, tau_of
from scalestudy.limit.charts import HardChart, Mask, SoftChart
from scalestudy.limit.curve import Complex, Real, SoftEdge, make_curve
from scalestudy.limit.parameters import Statistics
from scalestudy.limit.sheet import Place, Point, Sheet

QUANTILE_STEPS = 8


class ClosedFormLaw:
    """The limit law for orthonormal tokens; arrays are one-dimensional and free of NaN.

    Parameters
    ----------
    statistics : Statistics
        Variances and ratio.
    """

    def __init__(self, statistics: Statistics) -> None:
        self.curve = make_curve(statistics)
        self._hard = HardChart(self.curve)
        self._sheets = [self._sheet(*ends) for ends in self._ends()]
        self._node_cdf = [self._cdf_at(sheet, sheet.place(sheet.nodes)) for sheet in self._sheets]

    def _ends(self) -> list[tuple[SoftEdge | None, SoftEdge, float, float]]:
        """Left edge (None for the hard edge), right edge, and cdf at both, of each interval."""
        edges, below = self.curve.edges, self.curve.split_mass
        if len(edges) == 1:
            return [(None, edges[0], 0.0, 1.0)]
        return [(None, edges[0], 0.0, below), (edges[1], edges[2], below, 1.0)]

    def _sheet(self, left: SoftEdge | None, right: SoftEdge, below: float, upto: float) -> Sheet:
        band = Band(left.r if left else 0.0, right.r, below, upto)
        return Sheet(
            self.curve,
            band,
            SoftChart(self.curve, left) if left else self._hard,
            SoftChart(self.curve, right),
        )

    def intervals(self) -> list[tuple[float, float, float]]:
        """Return left end, right end and mass of each interval of the support."""
        return [(left.x if left else 0.0, right.x, upto - below) for left, right, below, upto in self._ends()]

    def pdf(self, x: Real) -> Real:
        """Density; infinite at the hard edge, zero at the soft ones."""
        density = np.where(x == 0.0, np.inf, 0.0)
        for sheet, inside, place in self._inside(x):
            density[inside] = self._pdf_at(sheet, place)
        return density

    def cdf(self, x: Real) -> Real:
        """Distribution function."""
        masses = np.zeros_like(x)
        for sheet, (left, right, _) in zip(self._sheets, self.intervals(), strict=True):
            masses[x >= left] = sheet.band.mass_below
            masses[x >= right] = sheet.band.mass_upto
        for sheet, inside, place in self._inside(x):
            masses[inside] = self._cdf_at(sheet, place)
        return masses

    def ppf(self, p: Real) -> Real:
        """Smallest x with cdf(x) >= p: at the mass below a gap, the gap's lower end."""
        x = np.zeros_like(p)
        for sheet, node_cdf, (_, right, _) in zip(
            self._sheets, self._node_cdf, self.intervals(), strict=True
        ):
            x[p > sheet.band.mass_below] = right
            inside = (p > sheet.band.mass_below) & (p < node_cdf[-1])
            if inside.any():
                x[inside] = self._quantile(sheet, node_cdf, p[inside])
        return x

    def partial_mean(self, p: Real) -> Real:
        """Integral of ppf over [0, p]."""
        x = self.ppf(p)
        partial = np.zeros_like(p)
        for sheet, (left, right, _) in zip(self._sheets, self.intervals(), strict=True):
            partial[x >= left] = self._partial_mean_at_edge(sheet.left)
            partial[x >= right] = self._partial_mean_at_edge(sheet.right)
        for sheet, inside, place in self._inside(x):
            partial[inside] = self._partial_mean_at(sheet.solve(place).v, sheet.band.left + place.from_left)
        # The quantile is a rounded number, so cdf(x) is not quite p.
        return partial + x * (p - self.cdf(x))

    def moment(self, k: int) -> float:
        """m_k = s2^k / (2k + 1) [y^k] phi(y)^(2k + 1); every term is positive."""
        curve = self.curve
        phi = np.concatenate([[1.0], curve.one_minus_t * curve.q ** np.arange(k)])
        if k:
            phi[1] += curve.t
        power = np.ones(1)
        for _ in range(2 * k + 1):
            power = np.convolve(power, phi)[: k + 1]
        return float(curve.s2**k * power[k] / (2 * k + 1))

    def hard_edge_coefficient(self) -> float:
        """C in pdf ~ C / sqrt(x) at 0: |v_hard| / (pi sqrt(s2))."""
        return float(-self._hard.base.imag / (np.pi * np.sqrt(self.curve.s2)))

    def stieltjes(self, z: Complex) -> Complex:
        """Return m(z) = int dnu / (x - z); on the support, its limit from the upper half plane."""
        lower = z.imag < 0.0
        r = np.sqrt(np.where(lower, z.conj(), z) / self.curve.s2)
        v = self._physical(r)
        m = -v / (self.curve.s2 * r)
        return np.where(lower, m.conj(), m)

    def _physical(self, r: Complex) -> Complex:
        """Return the root below the axis or, for r outside the support, the real one where K decreases."""
        roots = self.curve.roots(r)
        below = -roots.imag / np.abs(roots)
        best = np.where(
            below.max(axis=-1) > 1e-6, below.argmax(axis=-1), self.curve.slope(roots).real.argmin(axis=-1)
        )
        v: Complex = np.take_along_axis(roots, best[..., None], axis=-1)[..., 0]
        for _ in range(2):
            step = (self.curve.value(v) - r) / self.curve.slope(v)
            v = v - np.where(np.abs(step) < 1e-4 * np.abs(v), step, 0.0)
        return v

    def _inside(self, x: Real) -> list[tuple[Sheet, Mask, Place]]:
        """Sort x into the bands' interiors, with the distances to both edges."""
        found = []
        r = np.sqrt(np.maximum(x, 0.0) / self.curve.s2)
        for sheet, (left, right, _) in zip(self._sheets, self.intervals(), strict=True):
            inside = (x > left) & (x < right)
            if inside.any():
                from_left, from_right = (
                    self._distance(c, x[inside], r[inside]) for c in (sheet.left, sheet.right)
                )
                found.append((sheet, inside, Place(from_left, from_right, tau_of(from_left, from_right))))
        return found

    def _distance(self, chart: HardChart | SoftChart, x: Real, r: Real) -> Real:
        """Return r - r_edge, from the edge's x in two doubles."""
        if isinstance(chart, HardChart):
            return r
        edge = chart.edge
        return ((x - edge.x) - edge.x_low) / (self.curve.s2 * (r + edge.r))

    def _pdf_at(self, sheet: Sheet, place: Place) -> Real:
        r = sheet.band.left + place.from_left
        return -sheet.solve(place).v.imag / (np.pi * self.curve.s2 * r)

    def _cdf_at(self, sheet: Sheet, place: Place) -> Real:
        return self._mass(sheet, sheet.solve(place), sheet.band.left + place.from_left)

    def _mass(self, sheet: Sheet, point: Point, r: Real) -> Real:
        curve, v = self.curve, point.v
        y = v * v
        inner = (
            2.0 * np.angle(v) - 2.0 * r * v.imag + curve.t * y.imag - np.angle(1.0 - curve.q * y) / curve.c
        )
        mass = 1.0 + inner / np.pi
        if sheet.left is self._hard and point.near_left.any():
            near = point.near_left
            mass[near] = self._mass_at_hard_edge(v[near], point.u[near], r[near])
        band = sheet.band
        return np.clip(mass, band.mass_below, band.mass_upto)

    def _mass_at_hard_edge(self, v: Complex, u: Complex, r: Real) -> Real:
        """Return the same function as a difference from its value 0 at v_hard."""
        curve, base = self.curve, self._hard.base
        dy = u * (base + v)
        inner = 2.0 * np.angle(1.0 + u / base) + curve.t * dy.imag - 2.0 * r * v.imag
        inner -= np.angle(1.0 - curve.q * dy / (1.0 - curve.q * base * base)) / curve.c
        return inner / np.pi

    def _partial_mean_at(self, v: Complex, r: Real) -> Real:
        curve, y = self.curve, v * v
        t, o, c = curve.t, curve.one_minus_t, curve.c
        h = y / (1.0 - curve.q * y)
        arg_pole = np.angle(1.0 - curve.q * y)
        arg_y, im_l = 2.0 * np.angle(v), -arg_pole / curve.q
        j = -(1.0 / y).imag + 3.0 * t * arg_y + 3.0 * t * t * y.imag + 0.5 * t**3 * (y * y).imag
        j += 3.0 * o * (arg_y - arg_pole) + 6.0 * t * o * im_l + (3.0 * t * t / c) * (im_l - y.imag)
        j += 3.0 * o * o * h.imag + (3.0 * t * o / c) * (h.imag - im_l) + 0.5 * o**3 * (h * h).imag
        return curve.s2 * (1.0 - (2.0 * r**3 * v.imag - j) / (3.0 * np.pi))

    def _partial_mean_at_edge(self, chart: HardChart | SoftChart) -> float:
        if isinstance(chart, HardChart):
            return 0.0
        v = np.array([complex(chart.edge.v, -0.0)])
        # Just below the real axis: the logarithms' cuts are reached from there.
        return float(self._partial_mean_at(v, np.array([chart.edge.r]))[0])

    def _quantile(self, sheet: Sheet, node_cdf: Real, p: Real) -> Real:
        """Newton's method for cdf = p in tau, started from the table and kept inside its cell."""
        band, nodes = sheet.band, sheet.nodes
        cell = np.clip(np.searchsorted(node_cdf, p, side="right") - 1, 0, len(nodes) - 2)
        low, high = nodes[cell], nodes[cell + 1]
        rise = node_cdf[cell + 1] - node_cdf[cell]
        tau = low + (high - low) * np.clip((p - node_cdf[cell]) / np.where(rise > 0.0, rise, 1.0), 0.0, 1.0)
        for _ in range(QUANTILE_STEPS):
            place = sheet.place(tau)
            point = sheet.solve(place)
            miss = self._mass(sheet, point, band.left + place.from_left) - p
            slope = -2.0 / np.pi * point.v.imag * band.jacobian(tau)
            step = miss / slope
            tau = np.clip(tau - step, low, high)
            if (np.abs(step) < 1e-9).all() or (np.abs(miss) < 1e-16).all():
                break
        if isinstance(sheet.left, HardChart):
            r = band.from_left(tau)
            # Below the table the distribution of r is linear to rounding.
            below = p < node_cdf[0]
            r[below] = -0.5 * np.pi * p[below] / sheet.left.base.imag
            left_x = self.curve.s2 * r * r
        else:
            edge = sheet.left.edge
            distance = band.from_left(tau)
            left_x = edge.x + self.curve.s2 * distance * (distance + 2.0 * edge.r)
        edge, distance = sheet.right.edge, band.from_right(tau)
        right_x = edge.x + self.curve.s2 * distance * (distance + 2.0 * edge.r)
        return np.where(tau < 0.0, left_x, right_x)
