"""The whole suite, one benchmark after the other: ``python -m benchmarks``, or with ``--quick``."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from datetime import date
from pathlib import Path

from scalestudy.execution.provenance import provenance

HERE = Path(__file__).resolve().parent
SUITE = {
    "kernel": ([], ["--sizes", "256", "--rounds", "3"]),
    "growth": ([], ["--sizes", "128", "256", "512", "--rounds", "2"]),
    "throughput": ([], ["--sizes", "256", "--trials", "60", "--rounds", "1"]),
    "overhead": ([], ["--scale", "0.1", "--blocks", "1000"]),
    "planning": ([], ["--points", "50"]),
    "limit_law": ([], []),
    "distances": (["speed"], ["speed"]),
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes, a few minutes in all")
    parser.add_argument("names", nargs="*", help=f"some of {', '.join(SUITE)}; all if left out")
    options = parser.parse_args()
    about = provenance()
    print(f"{date.today()}, {os.cpu_count()} cores, {about['python']}, {about['libraries']}, {about['blas']}")
    environment = {**os.environ, "PYTHONPATH": str(HERE.parent)}
    for name in options.names or SUITE:
        full, quick = SUITE[name]
        print(f"\n== {name}", flush=True)
        command = [sys.executable, str(HERE / f"{name}.py"), *(quick if options.quick else full)]
        subprocess.run(command, check=True, env=environment)


if __name__ == "__main__":
    main()
