"""All measures of one point of a study, from its spectra: arrays in, arrays out."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from scalestudy.convergence.between import bulk_moment, w1_between
from scalestudy.convergence.bulk import Bulk, Real, bulk_of
from scalestudy.convergence.curves import curve_error, histogram_distance
from scalestudy.convergence.ks import ks_of_bulk
from scalestudy.convergence.laws import Point, Tokens, contrast_law, limit_law, truncated_law
from scalestudy.convergence.schema import ATTENTION, REFERENCE, VARIABLES
from scalestudy.convergence.wasserstein import floor, w1_of_bulk, w1_pooled
from scalestudy.errors import LawError
from scalestudy.limit import Law

BATCH = 200_000
"""Squared singular values measured at a time: what bounds the memory of temporaries."""


def measure_point(
    squares: NDArray[np.floating],
    row_normalizer: NDArray[np.floating] | None,
    point: Point,
    models: Sequence[str],
    tokens: Tokens = "orthonormal",
    drop: int = 3,
) -> dict[str, Real]:
    """Measure every trial and model of one point.

    Parameters
    ----------
    squares : ndarray of shape (trials, models, rank)
        Squared singular values; ranks past ell are ignored, trials that hold a NaN are not used.
    row_normalizer : ndarray of shape (trials, tokens), or None
        D_i; tokens past ell are ignored.
    point : Point
        Sizes, beta and statistics.
    models : sequence of str
        Names of the rungs along axis 1.
    tokens : str or ndarray of shape (ell, d)
        Ensemble of the tokens, or the tokens.
    drop : int
        Largest values left out of every spectrum.

    Returns
    -------
    dict of str to ndarray
        Every variable of `schema.VARIABLES`, of shape (trials, models), (trials, models - 1), (trials,),
        (models,) or (). NaN where a trial is not complete, or where the law does not exist.
    """
    spectra = np.asarray(squares[..., : point.ell], dtype=np.float64)
    used = np.asarray(np.isfinite(spectra).all(axis=(1, 2)))
    trials, count = spectra.shape[:2]
    lengths = {"trial": trials, "model": count, "pair": max(count - 1, 0)}
    found = {
        name: np.full([lengths[dim] for dim in variable.dims], np.nan) for name, variable in VARIABLES.items()
    }
    found["trials_used"] = np.array(float(used.sum()))
    _measure_laws(found, point, tokens, drop)
    complete = spectra[used]
    if complete.size:
        _measure_trials(found, used, complete, point, tokens, drop)
        _measure_pooled(found, complete, point, tokens, drop)
        _measure_against_reference(found, complete, point.beta, tuple(models), drop)
        if ATTENTION in models:
            found["s1_A"][used] = np.sqrt(complete[:, list(models).index(ATTENTION), 0] / point.ell)
        if row_normalizer is not None:
            _measure_normalizer(found, used, np.asarray(row_normalizer[used, : point.ell], dtype=np.float64))
    return found


def _law(make: Callable[[Point, Tokens], Law | None], point: Point, tokens: Tokens) -> Law | None:
    """Return a law, or None where there is none: `why_not` says so beforehand, and why."""
    try:
        return make(point, tokens)
    except LawError:
        return None


def _measure_laws(found: dict[str, Real], point: Point, tokens: Tokens, drop: int) -> None:
    """Put in what the laws alone say: floor, truncation bias, and the distance of nu to Marchenko-Pastur."""
    nu, truncated = _law(limit_law, point, tokens), _law(truncated_law, point, tokens)
    if nu is None:
        return
    found["floor"] = np.array(floor(nu, point.ell, drop))
    found["w1_nu_mp"] = np.array(w1_between(nu, contrast_law(point)))
    if truncated is not None:
        found["truncation_bias"] = np.array(w1_between(truncated, nu))


def _measure_trials(
    found: dict[str, Real], used: NDArray[np.bool_], spectra: Real, point: Point, tokens: Tokens, drop: int
) -> None:
    """Measure each trial and model, a batch of trials at a time."""
    nu, contrast = _law(limit_law, point, tokens), contrast_law(point)
    places = np.flatnonzero(used)
    step = max(1, BATCH // spectra[0].size)
    for start in range(0, len(places), step):
        rows = places[start : start + step]
        bulk = bulk_of(spectra[start : start + step], drop)
        found["w1_mp"][rows] = w1_of_bulk(bulk, contrast.cdf(bulk.values), contrast)
        found["w1_to_next"][rows] = np.abs(np.diff(bulk.values, axis=1)).sum(axis=-1) / bulk.n
        if nu is not None:
            for name, values in _against_law(bulk, nu).items():
                found[name][rows] = values
    found["w1_relative"] = found["w1"] / point.theta1


def _against_law(bulk: Bulk, law: Law) -> dict[str, Real]:
    masses = law.cdf(bulk.values)
    moments = [bulk_moment(law, order, bulk.mass) for order in (1, 2)]
    sums = [(bulk.values**order).sum(axis=-1) / bulk.n for order in (1, 2)]
    return {
        "w1": w1_of_bulk(bulk, masses, law),
        "ks": ks_of_bulk(bulk, masses, law),
        "edge_gap": bulk.values[..., -1] - law.support()[-1][1],
        "mean_error": sums[0] / moments[0] - 1.0,
        "second_moment_error": sums[1] / moments[1] - 1.0,
    }


def _measure_pooled(found: dict[str, Real], spectra: Real, point: Point, tokens: Tokens, drop: int) -> None:
    laws = {"w1_pooled": _law(limit_law, point, tokens), "w1_pooled_mp": contrast_law(point)}
    for k in range(spectra.shape[1]):
        for name, law in laws.items():
            if law is not None:
                found[name][k] = w1_pooled(spectra[:, k], law, drop)


def _measure_against_reference(
    found: dict[str, Real], spectra: Real, beta: float, models: tuple[str, ...], drop: int
) -> None:
    if REFERENCE not in models:
        return
    reference = spectra[:, models.index(REFERENCE)]
    for k in range(len(models)):
        found["curve"][k] = curve_error(spectra[:, k], reference, drop)
        found["l1"][k] = histogram_distance(spectra[:, k], reference, beta, drop)


def _measure_normalizer(found: dict[str, Real], used: NDArray[np.bool_], normalizer: Real) -> None:
    found["d_mean"][used] = normalizer.mean(axis=1)
    found["d_std"][used] = normalizer.std(axis=1)
    found["d_max"][used] = np.abs(normalizer - 1.0).max(axis=1)
