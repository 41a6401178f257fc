"""Running blocks: the one function that every executor calls, in this process or on a worker."""

from __future__ import annotations

import importlib.metadata
import os
import socket
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from scalestudy import spectra
from scalestudy.ensembles import DRAW_VERSION
from scalestudy.errors import ClusterError
from scalestudy.execution.trial import TOKEN_FILE, TrialRequest, run_trial
from scalestudy.execution.workspace import Workspace
from scalestudy.store import BlockResult, BlockWriter, Location, Slot, read_tokens
from scalestudy.study import Block


@dataclass(frozen=True, eq=False)
class Work:
    """One block to do: what it is, where its chunks lie, and what its trials ask for."""

    block: Block
    slot: Slot
    request: TrialRequest


@dataclass(frozen=True)
class Outcome:
    """What became of a block.

    Attributes
    ----------
    work : Work
        The block.
    seconds : float
        Wall time of its trials; 0 where it failed.
    error : str
        Empty, or the exception in one line.
    traceback : str
        Empty, or all of it.
    storage : bool
        Whether the error is one of the store: the sweep cannot go on.
    worker : str
        Host and pid that ran it.
    """

    work: Work
    seconds: float = 0.0
    error: str = ""
    traceback: str = ""
    storage: bool = False
    worker: str = ""


@lru_cache(maxsize=1)
def installed_version() -> str:
    """Return what must be the same wherever a study runs: the version of the package, and of its draws."""
    try:
        version = importlib.metadata.version("scalestudy")
    except importlib.metadata.PackageNotFoundError:
        version = "not installed"
    return f"scalestudy {version}, draw version {DRAW_VERSION}"


def run_block(
    request: TrialRequest, start: int, stop: int, workspace: Workspace | None = None
) -> BlockResult:
    """Run trials `start` to `stop - 1` of one point; a pure function of its arguments.

    Returns
    -------
    BlockResult
        Spectra of shape (stop - start, models, ell) and the rest.
    """
    workspace = workspace or Workspace()
    results = [run_trial(request, trial, workspace=workspace) for trial in range(start, stop)]
    return BlockResult(
        squared_singular_values=np.stack([result.squared_singular_values for result in results]),
        row_normalizer=np.stack([result.row_normalizer for result in results]),
        seconds=np.array([result.seconds for result in results]),
        solver=results[0].solver,
    )


def run_and_write(
    works: Sequence[Work], writer: BlockWriter, *, resume: bool = False, version: str = ""
) -> list[Outcome]:
    """Run blocks one after the other and write each; an error in one leaves the others alone.

    With `resume`, a block that is in the store already is left alone: when a worker dies, its whole task is
    given to another one, and so is a task whose answer was lost. With `version`, a worker that has another
    one, because it came after the probe, refuses to work, and so does one that lacks the solver.

    BLAS is held to one thread here, inside the task: the environment that a worker was started with is not
    ours on a foreign cluster, and sums of several threads differ in their last bits.
    """
    outcomes: list[Outcome] = []
    here = f"{socket.gethostname()} (pid {os.getpid()})"
    if version and version != installed_version():
        raise ClusterError(
            f"The worker on {here} has {installed_version()}; here it is {version}. "
            "Install the same version there."
        )
    lack = next(filter(None, (spectra.missing(work.request.solver) for work in works)), None)
    if lack:
        raise ClusterError(f"The worker on {here} cannot run this study: {lack}.")
    workspace = Workspace()
    with threadpool_limits(limits=1, user_api="blas"):
        for work in works:
            outcome = _one(work, writer, workspace, resume)
            outcomes.append(replace(outcome, worker=here))
            if outcome.storage:
                break
    return outcomes


def _one(work: Work, writer: BlockWriter, workspace: Workspace, resume: bool) -> Outcome:
    # Of the store, any error counts, not only an OSError: an object store raises errors of its own.
    try:
        if resume and writer.has(work.slot, work.block.trials):
            return Outcome(work)
    except Exception as error:
        return _failed(work, error, storage=True)
    try:
        request = _with_tokens(work.request, writer.url)
        result = run_block(request, work.block.start, work.block.stop, workspace)
    except Exception as error:
        return _failed(work, error, storage=False)
    try:
        writer.write(work.slot, result)
    except Exception as error:
        return _failed(work, error, storage=True)
    return Outcome(work, float(result.seconds.sum()))


def _failed(work: Work, error: Exception, *, storage: bool) -> Outcome:
    summary = "".join(traceback.format_exception_only(error)).strip().splitlines()[-1]
    return Outcome(work, error=summary, traceback="".join(traceback.format_exception(error)), storage=storage)


def _with_tokens(request: TrialRequest, url: str) -> TrialRequest:
    return replace(request, tokens=_stored_tokens(url)) if request.tokens == TOKEN_FILE else request


@lru_cache(maxsize=1)
def _stored_tokens(url: str) -> NDArray[np.float64]:
    return read_tokens(Location(url))
