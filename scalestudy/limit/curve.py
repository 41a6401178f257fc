r"""The rational curve behind the law of orthonormal tokens, and its edges.

With ``s2 = a2 + b2``, ``t = a2 / s2``, ``q = c (1 - t)`` and ``c = ell / d_qk`` the Stieltjes transform m of
nu is uniformised (THEORY.md, section 3) by y with ``z = s2 phi(y)^2 / y`` and ``m = -y / (s2 phi(y))``. Here
we go one step further and use ``v = sqrt(y)`` and ``r = sqrt(z / s2)``, in which the curve reads

    r = K(v) = 1/v + t v + (1 - t) v / (1 - q v^2),        m = -v / (s2 r).

So v is the Cauchy transform of the *symmetrised singular values* and ``K(v) - 1/v`` their R-transform: a
semicircle plus a symmetrised product law. This buys three things.

* No choice of root. ``K(v) = r`` is the real quartic ``-q t v^4 + q r v^3 + (1 - q) v^2 - r v + 1 = 0``. For
  Im r > 0 no root can cross the real axis (there Im K = Im r has no solution), and letting r grow shows that
  exactly one lies below it: the physical one. For real r inside the support the product of the four roots,
  ``-1/(q t)``, is negative, so there is exactly one complex pair.
* No singularity at the hard edge: v is analytic in r at r = 0.
* Everything integrates: ``int v dr = r v - int K dv``, and ``int r^2 v dr`` likewise.

The soft edges are the critical points ``K'(v) = 0``, a cubic in y. It is solved in `decimal`, and x_edge is
kept as a sum of two doubles, because the density near an edge is as sensitive to the edge as to x itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, localcontext

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq

from scalestudy.limit.parameters import DIGITS, Statistics

Complex = npt.NDArray[np.complex128]
Real = npt.NDArray[np.float64]


@dataclass(frozen=True)
class SoftEdge:
    """A square-root edge: its place on the curve, and x as ``x + x_low`` to about 32 digits."""

    v: float
    r: float
    x: float
    x_low: float


@dataclass(frozen=True)
class Curve:
    """Constants of the curve ``r = K(v)``; each is the double nearest to its exact value.

    Attributes
    ----------
    s2, t, one_minus_t, q, c : float
        Total variance, share of independent noise, its complement, ``c (1 - t)``, and ell / d_qk.
    root_q : float
        sqrt(q).
    v_hard : complex
        The point of the curve over x = 0, on the negative imaginary axis.
    edges : tuple of SoftEdge
        Soft edges in ascending x: one, or three when the support splits.
    split_mass : float
        Mass below the gap, 1 - 1/c (meaningful only for three edges).
    """

    s2: float
    t: float
    one_minus_t: float
    q: float
    c: float
    root_q: float
    v_hard: complex
    edges: tuple[SoftEdge, ...]
    split_mass: float

    def value(self, v: Complex) -> Complex:
        """K(v), the r over a point of the curve."""
        return 1.0 / v + v * (self.t + self.one_minus_t / (1.0 - self.q * v * v))

    def slope(self, v: Complex) -> Complex:
        """K'(v)."""
        y = v * v
        return self.t - 1.0 / y + self.one_minus_t * (1.0 + self.q * y) / (1.0 - self.q * y) ** 2

    def roots(self, r: Complex | Real) -> Complex:
        """All four v over each r, shape (..., 4), as inverses of a companion matrix's eigenvalues.

        The reversed quartic ``w^4 - r w^3 + (1 - q) w^2 + q r w - q t`` in w = 1/v is monic with bounded
        coefficients, so its roots are good at every beta.
        """
        companion = np.zeros((*r.shape, 4, 4), dtype=r.dtype)
        companion[..., 0, 0] = r
        companion[..., 0, 1] = self.q - 1.0
        companion[..., 0, 2] = -self.q * r
        companion[..., 0, 3] = self.q * self.t
        companion[..., (1, 2, 3), (0, 1, 2)] = 1.0
        eigenvalues: Complex = np.linalg.eigvals(companion).astype(np.complex128)
        return 1.0 / eigenvalues


def make_curve(statistics: Statistics) -> Curve:
    """Compute the constants of a curve, exactly and then rounded once."""
    with localcontext() as context:
        context.prec = DIGITS
        a2, b2, c = statistics.a2, statistics.b2, statistics.ratio
        s2 = a2 + b2
        t, one_minus_t = a2 / s2, b2 / s2
        q = c * one_minus_t
        # phi(y) = 0, that is -q t y^2 + (1 - q) y + 1 = 0, has one negative root; this form never cancels.
        root = ((1 - q) ** 2 + 4 * q * t).sqrt()
        y_hard = -2 / ((1 - q) + root) if q < 1 else ((1 - q) - root) / (2 * q * t)
        edges = sorted((_soft_edge(y, t, q, s2) for y in _critical_points(t, q)), key=lambda edge: edge.x)
        return Curve(
            s2=float(s2),
            t=float(t),
            one_minus_t=float(one_minus_t),
            q=float(q),
            c=float(c),
            root_q=float(q.sqrt()),
            v_hard=complex(0.0, -float((-y_hard).sqrt())),
            edges=tuple(edges),
            split_mass=float(1 - 1 / c),
        )


def _critical_points(t: Decimal, q: Decimal) -> list[Decimal]:
    """Positive roots of ``y (1 - q y)^2 K' = (1 - q y)^2 (t y - 1) + (1 - t) y (1 + q y)``."""
    h1, h2, h3 = 1 + 2 * q, q * (1 - t) - q * q - 2 * q * t, q * q * t

    def cubic(y: Decimal) -> Decimal:
        return -1 + y * (h1 + y * (h2 + y * h3))

    # K is convex on (0, 1/sqrt(q)): the right edge is the one root there, and is simple.
    right = Decimal(
        brentq(lambda y: float(cubic(Decimal(y))), 0.0, float(1 / q) if q > 0 else 1.0, xtol=1e-300)
    )
    for _ in range(4):
        right -= cubic(right) / (h1 + right * (2 * h2 + right * 3 * h3))
    # The other two come from the deflated quadratic, whose discriminant alone decides whether there is a gap.
    half_linear = -(h2 + h3 * right) / 2
    discriminant = half_linear * half_linear - h3 / right
    if discriminant <= 0 or half_linear <= 0:
        return [right]
    larger = (half_linear + discriminant.sqrt()) / h3
    return [right, larger, 1 / (h3 * right * larger)]


def _soft_edge(y: Decimal, t: Decimal, q: Decimal, s2: Decimal) -> SoftEdge:
    phi = 1 + t * y + (1 - t) * y / (1 - q * y)
    x = s2 * phi * phi / y
    x_high = float(x)
    return SoftEdge(
        v=float(y.sqrt()),
        r=float((x / s2).sqrt()),
        x=x_high,
        x_low=float(x - Decimal(x_high)),
    )
