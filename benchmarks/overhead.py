"""What a sweep costs beside its trials: dispatch, writing and waiting; and many tiny blocks.

The first part runs one study of about a minute with `python -m scalestudy.sweep` and compares its wall time,
from the line that says how many blocks will run to the last of them, with the seconds of the trials
themselves, which the store holds. The second runs 20,000 tiny blocks and watches the memory of the client.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psutil
import xarray as xr

ROOT = Path(__file__).resolve().parents[1]
MINUTE = "seed: 1\ngrid: {{d: [64, 128, 256, 512, 1024], beta: 1.0}}\ntrials: {trials}\n"
TRIALS = {64: 2000, 128: 1000, 256: 500, 512: 200, 1024: 60}
TINY = "seed: 1\ngrid: {{d: 16, beta: [{betas}]}}\ntrials: {trials}\ntrials_per_block: 1\nmodels: [Y_f_lin]\n"


@dataclass
class Run:
    """Wall seconds of the whole command, when its blocks began and ended, and (time, MB) of the client."""

    wall: float
    first: float
    last: float
    memory: list[tuple[float, float]]


def sweep(folder: Path, text: str, *options: str) -> Run:
    """Run a study, watching the client's memory once every half second."""
    spec = folder / "spec.yaml"
    spec.write_text(f"{text}store: {folder}/x.zarr\n")
    command = [sys.executable, "-m", "scalestudy.sweep", str(spec), "--no-report", *options]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    began = time.perf_counter()
    with (folder / "out").open("w") as out:
        process = subprocess.Popen(command, env=environment, stdout=out)
    watched, memory, first = psutil.Process(process.pid), [], 0.0
    while process.poll() is None:
        if not first and "Running " in (folder / "out").read_text():
            first = time.time()
        with contextlib.suppress(psutil.Error):
            if len(memory) < 2 * (time.perf_counter() - began):
                memory.append((time.time(), watched.memory_info().rss / 1e6))
        time.sleep(0.02)
    wall, said = time.perf_counter() - began, (folder / "out").read_text()
    if process.returncode:
        raise SystemExit(said)
    print("  " + next(line for line in said.splitlines() if line.startswith("Ran ")))
    last = max(path.stat().st_mtime for path in (folder / "x.zarr" / "done").glob("c.*"))
    return Run(wall, first, last, memory)


def minute(cores: int, scale: float) -> None:
    """Print the share of wall time that was not spent in trials."""
    trials = {d: max(2, round(scale * number)) for d, number in TRIALS.items()}
    with tempfile.TemporaryDirectory() as name:
        run = sweep(Path(name), MINUTE.format(trials=trials), "--workers", str(cores))
        busy = float(xr.open_zarr(Path(name) / "x.zarr").seconds.sum())
    seconds = run.last - run.first
    print(f"  {busy:.1f} core-seconds of trials in {seconds:.1f} s on {cores} cores")
    beside = 100 * (1.0 - busy / (cores * seconds))
    print(f"  dispatch, writing and waiting: {beside:.1f} % of it; whole command {run.wall:.1f} s")


def tiny(blocks: int, cores: int) -> None:
    """Print the time for each of many tiny blocks, and how the client's memory grew."""
    points = 100
    betas = ", ".join(f"{beta:.6f}" for beta in np.linspace(0.1, 2.0, points))
    with tempfile.TemporaryDirectory() as name:
        text = TINY.format(betas=betas, trials=blocks // points)
        run = sweep(Path(name), text, "--workers", str(cores))
    during = [size for when, size in run.memory if run.first < when < run.last]
    each = 1000 * cores * (run.last - run.first) / blocks
    print(f"  {blocks} blocks of one trial: {each:.2f} core-ms for each, whole command {run.wall:.1f} s")
    quarter, peak = len(during) // 4, max(size for _, size in run.memory)
    print(
        f"  client memory: {during[quarter]:.0f} MB after a quarter of the blocks, "
        f"{during[-1]:.0f} MB at the last, {peak:.0f} MB at most, analysis included"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cores", type=int, default=os.cpu_count())
    parser.add_argument("--scale", type=float, default=1.0, help="1 is about a minute")
    parser.add_argument("--blocks", type=int, default=20_000)
    options = parser.parse_args()
    print("A sweep of about a minute")
    minute(options.cores, options.scale)
    print("Many tiny blocks")
    tiny(options.blocks, options.cores)


if __name__ == "__main__":
    main()
