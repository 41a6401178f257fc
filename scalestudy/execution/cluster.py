"""Which Dask cluster a study runs on: a local one, a scheduler that is there already, or a cluster class."""

from __future__ import annotations

import contextlib
import logging
import signal
import socket
import warnings
from collections.abc import Iterator
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

import dask
import distributed
from dask.system import CPU_COUNT
from distributed.deploy import Cluster as DaskCluster

from scalestudy.errors import ClusterError
from scalestudy.execution.trust import cluster_class
from scalestudy.study.spec import Cluster

_DASHBOARD_PORT = 8787
_CONNECT_SECONDS = 20


def local_workers(cluster: Cluster) -> int:
    """Return how many local worker processes a spec means: one per core unless it says."""
    return cluster.workers if isinstance(cluster.workers, int) else CPU_COUNT


@contextlib.contextmanager
def connect(cluster: Cluster, *, trust_class: bool = False) -> Iterator[distributed.Client]:
    """Start or reach the cluster that a spec names, and close what was started.

    Parameters
    ----------
    cluster : Cluster
        The spec's `cluster`.
    trust_class : bool
        Allow a cluster class from a package that is not a known one, and any argument.

    Raises
    ------
    ClusterError
        If the scheduler does not answer within 20 s, or the cluster cannot be started.
    SpecError
        If the class does not exist, is no cluster class, or is not allowed.
    """
    with contextlib.ExitStack() as stack:
        stack.enter_context(_quiet_logs())
        if cluster.class_:
            kind = cluster_class(cluster.class_, cluster.arguments, trust=trust_class)
            made = stack.enter_context(_started(kind, cluster))
            client = distributed.Client(made, timeout=_CONNECT_SECONDS)
        elif cluster.scheduler or cluster.scheduler_file:
            client = _reach(cluster)
        else:
            made = stack.enter_context(_local(local_workers(cluster)))
            client = distributed.Client(made, timeout=_CONNECT_SECONDS)
        stack.callback(_close_quietly, client)
        yield client


def dashboard_link(client: distributed.Client) -> str | None:
    """Return the dashboard link that is really in use, or None without one."""
    services = client.scheduler_info(n_workers=0).get("services", {})
    return client.dashboard_link if "dashboard" in services else None


@contextlib.contextmanager
def _quiet_logs() -> Iterator[None]:
    """Keep Dask's log to itself: what matters in it reaches the user as a message of ours."""
    loggers = [logging.getLogger(name) for name in ("distributed", "tornado", "asyncio")]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)


@contextlib.contextmanager
def _local(workers: int) -> Iterator[DaskCluster]:
    # A worker that dies is started anew. On a busy machine that can take longer than the 15 s after which
    # Dask would write the worker off for good.
    patient = dask.config.set({"distributed.deploy.lost-worker-timeout": "1 hour"})
    with patient, _started_locally(workers) as cluster:
        yield cluster


@contextlib.contextmanager
def _started_locally(workers: int) -> Iterator[DaskCluster]:
    with warnings.catch_warnings(), _interrupts_for_us_alone():
        # Another dashboard may hold the usual port: we print the link in use, so the warning is noise.
        warnings.filterwarnings("ignore", message="Port .* is already in use")
        try:
            cluster = distributed.LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                processes=True,
                host="127.0.0.1",
                dashboard_address=f"127.0.0.1:{_DASHBOARD_PORT if _is_free(_DASHBOARD_PORT) else 0}",
                worker_dashboard_address=None,
                silence_logs=50,
            )
        except (OSError, RuntimeError, TimeoutError) as error:
            raise ClusterError(f"{workers} local workers cannot be started: {error}.") from error
    try:
        yield cluster
    finally:
        _close_quietly(cluster)


@contextlib.contextmanager
def _started(kind: type[DaskCluster], cluster: Cluster) -> Iterator[DaskCluster]:
    try:
        made = kind(**cluster.arguments)
    except Exception as error:
        raise ClusterError(f"{cluster.class_} cannot be started with {cluster.arguments}: {error}") from error
    try:
        if isinstance(cluster.workers, int):
            made.scale(cluster.workers)
        yield made
    finally:
        _close_quietly(made)


def _reach(cluster: Cluster) -> distributed.Client:
    where: dict[str, Any] = (
        {"address": cluster.scheduler} if cluster.scheduler else {"scheduler_file": cluster.scheduler_file}
    )
    (name,) = where.values()
    if cluster.scheduler_file and not Path(cluster.scheduler_file).exists():
        raise ClusterError(
            f"The scheduler file {name} does not exist. Start: dask scheduler --scheduler-file {name}"
        )
    try:
        return distributed.Client(**where, timeout=_CONNECT_SECONDS)
    except (OSError, TimeoutError, ValueError) as error:
        raise ClusterError(
            f"No Dask scheduler answers at {name} within {_CONNECT_SECONDS} s: {error}"
        ) from None


@contextlib.contextmanager
def _interrupts_for_us_alone() -> Iterator[None]:
    """Start threads and processes that never see Ctrl-C, which a terminal sends to all of a group.

    A blocked signal stays blocked in every thread and process that is started meanwhile, and in those that
    they start, so also in a worker that replaces a dead one. Ctrl-C itself is only put off until the end.
    """
    # Starting its helper process, multiprocessing unblocks the signal; so that is started first.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def _close_quietly(thing: Any) -> None:
    """Close a client or cluster; the results are safe by now, and an error in closing helps nobody."""
    with contextlib.suppress(Exception):
        thing.close(timeout=10)
