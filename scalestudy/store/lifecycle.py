"""Making, opening and growing a store, and asking it what is done."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scalestudy.errors import StoreError
from scalestudy.store import schema
from scalestudy.store.location import Location
from scalestudy.store.manifest import AXES, Manifest
from scalestudy.study import Point, Spec
from scalestudy.study.statistics import coordinate_values

_MANIFEST = "scalestudy_manifest"


def read_manifest(location: Location) -> Manifest:
    """Read the manifest of an existing store.

    Raises
    ------
    StoreError
        If nothing is there, or what is there is not a store of this package.
    """
    attributes = _attributes(location)
    if attributes is None:
        raise StoreError(f"{location}: {'not a scalestudy store' if location.exists() else 'no such store'}.")
    return Manifest.from_json(json.loads(attributes[_MANIFEST]), str(location))


def read_attributes(location: Location) -> dict[str, Any]:
    """Read the root attributes of an existing store: spec, provenance, manifest."""
    return _attributes(location) or {}


def check_place(location: Location) -> Manifest | None:
    """Return the manifest of the store at a place, or None if a store can be made there.

    Raises
    ------
    StoreError
        If something else is there already.
    """
    if _attributes(location) is not None:
        return read_manifest(location)
    if location.exists() and (not location.is_local or location.names() or not location.is_folder()):
        raise StoreError(f"{location} exists and is not a scalestudy store; give the spec another `store`.")
    return None


def prepare(
    location: Location,
    spec: Spec,
    *,
    tokens: str,
    matrix: NDArray[np.float64] | None,
    trials_per_block: int,
    attributes: Mapping[str, str],
) -> Manifest:
    """Create a store for a spec, or grow the one that is there; repeat what an earlier run left half done.

    Parameters
    ----------
    location : Location
        Where; the caller holds its lock.
    spec : Spec
        What the store must be able to hold.
    tokens : str
        The label of the tokens, part of the store's identity.
    matrix : ndarray of shape (ell, d) or None
        The token matrix, kept in the store so that workers on other machines can read it.
    trials_per_block : int
        B, used only if the store is new.
    attributes : mapping from str to str
        Spec text and provenance, for the root.

    Raises
    ------
    StoreMismatchError
        If the store holds another study.
    StoreError
        If the place cannot be written, or holds something else.
    """
    held = check_place(location)
    if held is not None:
        held.check(spec, tokens, str(location))
        manifest = held.grown(spec)
    else:
        manifest = Manifest.first(spec, tokens, trials_per_block)
    try:
        root = _root_document(location)
        # CF's global attribute tells xarray which arrays are coordinates and not data.
        named = {"coordinates": " ".join(name for name in schema.COORDINATES if name not in (*AXES, "model"))}
        root["attributes"] |= {**attributes, **named, _MANIFEST: json.dumps(manifest.to_json())}
        _put_root(location, root)
        schema.apply(location, manifest, _coordinates(manifest))
        if matrix is not None:
            schema.put_tokens(location, matrix)
        location.sweep_partials(["", *schema.BLOCKWISE, *schema.COORDINATES])
        root["consolidated_metadata"] = schema.consolidated(location)
        _put_root(location, root)
    except OSError as error:
        raise StoreError(f"{location} cannot be written: {error.strerror or error}.") from None
    return manifest


def completed(location: Location, manifest: Manifest) -> dict[Point, NDArray[np.int32]]:
    """Count the complete trials of every block, by listing the chunks of `done` and reading their counts.

    Returns
    -------
    dict from Point to ndarray of shape (blocks,)
        Points without any block are absent. A chunk that cannot be read counts as nothing done.
    """
    lengths = manifest.lengths
    shape = tuple(lengths[dim] for dim in schema.BLOCKWISE["done"].dims)
    names = [
        name for name in location.names("done") if name.startswith("c.") and not name.endswith(".partial")
    ]
    array = location.group("r")["done"]
    meaning: dict[bytes, int] = {}
    counts: dict[tuple[int, ...], NDArray[np.int32]] = {}
    for name, raw in zip(names, location.read_many([f"done/{name}" for name in names]), strict=True):
        index = tuple(int(part) for part in name.split(".")[1:])
        if any(i >= n for i, n in zip(index, shape, strict=True)):
            continue
        # There are at most B different chunks: decode each kind once, through zarr and its checksum.
        if raw not in meaning:
            try:
                meaning[raw] = int(array[index])
            except (ValueError, RuntimeError):
                meaning[raw] = 0
        counts.setdefault(index[:-1], np.zeros(shape[-1], dtype=np.int32))[index[-1]] = meaning[raw]
    axes = [getattr(manifest, name) for name in AXES]
    return {
        Point(*(axis[i] for axis, i in zip(axes, index, strict=True))): found
        for index, found in counts.items()
    }


def _coordinates(manifest: Manifest) -> dict[str, NDArray[Any]]:
    identity = manifest.identity
    axes = {name: getattr(manifest, name) for name in AXES}
    return coordinate_values(axes, identity["models"], identity["polynomial"], identity["seed"])


def _attributes(location: Location) -> dict[str, Any] | None:
    document = location.read("zarr.json")
    try:
        attributes = json.loads(document)["attributes"] if document else {}
    except (ValueError, KeyError, TypeError):
        return None
    return attributes if _MANIFEST in attributes else None


def _root_document(location: Location) -> dict[str, Any]:
    document = location.read("zarr.json")
    if document:
        return dict(json.loads(document))
    return {"attributes": {}, "zarr_format": 3, "node_type": "group"}


def _put_root(location: Location, root: dict[str, Any]) -> None:
    location.replace("zarr.json", json.dumps(root, indent=2).encode())
