"""Slow, obvious references: quadrature of |x - Q(p)| over every step, and made-up studies."""

from __future__ import annotations

import json

import numpy as np
import xarray as xr

MODELS = ("sqrt_d_A", "sqrt_d_A_perp", "Y", "Y_f", "Y_Q", "Y_Q_lin", "Y_f_lin")
NODES, WEIGHTS = np.polynomial.legendre.leggauss(48)


def integral(function, lower, upper):
    """Gauss-Legendre after a substitution that is cubic at both ends, where quantiles have their edges."""
    if upper <= lower:
        return 0.0
    v = 0.5 * (NODES + 1.0)
    p = lower + (upper - lower) * v**3 * (10.0 - 15.0 * v + 6.0 * v * v)
    density = (upper - lower) * 30.0 * (v * (1.0 - v)) ** 2
    return float(np.sum(0.5 * WEIGHTS * density * function(np.clip(p, lower, upper))))


def w1_by_quadrature(values, law, drop):
    """W1 without the law's partial mean: every step is cut where Q crosses it or jumps."""
    values = np.sort(values)
    n = len(values)
    jumps = np.cumsum(law.masses())
    total = 0.0
    for i, x in enumerate(values[: n - drop]):
        a, b = i / n, (i + 1) / n
        cuts = np.clip([a, *jumps, law.cdf(x), b], a, b)
        for lower, upper in zip(np.sort(cuts)[:-1], np.sort(cuts)[1:], strict=True):
            total += integral(lambda p, x=x: np.abs(x - law.ppf(p)), lower, upper)
    return total


def jittered(law, trials, n, seed, scatter=0.5):
    """Spectra that look like those of matrices: quantiles at slightly irregular probabilities, descending."""
    rng = np.random.default_rng(seed)
    p = (np.arange(n) + 0.5 + scatter * rng.standard_normal((trials, n))) / n
    return -np.sort(-law.ppf(np.clip(p, 1e-9, 1.0 - 1e-9)), axis=-1)


def made_up_study(
    law, d=(16, 24), beta=(1.0,), trials=4, models=MODELS, block=2, done=None, tokens="orthonormal"
):
    """A study as `open_study` gives it, with spectra near a law, held by Dask like a store's."""
    d, beta = list(d), list(beta)
    largest = max(d)
    shape = (len(d), len(beta), 1, 1, trials, len(models), largest)
    squares = np.full(shape, np.nan)
    normalizer = np.full((*shape[:5], largest), np.nan)
    done = (
        np.full((len(d), len(beta), 1, 1, -(-trials // block)), block) if done is None else np.asarray(done)
    )
    for i, size in enumerate(d):
        for j in range(len(beta)):
            count = int(done[i, j, 0, 0].sum())
            for m in range(len(models)):
                squares[i, j, 0, 0, :count, m, :size] = jittered(
                    law, count, size, seed=1000 * i + 100 * j + m
                )
            normalizer[i, j, 0, 0, :count, :size] = 1.0 + 0.1 * np.random.default_rng(i).standard_normal(
                (count, size)
            )
    manifest = {"identity": {"tokens": tokens}, "trials": trials, "trials_per_block": block}
    point = ("d", "beta", "gamma", "psi")
    ds = xr.Dataset(
        {
            "squared_singular_values": ((*point, "trial", "model", "rank"), squares),
            "row_normalizer": ((*point, "trial", "token"), normalizer),
            "done": ((*point, "block"), done),
        },
        coords={
            "d": d,
            "beta": beta,
            "gamma": [1.0],
            "psi": [1.0],
            "model": list(models),
            "ell": (("d", "gamma"), np.array(d)[:, None]),
            "d_qk": (("d", "psi"), np.array(d)[:, None]),
            "degree": ("d", np.where(np.array(d) < 20, 5, 6)),
            "theta1_Q": (("d", "beta"), np.full((len(d), len(beta)), 1.7)),
            "theta2_Q": (("d", "beta"), np.full((len(d), len(beta)), 0.99)),
        },
        attrs={"scalestudy_manifest": json.dumps(manifest), "title": "made up"},
    )
    chunks = dict.fromkeys(point, 1) | {"trial": block, "rank": 16, "token": 16}
    loaded = ds["done"]
    return ds.chunk({k: v for k, v in chunks.items() if k in ds.dims}).assign(done=loaded)
