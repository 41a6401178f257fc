"""Which Dask cluster a study runs on: a local one, a scheduler that is there already, or a cluster class."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import socket
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import dask
import distributed
from dask.system import CPU_COUNT
from distributed.comm import get_address_host_port
from distributed.deploy import Cluster as DaskCluster

from scalestudy.errors import ClusterError, SpecError
from scalestudy.execution.listening import kept_here
from scalestudy.execution.signals import STOPPING, only_we_are_interrupted, put_off
from scalestudy.execution.spawning import main_module_left_alone
from scalestudy.execution.trust import cluster_class, refuse_foreign_scheduler
from scalestudy.execution.watch import Patience
from scalestudy.study.spec import Cluster

_DASHBOARD_PORT = 8787
_NO_LOGS = logging.CRITICAL + 1


def local_workers(cluster: Cluster) -> int:
    """Return how many local worker processes a spec means: one per core unless it says."""
    return cluster.workers if isinstance(cluster.workers, int) else CPU_COUNT


@contextlib.contextmanager
def connect(cluster: Cluster, *, trust: bool = False) -> Iterator[distributed.Client]:
    """Start or reach the cluster that a spec names, and close what was started.

    Parameters
    ----------
    cluster : Cluster
        The spec's `cluster`.
    trust : bool
        Allow a cluster class from a package that is not a known one, any argument, and the scheduler of
        another machine.

    Raises
    ------
    ClusterError
        If the scheduler does not answer in time (see `Patience`), or the cluster cannot be started.
    SpecError
        If the class does not exist, is no cluster class, or the cluster needs to be trusted and is not.
    """
    _refuse_what_cannot_be(cluster)
    seconds = Patience.configured().to_connect
    with contextlib.ExitStack() as stack:
        stack.enter_context(_quiet_logs())
        stack.enter_context(main_module_left_alone())
        if cluster.class_:
            kind = cluster_class(cluster.class_, cluster.arguments, trust=trust)
            made = stack.enter_context(_started(kind, cluster, trust))
            client = distributed.Client(made, timeout=seconds)
        elif cluster.scheduler or cluster.scheduler_file:
            client = _reach(cluster, trust, seconds)
        else:
            made = stack.enter_context(_local(local_workers(cluster)))
            client = distributed.Client(made, timeout=seconds)
        stack.callback(_close_quietly, client)
        yield client


def _refuse_what_cannot_be(cluster: Cluster) -> None:
    """Refuse empty texts, which would mean a local cluster, addresses without a port, negative numbers."""
    given = {
        "class": cluster.class_,
        "scheduler": cluster.scheduler,
        "scheduler_file": cluster.scheduler_file,
    }
    for key, value in given.items():
        if value == "":
            raise SpecError(f"cluster.{key}: it is empty; leave it out, or say which.")
    if isinstance(cluster.scheduler, str) and not cluster.scheduler.startswith("inproc://"):
        try:
            host, port = get_address_host_port(cluster.scheduler)
            possible = bool(host) and 0 < port < 2**16
        except ValueError:
            possible = False
        if not possible:
            raise SpecError(
                f"cluster.scheduler: {cluster.scheduler!r} is not an address; for example tcp://host:8786."
            )
    count = cluster.arguments.get("n_workers")
    if isinstance(count, int) and count < 0:
        raise SpecError(f"cluster.n_workers: {count} is not allowed; it must be at least 0.")


def dashboard_link(client: distributed.Client) -> str | None:
    """Return the dashboard link that is really in use, or None without one."""
    services = client.scheduler_info(n_workers=0).get("services", {})
    return client.dashboard_link if "dashboard" in services else None


def silence_logs() -> list[tuple[logging.Logger, int]]:
    """Keep Dask's log to itself: what matters in it reaches the user as a message of ours.

    Returns
    -------
    list of (Logger, int)
        Every logger that was silenced, and its level before.
    """
    # Dask gives some of its loggers a level of their own: those below these names count as well.
    names = {"distributed", "tornado", "asyncio"}
    below = [name for name in logging.root.manager.loggerDict if name.partition(".")[0] in names]
    loggers = [logging.getLogger(name) for name in (*names, *below)]
    before = [(logger, logger.level) for logger in loggers]
    for logger in loggers:
        logger.setLevel(_NO_LOGS)
    return before


@contextlib.contextmanager
def _quiet_logs() -> Iterator[None]:
    before = silence_logs()
    try:
        yield
    finally:
        for logger, level in before:
            logger.setLevel(level)


@contextlib.contextmanager
def _workers_start_anew() -> Iterator[None]:
    """Let a local worker that dies be started anew, however long that takes, while the body runs.

    On a busy machine it can be longer than the 15 s after which Dask writes a worker off for good.
    """
    with dask.config.set({"distributed.deploy.lost-worker-timeout": "1 hour"}):
        yield


@contextlib.contextmanager
def _local(workers: int) -> Iterator[DaskCluster]:
    free = _is_free(_DASHBOARD_PORT)
    arguments = {
        "n_workers": workers,
        "threads_per_worker": 1,
        "processes": True,
        "host": "127.0.0.1",
        "dashboard_address": f"127.0.0.1:{_DASHBOARD_PORT if free else 0}",
        "worker_dashboard_address": None,
        "silence_logs": _NO_LOGS,
    }
    with _open(distributed.LocalCluster, arguments, f"{workers} local workers") as made:
        yield made


@contextlib.contextmanager
def _started(kind: type[DaskCluster], cluster: Cluster, trust: bool) -> Iterator[DaskCluster]:
    defaults = {"silence_logs": _NO_LOGS} if issubclass(kind, distributed.LocalCluster) else {}
    arguments = cluster.arguments if trust else kept_here(kind, cluster.arguments)
    what = f"The cluster {cluster.class_} with {cluster.arguments}"
    with _open(kind, {**defaults, **arguments}, what) as made:
        if isinstance(cluster.workers, int):
            made.scale(cluster.workers)
        yield made


@contextlib.contextmanager
def _open(kind: type[DaskCluster], arguments: dict[str, Any], what: str) -> Iterator[DaskCluster]:
    """Start a cluster and close it whatever happens, also if Ctrl-C was pressed meanwhile."""
    made: DaskCluster | None = None
    with contextlib.ExitStack() as stack:
        stack.callback(lambda: _close_quietly(made))
        with contextlib.ExitStack() as starting:
            # What runs on this machine shares its terminal; what is elsewhere may take minutes to start.
            if kind.__module__.partition(".")[0] == "distributed":
                stack.enter_context(_workers_start_anew())
                starting.enter_context(only_we_are_interrupted())
            # Another dashboard may hold the usual port: we print the link in use, so the warning is noise.
            starting.enter_context(warnings.catch_warnings())
            warnings.filterwarnings("ignore", message="Port .* is already in use")
            try:
                made = kind(**arguments)
            except Exception as error:
                raise ClusterError(f"{what} cannot be started: {error}") from error
        yield made


def _address(cluster: Cluster) -> str:
    """Return the address of a scheduler that is there; empty where its file is no scheduler file."""
    if cluster.scheduler_file is None:
        return str(cluster.scheduler)
    try:
        return str(json.loads(Path(cluster.scheduler_file).read_text())["address"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def _reach(cluster: Cluster, trust: bool, seconds: float) -> distributed.Client:
    where: dict[str, Any] = (
        {"address": cluster.scheduler} if cluster.scheduler else {"scheduler_file": cluster.scheduler_file}
    )
    (name,) = where.values()
    if cluster.scheduler_file and not Path(cluster.scheduler_file).exists():
        raise ClusterError(
            f"The scheduler file {name} does not exist. Start: dask scheduler --scheduler-file {name}"
        )
    address = _address(cluster)
    refuse_foreign_scheduler(address, trust=trust)
    try:
        # A Client that fails to connect may hang later, when it is collected: knock before making one.
        with ThreadPoolExecutor(max_workers=1) as thread:
            thread.submit(asyncio.run, _knock(address, seconds)).result()
        return distributed.Client(**where, timeout=seconds)
    except Exception as error:
        # Beside what the network does, for one a TypeError where TLS is not set up on this side.
        raise ClusterError(f"No Dask scheduler answers at {name} within {seconds:.0f} s: {error}") from None


async def _knock(address: str, seconds: float) -> None:
    """Connect to a scheduler and leave again, in a loop of its own: a notebook runs one already."""
    security = distributed.Security().get_connection_args("client")
    comm = await distributed.comm.connect(address, timeout=seconds, **security)
    await comm.close()


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
    # Cut short, closing leaves processes behind that Python then waits for; and it is bounded in time.
    with put_off(*STOPPING), contextlib.suppress(Exception):
        if thing is not None:
            thing.close(timeout=10)
