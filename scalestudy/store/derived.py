"""Datasets derived from a study, kept beside it as groups of its store: distances, and what may follow.

The root's consolidated metadata list a derived group only while it is whole: the entry is taken out before
the group is written anew, and put back after. So nobody ever takes half of one for all of it.
"""

from __future__ import annotations

import json
import warnings
from typing import TYPE_CHECKING, Any

from scalestudy.errors import StoreError
from scalestudy.store.location import Location
from scalestudy.store.root import put_root, read_root

if TYPE_CHECKING:
    import xarray as xr


def read_group(location: Location, name: str) -> xr.Dataset | None:
    """Read a derived dataset into memory; None if there is none, or a killed run left half of one."""
    if name not in _listed(read_root(location) or {}):
        return None
    # Workers import this package and never read: xarray is half of what they would wait for.
    import xarray as xr

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
    root = read_root(location)
    if root is None:
        raise StoreError(f"{location}: no such store.")
    try:
        listed = _listed(root)
        for key in [key for key in listed if key == name or key.startswith(f"{name}/")]:
            del listed[key]
        put_root(location, root)
        location.delete(name)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Consolidated metadata is currently not part")
            dataset.to_zarr(location.url, group=name, mode="w", zarr_format=3, consolidated=False)
        listed |= group_metadata(location, name)
        put_root(location, root)
    except OSError as error:
        raise StoreError(f"{location}: its group {name} cannot be written: {error}.") from None


def group_metadata(location: Location, name: str) -> dict[str, Any]:
    """Return the metadata of a group and its arrays, by key, as zarr consolidates them in a root document."""
    inline = {"kind": "inline", "must_understand": False, "metadata": {}}
    metadata = {name: {**_document(location, name), "consolidated_metadata": inline}}
    for child in sorted(location.names(name)):
        if child != "zarr.json":
            metadata[f"{name}/{child}"] = _document(location, f"{name}/{child}")
    return metadata


def kept_groups(root: dict[str, Any]) -> dict[str, Any]:
    """Return what a root document lists of derived groups; a growth of the study leaves them in place."""
    listed = _listed(root)
    names = {key for key, entry in listed.items() if entry.get("node_type") == "group"}
    return {key: entry for key, entry in listed.items() if key.partition("/")[0] in names}


def _listed(root: dict[str, Any]) -> dict[str, Any]:
    metadata = root.get("consolidated_metadata", {}).get("metadata", {})
    return metadata if isinstance(metadata, dict) else {}


def _document(location: Location, key: str) -> dict[str, Any]:
    document = location.read(f"{key}/zarr.json")
    if document is None:
        raise StoreError(f"{location}: {key} has no metadata.")
    return dict(json.loads(document))
