"""Is what the store holds right? A sample of trials is drawn again from its seeds; bad blocks are redone."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scalestudy import spectra
from scalestudy.execution.block import Outcome, Work, run_and_write
from scalestudy.execution.replay import recompute
from scalestudy.execution.requests import request_for, slot_of
from scalestudy.store import BlockWriter, Location, Manifest, schema
from scalestudy.store.counts import Index, block_counts
from scalestudy.store.integrity import Inspection, block_at
from scalestudy.study import Point, Spec

# Another BLAS rounds otherwise: this much of the largest value is no difference.
TOLERANCE = {"float64": 1e-11, "float32": 1e-4}


@dataclass(frozen=True)
class Comparison:
    """A stored trial beside the same trial computed again.

    Attributes
    ----------
    point : Point
        Its point.
    trial : int
        Its number.
    index : tuple of int
        Its block, ``(d, beta, gamma, psi, block)``.
    difference : float
        The largest difference of its squared singular values and row normalisers, as a part of the largest
        value of the same spectrum.
    identical : bool
        Whether every bit agrees.
    agrees : bool
        Whether the difference is one of rounding.
    """

    point: Point
    trial: int
    index: Index
    difference: float
    identical: bool
    agrees: bool

    def __str__(self) -> str:
        return f"{self.point}, trial {self.trial}"


def compare_sample(
    location: Location, manifest: Manifest, sound: dict[Index, int], sample: int, seed: int = 0
) -> Iterator[Comparison]:
    """Draw a sample of the trials of sound blocks again and compare.

    Parameters
    ----------
    location : Location
        The store.
    manifest : Manifest
        Its manifest.
    sound : dict from index to int
        Complete trials of every sound block.
    sample : int
        How many trials, at most.
    seed : int
        Fixes the choice.
    """
    rng = np.random.default_rng(seed)
    blocks = sorted(sound)
    ends = np.cumsum([sound[index] for index in blocks], dtype=np.int64)
    total = int(ends[-1]) if blocks else 0
    chosen = np.sort(rng.choice(total, size=min(sample, total), replace=False))
    arrays = {name: schema.handle(location, manifest, name) for name in schema.BLOCKWISE}
    for number in chosen:
        at = int(np.searchsorted(ends, number, side="right"))
        index = blocks[at]
        trial = index[-1] * manifest.trials_per_block + int(number - ends[at]) + sound[index]
        yield _compared(location, manifest, arrays, index, trial)


def _compared(
    location: Location, manifest: Manifest, arrays: dict[str, NDArray[np.floating]], index: Index, trial: int
) -> Comparison:
    point = manifest.point(index[:-1])
    place, ell = (*index[:-1], trial), point.sizes.ell
    solver = schema.SOLVERS[int(arrays["solver"][place])]
    again = recompute(location, manifest, point, trial, trial + 1, solver)
    held = [
        np.asarray(arrays["squared_singular_values"][place])[:, :ell],
        np.asarray(arrays["row_normalizer"][place])[None, :ell],
    ]
    # Computed in double precision, stored in the study's.
    found = [
        again.squared_singular_values[0].astype(held[0].dtype),
        again.row_normalizer.astype(held[1].dtype),
    ]
    difference = max(
        float((np.abs(new - old).max(axis=-1) / np.abs(new).max(axis=-1)).max())
        for new, old in zip(found, held, strict=True)
    )
    return Comparison(
        point=point,
        trial=trial,
        index=index,
        difference=difference,
        identical=all(np.array_equal(new, old) for new, old in zip(found, held, strict=True)),
        agrees=difference <= TOLERANCE[manifest.identity["dtype"]],
    )


def redo(location: Location, manifest: Manifest, blocks: list[Index], spec: Spec | None) -> Iterator[Outcome]:
    """Forget the counts and chunks of blocks, compute them again in this process, and write them.

    Parameters
    ----------
    location : Location
        A store whose arrays agree with its manifest; the caller holds its lock.
    manifest : Manifest
        Its manifest.
    blocks : list of index
        Which.
    spec : Spec or None
        What was last asked for: says how many trials a block should have whose count is lost.
    """
    writer = BlockWriter.of(location, manifest, f"verify-{uuid.uuid4().hex[:8]}")
    counts = block_counts(location, manifest)
    for index in blocks:
        block = block_at(manifest, index, trials_of(location, manifest, index, counts.get(index, 0), spec))
        request = request_for(manifest, block.point, spectra.or_auto(spec.solver) if spec else "auto")
        forget(location, index)
        yield from run_and_write([Work(block, slot_of(manifest, block), request)], writer)


def trials_of(location: Location, manifest: Manifest, index: Index, count: int, spec: Spec | None) -> int:
    """Return how many trials a block should have: as many as it counted, holds, or was asked to hold."""
    room = block_at(manifest, index).trials
    start, point = index[-1] * manifest.trials_per_block, manifest.point(index[:-1])
    try:
        seconds = schema.handle(location, manifest, "seconds")[(*index[:-1], slice(start, start + room))]
        seen = int(np.isfinite(np.asarray(seconds)).sum())
    except (ValueError, RuntimeError):
        seen = 0
    grid = spec.grid if spec else None
    asked = 0
    if (
        spec
        and grid
        and all(getattr(point, axis) in getattr(grid, axis) for axis in ("d", "beta", "gamma", "psi"))
    ):
        asked = spec.trials_at(point.d) - start
    return min(max(count, seen, asked, 0), room) or room


def forget(location: Location, index: Index) -> None:
    """Remove a block's count and then its chunks, so that nothing of it is taken for done."""
    stem = "c." + ".".join(map(str, index))
    location.delete(f"done/{stem}")
    for name in schema.BLOCKWISE:
        for chunk in location.names(name):
            if chunk == stem or chunk.startswith(f"{stem}."):
                location.delete(f"{name}/{chunk}")


def remaining(inspection: Inspection, comparisons: list[Comparison]) -> list[Index]:
    """Return every block that is bad by its chunks or by its values, each once."""
    wrong = {comparison.index for comparison in comparisons if not comparison.agrees}
    return sorted({*inspection.bad_blocks, *wrong})
