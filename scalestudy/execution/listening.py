"""Where a cluster may listen: whoever reaches an unauthenticated scheduler can run code on its machine.

So a cluster that a spec starts on this machine listens on its loopback interface, unless it is trusted. One
of a batch system or of a cloud must be reached by its workers: where it listens is its own default, and a
spec may not choose another interface for it.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from typing import Any

import distributed
from distributed.deploy import Cluster as DaskCluster

from scalestudy.errors import SpecError

_LOOPBACK = "127.0.0.1"
_DASHBOARD = "127.0.0.1:8787"
_HOST = r"(?:(?:tcp|tls)://)?(?:localhost|127(?:\.\d{1,3}){3})(?::\d+)?"
# What each argument may be. None is the default of all of them, an empty text means every interface.
_HERE = {
    "host": re.compile(_HOST),
    "ip": re.compile(_HOST),
    "interface": re.compile("lo0?"),
    # Not inproc: a worker of that protocol serves its metrics on every interface.
    "protocol": re.compile("(?:tcp|tls)(?:://)?"),
    "dashboard_address": re.compile(_HOST),
    "worker_dashboard_address": re.compile(_HOST),
}
_PORT = re.compile(r":?\d+")
_PARTS = (distributed.Scheduler, distributed.Worker, distributed.Nanny)


def refuse_to_listen(kind: type[DaskCluster], arguments: dict[str, Any]) -> None:
    """Refuse arguments, nested ones included, that make a cluster listen beyond loopback.

    Dask takes a dashboard's port without a host, such as ``:8787``, for all interfaces: a cluster of this
    machine may not have it, others have it by default.

    Raises
    ------
    SpecError
        Naming the argument.
    """
    for name, value in _named(arguments):
        if name not in _HERE or value is None:
            continue
        if isinstance(value, str) and _HERE[name].fullmatch(value):
            continue
        if name.endswith("dashboard_address") and not _is_here(kind) and _PORT.fullmatch(str(value)):
            continue
        raise SpecError(
            f"cluster.{name}: {value!r} may let other machines reach the cluster, and whoever reaches it can "
            "run code here; allowed: what is on 127.0.0.1. If you trust it, pass --trust-cluster."
        )


def kept_here(kind: type[DaskCluster], arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a cluster of this machine with loopback wherever they leave the place open."""
    if issubclass(kind, distributed.LocalCluster):
        found = {"dashboard_address": _DASHBOARD, **arguments}
        if not found.get("processes", True) and "://" not in str(found.get("host")):
            # Without a protocol, threads talk inproc.
            found["protocol"] = found.get("protocol") or "tcp://"
        return found
    if not _is_here(kind):
        return arguments
    scheduler = arguments.get("scheduler") or {"cls": distributed.Scheduler, "options": {"dashboard": True}}
    found = {**arguments, "scheduler": _part_here(scheduler)}
    if isinstance(arguments.get("worker"), dict):
        found["worker"] = _part_here(arguments["worker"])
    if isinstance(arguments.get("workers"), dict):
        found["workers"] = {name: _part_here(part) for name, part in arguments["workers"].items()}
    return found


def _is_here(kind: type[DaskCluster]) -> bool:
    return issubclass(kind, distributed.LocalCluster) or kind.__module__.partition(".")[0] == "distributed"


def _part_here(part: Any) -> Any:
    """Give a worker or scheduler of a `SpecCluster` a host; without one, Dask's listen on all interfaces."""
    if not isinstance(part, dict) or not _listens(part.get("cls")):
        return part
    options = part.get("options") or {}
    if options.get("interface"):
        return part
    return {**part, "options": {**options, "host": options.get("host") or _LOOPBACK}}


def _listens(found: Any) -> bool:
    if isinstance(found, str):
        module, _, name = found.rpartition(".")
        found = getattr(importlib.import_module(module), name)
    return isinstance(found, type) and issubclass(found, _PARTS)


def _named(value: Any, inside: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every key of every mapping with what it holds; those of `workers` are the user's own names."""
    if isinstance(value, dict):
        for key, item in value.items():
            named = inside == "workers" and isinstance(item, dict)
            if not named:
                yield str(key), item
            yield from _named(item, "" if named else str(key))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _named(item, inside)
