"""All measures of one point of a study, from its spectra: arrays in, arrays out."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from scalestudy.convergence.between import bulk_moment, w1_between
from scalestudy.convergence.bulk import Bulk, Real, bulk_of
from scalestudy.convergence.curves import curve_error, histogram_distance
from scalestudy.convergence.ks import ks_of_bulk
from scalestudy.convergence.laws import Point, Tokens, contrast_law, limit_law, truncated_law, why_not
from scalestudy.convergence.schema import ATTENTION, REFERENCE, VARIABLES
from scalestudy.convergence.tabulated import TabulatedLaw
from scalestudy.convergence.wasserstein import floor, w1_of_bulk
from scalestudy.errors import LawError

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
    complete = spectra if used.all() else spectra[used]
    try:
        _measure_laws(found, point, tokens, drop)
        if complete.size:
            _measure_against_nu(found, used, complete, point, tokens, drop)
    except LawError as error:
        warnings.warn(f"Not measured at d = {point.d}, beta = {point.beta:g}: {error}", stacklevel=2)
    if complete.size:
        _measure_without_nu(found, used, complete, point, drop)
        _measure_against_reference(found, complete, point.beta, tuple(models), drop)
        found["largest"][used] = complete[..., 0]
        if ATTENTION in models:
            found["s1_A"][used] = np.sqrt(complete[:, list(models).index(ATTENTION), 0] / point.ell)
        if row_normalizer is not None:
            _measure_normalizer(found, used, np.asarray(row_normalizer[used, : point.ell], dtype=np.float64))
    return found


def _measure_laws(found: dict[str, Real], point: Point, tokens: Tokens, drop: int) -> None:
    """Put in what the laws alone say: floor, truncation bias, and the distance of nu to Marchenko-Pastur."""
    if why_not(replace(point, truncated=None), tokens):
        return
    nu = limit_law(point, tokens)
    found["floor"] = np.array(floor(nu, point.ell, drop))
    found["w1_nu_mp"] = np.array(w1_between(nu, contrast_law(point)))
    if point.truncated is not None and not why_not(point, tokens):
        found["truncation_bias"] = np.array(w1_between(truncated_law(point, tokens), nu))


def _measure_against_nu(
    found: dict[str, Real], used: NDArray[np.bool_], spectra: Real, point: Point, tokens: Tokens, drop: int
) -> None:
    """Put in the distances to nu of each trial, and of the trial-averaged F_n."""
    if why_not(replace(point, truncated=None), tokens):
        return
    nu = limit_law(point, tokens)
    table = TabulatedLaw(nu)
    mass = 1.0 - drop / point.ell
    moments = tuple(bulk_moment(nu, order, mass) for order in (1, 2))
    for rows, bulk in _batches(used, spectra, drop):
        masses = table.cdf(bulk.values)
        found["w1"][rows] = w1_of_bulk(bulk, nu, masses, table)
        found["ks"][rows] = ks_of_bulk(bulk, masses, nu)
        found["edge_gap"][rows] = bulk.values[..., -1] - nu.support()[-1][1]
        found["mean_error"][rows] = bulk.values.sum(axis=-1) / bulk.n / moments[0] - 1.0
        found["second_moment_error"][rows] = (bulk.values**2).sum(axis=-1) / bulk.n / moments[1] - 1.0
    found["w1_relative"] = found["w1"] / point.theta1
    for k in range(spectra.shape[1]):
        pooled = bulk_of(spectra[:, k], drop).pooled()
        found["w1_pooled"][k] = w1_of_bulk(pooled, nu, table=table)


def _measure_without_nu(
    found: dict[str, Real], used: NDArray[np.bool_], spectra: Real, point: Point, drop: int
) -> None:
    """Put in the distances to Marchenko-Pastur and between neighbouring rungs."""
    contrast = contrast_law(point)
    table = TabulatedLaw(contrast)
    for rows, bulk in _batches(used, spectra, drop):
        found["w1_mp"][rows] = w1_of_bulk(bulk, contrast, table=table)
        found["w1_to_next"][rows] = np.abs(np.diff(bulk.values, axis=1)).sum(axis=-1) / bulk.n
    for k in range(spectra.shape[1]):
        pooled = bulk_of(spectra[:, k], drop).pooled()
        found["w1_pooled_mp"][k] = w1_of_bulk(pooled, contrast, table=table)


def _batches(used: NDArray[np.bool_], spectra: Real, drop: int) -> Iterator[tuple[NDArray[np.intp], Bulk]]:
    """Return the bulks of a few trials at a time, and which trials they are."""
    places = np.flatnonzero(used)
    step = max(1, BATCH // spectra[0].size)
    for start in range(0, len(places), step):
        some = slice(start, start + step)
        yield places[some], bulk_of(spectra[some], drop)


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
