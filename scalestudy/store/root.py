"""The root document of a store: its attributes, its manifest, and how it is replaced in one step."""

from __future__ import annotations

import json
from typing import Any

from scalestudy.errors import SpecError, StoreError
from scalestudy.store.location import Location
from scalestudy.store.manifest import Manifest
from scalestudy.study import Spec, parse_source, parse_spec

MANIFEST = "scalestudy_manifest"
_GROUP = {"zarr_format": 3, "node_type": "group"}


def read_manifest(location: Location) -> Manifest:
    """Read the manifest of an existing store.

    Raises
    ------
    StoreError
        If nothing is there, or what is there is not a store of this package or is damaged.
    """
    attributes = read_attributes(location)
    if MANIFEST not in attributes:
        _refuse_lost_root(location)
        raise StoreError(f"{location}: {'not a scalestudy store' if location.exists() else 'no such store'}.")
    return _manifest_in(attributes, location)


def read_attributes(location: Location) -> dict[str, Any]:
    """Read the root attributes of a store: spec, provenance, manifest; none if there is no store.

    Raises
    ------
    StoreError
        If the place cannot be read.
    """
    document = read_root(location) or {}
    attributes = document.get("attributes")
    return attributes if isinstance(attributes, dict) and MANIFEST in attributes else {}


def read_spec(location: Location) -> Spec | None:
    """Return the spec that a store was last run with; None if its text is no longer a spec."""
    try:
        return parse_spec(parse_source(str(read_attributes(location).get("spec", "")), str(location)))
    except SpecError:
        return None


def check_place(location: Location) -> Manifest | None:
    """Return the manifest of the store at a place, or None if a store can be made there.

    Raises
    ------
    StoreError
        If something else is there already, or the place cannot be read.
    """
    attributes = read_attributes(location)
    if attributes:
        return _manifest_in(attributes, location)
    if location.exists() and not (location.is_local and location.is_folder() and _is_empty(location)):
        _refuse_lost_root(location)
        raise StoreError(f"{location} exists and is not a scalestudy store; give the spec another `store`.")
    return None


def read_root(location: Location) -> dict[str, Any] | None:
    """Return the root document, or None if there is none that is a JSON object.

    Raises
    ------
    StoreError
        If the place cannot be read.
    """
    try:
        document = location.read("zarr.json")
    except OSError as error:
        raise StoreError(f"{location} cannot be read: {error.strerror or error}.") from None
    try:
        root = json.loads(document) if document else None
    except (ValueError, RecursionError):
        return None
    return root if isinstance(root, dict) else None


def put_root(location: Location, root: dict[str, Any]) -> None:
    """Replace the root document in one step, without what zarr would not take."""
    held = {key: root[key] for key in ("attributes", *_GROUP, "consolidated_metadata") if key in root}
    location.replace("zarr.json", json.dumps(held | _GROUP, indent=2).encode())


def is_group(root: dict[str, Any]) -> bool:
    """Whether zarr takes a root document for that of a group, whatever its attributes and list of arrays."""
    unknown = set(root) - {"attributes", *_GROUP, "consolidated_metadata"}
    return not unknown and all(root.get(key) == value for key, value in _GROUP.items())


def _manifest_in(attributes: dict[str, Any], location: Location) -> Manifest:
    try:
        data = json.loads(attributes[MANIFEST])
    except (ValueError, TypeError, RecursionError):
        raise StoreError(f"{location}: its manifest is damaged (no JSON).") from None
    return Manifest.from_json(data, str(location))


def _refuse_lost_root(location: Location) -> None:
    """Say of a place without a manifest that it holds a study all the same, where it has its counts."""
    if any(name.startswith("c.") for name in location.names("done")):
        raise StoreError(
            f"{location} holds a study, but its root document zarr.json is damaged or lost; "
            "without a copy of that file it cannot be repaired."
        )


def _is_empty(location: Location) -> bool:
    """Whether a folder holds nothing, or only what a run left that was killed before it wrote the root."""
    try:
        names = location.names()
    except OSError:
        return False
    return all(name.startswith("zarr.json.") and name.endswith(".partial") for name in names)
