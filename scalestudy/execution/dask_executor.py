"""Running groups on Dask: `dask.delayed` tasks in a sliding window, watched until the last one is back."""

from __future__ import annotations

import queue
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import dask
import distributed

from scalestudy.errors import ClusterError
from scalestudy.execution.block import Outcome, Work, run_and_write
from scalestudy.execution.probe import probe
from scalestudy.store import BlockWriter, Location

# Tasks in flight for each core: enough that no core waits for the client, few enough that closing is quick.
_WINDOW = 3
_TICK_SECONDS = 1.0


@dataclass(frozen=True)
class Patience:
    """Seconds for which a state without hope is borne before the sweep ends with a message."""

    without_workers: float = 60.0
    all_paused: float = 120.0


class DaskExecutor:
    """Runs groups on the cluster of a distributed client.

    Parameters
    ----------
    client : distributed.Client
        The cluster.
    run : str
        Id of this run; keys carry it, because a key that was used before returns the old result.
    patience : Patience
        When to give up.
    """

    def __init__(self, client: distributed.Client, run: str, patience: Patience | None = None) -> None:
        self._client = client
        self._run = run
        self._patience = patience or Patience()
        self._serial = 0

    @property
    def where(self) -> str:
        """The scheduler's address and its number of workers."""
        return f"{self.cores} workers of {self._client.scheduler.address}"

    @property
    def cores(self) -> int:
        """Threads of all workers."""
        return max(1, sum(worker["nthreads"] for worker in self._workers().values()))

    @property
    def worker_memory(self) -> int:
        """The least memory that any thread of a worker has."""
        shares = [
            w["memory_limit"] // max(1, w["nthreads"]) for w in self._workers().values() if w["memory_limit"]
        ]
        return min(shares, default=2**63)

    def check(self, location: Location) -> None:
        """Probe every worker: the same package, and a store that both sides see."""
        probe(self._client, location)

    def run(self, groups: Sequence[Sequence[Work]], writer: BlockWriter) -> Iterator[Outcome]:
        """Run every block of every group and yield what became of each.

        A task whose worker died is given to another worker by Dask. A group that keeps killing its workers
        is cut into its blocks; a single block that does is reported as failed.

        Raises
        ------
        ClusterError
            If the scheduler is lost, or no worker is able to work for as long as `Patience` says.
        """
        waiting = deque(list(group) for group in groups)
        flying: dict[distributed.Future, list[Work]] = {}
        landed: queue.SimpleQueue[distributed.Future] = queue.SimpleQueue()
        watch = _Watch(self._client, self._patience)
        try:
            while waiting or flying:
                while waiting and len(flying) < _WINDOW * self.cores:
                    works = waiting.popleft()
                    future = self._submit(works, writer)
                    flying[future] = works
                    future.add_done_callback(landed.put)
                try:
                    future = landed.get(timeout=_TICK_SECONDS)
                except queue.Empty:
                    watch.look()
                    continue
                watch.rest()
                works = flying.pop(future)
                yield from self._collect(future, works, waiting)
                future.release()
        finally:
            self._client.cancel(
                list(flying), force=True
            ) if flying and self._client.status == "running" else None

    def _submit(self, works: list[Work], writer: BlockWriter) -> distributed.Future:
        self._serial += 1
        # The words before the first one that is not alphabetic name the task on the dashboard: d1024.
        key = f"d{works[0].block.point.d}-{self._run}-{self._serial}"
        task = dask.delayed(run_and_write, pure=False)(works, writer, dask_key_name=key)
        return self._client.compute(task)

    def _collect(
        self, future: distributed.Future, works: list[Work], waiting: deque[list[Work]]
    ) -> Iterator[Outcome]:
        if future.status == "finished":
            yield from future.result()
            return
        if future.status in ("cancelled", "lost"):
            raise ClusterError("The scheduler was lost or cancelled the tasks; what is done is saved.")
        error = future.exception()
        if len(works) > 1:
            waiting.extendleft([work] for work in works)
        else:
            summary = str(error).splitlines()[0] if str(error) else type(error).__name__
            killed = isinstance(error, distributed.KilledWorker)
            reason = "its worker died each time it ran (out of memory, or killed)" if killed else summary
            yield Outcome(works[0], error=reason)

    def _workers(self) -> dict[str, dict[str, int]]:
        return dict(self._client.scheduler_info(n_workers=-1)["workers"])


class _Watch:
    """Notices when nothing can happen any more."""

    def __init__(self, client: distributed.Client, patience: Patience) -> None:
        self._client = client
        self._patience = patience
        self._since: dict[str, float] = {}

    def rest(self) -> None:
        """Forget all worries: a task has come back."""
        self._since.clear()

    def look(self) -> None:
        """Raise ClusterError if a state without hope has lasted too long."""
        if self._client.status not in ("running", "connecting"):
            raise ClusterError("The scheduler was lost; what is done is saved.")
        self._bear(
            "lost", self._client.status == "connecting", 30.0, "The scheduler does not answer any more"
        )
        workers = self._client.scheduler_info(n_workers=-1)["workers"].values()
        self._bear("none", not workers, self._patience.without_workers, "There are no workers")
        paused = bool(workers) and all(worker.get("status") == "paused" for worker in workers)
        self._bear(
            "paused",
            paused,
            self._patience.all_paused,
            "All workers are paused because their memory is nearly full",
        )

    def _bear(self, what: str, is_so: bool, seconds: float, message: str) -> None:
        if not is_so:
            self._since.pop(what, None)
        elif time.monotonic() - self._since.setdefault(what, time.monotonic()) > seconds:
            raise ClusterError(
                f"{message}, for {seconds:.0f} s now; what is done is saved, run again to resume."
            )
