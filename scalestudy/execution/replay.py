"""Computing one block again in the foreground, to look at a failure or to check what is stored."""

from __future__ import annotations

import os
from dataclasses import replace

from threadpoolctl import threadpool_limits

from scalestudy import spectra
from scalestudy.errors import StoreError
from scalestudy.execution.block import run_block
from scalestudy.execution.requests import request_for
from scalestudy.execution.trial import TOKEN_FILE
from scalestudy.store import BlockResult, Location, Manifest, read_manifest, read_spec, read_tokens
from scalestudy.study import Block, Point


def replay(
    store: str | os.PathLike[str], *, d: int, beta: float, gamma: float, psi: float, start: int, stop: int
) -> BlockResult:
    """Compute trials of a stored study again, in this process; nothing is written.

    The solver is the one that the study last asked for, or ``auto`` where that is not installed.

    Parameters
    ----------
    store : str or path
        The store, whose identity fixes seed, tokens, models and polynomial.
    d, beta, gamma, psi
        The point.
    start, stop : int
        Trials `start` to `stop - 1`.

    Returns
    -------
    BlockResult
        With arrays of shape (stop - start, ...).

    Raises
    ------
    StoreError
        If there is no such store, or it has no such point.
    """
    location = Location.of(store)
    manifest = read_manifest(location)
    point = Point(d, beta, gamma, psi)
    try:
        manifest.index(point)
    except ValueError:
        raise StoreError(f"{location} has no point {point}.") from None
    spec = read_spec(location)
    return recompute(location, manifest, point, start, stop, spec.solver if spec else "auto")


def recompute(
    location: Location, manifest: Manifest, point: Point, start: int, stop: int, solver: str = "auto"
) -> BlockResult:
    """Compute trials `start` to `stop - 1` of a point again, on one BLAS thread.

    A solver that is not installed here is replaced by ``auto``: the values differ by rounding.
    """
    request = request_for(manifest, point, spectra.or_auto(solver))
    if request.tokens == TOKEN_FILE:
        request = replace(request, tokens=read_tokens(location))
    with threadpool_limits(limits=1, user_api="blas"):
        return run_block(request, start, stop)


def replay_command(location: Location, block: Block) -> str:
    """Return the one-line shell command that replays a block."""
    point = block.point
    where = f"d={point.d}, beta={point.beta!r}, gamma={point.gamma!r}, psi={point.psi!r}"
    call = f"scalestudy.replay({location.url!r}, {where}, start={block.start}, stop={block.stop})"
    return f'python -c "import scalestudy; {call}"'
