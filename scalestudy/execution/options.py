"""What a command line changes in a spec, and how many local workers `auto` means."""

from __future__ import annotations

from dask.system import CPU_COUNT
from distributed.system import MEMORY_LIMIT

from scalestudy import spectra
from scalestudy.errors import SpecError
from scalestudy.study import CostModel, Spec

# Dask pauses a worker at 80 % of its memory: what a block may use is what lies below that.
USABLE = 0.8


def with_options(
    spec: Spec, *, store: str | None = None, workers: int | None = None, scheduler: str | None = None
) -> Spec:
    """Return a spec with the options of a command line in place of what it says.

    Raises
    ------
    SpecError
        If both workers and scheduler are given.
    """
    if workers is not None and scheduler is not None:
        raise SpecError(
            "--workers starts local workers and --scheduler uses those of a cluster; give one of them."
        )
    changes: dict[str, object] = {}
    if store is not None:
        changes["store"] = store
    if workers is not None:
        # A cluster class is scaled to it; a scheduler that is there already gives way to local workers.
        local = {"workers": workers, "scheduler": None, "scheduler_file": None}
        changes["cluster"] = spec.cluster.model_copy(update=local)
    if scheduler is not None:
        changes["cluster"] = type(spec.cluster)(scheduler=scheduler)
    return spec.model_copy(update=changes)


def fit_workers(spec: Spec, cost: CostModel) -> Spec:
    """Choose the number of local workers where it is `auto`: one per core, fewer where memory is short.

    Raises
    ------
    SpecError
        If the spec's solver is not installed here.
    ResourceError
        If the largest point does not fit even then.
    """
    lack = spectra.missing(spec.solver)
    if lack:
        raise SpecError(f"solver: {lack}.")
    cluster = spec.cluster
    if not cluster.is_local:
        return spec
    usable = MEMORY_LIMIT * USABLE
    workers = cluster.workers
    if not isinstance(workers, int):
        workers = max(1, min(CPU_COUNT, int(usable // cost.worker_bytes())))
    cost.refuse_what_cannot_fit(int(usable / workers))
    return spec.model_copy(update={"cluster": cluster.model_copy(update={"workers": workers})})
