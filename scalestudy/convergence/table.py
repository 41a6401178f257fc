"""The xarray glue: a study's dataset in, a dataset of distances out, lazily and one point at a time."""

from __future__ import annotations

from typing import Any

import dask
import dask.array
import numpy as np
import pandas as pd
import xarray as xr

from scalestudy.convergence.laws import Point, Tokens, why_not
from scalestudy.convergence.point import measure_point
from scalestudy.convergence.schema import POINT, VARIABLES, pairs_of
from scalestudy.convergence.study import (
    SIZES,
    Index,
    complete_trials,
    points_of,
    tokens_of,
    trials_to_read,
    with_all_axes,
)
from scalestudy.errors import AnalysisError

Pieces = dict[str, Any]


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
    if not 0 <= drop < smallest:
        raise AnalysisError(
            f"Invalid drop {drop}. Must be at least 0 and less than the smallest ell, {smallest}."
        )
    chosen = tokens_of(full) if tokens is None else tokens
    attributes: dict[str, Any] = {
        "title": f"distances of {ds.attrs.get('title', 'a study')} to its limit law",
        "drop": drop,
        "tokens": chosen if isinstance(chosen, str) else "matrix",
    }
    made = _Maker(full, drop, chosen, _usable(full, reuse, attributes))
    pieces: dict[str, Any] = {
        name: np.empty([full.sizes[axis] for axis in POINT], dtype=object) for name in VARIABLES
    }
    reasons: dict[str, None] = {}
    for index, point in points_of(full):
        reasons[why_not(point, chosen)] = None
        for name, piece in made.pieces(index, point).items():
            pieces[name][index] = piece
    attributes |= {"law_errors": " ".join(filter(None, reasons))} if any(reasons) else {}
    data = {
        name: (
            (*POINT, *variable.dims),
            _joined(pieces[name]),
            {"long_name": variable.long_name, "units": variable.units},
        )
        for name, variable in VARIABLES.items()
    }
    result = xr.Dataset(data, coords=_coordinates(full), attrs=attributes)
    result = result.isel({name: 0 for name in POINT if name not in ds.dims})
    return result if ds["squared_singular_values"].chunks else result.compute()


class _Maker:
    """Makes the lazy variables of one point after the other."""

    def __init__(self, full: xr.Dataset, drop: int, tokens: Tokens, old: xr.Dataset | None) -> None:
        self.models = tuple(str(name) for name in full["model"].values)
        self.drop, self.tokens, self.old = drop, tokens, old
        self.squares = full["squared_singular_values"].transpose(*POINT, "trial", "model", "rank").data
        self.normalizer = (
            full["row_normalizer"].transpose(*POINT, "trial", "token").data
            if "row_normalizer" in full
            else None
        )
        self.to_read = trials_to_read(full)
        self.complete = complete_trials(full)
        self.axes = {name: full[name].values for name in POINT}
        self.lengths = {
            "trial": full.sizes["trial"],
            "model": len(self.models),
            "pair": len(self.models) - 1,
        }

    def pieces(self, index: Index, point: Point) -> Pieces:
        """Return every variable at one point, with four leading dimensions of length 1."""
        kept = self._kept(index)
        if kept is not None:
            return kept
        trials = int(self.to_read[index])
        measured = dask.delayed(_measure)(
            self.squares[index][:trials, :, : point.ell],
            None if self.normalizer is None else self.normalizer[index][:trials, : point.ell],
            point,
            self.models,
            self.tokens,
            self.drop,
            self.lengths["trial"],
        )
        return {
            name: dask.array.from_delayed(measured[name], shape=self._shape(name), dtype=np.float64)
            for name in VARIABLES
        }

    def _shape(self, name: str) -> tuple[int, ...]:
        return (1, 1, 1, 1, *(self.lengths[dim] for dim in VARIABLES[name].dims))

    def _kept(self, index: Index) -> Pieces | None:
        if self.old is None or self.complete is None:
            return None
        place = {
            name: self.old.indexes[name].get_indexer(pd.Index(self.axes[name][i : i + 1]))[0]
            for name, i in zip(POINT, index, strict=True)
        }
        if min(place.values()) < 0 or self.old["trials_used"].isel(place).item() != self.complete[index]:
            return None
        pieces = {}
        for name, variable in VARIABLES.items():
            there = self.old[name].isel({axis: [i] for axis, i in place.items()})
            if "trial" in variable.dims:
                there = there.pad(trial=(0, self.lengths["trial"] - there.sizes["trial"]))
            pieces[name] = dask.array.asarray(there.transpose(*POINT, *variable.dims).data)
        return pieces


def _measure(
    squares: Any,
    normalizer: Any,
    point: Point,
    models: tuple[str, ...],
    tokens: Tokens,
    drop: int,
    trials: int,
) -> dict[str, np.ndarray[Any, np.dtype[np.float64]]]:
    """Run `measure_point`, and fill up with NaN to the length that `trial` has in the dataset."""
    found = measure_point(squares, normalizer, point, models, tokens, drop)
    for name, variable in VARIABLES.items():
        if "trial" in variable.dims:
            missing = trials - found[name].shape[0]
            width = [(0, missing)] + [(0, 0)] * (found[name].ndim - 1)
            found[name] = np.pad(found[name], width, constant_values=np.nan)
        found[name] = found[name][None, None, None, None]
    return found


def _usable(full: xr.Dataset, reuse: xr.Dataset | None, attributes: dict[str, Any]) -> xr.Dataset | None:
    """Return earlier distances if they were measured as these will be."""
    if reuse is None or any(name not in reuse for name in VARIABLES):
        return None
    same = all(reuse.attrs.get(key) == attributes[key] for key in ("drop", "tokens"))
    models = [str(name) for name in reuse["model"].values] == [str(name) for name in full["model"].values]
    if (
        not (same and models)
        or attributes["tokens"] == "matrix"
        or reuse.sizes["trial"] > full.sizes["trial"]
    ):
        return None
    missing = [name for name in POINT if name not in reuse.dims]
    return reuse.expand_dims(missing).assign(trials_used=reuse["trials_used"].expand_dims(missing).compute())


def _joined(pieces: Any, axis: int = 0) -> Any:
    """Concatenate an array of pieces along their first four dimensions."""
    inner = [piece if axis == len(POINT) - 1 else _joined(piece, axis + 1) for piece in pieces]
    return dask.array.concatenate(inner, axis=axis)


def _coordinates(full: xr.Dataset) -> dict[str, Any]:
    models = tuple(str(name) for name in full["model"].values)
    coords: dict[str, Any] = {name: full[name].variable for name in (*POINT, *SIZES) if name in full}
    coords["model"] = ("model", np.array(models, dtype=object), {"long_name": "rung of the ladder"})
    coords["pair"] = ("pair", np.array(pairs_of(models), dtype=object), {"long_name": "neighbouring rungs"})
    return coords
