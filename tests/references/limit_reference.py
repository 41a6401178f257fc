"""Values of THEORY.md, section 3, and its law in mpmath at fifty digits: quartic in y, root rule, cdf."""

from __future__ import annotations

from dataclasses import dataclass

import mpmath as mp

mp.mp.dps = 50

DENSITIES = [
    # beta, c, x, pdf, cdf
    (1.0, 1.0, 0.01, 2.807449282741, 0.0562352125302),
    (1.0, 1.0, 0.5, 0.3534848406074, 0.382931301759),
    (1.0, 1.0, 2.0, 0.1243054581613, 0.685852215853),
    (1.0, 1.0, 6.0, 0.03200441696617, 0.944871223912),
    (0.5, 2.0, 0.2, 0.6787125983718, 0.666395536389),
    (0.5, 2.0, 1.0, 0.1484654680808, 0.90553611206),
    (0.3, 4.0, 0.001, 129.7266905741, 0.266867897109),
    (0.3, 4.0, 0.03, 0.0, 0.75),
    (0.3, 4.0, 0.5, 0.2151783440085, 0.931796108772),
]

SUPPORTS = [
    (1.0, 1.0, [(0.0, 9.009542550375312)]),
    (0.5, 2.0, [(0.0, 2.299954488694481)]),
    (0.3, 4.0, [(0.0, 0.01245658192213), (0.05399104395815, 1.12620059271)]),
]

LAWS = [
    # beta, psi (gamma = 1): c = 1/psi from 1/50 to 50, unsplit, split, and next to the split
    (1e-4, 50.0),
    (1e-4, 1.0),
    (1e-4, 0.25),
    (0.01, 0.02),
    (0.3, 0.25),
    (0.5, 0.5),
    (1.0, 1.0),
    (1.0, 0.1988),
    (1.0, 0.1987),
    (1.0, 0.02),
    (2.0, 50.0),
    (2.0, 0.02),
    (5.0, 1.0),
]
BULK = (0.01, 0.2, 0.6, 0.95)
NEAR = (1e-9, 1e-6, 5e-4, 1 - 5e-4, 1 - 1e-6, 1 - 1e-9)


@dataclass(frozen=True)
class ReferenceLaw:
    """nu for exact beta and c."""

    beta: mp.mpf
    c: mp.mpf

    @property
    def statistics(self):
        """s2, t and q."""
        b2 = self.beta**2
        with mp.workdps(90):
            a2 = mp.expm1(b2) - b2
            s2 = a2 + b2
            t = a2 / s2
            return s2, t, self.c * b2 / s2

    def phi(self, y):
        _, t, q = self.statistics
        return 1 + t * y + (1 - t) * y / (1 - q * y)

    def roots(self, x):
        """Roots of ``s2 N(y)^2 - x y (1 - q y)^2``, N = phi (1 - q y)."""
        s2, t, q = self.statistics
        n2, n1, n0 = -q * t, 1 - q, mp.mpf(1)
        w = x / s2
        square = [n2 * n2, 2 * n2 * n1, n1 * n1 + 2 * n2 * n0, 2 * n1 * n0, n0 * n0]
        pole = [0, w * q * q, -2 * w * q, w, 0]
        coefficients = [a - b for a, b in zip(square, pole, strict=True)]
        return mp.polyroots(coefficients, maxsteps=500, extraprec=400)

    def point(self, x):
        """Return the root with Im y < 0 and the largest -Im y / |y|."""
        return max(self.roots(x), key=lambda y: -mp.im(y) / abs(y))

    def pdf(self, x):
        return self.density_and_mass(x)[0]

    def cdf(self, x):
        return self.density_and_mass(x)[1]

    def density_and_mass(self, x):
        """Both, from one root."""
        x = mp.mpf(x)
        s2, t, q = self.statistics
        y = self.point(x)
        mass = 1 + mp.im(mp.log(y) - 2 * self.phi(y) + t * y - mp.log(1 - q * y) / self.c) / mp.pi
        return mp.im(-y / (s2 * self.phi(y))) / mp.pi, mass

    def edges(self):
        """Soft edges in ascending order, from the positive roots of ``2 y phi' = phi``."""
        s2, t, q = self.statistics
        # (1 - q y)^2 (2 y phi' - phi)
        cubic = [q * q * t, q * (1 - t) - q * q - 2 * q * t, 1 + 2 * q, mp.mpf(-1)]
        roots = mp.polyroots(cubic, maxsteps=500, extraprec=400)
        real = [mp.re(y) for y in roots if abs(mp.im(y)) < mp.mpf(10) ** -30 * abs(y) and mp.re(y) > 0]
        return sorted(s2 * self.phi(y) ** 2 / y for y in real)

    def moment(self, k):
        """m_k = s2^k / (2k + 1) [y^k] phi^(2k + 1)."""
        s2, t, q = self.statistics
        series = [mp.mpf(1), t + (1 - t)] + [(1 - t) * q ** (j - 1) for j in range(2, k + 1)]
        power = [mp.mpf(1)] + [mp.mpf(0)] * k
        for _ in range(2 * k + 1):
            power = [sum(power[i] * series[n - i] for i in range(n + 1)) for n in range(k + 1)]
        return s2**k / (2 * k + 1) * power[k]
