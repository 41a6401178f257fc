"""What a result depends on beside the spec: versions, BLAS, commit; kept with every store."""

from __future__ import annotations

import importlib.metadata
import platform
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import scipy.linalg  # noqa: F401  loads the BLAS that is named
from threadpoolctl import threadpool_info

_LIBRARIES = ("numpy", "scipy", "xarray", "zarr", "dask", "distributed", "scipy-openblas64")


def provenance() -> dict[str, str]:
    """Return version of package and libraries, BLAS, commit, interpreter and time, as plain strings."""
    return {
        "package": f"scalestudy {_version('scalestudy')}",
        "libraries": ", ".join(f"{name} {_version(name)}" for name in _LIBRARIES),
        "blas": _blas(),
        "commit": _commit(),
        "python": f"{platform.python_version()} on {platform.system()} {platform.machine()}",
        "updated": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def differences(attributes: Mapping[str, Any]) -> list[str]:
    """Say in what the versions that run here differ from those that last wrote into a store.

    Parameters
    ----------
    attributes : mapping
        The root attributes of the store, in which `provenance` was kept.

    Returns
    -------
    list of str
        One item for each difference, ``numpy 2.1.0 there, 2.2.0 here``; empty without any.
    """
    here = provenance()
    found: list[str] = []
    for key in ("package", "libraries", "blas"):
        there = str(attributes.get(key, ""))
        if there and there != here[key]:
            changed = [
                pair
                for pair in zip(there.split(", "), here[key].split(", "), strict=False)
                if len(set(pair)) > 1
            ]
            found.extend(f"{old} there, {new} here" for old, new in changed or [(there, here[key])])
    return found


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _blas() -> str:
    found = {
        f"{lib['internal_api']} {lib['version']} ({lib.get('architecture', '?')})"
        for lib in threadpool_info()
        # The two-stage solver loads its own OpenBLAS when it first runs: that is a library, listed above.
        if lib["user_api"] == "blas" and "scipy_openblas64" not in Path(lib["filepath"]).parts
    }
    return ", ".join(sorted(found)) or "unknown"


def _commit() -> str:
    """Return the commit of the checkout this package runs from, if it does."""
    here = Path(__file__).resolve().parents[2]
    if not (here / ".git").exists():
        return ""
    try:
        asked = subprocess.run(
            ["git", "describe", "--always", "--dirty"], cwd=here, capture_output=True, text=True, timeout=5
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return asked.stdout.strip()
