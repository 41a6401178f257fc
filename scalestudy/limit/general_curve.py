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

A point is stored as ``u = w - base``, base the w < 0 of the hard edge, at which Psi = a2. For small a2 the
lowest interval of the support is a speck around base, so small that w could not tell its points apart; in u,
with ``Psi - a2`` and ``1 - r (1 - chi)`` as differences from their values there, it has all its digits.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from scalestudy.errors import LawError
from scalestudy.limit.gram import GramLaw, Response
from scalestudy.limit.law import Complex, Mask, Real
from scalestudy.limit.parameters import Statistics

NEWTON_TOLERANCE = 1e-10
CONTOUR_POINTS = 400
PATH_STEPS = 400
PATH_TOLERANCE = 0.2
DESCENT = np.geomspace(1.0, 1e-14, 113)


@dataclass(frozen=True)
class Parts:
    """Functions of a point: w, chi, 1 - (1 - chi) r, q = chi Psi, excess = chi (Psi - a2), and slopes."""

    w: Complex
    chi: Complex
    rest: Complex
    inner: Complex
    q: Complex
    excess: Complex
    dq: Complex
    dexcess: Complex


@dataclass(frozen=True)
class GeneralCurve:
    """u -> (z, m, F) for the share a2 of independent noise, b2 = 1 - a2, ratio r, and tokens kappa."""

    a2: float
    b2: float
    ratio: float
    kappa: GramLaw
    response: Callable[[Complex], Response]
    base: float
    base_chi: float
    base_rest: float

    def parts(self, u: Complex) -> Parts:
        """Everything z, m and F are made of."""
        r, b2, base = self.ratio, self.b2, self.base
        w = base + u
        k = self.response(w)
        # At base q = a2 chi, which fixes 1 - r (1 - chi) there better than subtracting would.
        inner = self.a2 * self.base_chi / (b2 * base * base * self.base_rest) + r * u * k.divided
        excess = (w + base) * k.rest * inner + base * base * k.divided * (r * self.base_rest - inner)
        dq = b2 * w * (2.0 * k.rest * inner + w * k.slope * (r * k.rest - inner))
        return Parts(
            w=w,
            chi=k.chi,
            rest=k.rest,
            inner=inner,
            q=b2 * w * w * k.rest * inner,
            excess=u * (b2 * excess - self.a2 * k.divided),
            dq=dq,
            dexcess=dq - self.a2 * k.slope,
        )

    def z_and_slope(self, u: Complex) -> tuple[Complex, Complex]:
        """Return z and dz/du; q stays finite where chi vanishes."""
        k = self.parts(u)
        ratio = k.excess / k.q
        return -k.excess * ratio, -ratio * (2.0 * k.dexcess - ratio * k.dq)

    def stieltjes(self, u: Complex) -> Complex:
        """Return m(z(u))."""
        k = self.parts(u)
        m: Complex = k.chi / k.excess
        return m

    def mass(self, u: Complex) -> Real:
        """F at points with Im u >= 0."""
        k = self.parts(u)
        # On the real axis the limit from above is meant, whatever the sign of a zero imaginary part.
        angle_rest = np.where(u.imag > 0.0, np.angle(k.rest), np.pi * (k.rest.real < 0.0))
        angle_inner = np.where(u.imag > 0.0, np.angle(k.inner), -np.pi * (k.inner.real < 0.0))
        elementary = (self.a2 * k.chi * k.chi / k.q - 2.0 * k.chi).imag - angle_rest
        elementary += (1.0 / self.ratio - 1.0) * angle_inner - 2.0 * self.kappa.argument(k.w)
        return 2.0 + elementary / np.pi

    def newton(self, u: Complex, x: Complex | Real, steps: int = 40) -> tuple[Complex, Real]:
        """Solve z(u) = x by Newton's method on sqrt(z / x) - 1, which is regular at the hard edge too.

        Returns the roots and the size of the last relative step.
        """
        last = np.full(np.shape(u), np.inf)
        for _ in range(steps):
            z, slope = self.z_and_slope(u)
            root = np.sqrt(z / x)
            step = 2.0 * root * (root - 1.0) * x / slope
            longest = 0.3 * np.abs(u)
            step = step * longest / np.maximum(np.abs(step), longest)
            u = u - step
            last = np.abs(step) / np.abs(u)
            # Newton's method squares the error: even at a soft edge one more step would be below rounding.
            if (last < NEWTON_TOLERANCE).all():
                break
        return u, last

    def physical(self, z: Complex) -> Complex:
        """Return u over z, Im z >= 0, followed down from far above, where w is close to z / b2."""
        far = 1e3 * (1.0 + np.abs(z))
        u: Complex = np.asarray((z + 1j * far) / self.b2 - self.base, dtype=np.complex128)
        for height in far * DESCENT[:, None]:
            u = self.newton(u, z + 1j * height, steps=6)[0]
        u = self.newton(u, z)[0]
        return conjugated(u, u.imag < 0.0)

    def follow(self, u: complex, start: float, stop: float) -> complex:
        """Continue u inside the support from z = start^2 to z = stop^2, in steps that stay on the path."""
        r, step = start, stop - start
        point = np.array([u])
        for _ in range(PATH_STEPS):
            # Sums of steps miss stop by rounding: leave no last step of that size, which would go nowhere.
            arrives = abs(stop - r) <= abs(step) * (1.0 + 1e-9)
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
            f"The law cannot be followed from {start**2:.6g} to {stop**2:.6g} theta1: a gap that "
            "was not found lies there, or two edges nearly coincide. Move beta or a ratio slightly."
        )

    def hard_edge_coefficient(self) -> float:
        """C in pdf ~ C / sqrt(x): sqrt(chi / a2) / pi at the hard edge."""
        return math.sqrt(self.base_chi / self.a2) / math.pi

    def moment(self, k: int, inside: Complex) -> float:
        """k-th moment, ``-(1 / 2 pi i) * contour integral of z^k m dz`` on a circle in the plane of u.

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
        u = centre + ray
        z, slope = self.z_and_slope(u)
        return float(-np.mean(z**k * self.stieltjes(u) * slope * ray).real)


def make_general_curve(statistics: Statistics, kappa: GramLaw) -> GeneralCurve:
    """Find the hard edge, the w < 0 with Psi = a2; Psi increases in -w wherever it is positive."""
    s2, ratio = statistics.a2 + statistics.b2, float(statistics.ratio)
    a2, b2 = float(statistics.a2 / s2), float(statistics.b2 / s2)

    def excess(log_s: float) -> float:
        w = -math.exp(log_s)
        k = kappa.around(w)(np.array([complex(w)]))
        psi = b2 * w * w * k.rest * (1.0 - ratio * k.rest) / k.chi
        return float(psi[0].real / a2 - 1.0)

    base = -math.exp(brentq(excess, -60.0, 60.0, xtol=1e-15, rtol=1e-15))
    response = kappa.around(base)
    k = response(np.array([complex(base)]))
    return GeneralCurve(a2, b2, ratio, kappa, response, base, float(k.chi[0].real), float(k.rest[0].real))


def conjugated(values: Complex, where: Mask) -> Complex:
    """Conjugate some of the values."""
    result: Complex = np.where(where, values.conj(), values)
    return result
