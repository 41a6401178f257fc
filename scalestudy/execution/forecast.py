"""What a run would do and cost, without doing it: the numbers behind `--dry-run`."""

from __future__ import annotations

from dataclasses import dataclass, replace

from threadpoolctl import threadpool_limits

from scalestudy import store as kept
from scalestudy.execution.options import fit_workers
from scalestudy.execution.requests import request_for
from scalestudy.execution.trial import run_trial
from scalestudy.execution.workspace import Workspace
from scalestudy.store import Location, Manifest
from scalestudy.study import CostModel, Plan, Point, Spec, make_plan, points_of, trials_per_block
from scalestudy.study.blocks import WRITING_SECONDS
from scalestudy.study.token_file import read_tokens, tokens_label


@dataclass(frozen=True)
class Forecast:
    """A plan with its price.

    Attributes
    ----------
    location : Location
        The store, which may not exist yet.
    plan : Plan
        What would run.
    points, trials_per_block : int
        Points of the grid; B.
    cores : int or None
        Local workers; None where a cluster's size is not known before it is reached.
    core_seconds : float
        Of one core, with what writing the blocks takes.
    worker_bytes, disk_bytes : int
        Peak memory of one worker; the whole study in the store.
    """

    location: Location
    plan: Plan
    points: int
    trials_per_block: int
    cores: int | None
    core_seconds: float
    worker_bytes: int
    disk_bytes: int

    @property
    def seconds(self) -> float:
        """Wall time on the cores: their share, but never less than the longest group."""
        longest = max((group.seconds for group in self.plan.groups), default=0.0)
        return max(self.core_seconds / (self.cores or 1), longest)


def forecast(spec: Spec) -> Forecast:
    """Plan a run and predict its cost, calibrated by two trials run here.

    Raises
    ------
    ScaleStudyError
        If the run would be refused: another study in the store, more memory than a worker has.
    """
    location = Location.of(spec.store)
    matrix = read_tokens(spec)
    tokens = tokens_label(spec, matrix)
    held = kept.check_place(location)
    if held is not None:
        held.check(spec, tokens, str(location))
    cost = CostModel(spec)
    spec = fit_workers(spec, cost)
    block = trials_per_block(spec, cost.trial_seconds)
    manifest = held.grown(spec) if held else Manifest.first(spec, tokens, block)

    workspace = Workspace()

    def pilot(point: Point) -> float:
        request = request_for(manifest, point, spec.solver)
        if matrix is not None:
            request = replace(request, tokens=matrix)
        with threadpool_limits(limits=1, user_api="blas"):
            return run_trial(request, 0, workspace=workspace).seconds

    cost = cost.calibrated(pilot)
    plan = make_plan(spec, manifest.trials_per_block, kept.completed(location, held) if held else {}, cost)
    return Forecast(
        location=location,
        plan=plan,
        points=len(points_of(spec)),
        trials_per_block=manifest.trials_per_block,
        cores=spec.cluster.workers
        if spec.cluster.is_local and isinstance(spec.cluster.workers, int)
        else None,
        core_seconds=plan.seconds_left + WRITING_SECONDS * plan.blocks_left,
        worker_bytes=cost.worker_bytes(),
        disk_bytes=cost.disk_bytes(),
    )
