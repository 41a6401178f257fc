"""What is done: the complete trials of every block, from the chunks of `done`."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from scalestudy.store import schema
from scalestudy.store.location import Location
from scalestudy.store.manifest import AXES, Manifest
from scalestudy.study import Point

Index = tuple[int, ...]

# The chunk of a block begins with the block's index; "c.0.0.0.0.1.0" is its first piece along tokens.
_CHUNK = re.compile(r"c((?:\.\d{1,9}){5})(?:\.\d{1,9})*")
UNREADABLE = -1


def completed(location: Location, manifest: Manifest) -> dict[Point, NDArray[np.int32]]:
    """Count the complete trials of every block, by listing the chunks of `done` and reading their counts.

    Returns
    -------
    dict from Point to ndarray of shape (blocks,)
        Points without any block are absent. A chunk that cannot be read counts as nothing done.
    """
    blocks = manifest.lengths["block"]
    counts: dict[Index, NDArray[np.int32]] = {}
    for index, count in block_counts(location, manifest).items():
        counts.setdefault(index[:-1], np.zeros(blocks, dtype=np.int32))[index[-1]] = max(count, 0)
    return {manifest.point(index): found for index, found in counts.items()}


def block_counts(location: Location, manifest: Manifest) -> dict[Index, int]:
    """Return the count of every block that has one, `UNREADABLE` where it is damaged.

    Returns
    -------
    dict from tuple to int
        From the index ``(d, beta, gamma, psi, block)``; chunks outside the manifest are left out.
    """
    places = {
        name: index for name in location.names("done") if (index := block_index(name, manifest)) is not None
    }
    if not places:
        return {}
    array = schema.handle(location, manifest, "done")
    meaning: dict[bytes, int] = {}
    counts: dict[Index, int] = {}
    contents = location.read_many([f"done/{name}" for name in places])
    for (name, index), raw in zip(places.items(), contents, strict=True):
        if raw in meaning:
            counts[index] = meaning[raw]
            continue
        # There are at most B different chunks: decode each kind once, through zarr and its checksum.
        try:
            counts[index] = int(array[index])
        except (ValueError, RuntimeError):
            counts[index] = UNREADABLE
        # A running sweep may have replaced the chunk between the two readings.
        if location.read(f"done/{name}") == raw:
            meaning[raw] = counts[index]
    return counts


def block_index(chunk: str, manifest: Manifest) -> Index | None:
    """Return the index of the block that a chunk belongs to, by its name; None if there is no such block."""
    named = _CHUNK.fullmatch(chunk)
    if named is None:
        return None
    index = tuple(int(part) for part in named[1].split(".")[1:])
    lengths = manifest.lengths
    inside = all(i < lengths[dim] for i, dim in zip(index, (*AXES, "block"), strict=True))
    return index if inside else None
