"""What went wrong: one record for every block that failed, kept in the store until the block succeeds."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from typing import Any

from scalestudy.store.location import Location

_FOLDER = "failures"


@dataclass(frozen=True)
class Failure:
    """One failed block.

    Attributes
    ----------
    block : str
        The block in words.
    slot : str
        Its chunk key, ``d.beta.gamma.psi.block``, which names the record.
    seeds : str
        The entropy of its first trial's streams: (seed, d, ell, d_qk, trial).
    error : str
        The exception in one line.
    traceback : str
        All of it; empty where the worker died.
    replay : str
        A command that computes the block again in the foreground.
    when : str
        Time of the failure, UTC.
    """

    block: str
    slot: str
    seeds: str
    error: str
    traceback: str
    replay: str
    when: str


def record(location: Location, failure: Failure) -> None:
    """Keep a failure."""
    # The folder is a group too: zarr warns of what is no part of its hierarchy.
    _put_group(location, _FOLDER, {})
    _put_group(location, f"{_FOLDER}/{failure.slot}", asdict(failure))


def _put_group(location: Location, key: str, attributes: dict[str, Any]) -> None:
    document = {"attributes": attributes, "zarr_format": 3, "node_type": "group"}
    location.replace(f"{key}/zarr.json", json.dumps(document, indent=2).encode())


def failures(location: Location) -> list[Failure]:
    """Return every failure that is kept, in the order of the blocks."""
    found = []
    for name in sorted(location.names(_FOLDER)):
        failure = _parsed(location.read(f"{_FOLDER}/{name}/zarr.json"))
        if failure is not None:
            found.append(failure)
    return found


def _parsed(document: bytes | None) -> Failure | None:
    """Read a record back; None for one that is damaged, or that was cleared meanwhile."""
    try:
        attributes = json.loads(document or "")["attributes"]
        return Failure(**{field.name: str(attributes[field.name]) for field in fields(Failure)})
    except (ValueError, KeyError, TypeError):
        return None


def clear(location: Location, slots: set[str]) -> None:
    """Forget the failures of blocks that have since succeeded."""
    held = {name for name in location.names(_FOLDER) if name != "zarr.json"}
    for name in slots & held:
        location.delete(f"{_FOLDER}/{name}")
    if held and held <= slots:
        location.delete(_FOLDER)
