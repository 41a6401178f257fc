"""The law of THEORY.md, section 4, in mpmath: its five equations as they stand, and a contour for its cdf.

Nothing here knows the curve that the package solves. The equations are followed from far above the real axis,
where the solution is p = pk = q = qc = -1 / z, down to the boundary values on it. The distribution function
is ``1 - F(x) = Im int m(z) dz / pi`` over a half circle from x to a point right of the support: m is analytic
above the axis, so neither edges nor narrow gaps and dips need to be known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import mpmath as mp
import numpy as np

DIGITS = 30
NODES, WEIGHTS = np.polynomial.legendre.leggauss(16)
PANELS = (0.0, *(10.0**-k for k in range(7, 0, -1)), 0.5, 1.0)
"""Ends of the panels on the half circle, in units of pi: graded, because x may lie next to an edge."""


def marchenko_pastur(gamma):
    """Stieltjes transform of the Gram law of spherical and gaussian tokens."""
    gamma = mp.mpf(gamma)
    low, high = (1 - mp.sqrt(gamma)) ** 2, (1 + mp.sqrt(gamma)) ** 2
    return lambda s: (1 - gamma - s + mp.sqrt(s - low) * mp.sqrt(s - high)) / (2 * gamma * s)


def atoms(places, weights):
    """Stieltjes transform of finitely many atoms: parseval tokens and token matrices."""
    return lambda s: mp.fsum(weight / (place - s) for place, weight in zip(places, weights, strict=True))


@dataclass(frozen=True)
class GeneralReference:
    """The law for a2, b2, r = ell / d_qk and the Stieltjes transform of kappa."""

    a2: mp.mpf
    b2: mp.mpf
    r: mp.mpf
    g_kappa: Callable

    def _misses(self, z, q, qc):
        """By how much the third and the fifth equation fail, the others having been used to eliminate."""
        a, b = 1 + self.a2 * q, self.b2 * qc
        g_first = self.g_kappa(-a / b)
        p, pk = -g_first / (z * b), -(1 - (a / b) * g_first) / (z * b)
        a_second, b_second = 1 + self.a2 * p, self.b2 * pk
        s = -a_second / b_second
        g = -(1 + z * b_second * qc) / s
        w = 1 - self.r - self.r * s * g
        return q + g / (z * b_second), 1 - self.g_kappa(s / w) / (w * g)

    def _newton(self, z, q, qc, steps=12):
        """Solve for q and qc near a guess, or return None."""
        small = mp.mpf(10) ** (-DIGITS // 2)
        for _ in range(steps):
            f, h = self._misses(z, q, qc)
            dq, dqc = q * small, qc * small
            (f_q, h_q), (f_qc, h_qc) = self._misses(z, q + dq, qc), self._misses(z, q, qc + dqc)
            f_q, h_q, f_qc, h_qc = (f_q - f) / dq, (h_q - h) / dq, (f_qc - f) / dqc, (h_qc - h) / dqc
            determinant = f_q * h_qc - f_qc * h_q
            step_q, step_qc = (f * h_qc - h * f_qc) / determinant, (h * f_q - f * h_q) / determinant
            q, qc = q - step_q, qc - step_qc
            size = max(abs(step_q / q), abs(step_qc / qc))
            if size > 0.5:
                return None
            # The slopes are differences, so a step gains fifteen digits: this one gained the last of them.
            if size < mp.mpf(10) ** -14:
                return q, qc
        return None

    def follow(self, start, solution, stop):
        """Continue the solution on the straight line from z = start to z = stop."""
        done, step = mp.mpf(0), mp.mpf(1)
        while done < 1:
            step = min(step, 1 - done)
            z = start + (done + step) * (stop - start)
            found = self._newton(z, *solution)
            close = found is not None and all(
                abs(new / old - 1) < 0.3 for new, old in zip(found, solution, strict=True)
            )
            if close:
                done, solution, step = done + step, found, 2 * step
            else:
                step /= 2
                if step < 1e-12:
                    raise ArithmeticError(f"Lost the solution at z = {z}.")
        return solution

    def from_above(self, z):
        """Solution at z, Im z > 0, from far above it."""
        with mp.workdps(DIGITS):
            far = z + 1000j * abs(z)
            solution = self._newton(far, -1 / far, -1 / far)
            return self.follow(far, solution, z)

    def density_and_mass(self, x, beyond):
        """Boundary density at x, and F(x), for a point ``beyond`` the support."""
        with mp.workdps(DIGITS):
            x, beyond = mp.mpf(x), mp.mpf(beyond)
            centre, radius = (beyond + x) / 2, (beyond - x) / 2
            z = centre + mp.mpc(0, radius)
            top = z, self.from_above(z)
            nodes = [
                (a + (b - a) * (mp.mpf(node) + 1) / 2, weight * (b - a) / 2)
                for a, b in pairwise(map(mp.mpf, PANELS))
                for node, weight in zip(NODES, WEIGHTS, strict=True)
            ]
            half = len(NODES) * (len(PANELS) - 2)
            total = mp.mpf(0)
            # From the top to the right, where nothing happens, then from the top to x.
            for branch in (nodes[half:], nodes[half - 1 :: -1]):
                z, solution = top
                for angle, weight in branch:
                    ray = -radius * mp.expjpi(-angle)
                    z, previous = centre + ray, z
                    solution = self.follow(previous, solution, z)
                    total += weight * mp.im(solution[0] * -1j * mp.pi * ray)
            solution = self.follow(z, solution, x)
            return mp.im(solution[0]) / mp.pi, 1 - total / mp.pi


PARSEVAL = atoms([mp.mpf(0), mp.mpf(2)], [mp.mpf(1) / 2, mp.mpf(1) / 2])
CASES = {
    "spherical": (2.0, 1.0, 2.0, 2.0, "spherical", marchenko_pastur(2), [0.2, 0.9]),
    "parseval": (0.5, 0.3, 1.0, 2.0, "parseval", PARSEVAL, [0.1, 0.9]),
    # The support is whole, but the density dips by half within a millionth of theta1.
    "next to a split": (0.0974776, 0.0930145, 2.0, 0.25, "gaussian", marchenko_pastur(0.25), [0.5, 0.50001]),
    "split": (0.0974776, 0.0930145, 2.1, 0.25, "gaussian", marchenko_pastur(0.25), [0.3, 0.5238, 0.53]),
}
