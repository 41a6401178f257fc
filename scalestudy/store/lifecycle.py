"""Making and growing a store, and making its arrays agree with its manifest again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scalestudy.errors import StoreError
from scalestudy.store import schema
from scalestudy.store.derived import kept_groups
from scalestudy.store.location import Location
from scalestudy.store.manifest import AXES, Manifest
from scalestudy.store.root import MANIFEST, check_place, is_group, put_root, read_root
from scalestudy.study import Spec
from scalestudy.study.statistics import coordinate_values

# What makes two runs different enough to be told apart in the history of a store.
_REMEMBERED = ("package", "libraries", "blas", "commit")

# CF's global attribute tells xarray which arrays are coordinates and not data.
COORDINATE_NAMES = " ".join(name for name in schema.COORDINATES if name not in (*AXES, "model"))


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
        Spec text and provenance, for the root. The root's `history` gains an entry where package,
        libraries, BLAS or commit differ from those of the last one.

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
    root = read_root(location) or {"attributes": {}, "zarr_format": 3, "node_type": "group"}
    history = {"history": _history(root["attributes"], attributes)}
    root["attributes"] |= {**attributes, **history, MANIFEST: json.dumps(manifest.to_json())}
    try:
        put_root(location, root)
        settle(location, manifest, matrix)
    except (OSError, NotImplementedError) as error:
        reason = getattr(error, "strerror", None) or str(error) or "its protocol only reads"
        raise StoreError(f"{location} cannot be written: {reason}.") from None
    return manifest


def settle(location: Location, manifest: Manifest, matrix: NDArray[np.float64] | None = None) -> None:
    """Make arrays, coordinates and consolidated metadata agree with the manifest that the root holds.

    Parameters
    ----------
    location : Location
        A store; the caller holds its lock.
    manifest : Manifest
        Its manifest.
    matrix : ndarray of shape (ell, d), optional
        The token matrix, to be kept.
    """
    root = read_root(location)
    assert root is not None
    if not is_group(root):
        put_root(location, root)
    schema.apply(location, manifest, coordinates_of(manifest))
    if matrix is not None:
        schema.put_tokens(location, matrix)
    location.sweep_partials(schema.FOLDERS)
    root["attributes"]["coordinates"] = COORDINATE_NAMES
    listed = schema.consolidated(location)
    listed["metadata"] |= kept_groups(location, root)
    root["consolidated_metadata"] = listed
    put_root(location, root)


def coordinates_of(manifest: Manifest) -> dict[str, NDArray[Any]]:
    """Return the values that every coordinate must have, axes in the order of the manifest."""
    identity = manifest.identity
    axes = {name: getattr(manifest, name) for name in AXES}
    return coordinate_values(axes, identity["models"], identity["polynomial"], identity["seed"])


def history_of(attributes: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return which versions wrote into a store, oldest first, each with the time of its first run."""
    try:
        found = json.loads(attributes.get("history", "[]"))
    except (ValueError, TypeError):
        return []
    return [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []


def _history(held: Mapping[str, Any], now: Mapping[str, str]) -> str:
    entries = history_of(held)
    entry = {key: now.get(key, "") for key in ("updated", *_REMEMBERED)}
    if not entries or any(entries[-1].get(key) != entry[key] for key in _REMEMBERED):
        entries.append(entry)
    return json.dumps(entries)
