"""Reading a study's dataset: its axes, sizes, tokens, and which trials are there. No measuring."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import xarray as xr

from scalestudy.convergence.laws import Point, Tokens
from scalestudy.convergence.schema import POINT
from scalestudy.errors import AnalysisError

SIZES = {
    "ell": ("d", "gamma"),
    "d_qk": ("d", "psi"),
    "degree": ("d",),
    "theta1_Q": ("d", "beta"),
    "theta2_Q": ("d", "beta"),
}
"""Coordinates that go from a study to its distances, and their dimensions."""

Index = tuple[int, ...]


def with_all_axes(ds: xr.Dataset) -> xr.Dataset:
    """Return a study, or a selection from one, with d, beta, gamma and psi all as dimensions.

    Raises
    ------
    AnalysisError
        If it is not a study's dataset.
    """
    for name in ("squared_singular_values", *POINT, "ell", "d_qk"):
        if name not in ds:
            raise AnalysisError(
                f"This dataset has no {name!r}. Distances are measured on what open_study() returns."
            )
    sizes = {}
    for name, dims in SIZES.items():
        if name in ds:
            missing = [dim for dim in dims if dim not in ds[name].dims]
            sizes[name] = ds[name].drop_vars(ds[name].coords).expand_dims(missing).transpose(*dims).variable
    scalars = [name for name in POINT if name not in ds.dims]
    full: xr.Dataset = ds.drop_vars(list(sizes)).expand_dims(scalars)
    full = full.assign_coords(sizes)
    if "trial" not in full["squared_singular_values"].dims or "model" not in full.dims:
        raise AnalysisError(
            "A study keeps its dimensions trial and model; select with lists: ds.sel(model=[...])."
        )
    largest, kept = int(full["ell"].max()), full.sizes.get("rank", 1)
    if kept < largest:
        raise AnalysisError(
            f"Of spectra of {largest} values {kept} are left. A study keeps its dimension rank whole; leave "
            "the largest values out with drop."
        )
    return full


def points_of(ds: xr.Dataset) -> Iterator[tuple[Index, Point]]:
    """Return the index along (d, beta, gamma, psi) and the sizes of every point of a study with all axes."""
    d, beta, ell, d_qk = (ds[name].values for name in ("d", "beta", "ell", "d_qk"))
    nothing = np.full((len(d), len(beta)), np.nan)
    theta1, theta2 = (ds[name].values if name in ds else nothing for name in ("theta1_Q", "theta2_Q"))
    for i, j, k, m in np.ndindex(*(ds.sizes[name] for name in POINT)):
        truncated = None if np.isnan(theta1[i, j]) else (float(theta1[i, j]), float(theta2[i, j]))
        sizes = (int(d[i]), int(ell[i, k]), int(d_qk[i, m]))
        yield (i, j, k, m), Point(*sizes, float(beta[j]), truncated)


def tokens_of(ds: xr.Dataset) -> str:
    """Return what a study says its tokens are: an ensemble's name, or the checksum of a matrix.

    Raises
    ------
    AnalysisError
        If it does not say.
    """
    manifest = _manifest(ds)
    if manifest is None:
        raise AnalysisError(
            "This dataset does not say what its tokens are: it has no attribute scalestudy_manifest. "
            'Open the store with open_study(), or say it: tokens="orthonormal", for example.'
        )
    return str(manifest["identity"]["tokens"])


def label_of(ds: xr.Dataset, tokens: Tokens) -> str:
    """Return what distances call the tokens they were measured with."""
    if isinstance(tokens, str):
        return tokens
    return "a matrix" if _manifest(ds) is None else tokens_of(ds)


def complete_trials(ds: xr.Dataset) -> np.ndarray[Any, np.dtype[np.int64]] | None:
    """Return how many trials of each point are complete, or None where the dataset does not tell.

    It tells by the variable `done`, as long as no trials were selected from the store's.
    """
    counts = _done(ds)
    return None if counts is None else np.asarray(counts.sum(axis=-1), dtype=np.int64)


def trials_to_read(ds: xr.Dataset) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return after how many trials each point holds nothing: what lies beyond need not be read."""
    counts, manifest, trials = _done(ds), _manifest(ds), ds.sizes["trial"]
    if counts is None or manifest is None:
        return np.full([ds.sizes[name] for name in POINT], trials)
    blocks = np.arange(1, counts.shape[-1] + 1) * (counts > 0)
    last = blocks.max(axis=-1, initial=0) * int(manifest["trials_per_block"])
    return np.asarray(np.minimum(last, trials), dtype=np.int64)


def _done(ds: xr.Dataset) -> np.ndarray[Any, np.dtype[np.int64]] | None:
    manifest = _manifest(ds)
    if (
        manifest is None
        or "block" not in ds.dims
        or "done" not in ds
        or ds.sizes["trial"] != int(manifest["trials"])
    ):
        return None
    return np.asarray(ds["done"].transpose(*POINT, "block").values, dtype=np.int64)


def _manifest(ds: xr.Dataset) -> dict[str, Any] | None:
    text = ds.attrs.get("scalestudy_manifest")
    return None if text is None else dict(json.loads(text) if isinstance(text, str) else text)
