r"""The curve of the law for general tokens, in one complex parameter.

THEORY.md, section 4, has five unknowns p, pk, q, qc, g at each z. With A = 1 + a2 m the first four equations
say ``w g_kappa(w)`` is the same number at ``w = -A / (b2 qc)`` and at ``w = s / (1 - r - r s g)``, so these
are equal and one unknown w is left, in which everything is explicit. With ``chi(w) = int w / (w - t)
dkappa(t)``,

    Psi(w) = b2 w^2 (1 - chi) (1 - r (1 - chi)) / chi,
    m = 1 / (Psi - a2),        z = -chi (Psi - a2)^2 / Psi,        1 + a2 m = Psi / (Psi - a2).

Integrating ``m dz = d(m z) - chi dlog(Psi)`` by parts gives the distribution function for *every* kappa:

    F(x) = 2 + [Im(a2 chi / Psi - 2 chi) - 2 int arg(w - t) dkappa(t) - arg(1 - chi)
                + (1/r - 1) arg(1 - r (1 - chi))] / pi,

every argument on its principal branch, because for Im w > 0 both 1 - chi and -(1 - r (1 - chi)) lie in the
upper half plane. Everything below is in units of theta1: a2 and b2 add up to one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.optimize import brentq

from scalestudy.errors import LawError
from scalestudy.limit.gram import GramLaw
from scalestudy.limit.law import Complex, Mask, Real

SAMPLES_PER_GAP = 48
EVEN_SAMPLES = 400
NEWTON_TOLERANCE = 1e-10
NARROW = 3e-2
CONTOUR_POINTS = 400
PATH_STEPS = 400
PATH_TOLERANCE = 0.2
DESCENT = np.geomspace(1.0, 1e-14, 113)


@dataclass(frozen=True)
class Edge:
    """An edge of the support: w on the real axis and x there; the hard edge has x = 0."""

    w: float
    x: float


@dataclass(frozen=True)
class GeneralCurve:
    """w -> (z, m, F) for the share a2 of independent noise, b2 = 1 - a2, ratio r, and tokens kappa."""

    a2: float
    b2: float
    ratio: float
    kappa: GramLaw

    def z_and_slope(self, w: Complex) -> tuple[Complex, Complex]:
        """z(w) and dz/dw, from Q = chi Psi, which stays finite where chi vanishes."""
        k = self.kappa.response(w)
        inner = 1.0 - self.ratio * k.rest
        q = self.b2 * w * w * k.rest * inner
        dq = self.b2 * w * (2.0 * k.rest * inner + w * k.slope * (self.ratio * k.rest - inner))
        excess, dexcess = q - self.a2 * k.chi, dq - self.a2 * k.slope
        ratio = excess / q
        return -excess * ratio, -ratio * (2.0 * dexcess - ratio * dq)

    def stieltjes(self, w: Complex) -> Complex:
        """m(w)."""
        k = self.kappa.response(w)
        return k.chi / (self.b2 * w * w * k.rest * (1.0 - self.ratio * k.rest) - self.a2 * k.chi)

    def mass(self, w: Complex) -> Real:
        """F at points with Im w >= 0."""
        k = self.kappa.response(w)
        inner = 1.0 - self.ratio * k.rest
        q = self.b2 * w * w * k.rest * inner
        # On the real axis the limit from above is meant, whatever the sign of a zero imaginary part.
        angle_rest = np.where(w.imag > 0.0, np.angle(k.rest), np.pi * (k.rest.real < 0.0))
        angle_inner = np.where(w.imag > 0.0, np.angle(inner), -np.pi * (inner.real < 0.0))
        elementary = (self.a2 * k.chi * k.chi / q - 2.0 * k.chi).imag - angle_rest
        elementary += (1.0 / self.ratio - 1.0) * angle_inner - 2.0 * self.kappa.argument(w)
        return 2.0 + elementary / np.pi

    def newton(self, w: Complex, x: Complex | Real, steps: int = 40) -> tuple[Complex, Real]:
        """Solve z(w) = x by Newton's method on sqrt(z / x) - 1, which is regular at the hard edge too.

        Returns the roots and the size of the last relative step.
        """
        last = np.full(np.shape(w), np.inf)
        for _ in range(steps):
            z, slope = self.z_and_slope(w)
            root = np.sqrt(z / x)
            step = 2.0 * root * (root - 1.0) * x / slope
            longest = 0.3 * np.abs(w)
            step = step * longest / np.maximum(np.abs(step), longest)
            w = w - step
            last = np.abs(step) / np.abs(w)
            # Newton's method squares the error: even at a soft edge one more step would be below rounding.
            if (last < NEWTON_TOLERANCE).all():
                break
        return w, last

    def physical(self, z: Complex) -> Complex:
        """Return w over z, Im z >= 0, followed down from far above, where w is close to z / b2."""
        far = 1e3 * (1.0 + np.abs(z))
        w: Complex = np.asarray((z + 1j * far) / self.b2, dtype=np.complex128)
        for height in far * DESCENT[:, None]:
            w = self.newton(w, z + 1j * height, steps=6)[0]
        w = self.newton(w, z)[0]
        return conjugated(w, w.imag < 0.0)

    def follow(self, w: complex, start: float, stop: float) -> complex:
        """Continue w inside the support from z = start^2 to z = stop^2, in steps that stay on the path."""
        r, step = start, stop - start
        point = np.array([w])
        for _ in range(PATH_STEPS):
            # r + (stop - r) need not be stop in floating point, so arriving is noted rather than compared.
            arrives = abs(stop - r) <= abs(step)
            if arrives:
                step = stop - r
            slope = self.z_and_slope(point)[1]
            half = point + step * r / slope
            predicted = point + step * (2.0 * r + step) / self.z_and_slope(half)[1]
            corrected, last = self.newton(predicted, np.array([(r + step) ** 2]), steps=8)
            travelled = np.abs(corrected - point)
            on_path = np.abs(corrected - predicted) <= PATH_TOLERANCE * travelled
            if (on_path & (last < 1e-6) & (corrected.imag > 0.0)).all():
                point, r, step = corrected, r + step, 2.0 * step
                if arrives:
                    return complex(point[0])
            else:
                step *= 0.5
        raise LawError(
            "The support of this law cannot be resolved: it is about to split. Move beta or a ratio slightly."
        )

    def hard_edge(self) -> Edge:
        """Return the w < 0 with Psi = a2, unique because Psi increases in -w wherever it is positive."""

        def excess(log_s: float) -> float:
            w = np.array([complex(-math.exp(log_s))])
            k = self.kappa.response(w)
            psi = self.b2 * w * w * k.rest * (1.0 - self.ratio * k.rest) / k.chi
            return float(psi[0].real / self.a2 - 1.0)

        return Edge(-math.exp(brentq(excess, -60.0, 60.0, xtol=1e-15, rtol=1e-15)), 0.0)

    def hard_edge_coefficient(self, edge: Edge) -> float:
        """C in pdf ~ C / sqrt(x): sqrt(chi / a2) / pi at the hard edge."""
        chi = self.kappa.response(np.array([complex(edge.w)])).chi
        return math.sqrt(float(chi[0].real) / self.a2) / math.pi

    def moment(self, k: int, inside: Complex) -> float:
        """k-th moment, ``-(1 / 2 pi i) * contour integral of z^k m dz`` on a circle in the w plane.

        Parameters
        ----------
        k : int
            Order.
        inside : complex array
            Points of the curve over the support, which the circle must surround.
        """
        centre = 0.5 * (inside.real.min() + inside.real.max())
        radius = 1.5 * np.abs(inside - centre).max()
        ray = radius * np.exp(1j * np.pi * (np.arange(CONTOUR_POINTS) + 0.5) / CONTOUR_POINTS)
        w = centre + ray
        z, slope = self.z_and_slope(w)
        return float(-np.mean(z**k * self.stieltjes(w) * slope * ray).real)

    def edges(self) -> list[Edge]:
        """Return all edges in ascending x: the hard one, the two of each gap, and the right one.

        Outside the support w is real, off the support of kappa, and increases with x. So the stretches of the
        real axis on which z is positive and increases are candidates for gaps, and following w from the upper
        half plane down to their middle tells which are.
        """
        hard = self.hard_edge()
        bounds = [(hard.w, 0.0), *self.kappa.gaps()]
        inner = [gap for bound in bounds[:-1] for gap in self._rising(*bound) if self._is_physical(gap)]
        right = self._turning_points(*bounds[-1])[-1]
        edges = [hard, *(edge for gap in sorted(inner, key=lambda gap: gap[0].x) for edge in gap), right]
        if any(b.x <= a.x for a, b in pairwise(edges)):
            raise LawError("The support of this law cannot be resolved: two of its edges nearly coincide.")
        return edges

    def _rising(self, left: float, right: float) -> list[tuple[Edge, Edge]]:
        """Pairs (minimum, maximum) of z > 0 in a bounded interval."""
        turning = self._turning_points(left, right)
        return [(a, b) for a, b in pairwise(turning) if 0.0 < a.x < b.x]

    def _turning_points(self, left: float, right: float) -> list[Edge]:
        """Zeros of dz/dw between the samples of an interval off the support of kappa.

        Spaces between the many close atoms of a token matrix are passed over: the law is smoothed on the
        scale sqrt(r) >= 0.1 and has no gap over them. If it had, the walk through its tables would not
        arrive.
        """
        if right - left < NARROW * right:
            return []
        w = _samples(left, right)
        slopes = self._real_slope(w)
        found = []
        for i in np.flatnonzero(slopes[:-1] * slopes[1:] < 0.0):
            root = float(brentq(self._slope_at, w[i], w[i + 1], xtol=1e-15))
            found.append(Edge(root, float(self.z_and_slope(np.array([complex(root)]))[0][0].real)))
        return found

    def _is_physical(self, gap: tuple[Edge, Edge]) -> bool:
        middle = math.sqrt(gap[0].x * gap[1].x)
        w = self.physical(np.array([complex(middle)]))[0]
        return bool(abs(w.imag) < 1e-6 * abs(w) and gap[0].w < w.real < gap[1].w)

    def _slope_at(self, w: float) -> float:
        return float(self._real_slope(np.array([w]))[0])

    def _real_slope(self, w: Real) -> Real:
        slope: Real = self.z_and_slope(w.astype(np.complex128))[1].real
        return slope


def conjugated(values: Complex, where: Mask) -> Complex:
    """Conjugate some of the values."""
    result: Complex = np.where(where, values.conj(), values)
    return result


def _samples(left: float, right: float) -> Real:
    """Points in a gap of kappa, crowding at both of its ends."""
    offsets = np.geomspace(1e-9, 0.5, SAMPLES_PER_GAP)
    if np.isinf(right):
        return left * (1.0 + np.concatenate([offsets, np.geomspace(0.6, 1e18, 3 * SAMPLES_PER_GAP)]))
    span = right - left
    even = np.linspace(left, right, EVEN_SAMPLES + 2)[1:-1]
    return np.unique(np.concatenate([left + span * offsets, even, right - span * offsets]))
