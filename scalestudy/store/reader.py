"""Opening a study for analysis: one lazy xarray dataset with sorted axes, NaN where nothing is done."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from scalestudy.errors import DamagedStoreError, StoreError
from scalestudy.store.counts import completed
from scalestudy.store.location import Location
from scalestudy.store.manifest import AXES, Manifest
from scalestudy.store.root import read_manifest, read_root

if TYPE_CHECKING:
    import xarray as xr

_CHUNK_BYTES = 2**25


def open_study(store: str | os.PathLike[str]) -> xr.Dataset:
    """Open a store as a lazy dataset.

    Compared to plain ``xr.open_zarr(store)``, the axes are sorted, so that ``ds.sel(beta=0.9,
    method="nearest")`` works also after the study grew, and trials that are not complete are NaN.

    Parameters
    ----------
    store : str or path
        A local path or a URL.

    Returns
    -------
    xarray.Dataset
        With dimensions (d, beta, gamma, psi, trial, model, rank, token, block); data variables are Dask
        arrays, except `done`, which is read at once. Their chunks are several stored ones along `trial`, up
        to 32 MB: a chunk costs Dask as much as zarr needs to read four.

    Raises
    ------
    StoreError
        If there is no store of this package at that place, or its making was cut short.
    """
    # Workers import this package and never read: xarray is half of what they would wait for.
    import xarray as xr

    location = Location.of(store)
    manifest = read_manifest(location)
    listed = (read_root(location) or {}).get("consolidated_metadata")
    if listed is None:
        raise StoreError(f"{location} was cut short while it was made; run its sweep again.")
    _refuse_other_formats(location, listed)
    dataset = xr.open_zarr(location.url, consolidated=True, chunks={"trial": _trials_at_once(manifest)})
    # A growth may have written its manifest and not yet its arrays: count what the dataset shows.
    done = _done_array(location, manifest)[tuple(slice(dataset.sizes[dim]) for dim in (*AXES, "block"))]
    dataset = dataset.assign(done=dataset["done"].copy(data=done))
    dataset.attrs["store"] = str(location)
    complete = _complete(done, manifest.trials_per_block, dataset.sizes["trial"])
    mask = xr.DataArray(complete, dims=(*AXES, "trial"))
    for name in ("squared_singular_values", "row_normalizer", "seconds"):
        dataset[name] = dataset[name].where(mask).assign_attrs(dataset[name].attrs)
    ordered: xr.Dataset = dataset.sortby(list(AXES))
    return ordered


def _refuse_other_formats(location: Location, listed: Any) -> None:
    """Refuse arrays that are not of format 3: those of format 2 may name codecs that run code."""
    try:
        formats = {document["zarr_format"] for document in listed["metadata"].values()}
    except (TypeError, KeyError, AttributeError):
        formats = {None}
    if formats != {3}:
        raise DamagedStoreError.at(location, "its list of arrays")


def _trials_at_once(manifest: Manifest) -> int:
    """Return a number of whole blocks: their spectra, padded, are not larger than `_CHUNK_BYTES`."""
    block = manifest.trials_per_block * len(manifest.identity["models"]) * manifest.chunk * 8
    return manifest.trials_per_block * max(1, _CHUNK_BYTES // block)


def _done_array(location: Location, manifest: Manifest) -> NDArray[np.int32]:
    lengths = manifest.lengths
    done = np.zeros([lengths[dim] for dim in (*AXES, "block")], dtype=np.int32)
    for point, counts in completed(location, manifest).items():
        done[manifest.index(point)] = counts
    return done


def _complete(done: NDArray[np.int32], size: int, trials: int) -> NDArray[np.bool_]:
    """Return which trials are complete, shape (d, beta, gamma, psi, trial)."""
    within = np.arange(size) < done[..., None]
    return within.reshape(*done.shape[:-1], -1)[..., :trials]
