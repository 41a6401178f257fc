"""Datasets derived from a study, kept beside it as groups of its store: distances, and what may follow.

The root's consolidated metadata list a derived group only while it is whole: the entry is taken out before
the group is written anew, and put back after. So nobody ever takes half of one for all of it. A group that is
damaged is worth no more than none, for it can be made again; but what the root lists of it must be sound, or
nothing of the store opens.
"""

from __future__ import annotations

import json
import warnings
from typing import TYPE_CHECKING, Any

import zarr
from zarr.codecs import Crc32cCodec, ZstdCodec

from scalestudy.errors import StoreError
from scalestudy.store import schema
from scalestudy.store.block_check import reason
from scalestudy.store.location import Location
from scalestudy.store.root import put_root, read_root

if TYPE_CHECKING:
    import xarray as xr


def read_group(location: Location, name: str) -> xr.Dataset | None:
    """Read a derived dataset into memory; None if there is none, half of one, or a damaged one."""
    root = read_root(location) or {}
    if name not in _listed(root) or damage(location, root, name):
        return None
    # Workers import this package and never read: xarray is half of what they would wait for.
    import xarray as xr

    try:
        with xr.open_zarr(location.url, group=name) as dataset:
            loaded: xr.Dataset = dataset.load()
            return loaded
    except Exception:
        # What holds no dataset, such as coordinates that fit no array, may raise anything in xarray.
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
        for key in _entries(root, name):
            del listed[key]
        put_root(location, root)
        location.delete(name)
        compressors = [ZstdCodec(level=1), Crc32cCodec()]
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Consolidated metadata is currently not part")
            dataset.to_zarr(
                location.url,
                group=name,
                mode="w",
                zarr_format=3,
                consolidated=False,
                encoding={variable: {"compressors": compressors} for variable in dataset.variables},
                # A chunk of fill values that is not there could as well be lost.
                write_empty_chunks=True,
            )
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


def derived_groups(root: dict[str, Any]) -> list[str]:
    """Return the names of all that a root document lists beside the arrays of the study, whole or not."""
    names = {key.partition("/")[0] for key in _listed(root)}
    return sorted(names - set(schema.COORDINATES) - set(schema.BLOCKWISE))


def kept_groups(location: Location, root: dict[str, Any]) -> dict[str, Any]:
    """Return what a root document lists of derived groups; a growth of the study leaves them in place."""
    found: dict[str, Any] = {}
    for name in derived_groups(root):
        if is_listed_well(location, root, name):
            found |= _entries(root, name)
    return found


def drop_damaged(location: Location) -> None:
    """Take the derived groups that cannot be read out of the list of the root, so that they are made anew."""
    root = read_root(location) or {}
    keys = [
        key for name in derived_groups(root) if damage(location, root, name) for key in _entries(root, name)
    ]
    for key in keys:
        del _listed(root)[key]
    if keys:
        put_root(location, root)


def is_listed_well(location: Location, root: dict[str, Any], name: str) -> bool:
    """Whether a root document lists of a derived group what its own documents say."""
    entries = _entries(root, name)
    try:
        # Format 2 knows codecs that run code.
        formats = {entry["zarr_format"] for entry in entries.values()}
        return formats == {3} and group_metadata(location, name) == entries
    except (StoreError, ValueError, TypeError, KeyError, RecursionError):
        return False


def damage(location: Location, root: dict[str, Any], name: str) -> str:
    """Read all of a derived group and say the first thing that is wrong; nothing for a sound one."""
    if not is_listed_well(location, root, name):
        return f"what the root lists of the derived group {name!r} is stale or damaged"
    try:
        place = location.group("r").store_path
        for key, entry in _entries(root, name).items():
            if entry["node_type"] == "group":
                continue
            array = zarr.Array.from_dict(place / key, entry)
            if not any(isinstance(codec, Crc32cCodec) for codec in array.compressors):
                return f"{key} has no checksum"
            if array.nchunks_initialized < array.nchunks:
                return f"{key}: chunks are missing"
            array[...]
    except Exception as error:
        # A bit of a document or chunk can make zarr and its codecs raise whatever they have.
        return f"corrupt: {reason(error)}"
    return ""


def _entries(root: dict[str, Any], name: str) -> dict[str, Any]:
    """Return what a root document lists of a group and of all below it."""
    return {key: entry for key, entry in _listed(root).items() if key == name or key.startswith(f"{name}/")}


def _listed(root: dict[str, Any]) -> dict[str, Any]:
    consolidated = root.get("consolidated_metadata")
    metadata = consolidated.get("metadata") if isinstance(consolidated, dict) else None
    return metadata if isinstance(metadata, dict) else {}


def _document(location: Location, key: str) -> dict[str, Any]:
    document = location.read(f"{key}/zarr.json")
    if document is None:
        raise StoreError(f"{location}: {key} has no metadata.")
    return dict(json.loads(document))
