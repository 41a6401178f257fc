"""Writing one block: whole chunks, from the one task that computed it, `done` last."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import zarr
from numpy.typing import NDArray
from zarr.core.sync import sync

from scalestudy.errors import StoreError
from scalestudy.store.location import Location
from scalestudy.store.manifest import Manifest
from scalestudy.store.schema import BLOCKWISE, SOLVERS


@dataclass(frozen=True)
class BlockResult:
    """The trials of one block.

    Attributes
    ----------
    squared_singular_values : ndarray of shape (trials, models, ell)
        Descending along the last axis.
    row_normalizer : ndarray of shape (trials, ell)
        D_i.
    seconds : ndarray of shape (trials,)
        Wall time of each trial.
    solver : str
        The solver that found the spectra.
    """

    squared_singular_values: NDArray[Any]
    row_normalizer: NDArray[Any]
    seconds: NDArray[np.float64]
    solver: str


@dataclass(frozen=True)
class Slot:
    """Where a block lies in the arrays: the index of its point, its number, its first trial."""

    point: tuple[int, int, int, int]
    block: int
    start: int


@dataclass(frozen=True)
class BlockWriter:
    """Writes blocks into one store; small and picklable, so that it travels with a task.

    Attributes
    ----------
    url : str
        The store.
    run : str
        Changes with every run, so that a long-lived worker never uses handles from before a growth.
    trials_per_block, chunk : int
        Chunk lengths along `trial`, and along `rank` and `token`.
    """

    url: str
    run: str
    trials_per_block: int
    chunk: int

    @classmethod
    def of(cls, location: Location, manifest: Manifest, run: str) -> BlockWriter:
        """Return the writer for a store as its manifest describes it."""
        return cls(location.url, run, manifest.trials_per_block, manifest.chunk)

    def write(self, slot: Slot, result: BlockResult) -> None:
        """Write a block's chunks, each whole, and then the count that makes them valid.

        Chunks are padded with the fill value to their full extent, so that zarr replaces a chunk instead of
        reading and merging it: what stood there, even if it is damaged, does not matter.

        Raises
        ------
        StoreError
            If somebody has deleted the store: what was written now would be rubble in its place.
        """
        location = Location(self.url)
        if not location.exists("zarr.json"):
            raise StoreError(f"{location} is gone")
        arrays = _arrays(self.url, self.run)
        trials = len(result.seconds)
        codes = np.full(trials, SOLVERS.index(result.solver), dtype=np.uint8)
        values = {
            "squared_singular_values": result.squared_singular_values,
            "row_normalizer": result.row_normalizer,
            "seconds": result.seconds,
            "solver": codes,
        }
        sync(_together(self._put(arrays[name], slot, held) for name, held in values.items()))
        arrays["done"][(*slot.point, slot.block)] = trials

    def has(self, slot: Slot, trials: int) -> bool:
        """Whether that many trials of a block are in the store; a damaged count counts for nothing."""
        done = _arrays(self.url, self.run)["done"]
        try:
            return int(done[(*slot.point, slot.block)]) >= trials
        except (ValueError, RuntimeError):
            return False

    async def _put(self, array: zarr.Array[Any], slot: Slot, values: NDArray[Any]) -> None:
        shape = list(array.shape[4:])
        shape[0] = min(slot.start + self.trials_per_block, shape[0]) - slot.start
        if len(shape) > 1:
            shape[-1] = min(-(-values.shape[-1] // self.chunk) * self.chunk, shape[-1])
        whole = np.full(shape, array.fill_value, dtype=array.dtype)
        whole[tuple(slice(n) for n in values.shape)] = values
        region = (*slot.point, slice(slot.start, slot.start + shape[0]), *(slice(n) for n in shape[1:]))
        await array.async_array.setitem(region, whole)


async def _together(coroutines: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Write several arrays at once: to an object store each takes a journey of its own.

    An error is raised when all have come to rest, so that nothing is still written after it.
    """
    for outcome in await asyncio.gather(*coroutines, return_exceptions=True):
        if outcome is not None:
            raise outcome


@lru_cache(maxsize=8)
def _arrays(url: str, run: str) -> dict[str, zarr.Array[Any]]:
    """Return the open arrays of a store; opening them costs more than writing a block."""
    group = Location(url).group("r+")
    return {name: group[name] for name in BLOCKWISE}
