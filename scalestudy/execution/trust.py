"""Which cluster classes and arguments a spec may name without being trusted.

`cluster: {class: ..., ...}` names code and passes it arguments, some of which end up in a shell script or on
a command line. A spec may come from a stranger, so only cluster classes of the known Dask deployment
packages are taken, with arguments that cannot carry code; everything else needs an explicit flag.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from typing import Any

from distributed.deploy import Cluster as DaskCluster

from scalestudy.errors import SpecError

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
_PLAIN_TEXT = re.compile(r"[\w.,:/=+@%-]*")
_FLAG = "If you trust it, pass --trust-cluster-class."


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
    module, _, name = path.rpartition(".")
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise SpecError(f"cluster.class: {path!r} cannot be imported: {error}.") from None
    if not (isinstance(found, type) and issubclass(found, DaskCluster)):
        raise SpecError(f"cluster.class: {path!r} is not a Dask cluster class.")
    return found


def _refuse_unknown_package(key: str, path: str) -> None:
    if path.partition(".")[0] not in KNOWN_PACKAGES:
        raise SpecError(
            f"cluster.{key}: {path!r} is not from a known Dask deployment package "
            f"({', '.join(KNOWN_PACKAGES)}). {_FLAG}"
        )


def _refuse_what_may_carry_code(name: str, value: Any) -> None:
    if name == "cls":
        # SpecCluster imports what its `cls` names.
        _refuse_unknown_package(name, str(value))
    elif name not in HARMLESS:
        raise SpecError(f"cluster.{name}: this argument may run code. {_FLAG}")
    elif isinstance(value, str) and not _PLAIN_TEXT.fullmatch(value):
        raise SpecError(f"cluster.{name}: {value!r} may run code: it has characters of a shell. {_FLAG}")


def _leaves(arguments: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield every key with every plain value below it; a key is yielded also for its mapping."""
    for name, value in arguments.items():
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, dict):
                # The keys of `workers` in a SpecCluster are names of the user's choice.
                yield from _leaves(item) if name != "workers" else _leaves_of_workers(item)
            yield str(name), None if isinstance(item, dict | list) else item


def _leaves_of_workers(named: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for item in named.values():
        if isinstance(item, dict):
            yield from _leaves(item)
