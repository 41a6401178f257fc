"""Which clusters a spec may name without being trusted.

A spec may come from a stranger, and three things in its `cluster` could run code: a class is imported and
called; some of its arguments end up in a shell script or on a command line; and what a scheduler answers is
unpickled. So only cluster classes of the known Dask deployment packages are taken, with arguments that cannot
carry code nor open the cluster to other machines, and only schedulers of this machine; everything else needs
a flag on the command line.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from typing import Any

import distributed
import psutil
from distributed.comm import get_address_host, resolve_address
from distributed.deploy import Cluster as DaskCluster

from scalestudy.errors import SpecError
from scalestudy.execution.listening import refuse_to_listen

KNOWN_PACKAGES = (
    "distributed",
    "dask_cloudprovider",
    "dask_cuda",
    "dask_gateway",
    "dask_jobqueue",
    "dask_kubernetes",
    "dask_mpi",
    "dask_yarn",
)
# Sizes, addresses, places in a queue. What is not here (preload, python, env, job_script_prologue, ...)
# may be harmless too, but a list of what is not could never be complete.
# fmt: off
HARMLESS = frozenset((
    "account", "asynchronous", "cluster_name", "cores", "cpu", "dashboard", "dashboard_address",
    "death_timeout", "host", "idle_timeout", "interface", "ip", "job_cpu", "job_mem", "job_name",
    "local_directory", "log_directory", "memory", "memory_limit", "n_workers", "name", "ncpus",
    "nthreads", "options", "port", "processes", "project", "protocol", "queue", "region", "scheduler",
    "scheduler_options", "scheduler_port", "silence_logs", "threads_per_worker", "walltime", "worker",
    "worker_dashboard_address", "worker_options", "workers",
))
# fmt: on
# No space, quote or other character of a shell, and nothing that a command could take for an option.
_PLAIN_TEXT = re.compile(r"(?!-)[\w.,:/=+@%-]*")
_FLAG = "If you trust it, pass --trust-cluster."


def cluster_class(path: str, arguments: dict[str, Any], *, trust: bool = False) -> type[DaskCluster]:
    """Find a cluster class by its dotted path.

    Parameters
    ----------
    path : str
        Such as ``dask_jobqueue.SLURMCluster``.
    arguments : dict
        Its keyword arguments, possibly nested.
    trust : bool
        Take any class and any argument.

    Raises
    ------
    SpecError
        If the class or an argument is not allowed without trust, if the class cannot be imported, or if
        what is found is not a subclass of ``distributed.deploy.Cluster``.
    """
    if not trust:
        _refuse_unknown_package("class", path)
        for name, value in _leaves(arguments):
            _refuse_what_may_carry_code(name, value)
    found = _imported("class", path)
    if not (isinstance(found, type) and issubclass(found, DaskCluster)):
        raise SpecError(f"cluster.class: {path!r} is not a Dask cluster class.")
    if not trust:
        refuse_to_listen(found, arguments)
    return found


def refuse_foreign_scheduler(address: str, *, trust: bool = False) -> None:
    """Refuse the scheduler of another machine that a spec names, unless it is trusted.

    Raises
    ------
    SpecError
        If the address is not one of this machine: what a scheduler answers is unpickled, so whoever runs it
        can run code here.
    """
    if trust:
        return
    try:
        host = get_address_host(resolve_address(address))
    except (ValueError, OSError):
        # A host without a number: connecting to it says so.
        return
    here = {found.address for nics in psutil.net_if_addrs().values() for found in nics}
    if host not in here and not host.startswith("127."):
        raise SpecError(
            f"cluster: the spec names the scheduler {address} of another machine, which can run code on this "
            "one. If you trust it, pass --scheduler with that address, or --trust-cluster."
        )


def _imported(key: str, path: str) -> Any:
    module, _, name = path.rpartition(".")
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise SpecError(f"cluster.{key}: {path!r} cannot be imported: {error}.") from None


def _refuse_unknown_package(key: str, path: str) -> None:
    if path.partition(".")[0] not in KNOWN_PACKAGES:
        raise SpecError(
            f"cluster.{key}: {path!r} is not from a known Dask deployment package "
            f"({', '.join(KNOWN_PACKAGES)}). {_FLAG}"
        )


def _refuse_what_may_carry_code(name: str, value: Any) -> None:
    if name == "cls":
        _refuse_what_is_no_part_of_a_cluster(value)
    elif name not in HARMLESS:
        raise SpecError(f"cluster.{name}: this argument may run code. {_FLAG}")
    elif isinstance(value, str) and not _PLAIN_TEXT.fullmatch(value):
        raise SpecError(f"cluster.{name}: {value!r} may run code: it has characters of a shell. {_FLAG}")


def _refuse_what_is_no_part_of_a_cluster(value: Any) -> None:
    """Refuse a `cls` that is no worker, nanny or scheduler: SpecCluster imports and calls what it names."""
    if not isinstance(value, str):
        raise SpecError(f"cluster.cls: {value!r} is not the dotted path of a class. {_FLAG}")
    _refuse_unknown_package("cls", value)
    found = _imported("cls", value)
    parts = (distributed.Scheduler, distributed.Worker, distributed.Nanny)
    if not (isinstance(found, type) and issubclass(found, parts)):
        raise SpecError(f"cluster.cls: {value!r} is neither a worker nor a scheduler of Dask. {_FLAG}")


def _leaves(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every key with every plain value below it, at any depth; a key also for what it holds."""
    if isinstance(value, dict):
        for key, item in value.items():
            # The keys of `workers` in a SpecCluster are names of the user's choice, each with a mapping.
            if name == "workers" and isinstance(item, dict):
                yield from _leaves(item)
            else:
                yield str(key), item if key == "cls" else None
                yield from _leaves(item, str(key))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _leaves(item, name)
    elif name:
        yield name, value
