"""An interval of the support, in the coordinate that every law is tabulated in.

Laws are worked out in ``r``, the (scaled) singular value, whose density is finite at a hard edge. Inside a
band ``[r_a, r_b]`` the coordinate is ``tau = log((r - r_a) / (r_b - r))``. Whatever power a density has at an
edge, and however many scales it passes through on the way there, it is a smooth exponential in tau.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Real = npt.NDArray[np.float64]

REACH = 37.0
"""Tables end at tau = -REACH and REACH, a distance of 1e-16 of the band from its edges."""


@dataclass(frozen=True)
class Band:
    """One interval of the support in r, and the distribution function at its two ends."""

    left: float
    right: float
    mass_below: float
    mass_upto: float

    @property
    def mass(self) -> float:
        """Probability of the interval."""
        return self.mass_upto - self.mass_below

    @property
    def width(self) -> float:
        """Length in r."""
        return self.right - self.left

    def from_left(self, tau: Real) -> Real:
        """R - left, to full relative accuracy."""
        return self.width / (1.0 + np.exp(-tau))

    def from_right(self, tau: Real) -> Real:
        """R - right (negative), to full relative accuracy."""
        return -self.width / (1.0 + np.exp(tau))

    def jacobian(self, tau: Real) -> Real:
        """Dr / dtau."""
        return -self.from_left(tau) * self.from_right(tau) / self.width


def tau_of(from_left: Real, from_right: Real) -> Real:
    """Return the coordinate from the distances to both edges, clipped to the tables' reach."""
    with np.errstate(divide="ignore"):
        tau: Real = np.log(from_left) - np.log(-from_right)
    return np.clip(tau, -REACH, REACH)
