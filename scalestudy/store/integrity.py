"""Is what the store holds whole? Every array, coordinate and chunk is read and held against the manifest.

A *finding* is one thing that is wrong. A block is *sound* if it has a count and all its chunks are there,
decode, and hold what a block must: values that descend, NaN only past ell, finite row normalisers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scalestudy.store import schema
from scalestudy.store.block_check import block_problems, chunk_names, reason
from scalestudy.store.counts import UNREADABLE, Index, block_counts, block_index
from scalestudy.store.derived import damage, derived_groups, is_listed_well
from scalestudy.store.lifecycle import COORDINATE_NAMES, coordinates_of
from scalestudy.store.location import Location
from scalestudy.store.manifest import Manifest
from scalestudy.store.root import is_group, read_root
from scalestudy.study import Block
from scalestudy.study.token_file import matrix_label

# Coordinates are computed anew; another C library may round exp and log otherwise.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong.

    Attributes
    ----------
    where : str
        The array, or the block in words: its point and trials.
    what : str
        What is wrong, in words.
    index : tuple of int or None
        ``(d, beta, gamma, psi, block)`` of a block; None where the finding is about a whole array.
    """

    where: str
    what: str
    index: Index | None = None

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


@dataclass
class Inspection:
    """What reading a store found.

    Attributes
    ----------
    findings : list of Finding
        Everything that is wrong; empty for a sound store.
    sound : dict from index to int
        The complete trials of every sound block.
    chunks : int
        Chunks that were read.
    """

    findings: list[Finding] = field(default_factory=list)
    sound: dict[Index, int] = field(default_factory=dict)
    chunks: int = 0

    @property
    def bad_blocks(self) -> list[Index]:
        """The blocks of all findings, each once."""
        return sorted({finding.index for finding in self.findings if finding.index is not None})


def inspect(location: Location, manifest: Manifest) -> Inspection:
    """Read a whole store.

    Parameters
    ----------
    location : Location
        The store.
    manifest : Manifest
        What its root says.

    Raises
    ------
    OSError
        If the disk cannot be read.
    """
    found = Inspection()
    found.findings.extend(_layout(location, manifest))
    if not is_group(read_root(location) or {}):
        # Zarr opens nothing of it; the rest can be read once this is mended.
        return found
    found.findings.extend(_coordinates(location, manifest))
    found.findings.extend(_tokens(location, manifest))
    found.findings.extend(_blocks(location, manifest, found))
    found.findings.extend(_derived(location))
    for key in location.partials(schema.FOLDERS):
        found.findings.append(Finding(key, "a writer was killed and left this half-written file"))
    return found


def block_at(manifest: Manifest, index: Index, trials: int | None = None) -> Block:
    """Return the block at an index, with as many trials as given or as its place has room for."""
    start = index[-1] * manifest.trials_per_block
    room = min(manifest.trials_per_block, manifest.trials - start)
    return Block(manifest.point(index[:-1]), index[-1], start, start + (trials or room))


def is_settled(location: Location, manifest: Manifest) -> bool:
    """Whether all metadata agree, those of derived groups included; `settle` makes them."""
    root = read_root(location) or {}
    return not any(_layout(location, manifest)) and all(
        is_listed_well(location, root, name) for name in derived_groups(root)
    )


def _layout(location: Location, manifest: Manifest) -> Iterator[Finding]:
    """Compare the metadata of every array, and their copy in the root, with the manifest."""
    wanted = schema.expected(manifest)
    for name, document in wanted.items():
        wrong = schema.disagreement(location.read(f"{name}/zarr.json"), document)
        if wrong:
            yield Finding(name, f"half-grown or damaged: the array {wrong}")
    root = read_root(location) or {}
    if not is_group(root):
        yield Finding("zarr.json", "damaged: zarr does not take it for the document of a group")
    if root.get("attributes", {}).get("coordinates") != COORDINATE_NAMES:
        yield Finding("zarr.json", "its attribute `coordinates` does not name the coordinates")
    try:
        listed = root["consolidated_metadata"]
        copies = listed["metadata"]
        wrong_frame = listed != {**schema.CONSOLIDATED, "metadata": copies}
        stale = [
            name
            for name, document in wanted.items()
            if schema.disagreement(json.dumps(copies[name]).encode(), document)
        ]
    except (KeyError, TypeError):
        wrong_frame, stale = True, []
    if wrong_frame or stale:
        yield Finding(
            "zarr.json",
            f"its consolidated metadata are stale ({', '.join(stale) or 'all'}): readers see an older study",
        )


def _derived(location: Location) -> Iterator[Finding]:
    """Read the derived groups; what cannot be read is made again by the next sweep, once it is not listed."""
    root = read_root(location) or {}
    for name in derived_groups(root):
        wrong = damage(location, root, name)
        if wrong:
            yield Finding("zarr.json" if not is_listed_well(location, root, name) else name, wrong)


def _coordinates(location: Location, manifest: Manifest) -> Iterator[Finding]:
    for name, values in coordinates_of(manifest).items():
        try:
            held = np.asarray(schema.handle(location, manifest, name)[...])
        except (ValueError, RuntimeError) as error:
            yield Finding(name, f"corrupt: {reason(error)}")
            continue
        if not _agree(held, values):
            yield Finding(name, "the values of this coordinate are not those of the manifest")


def _tokens(location: Location, manifest: Manifest) -> Iterator[Finding]:
    """Compare a kept token matrix with the checksum that identifies the study."""
    label = manifest.identity["tokens"]
    if not label.startswith("matrix "):
        return
    remedy = "run its sweep again, with the token file in place"
    try:
        if matrix_label(schema.read_tokens(location)) != label:
            yield Finding("tokens/matrix", f"its checksum is not that of the study; {remedy}")
    except (KeyError, ValueError, RuntimeError) as error:
        yield Finding("tokens/matrix", f"corrupt or missing: {reason(error)}; {remedy}")


def _agree(held: NDArray[Any], values: NDArray[Any]) -> bool:
    if values.dtype.kind != "f":
        return bool(np.array_equal(held.astype(values.dtype), values))
    return bool(np.allclose(held, values, rtol=_ROUNDING, atol=0, equal_nan=True))


def _blocks(location: Location, manifest: Manifest, found: Inspection) -> Iterator[Finding]:
    arrays = {name: schema.handle(location, manifest, name) for name in schema.BLOCKWISE}
    present = {name: set(location.names(name)) for name in schema.BLOCKWISE}
    counts = block_counts(location, manifest)
    for index, count in sorted(counts.items()):
        block = block_at(manifest, index, max(count, 0))
        if count == UNREADABLE:
            yield Finding(
                str(block_at(manifest, index)), "corrupt: its count in `done` cannot be read", index
            )
            continue
        problems = list(block_problems(arrays, present, manifest, index, count))
        found.chunks += 1 + len(chunk_names(manifest, index))
        for problem in problems:
            yield Finding(str(block), problem, index)
        if not problems:
            found.sound[index] = count
    for index in sorted(_begun(present, manifest) - set(counts)):
        yield Finding(
            str(block_at(manifest, index)),
            "half-written: it has values and no count in `done`; a writer was killed, or the count was lost",
            index,
        )


def _begun(present: dict[str, set[str]], manifest: Manifest) -> set[Index]:
    """Return the blocks of which any chunk exists."""
    found = {block_index(chunk, manifest) for name in schema.BLOCKWISE for chunk in present[name]}
    return {index for index in found if index is not None}
