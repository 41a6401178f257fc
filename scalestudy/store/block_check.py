"""What a sound block is: its chunks are there, decode, and hold what the trials of a block must hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import zarr
from numpy.typing import NDArray

from scalestudy.store.manifest import Manifest
from scalestudy.store.schema import SOLVERS

Index = tuple[int, ...]

_ALONG_TOKENS = ("squared_singular_values", "row_normalizer")


def chunk_names(manifest: Manifest, index: Index) -> list[tuple[str, str]]:
    """Return (array, chunk) of every data chunk that a block must have; `done` is not among them."""
    stem = "c." + ".".join(map(str, index))
    pieces = range(-(-manifest.point(index[:-1]).sizes.ell // manifest.chunk))
    return [
        *(("squared_singular_values", f"{stem}.0.{piece}") for piece in pieces),
        *(("row_normalizer", f"{stem}.{piece}") for piece in pieces),
        ("seconds", stem),
        ("solver", stem),
    ]


def block_problems(
    arrays: Mapping[str, zarr.Array[Any]],
    present: Mapping[str, set[str]],
    manifest: Manifest,
    index: Index,
    count: int,
) -> Iterator[str]:
    """Read a block and say everything that is wrong with it.

    Parameters
    ----------
    arrays : mapping from str to zarr.Array
        The arrays as the manifest describes them.
    present : mapping from str to set of str
        The names of the chunks that exist, by array.
    manifest : Manifest
        The store's manifest.
    index : tuple of int
        ``(d, beta, gamma, psi, block)``.
    count : int
        The block's complete trials, as `done` says.
    """
    size = manifest.trials_per_block
    start = index[-1] * size
    room = min(size, manifest.trials - start)
    if not 0 < count <= room:
        yield f"its count in `done` is {count}; possible are 1 to {room}"
        return
    missing = [
        f"{name}/{chunk}" for name, chunk in chunk_names(manifest, index) if chunk not in present[name]
    ]
    for chunk in missing:
        yield f"missing: {chunk}"
    values: dict[str, NDArray[Any]] = {}
    for name in ("squared_singular_values", "row_normalizer", "seconds", "solver"):
        if any(chunk.startswith(f"{name}/") for chunk in missing):
            continue
        try:
            values[name] = np.asarray(arrays[name][(*index[:-1], slice(start, start + room))])
        except (ValueError, RuntimeError) as error:
            yield f"corrupt: {name}: {reason(error)}"
    ell = manifest.point(index[:-1]).sizes.ell
    for name, held in values.items():
        yield from _content(name, held, count, ell)


def _content(name: str, held: NDArray[Any], count: int, ell: int) -> Iterator[str]:
    """Check the values of the trials of one block, shape (trials, ...)."""
    if name == "solver":
        if not ((held[:count] > 0) & (held[:count] < len(SOLVERS))).all():
            yield "solver: unknown codes"
        return
    inside = held[:count, ..., :ell] if name in _ALONG_TOKENS else held[:count]
    if not np.isfinite(inside).all():
        yield f"{name}: values of its complete trials are not finite"
    elif name == "row_normalizer" and (inside <= 0).any():
        yield f"{name}: a row normaliser is not positive"
    if name in _ALONG_TOKENS and not np.isnan(held[..., ell:]).all():
        yield f"{name}: values past ell = {ell}"
    if not np.isnan(held[count:]).all():
        yield f"half-written: {name}: values of more trials than the {count} in `done`; a writer was killed"
    if name == "squared_singular_values" and (np.diff(inside, axis=-1) > 0).any():
        yield f"{name}: not in descending order"


def reason(error: Exception) -> str:
    """Return what an error says, in one short line."""
    return " ".join(str(error).split())[:120] or type(error).__name__
