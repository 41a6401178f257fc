"""Seconds of one trial against d on one thread, and the exponent with which they grow."""

from __future__ import annotations

import argparse
import time

import numpy as np
from kernel import kernel_request
from threadpoolctl import threadpool_limits

from scalestudy.execution.trial import run_trial
from scalestudy.execution.workspace import Workspace


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[128, 256, 512, 1024, 2048])
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    times = {n: [] for n in options.sizes}
    with threadpool_limits(1):
        workspaces = {n: Workspace() for n in options.sizes}
        for trial in range(options.rounds + 1):
            for n in options.sizes:
                began = time.perf_counter()
                run_trial(kernel_request(n, 1.0), trial, workspace=workspaces[n])
                times[n].append(time.perf_counter() - began)
    # The first round pays for libraries and fresh memory.
    seconds = np.array([np.median(times[n][1:]) for n in options.sizes])
    for n, each in zip(options.sizes, seconds, strict=True):
        print(f"  d = {n:5d}: {each:8.4f} s ({min(times[n][1:]):.4f} .. {max(times[n][1:]):.4f})")
    x, y = np.log(options.sizes), np.log(seconds)
    every, last = np.polyfit(x, y, 1)[0], np.polyfit(x[-2:], y[-2:], 1)[0]
    print(f"  seconds grow as d^{every:.2f} over all of these, as d^{last:.2f} between the largest two")


if __name__ == "__main__":
    main()
