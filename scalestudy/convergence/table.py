"""The xarray glue: a study's dataset in, a dataset of distances out, lazily and one point at a time."""

from __future__ import annotations

import math
from typing import Any

import dask
import dask.array
import numpy as np
import xarray as xr

from scalestudy.convergence.bulk import Real
from scalestudy.convergence.laws import Point, Tokens, why_not
from scalestudy.convergence.point import measure_point
from scalestudy.convergence.reuse import still_valid, take_over
from scalestudy.convergence.schema import POINT, VARIABLES, pairs_of
from scalestudy.convergence.study import SIZES, label_of, points_of, tokens_of, trials_to_read, with_all_axes
from scalestudy.errors import AnalysisError

Lengths = dict[str, int]


def distances(
    ds: xr.Dataset, drop: int = 3, *, tokens: Tokens | None = None, reuse: xr.Dataset | None = None
) -> xr.Dataset:
    """Measure how far the spectra of a study are from their limit law.

    Parameters
    ----------
    ds : Dataset
        A study as `scalestudy.open_study` gives it, or a selection from it.
    drop : int
        Largest squared singular values left out of every spectrum: they are not part of the bulk.
    tokens : str or ndarray of shape (ell, d), optional
        Ensemble of the tokens, by default the one that the study names. A study with tokens from a file
        names only their checksum, so give the matrix here.
    reuse : Dataset, optional
        Earlier distances of the same study. Points of which just as many trials were complete then are taken
        from it, unless it was made with another `drop`, other tokens or other models.

    Returns
    -------
    Dataset
        The variables of `schema.VARIABLES`, over (d, beta, gamma, psi) and, by variable, trial, model and
        pair. If `ds` is lazy so is this, one Dask chunk for each point; computing it needs memory for as
        many points as there are threads. NaN where nothing is done. Where there is no limit law, what needs
        it is NaN, and the attribute ``law_errors`` says why.

    Raises
    ------
    AnalysisError
        If this is not a study's dataset, or `drop` leaves nothing of its spectra.
    """
    full = with_all_axes(ds)
    smallest = int(full["ell"].min())
    if drop != math.floor(drop) or not 0 <= drop < smallest:
        raise AnalysisError(
            f"Invalid drop {drop}. Must be at least 0 and less than the smallest ell, {smallest}, and whole."
        )
    chosen = tokens_of(full) if tokens is None else tokens
    attributes: dict[str, Any] = {
        "title": f"distances of {ds.attrs.get('title', 'a study')} to its limit law",
        "drop": drop,
        "tokens": label_of(full, chosen),
    }
    fresh = still_valid(full, reuse, attributes)
    models = tuple(str(name) for name in full["model"].values)
    lengths = {"trial": full.sizes["trial"], "model": len(models), "pair": len(models) - 1}
    packed, reasons = _packed(full, models, chosen, drop, lengths, skip=fresh)
    attributes |= {"law_errors": " ".join(reasons)} if reasons else {}
    coords: dict[str, Any] = {name: full[name].variable for name in (*POINT, *SIZES) if name in full}
    coords["model"] = ("model", np.array(models, dtype=object), {"long_name": "rung of the ladder"})
    coords["pair"] = ("pair", np.array(pairs_of(models), dtype=object), {"long_name": "neighbouring rungs"})
    result = xr.Dataset(_unpacked(packed, lengths), coords=coords, attrs=attributes)
    if reuse is not None and fresh.any():
        result = take_over(result, reuse, fresh)
    result = result.isel({name: 0 for name in POINT if name not in ds.dims})
    return result if ds["squared_singular_values"].chunks else result.compute()


def _packed(
    full: xr.Dataset, models: tuple[str, ...], tokens: Tokens, drop: int, lengths: Lengths, skip: Any
) -> tuple[Any, list[str]]:
    """Measure every point, all variables of a point in one vector, and tell why points have no law.

    Returns
    -------
    packed : dask array of shape (d, beta, gamma, psi, numbers of a point)
    reasons : list of str
    """
    squares = full["squared_singular_values"].transpose(*POINT, "trial", "model", "rank").data
    normalizer = None
    if "row_normalizer" in full:
        normalizer = full["row_normalizer"].transpose(*POINT, "trial", "token").data
    to_read = trials_to_read(full)
    length = sum(_size(name, lengths) for name in VARIABLES)
    measure = dask.delayed(_measure, pure=False)
    vectors = np.empty([full.sizes[axis] for axis in POINT], dtype=object)
    reasons: dict[str, None] = {}
    for index, point in points_of(full):
        reasons |= dict.fromkeys(why_not(point, tokens))
        if skip[index]:
            vectors[index] = dask.array.full((1, 1, 1, 1, length), np.nan)
            continue
        # Only what can be there: ranks past ell and trials past the last block done are never read.
        some = squares[index][: to_read[index], :, : point.ell]
        rows = None if normalizer is None else normalizer[index][: to_read[index], : point.ell]
        vector = measure(some, rows, point, models, tokens, drop, lengths["trial"])
        vectors[index] = dask.array.from_delayed(vector, (1, 1, 1, 1, length), dtype=np.float64)
    return _joined(vectors), list(reasons)


def _measure(
    squares: Any,
    normalizer: Any,
    point: Point,
    models: tuple[str, ...],
    tokens: Tokens,
    drop: int,
    trials: int,
) -> Real:
    """Run `measure_point`, fill up with NaN to the length of `trial` in the dataset, and pack the results."""
    found = measure_point(squares, normalizer, point, models, tokens, drop)
    for name, variable in VARIABLES.items():
        if "trial" in variable.dims:
            missing = [(0, trials - len(found[name])), *[(0, 0)] * (found[name].ndim - 1)]
            found[name] = np.pad(found[name], missing, constant_values=np.nan)
    return np.concatenate([found[name].ravel() for name in VARIABLES])[None, None, None, None]


def _unpacked(packed: Any, lengths: Lengths) -> dict[str, Any]:
    """Cut the vectors of the points into variables."""
    data, start = {}, 0
    for name, variable in VARIABLES.items():
        shape = tuple(lengths[dim] for dim in variable.dims)
        stop = start + _size(name, lengths)
        values = dask.array.map_blocks(
            _cut,
            packed,
            start,
            stop,
            shape,
            dtype=np.float64,
            chunks=(*packed.chunks[:-1], *((n,) for n in shape)),
            drop_axis=len(POINT),
            new_axis=list(range(len(POINT), len(POINT) + len(shape))),
        )
        attributes = {"long_name": variable.long_name, "units": variable.units}
        data[name] = ((*POINT, *variable.dims), values, attributes)
        start = stop
    return data


def _cut(vector: Real, start: int, stop: int, shape: tuple[int, ...]) -> Real:
    # A copy: a view would keep the whole vector in memory, once for each variable.
    return vector[..., start:stop].reshape(*vector.shape[:-1], *shape).copy()


def _size(name: str, lengths: Lengths) -> int:
    return math.prod(lengths[dim] for dim in VARIABLES[name].dims)


def _joined(vectors: Any, axis: int = 0) -> Any:
    """Concatenate an array of Dask arrays along its four dimensions."""
    last = axis == len(POINT) - 1
    return dask.array.concatenate([part if last else _joined(part, axis + 1) for part in vectors], axis=axis)
