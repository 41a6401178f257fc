"""Planning and status on a study of 100,000 blocks: seconds and memory, in processes of their own."""

import argparse
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from scalestudy.store import Location, completed, prepare, read_manifest
from scalestudy.study import CostModel, make_plan, parse_source, parse_spec

SPEC = """
seed: 1
grid: {{d: [16], beta: [{betas}]}}
trials: 200
models: [Y_f_lin]
trials_per_block: 1
"""


def spec_of(points):
    betas = ", ".join(f"{beta:.6f}" for beta in np.linspace(0.1, 2.0, points))
    return parse_spec(parse_source(SPEC.format(betas=betas)))


def make_store(folder, points):
    """Make a store in which every other block is done, by copying one real chunk."""
    location = Location.of(folder / "planning.zarr")
    spec = spec_of(points)
    prepare(location, spec, tokens="orthonormal", matrix=None, trials_per_block=1, attributes={"spec": ""})
    array = location.group("r+")["done"]
    array[0, 0, 0, 0, 0] = 1
    chunk = location.read("done/c.0.0.0.0.0")
    for i in range(points):
        for block in range(0, 200, 2):
            (Path(location.url) / "done" / f"c.0.{i}.0.0.{block}").write_bytes(chunk)
    return location


def measure(url, points):
    """Plan what is left; print seconds and peak memory of this process."""
    began = time.perf_counter()
    location = Location.of(url)
    manifest = read_manifest(location)
    spec = spec_of(points)
    done = completed(location, manifest)
    plan = make_plan(spec, 1, done, CostModel(spec))
    seconds = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{plan.blocks_asked} blocks, {plan.blocks_done} done, {len(plan.groups)} tasks: "
        f"planned in {seconds:.2f} s, peak memory {peak:.0f} MB"
    )


def main(points=500):
    folder = Path(tempfile.mkdtemp())
    try:
        location = make_store(folder, points)
        subprocess.run(
            [sys.executable, __file__, "--measure", location.url, "--points", str(points)], check=True
        )
        began = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "scalestudy.status", location.url], check=True, stdout=subprocess.DEVNULL
        )
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        print(f"status, the whole command: {time.perf_counter() - began:.2f} s, peak memory {peak:.0f} MB")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=500, help="points of 200 blocks each")
    parser.add_argument("--measure", metavar="STORE", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.measure:
        measure(chosen.measure, chosen.points)
    else:
        main(chosen.points)
