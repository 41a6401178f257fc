"""One run of a spec: plan, cluster, store, blocks."""

from __future__ import annotations

import contextlib
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Protocol

from distributed.system import MEMORY_LIMIT

from scalestudy import store as kept
from scalestudy.errors import ClusterError, StoreError
from scalestudy.execution.block import Outcome
from scalestudy.execution.cluster import connect, dashboard_link
from scalestudy.execution.dask_executor import DaskExecutor
from scalestudy.execution.executor import Executor, SerialExecutor
from scalestudy.execution.options import USABLE, fit_workers
from scalestudy.execution.provenance import provenance
from scalestudy.execution.replay import replay_command
from scalestudy.execution.requests import works_of
from scalestudy.store import BlockWriter, Failure, Location, Manifest
from scalestudy.study import (
    CostModel,
    Plan,
    Spec,
    make_plan,
    spec_text,
    trials_per_block,
)
from scalestudy.study.token_file import read_tokens, tokens_label


class Observer(Protocol):
    """Told what happens during a run."""

    def started(self, plan: Plan, where: str, dashboard: str | None) -> None:
        """Hear that work begins."""

    def came_back(self, outcome: Outcome) -> None:
        """Hear that a block is done, or failed."""

    def ended(self) -> None:
        """Hear that no more blocks will come."""


@dataclass
class Report:
    """What a run did.

    Attributes
    ----------
    location : Location
        The store.
    plan : Plan
        What was to be done.
    blocks, trials : int
        What was done.
    failed : list of Outcome
        Blocks that failed, also kept in the store.
    seconds : float
        Wall time.
    stopped : str
        Why the run ended early; empty if it did not.
    interrupted : bool
        Whether Ctrl-C or SIGTERM ended it.
    """

    location: Location
    plan: Plan
    blocks: int = 0
    trials: int = 0
    failed: list[Outcome] = field(default_factory=list)
    seconds: float = 0.0
    stopped: str = ""
    interrupted: bool = False


def carry_out(
    spec: Spec,
    observer: Observer | None = None,
    *,
    serial: bool = False,
    trust: bool = False,
) -> Report:
    """Run what a spec asks for and its store does not hold.

    Parameters
    ----------
    spec : Spec
        The study.
    observer : Observer, optional
        Told of progress.
    serial : bool
        Run in this process instead of on Dask.
    trust : bool
        Allow any cluster that the spec names.

    Raises
    ------
    ScaleStudyError
        If the spec, store or cluster make a run impossible. Blocks that fail do not raise, they are
        reported; neither does a lost cluster or Ctrl-C, once blocks have been run.
    """
    location = Location.of(spec.store)
    matrix = read_tokens(spec)
    tokens = tokens_label(spec, matrix)
    cost = CostModel(spec)
    held = kept.check_place(location)
    if held is not None:
        held.check(spec, tokens, str(location))
        plan = make_plan(spec, held.trials_per_block, kept.completed(location, held), cost)
        if not plan.groups and held.grown(spec) == held:
            return Report(location, plan)
    spec = fit_workers(spec, cost)
    size = trials_per_block(spec, cost.trial_seconds)
    run_id = uuid.uuid4().hex[:8]
    report: Report | None = None
    with kept.writing(location):
        try:
            with _executor(spec, serial, f"0{run_id}", trust) as (executor, dashboard):
                cost.refuse_what_cannot_fit(int(executor.worker_memory * USABLE))
                manifest = kept.prepare(
                    location,
                    spec,
                    tokens=tokens,
                    matrix=matrix,
                    trials_per_block=size,
                    attributes={"title": spec.name, "spec": spec_text(spec), **provenance()},
                )
                executor.check(location)
                plan = make_plan(spec, manifest.trials_per_block, kept.completed(location, manifest), cost)
                report = Report(location, plan)
                if observer:
                    observer.started(plan, executor.where, dashboard)
                writer = BlockWriter.of(location, manifest, run_id)
                _watched(report, executor, manifest, writer, spec.solver, observer)
        except KeyboardInterrupt:
            if report is None:
                raise
            # It may come as late as the cluster is closed: what was done is done.
            report.interrupted = True
        if report.interrupted or report.stopped:
            _count_what_is_kept(report, manifest)
    return report


def _watched(
    report: Report,
    executor: Executor,
    manifest: Manifest,
    writer: BlockWriter,
    solver: str,
    observer: Observer | None,
) -> None:
    """Run all blocks, and note in the report how that ended and how long it took."""
    started = time.perf_counter()
    try:
        _run(report, executor, manifest, writer, solver, observer)
    except KeyboardInterrupt:
        report.interrupted = True
    except ClusterError as error:
        report.stopped = str(error).rstrip(".")
    finally:
        report.seconds = time.perf_counter() - started
        if observer:
            observer.ended()


def _count_what_is_kept(report: Report, manifest: Manifest) -> None:
    """Count the blocks of the plan that the store holds: workers wrote some that nobody has heard of."""
    try:
        held = kept.completed(report.location, manifest)
    except (StoreError, OSError):
        # The store may be what has been lost; then there is only what was heard.
        return
    blocks = [block for group in report.plan.groups for block in group.blocks]
    done = [b for b in blocks if b.point in held and held[b.point][b.index] >= b.trials]
    report.blocks, report.trials = len(done), sum(block.trials for block in done)


@contextlib.contextmanager
def _executor(spec: Spec, serial: bool, run_id: str, trust: bool) -> Iterator[tuple[Executor, str | None]]:
    if serial:
        yield SerialExecutor(MEMORY_LIMIT), None
        return
    with connect(spec.cluster, trust=trust) as client:
        yield DaskExecutor(client, run_id), dashboard_link(client)


def _run(
    report: Report,
    executor: Executor,
    manifest: Manifest,
    writer: BlockWriter,
    solver: str,
    observer: Observer | None,
) -> None:
    location = report.location
    known = {failure.slot for failure in kept.failures(location)}
    groups = [works_of(manifest, group, solver) for group in report.plan.groups]
    healed: set[str] = set()
    outcomes = executor.run(groups, writer)
    try:
        for outcome in outcomes:
            slot = _slot_name(outcome)
            if outcome.storage:
                whom = f"{location} cannot be written any more by {outcome.worker}"
                report.stopped = f"{whom} ({outcome.error}); what is done is saved"
                break
            if outcome.error:
                report.failed.append(outcome)
                kept.record(location, _failure(location, outcome, slot))
            else:
                report.blocks += 1
                report.trials += outcome.work.block.trials
                healed.add(slot)
            if observer:
                observer.came_back(outcome)
    finally:
        outcomes.close()
        kept.clear(location, healed & known)


def _slot_name(outcome: Outcome) -> str:
    slot = outcome.work.slot
    return ".".join(map(str, (*slot.point, slot.block)))


def _failure(location: Location, outcome: Outcome, slot: str) -> Failure:
    block, request = outcome.work.block, outcome.work.request
    sizes = request.sizes
    return Failure(
        block=str(block),
        slot=slot,
        seeds=str((request.seed, sizes.d, sizes.ell, sizes.d_qk, block.start)),
        error=outcome.error,
        traceback=outcome.traceback,
        replay=replay_command(location, block),
        when=datetime.now(UTC).isoformat(timespec="seconds"),
    )
