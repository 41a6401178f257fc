"""Running groups on Dask: `dask.delayed` tasks in a sliding window, watched until the last one is back."""

from __future__ import annotations

import queue
import time
import traceback
from collections import deque
from collections.abc import Generator, Sequence
from concurrent.futures import CancelledError
from typing import Any

import dask
import distributed

from scalestudy.errors import ClusterError
from scalestudy.execution.block import Outcome, Work, installed_version, run_and_write
from scalestudy.execution.probe import probe
from scalestudy.execution.watch import Patience, Watch, workers_of
from scalestudy.store import BlockWriter, Location

# Tasks in flight for each core: enough that no core waits for the client, few enough that closing is quick.
_WINDOW = 3
_TICK_SECONDS = 1.0
_GATHER_SECONDS = 30.0
_KILLED = "its worker died each time it ran (out of memory, or killed)"


class DaskExecutor:
    """Runs groups on the cluster of a distributed client.

    Parameters
    ----------
    client : distributed.Client
        The cluster.
    run : str
        Id of this run; keys carry it, because a key that was used before returns the old result.
    patience : Patience, optional
        When to give up; by default as Dask's configuration says.
    """

    def __init__(self, client: distributed.Client, run: str, patience: Patience | None = None) -> None:
        self._client = client
        self._run = run
        self._patience = patience or Patience.configured()
        self._serial = 0
        self._workers: dict[str, dict[str, Any]] = workers_of(client) or {}

    @property
    def where(self) -> str:
        """The scheduler's address and its number of workers."""
        return f"{self.cores} workers of {self._client.scheduler.address}"

    @property
    def cores(self) -> int:
        """Threads of all workers, as last heard of."""
        self._workers = workers_of(self._client) or self._workers
        return max(1, sum(int(worker["nthreads"]) for worker in self._workers.values()))

    @property
    def worker_memory(self) -> int:
        """The least memory that any thread of a worker has."""
        workers = self._workers.values()
        shares = [int(w["memory_limit"] // max(1, w["nthreads"])) for w in workers if w["memory_limit"]]
        return min(shares, default=2**63)

    def check(self, location: Location) -> None:
        """Wait for a worker, and probe all that are there: the same package, and a store that both see."""
        watch = Watch(self._client, self._patience)
        while not workers_of(self._client):
            watch.look()
            time.sleep(0.1)
        probe(self._client, location)

    def run(self, groups: Sequence[Sequence[Work]], writer: BlockWriter) -> Generator[Outcome, None, None]:
        """Run every block of every group and yield what became of each.

        A task whose worker died is given to another worker by Dask. When a task has lost several, so has
        every task that merely waited on the same workers: its blocks are tried again at the end, each
        alone, and only a block that kills its workers then is reported as failed.

        Raises
        ------
        ClusterError
            If the scheduler is lost, no worker is able to work for as long as `Patience` says, or one has
            another version of the package.
        """
        waiting = deque(list(group) for group in groups)
        suspects: deque[Work] = deque()
        flying: dict[distributed.Future, list[Work]] = {}
        alone: distributed.Future | None = None
        landed: queue.SimpleQueue[distributed.Future] = queue.SimpleQueue()
        window = _WINDOW * self.cores
        watch = Watch(self._client, self._patience)

        def launch(works: list[Work]) -> distributed.Future:
            future = self._submit(works, writer)
            flying[future] = works
            future.add_done_callback(landed.put)
            return future

        try:
            while waiting or flying or suspects:
                while waiting and len(flying) < window and self._client.status == "running":
                    launch(waiting.popleft())
                if suspects and not flying and not waiting and self._client.status == "running":
                    alone = launch([suspects.popleft()])
                try:
                    future = landed.get(timeout=_TICK_SECONDS)
                except queue.Empty:
                    watch.look()
                    window = _WINDOW * self.cores
                    continue
                works = flying.pop(future)
                try:
                    outcomes = self._collect(future, works, waiting)
                except distributed.KilledWorker:
                    outcomes = [Outcome(works[0], error=_KILLED)] if future is alone else []
                    suspects.extend(works if future is not alone else ())
                if outcomes:
                    watch.rest()
                yield from outcomes
                future.release()
        finally:
            if flying and self._client.status == "running":
                self._client.cancel(list(flying), force=True)

    def _submit(self, works: list[Work], writer: BlockWriter) -> distributed.Future:
        self._serial += 1
        # The words before the first one that is not alphabetic name the task on the dashboard: d1024.
        key = f"d{works[0].block.point.d}-{self._run}-{self._serial}"
        run = dask.delayed(run_and_write, pure=False)
        task = run(works, writer, resume=True, version=installed_version(), dask_key_name=key)
        return self._client.compute(task)

    def _collect(
        self, future: distributed.Future, works: list[Work], waiting: deque[list[Work]]
    ) -> list[Outcome]:
        """Return what became of the blocks of a task; put them back into the queue if nobody knows."""
        try:
            return list(future.result(timeout=_GATHER_SECONDS))
        except (distributed.KilledWorker, ClusterError):
            raise
        except (TimeoutError, OSError, CancelledError):
            # The worker that held the answer is gone, or the scheduler is: the blocks may be done or not.
            waiting.appendleft(works)
            return []
        except Exception as error:
            # The task itself failed, outside of any block: nobody knows because of which.
            if len(works) > 1:
                waiting.extendleft([work] for work in works)
                return []
            return [Outcome(works[0], error="".join(traceback.format_exception_only(error)).strip())]
