"""What a result depends on beside the spec: versions, BLAS, commit; kept with every store."""

from __future__ import annotations

import importlib.metadata
import platform
import subprocess
from datetime import UTC, datetime
from pathlib import Path

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


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _blas() -> str:
    found = {
        f"{lib['internal_api']} {lib['version']} ({lib.get('architecture', '?')})"
        for lib in threadpool_info()
        if lib["user_api"] == "blas"
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
