"""Noticing when a cluster can do nothing any more: a sweep ends with a message, never in a silent wait."""

from __future__ import annotations

import time
from dataclasses import dataclass, fields
from typing import Any

import dask
import distributed

from scalestudy.errors import ClusterError

# A scheduler that is alive answers in milliseconds.
_ANSWER_SECONDS = 5.0


@dataclass(frozen=True)
class Patience:
    """Seconds for which a state without hope is borne before the sweep ends with a message."""

    without_workers: float = 60.0
    all_paused: float = 120.0
    without_scheduler: float = 30.0
    to_connect: float = 20.0

    @classmethod
    def configured(cls) -> Patience:
        """Return the defaults with what Dask's configuration has under ``scalestudy.patience`` on top.

        Such as ``scalestudy: {patience: {without-workers: 600}}`` in a file of Dask's, for a queue that
        starts workers slowly, or ``DASK_SCALESTUDY__PATIENCE__WITHOUT_WORKERS=600`` in the environment.

        Raises
        ------
        ClusterError
            If a value is no number of seconds.
        """
        found = {}
        for field in fields(cls):
            value = dask.config.get(f"scalestudy.patience.{field.name}", field.default)
            try:
                found[field.name] = float(value)
            except (TypeError, ValueError):
                raise ClusterError(
                    f"Dask's configuration has scalestudy.patience.{field.name} = {value!r}; "
                    "it must be a number of seconds."
                ) from None
        return cls(**found)


def workers_of(client: distributed.Client) -> dict[str, dict[str, Any]] | None:
    """Return what the scheduler says of each worker, by address; None if it does not answer in time.

    The client's own `scheduler_info` waits without end for a scheduler that hangs.
    """
    if client.status != "running":
        return None
    try:
        about = client.sync(client.scheduler.identity, n_workers=-1, callback_timeout=_ANSWER_SECONDS)
        return dict(about["workers"])
    except (OSError, TimeoutError, KeyError):
        return None


class Watch:
    """Looks at a cluster whenever nothing has come back for a while.

    Parameters
    ----------
    client : distributed.Client
        The cluster.
    patience : Patience
        How long each state is borne.
    """

    def __init__(self, client: distributed.Client, patience: Patience) -> None:
        self._client = client
        self._patience = patience
        self._since: dict[str, float] = {}

    def rest(self) -> None:
        """Forget all worries: a task has come back."""
        self._since.clear()

    def look(self) -> None:
        """Check the cluster.

        Raises
        ------
        ClusterError
            If the scheduler is lost, there are no workers, or all are paused, and that for too long.
        """
        patience = self._patience
        workers = workers_of(self._client)
        lost = "The scheduler does not answer any more"
        self._bear("lost", workers is None, patience.without_scheduler, lost)
        if workers is None:
            return
        self._bear("none", not workers, patience.without_workers, "There are no workers")
        paused = bool(workers) and all(worker.get("status") == "paused" for worker in workers.values())
        why = "All workers are paused because their memory is nearly full"
        self._bear("paused", paused, patience.all_paused, why)

    def _bear(self, what: str, is_so: bool, seconds: float, message: str) -> None:
        if not is_so:
            self._since.pop(what, None)
        elif time.monotonic() - self._since.setdefault(what, time.monotonic()) > seconds:
            raise ClusterError(f"{message}, for {seconds:.0f} s now; what is done is saved.")
