"""Timings of the limit laws on one core: medians over repetitions, printed as a table."""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import statistics
import time

import numpy as np

from scalestudy.limit import GaussianEquivalentLaw

POINTS = 10_000
REPEATS = 15


def median_ms(function, repeats=REPEATS):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(1e3 * (time.perf_counter() - start))
    return statistics.median(times)


def row(name, make):
    law = make()
    p = np.random.default_rng(0).random(POINTS)
    x = law.ppf(p)
    both = median_ms(lambda: (law.pdf(x), law.cdf(x)))
    build = median_ms(make, repeats=3)
    ppf, partial = median_ms(lambda: law.ppf(p)), median_ms(lambda: law.partial_mean(p))
    print(f"{name:44s} {build:9.1f} {both:9.1f} {ppf:9.1f} {partial:9.1f}")


def main():
    rng = np.random.default_rng(1)
    matrix = rng.standard_normal((2000, 1000))
    print(f"{'ms, 10,000 points':44s} {'build':>9s} {'pdf+cdf':>9s} {'ppf':>9s} {'partial':>9s}")
    for beta, psi in ((1.0, 1.0), (0.3, 0.25), (1e-4, 1.0), (5.0, 0.02), (1.0, 0.1988)):
        row(
            f"orthonormal beta={beta:g} c={1 / psi:g}", lambda b=beta, p=psi: GaussianEquivalentLaw(b, 1.0, p)
        )
    for tokens, gamma in (("spherical", 0.5), ("spherical", 2.0), ("parseval", 2.0)):
        row(
            f"{tokens} beta=1 gamma={gamma:g}",
            lambda t=tokens, g=gamma: GaussianEquivalentLaw(1.0, g, 1.0, t),
        )
    row("matrix 2000 x 1000", lambda: GaussianEquivalentLaw(1.0, 2.0, 1.0, matrix))


if __name__ == "__main__":
    main()
