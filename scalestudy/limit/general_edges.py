"""The edges of a general law's support, and the gaps between them.

Outside the support w is real, off the support of kappa, and increases with x. So the stretches of the real
axis on which z is positive and increases are candidates for gaps, and following w from the upper half plane
down to their middle tells which are.

A gap that is missed here does not pass unnoticed: no path leads through it, and the tables of an interval
with a gap inside do not add up (`tabulated_band`, `general`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.optimize import brentq

from scalestudy.errors import LawError
from scalestudy.limit.general_curve import GeneralCurve
from scalestudy.limit.law import Real

SAMPLES_PER_GAP = 64
EVEN_SAMPLES = 400
NARROW = 3e-2


@dataclass(frozen=True)
class Edge:
    """An edge of the support: its point on the curve, which is real, and x there; the hard edge has x = 0."""

    u: float
    x: float


def find_edges(curve: GeneralCurve) -> list[Edge]:
    """Return all edges in ascending x: the hard one, the two of each gap, and the right one.

    Raises
    ------
    LawError
        Two edges cannot be told apart.
    """
    bounds = [(curve.base, 0.0), *curve.kappa.gaps()]
    inner = [gap for bound in bounds[:-1] for gap in _rising(curve, *bound) if _is_physical(curve, gap)]
    right = _turning_points(curve, *bounds[-1])[-1]
    inside = [edge for gap in sorted(inner, key=lambda gap: gap[0].x) for edge in gap]
    edges = [Edge(0.0, 0.0), *inside, right]
    if any(b.x <= a.x for a, b in pairwise(edges)):
        raise LawError("The support of this law cannot be resolved: two of its edges nearly coincide.")
    return edges


def _rising(curve: GeneralCurve, left: float, right: float) -> list[tuple[Edge, Edge]]:
    """Pairs (minimum, maximum) of z > 0 in a bounded interval of w."""
    turning = _turning_points(curve, left, right)
    return [(a, b) for a, b in pairwise(turning) if 0.0 < a.x < b.x]


def _turning_points(curve: GeneralCurve, left: float, right: float) -> list[Edge]:
    """Zeros of dz/dw between the samples of an interval of w off the support of kappa.

    Spaces between the many close atoms of a token matrix are passed over: the Gaussian factors of the scores
    spread each atom over a range of x much wider than such a space, so that the law has no gap over it.
    """
    if right - left < NARROW * right:
        return []
    u = _samples(left - curve.base, right - curve.base)
    w = curve.base + u
    u = u[(w > left) & (w < right)]
    slopes = _slope(curve, u)
    found = []
    for i in np.flatnonzero(slopes[:-1] * slopes[1:] < 0.0):
        root = float(brentq(lambda at: float(_slope(curve, np.array([at]))[0]), u[i], u[i + 1], xtol=1e-300))
        found.append(Edge(root, float(curve.z_and_slope(np.array([complex(root)]))[0][0].real)))
    return found


def _is_physical(curve: GeneralCurve, gap: tuple[Edge, Edge]) -> bool:
    middle = math.sqrt(gap[0].x * gap[1].x)
    u = curve.physical(np.array([complex(middle)]))[0]
    return bool(abs(u.imag) < 1e-6 * abs(u) and gap[0].u < u.real < gap[1].u)


def _slope(curve: GeneralCurve, u: Real) -> Real:
    slope: Real = curve.z_and_slope(u.astype(np.complex128))[1].real
    return slope


def _samples(left: float, right: float) -> Real:
    """Points in a gap of kappa, crowding at both of its ends."""
    offsets = np.geomspace(1e-12, 0.5, SAMPLES_PER_GAP)
    if np.isinf(right):
        return left * (1.0 + np.concatenate([offsets, np.geomspace(0.6, 1e18, 3 * SAMPLES_PER_GAP)]))
    span = right - left
    even = np.linspace(left, right, EVEN_SAMPLES + 2)[1:-1]
    return np.unique(np.concatenate([left + span * offsets, even, right - span * offsets]))
