"""Trials per second of four ways to run a study, side by side in one run, start-up included.

(a) the published notebook's way: a plain loop, seven full SVDs a trial, all BLAS threads; (b) the same loop
under joblib, one thread a process; (c) plain `dask.delayed` around it; (d) `python -m scalestudy.sweep`.
Every way is timed as a whole command, in turn, and ratios are taken within a round.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
WAYS = {
    "a": "loop, all BLAS threads",
    "b": "joblib, one thread a process",
    "c": "plain dask.delayed",
    "d": "scalestudy.sweep",
}


def plain(way: str, n: int, trials: int, cores: int) -> None:
    """Run trials the published way, inside a process of its own."""
    from kernel import published_trial

    seeds = np.random.SeedSequence(1).spawn(trials)

    def one(seed):
        return published_trial(n, 1.0, np.random.default_rng(seed))

    if way == "a":
        spectra = [one(seed) for seed in seeds]
    elif way == "b":
        from joblib import Parallel, delayed

        spectra = Parallel(n_jobs=cores)(delayed(one)(seed) for seed in seeds)
    else:
        import dask
        from distributed import Client, LocalCluster

        with (
            LocalCluster(n_workers=cores, threads_per_worker=1, dashboard_address=None) as cluster,
            Client(cluster),
        ):
            spectra = dask.compute(*[dask.delayed(one)(seed) for seed in seeds])
    assert np.shape(spectra) == (trials, 7, n)


def seconds(way: str, n: int, trials: int, cores: int) -> float:
    """Time one way as a whole command."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE.parent), str(HERE)])}
        threads = str(cores) if way == "a" else "1"
        environment |= {"OPENBLAS_NUM_THREADS": threads, "OMP_NUM_THREADS": threads}
        if way == "d":
            spec = Path(folder) / "spec.yaml"
            spec.write_text(
                f"seed: 1\ngrid: {{d: {n}, beta: 1.0}}\ntrials: {trials}\nstore: {folder}/x.zarr\n"
            )
            command = ["-m", "scalestudy.sweep", str(spec), "--workers", str(cores), "--no-report"]
        else:
            command = [str(HERE / "throughput.py"), "--way", way, "--sizes", str(n), "--trials", str(trials)]
        began = time.perf_counter()
        subprocess.run([sys.executable, *command], check=True, env=environment, stdout=subprocess.DEVNULL)
        return time.perf_counter() - began


def compare(n: int, trials: int, rounds: int, cores: int) -> None:
    """Print trials per second of every way, and how many times faster (d) is than each."""
    times = {way: [] for way in WAYS}
    for _ in range(rounds):
        for way in WAYS:
            times[way].append(seconds(way, n, trials, cores))
    print(f"d = {n}: {trials} trials on {cores} cores, {rounds} rounds")
    for way, label in WAYS.items():
        ratios = np.divide(times[way], times["d"])
        print(
            f"  ({way}) {label:<29} {trials / np.median(times[way]):8.3f} trials/s"
            f"   sweep is {np.median(ratios):5.2f} x as fast ({ratios.min():.2f} .. {ratios.max():.2f})",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[256, 1000, 2000])
    parser.add_argument(
        "--trials", type=int, nargs="+", default=[400, 40, 8], help="one number for each size"
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cores", type=int, default=os.cpu_count())
    parser.add_argument("--way", choices=["a", "b", "c"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.way:
        plain(options.way, options.sizes[0], options.trials[0], options.cores)
        return
    for n, trials in zip(options.sizes, options.trials, strict=True):
        compare(n, trials, options.rounds, options.cores)


if __name__ == "__main__":
    main()
