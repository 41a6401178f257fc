"""Accuracy and timings of the limit laws on one core: each worst error or median time beside its limit."""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import statistics
import sys
import time
from pathlib import Path

import mpmath as mp
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "references"))

from general_reference import CASES, GeneralReference
from limit_reference import BULK, DENSITIES, LAWS, NEAR, SUPPORTS, ReferenceLaw

from scalestudy.limit import GaussianEquivalentLaw, tabulated_band
from scalestudy.limit.general import TabulatedLaw
from scalestudy.limit.gram import orthonormal
from scalestudy.limit.parameters import statistics_from_beta

POINTS = 10_000
REPEATS = 15
PROBABILITIES = np.concatenate([np.linspace(0.0, 1.0, 2001), [1e-12, 1e-9, 1.0 - 1e-9]])


def report(name, value, limit, unit=""):
    print(f"{name:60s} {value:9.3g} {limit:9.3g} {unit:3s} {'' if value <= limit else 'EXCEEDED'}".rstrip())


def published():
    densities, masses, edges = [], [], []
    for beta, c, x, pdf, cdf in DENSITIES:
        law = GaussianEquivalentLaw(beta, 1.0, 1.0 / c)
        densities.append(abs(law.pdf(x) / pdf - 1.0) if pdf else law.pdf(x))
        masses.append(abs(law.cdf(x) - cdf))
    for beta, c, support in SUPPORTS:
        ours = np.ravel(GaussianEquivalentLaw(beta, 1.0, 1.0 / c).support())
        edges.extend(abs(a / b - 1.0) for a, b in zip(ours, np.ravel(support), strict=True) if b)
    # They are printed to twelve digits or so.
    report("printed values: pdf, relative", max(densities), 1e-12)
    report("printed values: cdf", max(masses), 1e-12)
    report("printed values: edges, relative", max(edges), 1e-12)


def closed_form():
    worst = dict.fromkeys(("bulk", "near", "cdf", "edges", "moments", "ppf", "mass"), 0.0)
    points = 0

    def note(key, value):
        worst[key] = max(worst[key], float(value))

    for beta, psi in LAWS:
        law, reference = GaussianEquivalentLaw(beta, 1.0, psi), ReferenceLaw(mp.mpf(beta), 1 / mp.mpf(psi))
        for left, right in law.support():
            for fraction in (*BULK, *NEAR):
                x = left + (right - left) * fraction
                density, mass = reference.density_and_mass(x)
                note("bulk" if fraction in BULK else "near", abs(law.pdf(x) / density - 1))
                note("cdf", abs(law.cdf(x) - mass))
                points += 1
        soft = [x for interval in law.support() for x in interval][1:]
        for x, exact in zip(soft, reference.edges(), strict=True):
            note("edges", abs(x / exact - 1))
        for k in range(1, 7):
            note("moments", abs(law.moment(k) / reference.moment(k) - 1))
        note("ppf", np.abs(law.cdf(law.ppf(PROBABILITIES)) - PROBABILITIES).max())
        if len(law.support()) == 2:
            note("mass", abs(law.masses()[0] - (1 - mp.mpf(psi))))
    of = f"fifty digits at {points} (beta, c, x): "
    report(of + "cdf", worst["cdf"], 1e-12)
    report(of + "pdf in the bulk", worst["bulk"], 1e-10)
    report(of + "pdf at edges", worst["near"], 1e-8)
    report("fifty digits: edges, relative", worst["edges"], 1e-12)
    report("fifty digits: moments 1 to 6, relative", worst["moments"], 1e-12)
    report("|cdf(ppf(p)) - p|", worst["ppf"], 1e-12)
    report("lower interval's mass - (1 - 1/c)", worst["mass"], 1e-12)


def general():
    single = 0.0
    for beta, psi in LAWS:
        tables = TabulatedLaw(statistics_from_beta(beta, 1.0, psi), orthonormal(1.0))
        x = GaussianEquivalentLaw(beta, 1.0, psi).ppf(PROBABILITIES)
        single = max(single, np.abs(tables.cdf(x) - PROBABILITIES).max())
    report("tables - closed form at kappa = delta_1: cdf", single, 1e-8)
    five, refined = 0.0, 0.0
    for theta1, theta2, ratio, gamma, tokens, g_kappa, probabilities in CASES.values():

        def make(a=theta1, b=theta2, r=ratio, g=gamma, t=tokens):
            return GaussianEquivalentLaw.from_statistics(a, b, r, gamma=g, tokens=t)

        law, finer = make(), with_finer_tables(make)
        refined = max(refined, np.abs(law.cdf(finer.ppf(PROBABILITIES)) - PROBABILITIES).max())
        reference = GeneralReference(mp.mpf(theta1) - mp.mpf(theta2), mp.mpf(theta2), mp.mpf(ratio), g_kappa)
        for x in law.ppf(probabilities):
            mass = reference.density_and_mass(x, 1.5 * law.support()[-1][1])[1]
            five = max(five, float(abs(law.cdf(x) - mass)))
    report("tables - five equations in thirty digits: cdf", five, 1e-7)
    report("tables - finer tables: cdf", refined, 1e-7)


def with_finer_tables(make):
    usual = tabulated_band.FIRST_SPACING, tabulated_band.CDF_TOLERANCE
    tabulated_band.FIRST_SPACING, tabulated_band.CDF_TOLERANCE = 0.04, 1e-11
    try:
        return make()
    finally:
        tabulated_band.FIRST_SPACING, tabulated_band.CDF_TOLERANCE = usual


def median_ms(function, repeats=REPEATS):
    times = []
    for _ in range(repeats):
        start = time.process_time()
        function()
        times.append(1e3 * (time.process_time() - start))
    return statistics.median(times)


def timings():
    matrix = np.random.default_rng(1).standard_normal((2000, 1000))
    closed = [(1.0, 1.0), (0.3, 0.25), (1e-4, 1.0), (5.0, 0.02), (1.0, 0.1988)]
    makers = [
        (f"orthonormal beta={beta:g} c={1 / psi:.3g}", lambda b=beta, p=psi: GaussianEquivalentLaw(b, 1.0, p))
        for beta, psi in closed
    ]
    makers += [
        (f"{tokens} beta=1 gamma={gamma:g}", lambda t=tokens, g=gamma: GaussianEquivalentLaw(1.0, g, 1.0, t))
        for tokens, gamma in (("spherical", 0.5), ("spherical", 2.0), ("parseval", 2.0))
    ]
    makers.append(("matrix 2000 x 1000", lambda: GaussianEquivalentLaw(1.0, 2.0, 1.0, matrix)))
    for name, make in makers:
        law = make()
        p = np.random.default_rng(0).random(POINTS)
        x = law.ppf(p)
        report(name + ": build", median_ms(make, repeats=3), 5e3, "ms")
        report(name + ": pdf and cdf", median_ms(lambda law=law, x=x: (law.pdf(x), law.cdf(x))), 60.0, "ms")
        report(name + ": ppf", median_ms(lambda law=law, p=p: law.ppf(p)), 200.0, "ms")


def main():
    argparse.ArgumentParser(description=__doc__).parse_args()
    print(f"{'':60s} {'measured':>9s} {'limit':>9s}")
    published()
    closed_form()
    general()
    print(f"CPU time, {POINTS} points")
    timings()


if __name__ == "__main__":
    main()
