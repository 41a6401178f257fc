"""Datasets derived from a study, kept beside it as groups of its store: distances, and what may follow."""

from __future__ import annotations

import warnings

import xarray as xr

from scalestudy.errors import StoreError
from scalestudy.store.location import Location


def read_group(location: Location, name: str) -> xr.Dataset | None:
    """Read a derived dataset into memory; None if there is none, or a killed run left half of one."""
    if location.read(f"{name}/zarr.json") is None:
        return None
    try:
        with xr.open_zarr(location.url, group=name) as dataset:
            loaded: xr.Dataset = dataset.load()
            return loaded
    except (KeyError, ValueError, RuntimeError, OSError):
        # It can be made again from the spectra: a damaged copy is worth no more than none.
        return None


def write_group(location: Location, name: str, dataset: xr.Dataset) -> None:
    """Keep a derived dataset, in place of an earlier one; the caller holds the store's lock.

    Raises
    ------
    StoreError
        If it cannot be written.
    """
    with warnings.catch_warnings():
        # Written once and whole, so what is consolidated here can never be stale.
        warnings.filterwarnings("ignore", message="Consolidated metadata is currently not part")
        try:
            location.delete(name)
            dataset.to_zarr(location.url, group=name, mode="w", zarr_format=3, consolidated=True)
        except OSError as error:
            raise StoreError(f"{location}: its group {name} cannot be written: {error}.") from None
