"""What a sweep costs beside its trials: start-up, and dispatch, writing and waiting; and many tiny blocks.

The first part runs one study of about a minute with `python -m scalestudy.sweep` and compares its wall time
between first and last block with the seconds that the trials themselves took, which the store holds. The
second runs 20,000 tiny blocks and watches the memory of the client.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import psutil
import xarray as xr

ROOT = Path(__file__).resolve().parents[1]
MINUTE = "seed: 1\ngrid: {{d: [64, 128, 256, 512, 1024], beta: 1.0}}\ntrials: {trials}\n"
TRIALS = {64: 2000, 128: 1000, 256: 500, 512: 200, 1024: 60}
TINY = "seed: 1\ngrid: {{d: 16, beta: [{betas}]}}\ntrials: {trials}\ntrials_per_block: 1\nmodels: [Y_f_lin]\n"


def sweep(folder: Path, text: str, *options: str) -> tuple[float, list[tuple[float, float]]]:
    """Run a study; return its wall seconds, and (time, MB) of the client once every half second."""
    spec = folder / "spec.yaml"
    spec.write_text(f"{text}store: {folder}/x.zarr\n")
    command = [sys.executable, "-m", "scalestudy.sweep", str(spec), "--no-report", *options]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    began = time.perf_counter()
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    watched, memory = psutil.Process(process.pid), []
    while process.poll() is None:
        with contextlib.suppress(psutil.Error):
            memory.append((time.time(), watched.memory_info().rss / 1e6))
        time.sleep(0.5)
    out, _ = process.communicate()
    if process.returncode:
        raise SystemExit(out)
    print("  " + next(line for line in out.splitlines() if line.startswith("Ran ")))
    return time.perf_counter() - began, memory


def window(store: Path) -> tuple[float, float]:
    """When the arrays stood, so that the first task could be sent, and when the last block was counted."""
    counts = [path.stat().st_mtime for path in (store / "done").glob("c.*")]
    return (store / "done" / "zarr.json").stat().st_mtime, max(counts)


def minute(cores: int, scale: float) -> None:
    """Print the share of wall time that was not spent in trials."""
    trials = {d: max(2, round(scale * number)) for d, number in TRIALS.items()}
    with tempfile.TemporaryDirectory() as name:
        wall, _ = sweep(Path(name), MINUTE.format(trials=trials), "--workers", str(cores))
        store = Path(name) / "x.zarr"
        busy = float(xr.open_zarr(store).seconds.sum())
        first, last = window(store)
        beside = 1.0 - busy / (cores * (last - first))
        print(f"  {busy:.1f} core-seconds of trials in a window of {last - first:.1f} s on {cores} cores")
        print(f"  dispatch, writing and waiting: {100 * beside:.1f} % of it; whole command {wall:.1f} s")


def tiny(blocks: int, cores: int) -> None:
    """Print the time for each of many tiny blocks, and how the client's memory grew."""
    points = 100
    betas = ", ".join(f"{beta:.6f}" for beta in np.linspace(0.1, 2.0, points))
    with tempfile.TemporaryDirectory() as name:
        text = TINY.format(betas=betas, trials=blocks // points)
        wall, memory = sweep(Path(name), text, "--workers", str(cores))
        first, last = window(Path(name) / "x.zarr")
    during = [size for when, size in memory if first < when < last]
    each = 1000 * cores * (last - first) / blocks
    print(f"  {blocks} blocks of one trial: {each:.2f} core-ms for each, whole command {wall:.1f} s")
    quarter, peak = len(during) // 4, max(size for _, size in memory)
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
