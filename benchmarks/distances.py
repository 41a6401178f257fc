"""How long measuring takes, and how much memory: 10,000 spectra of length 1000, or a whole store.

    python benchmarks/distances.py speed               # at most 20 s on 2 cores
    python benchmarks/distances.py memory [--gb 4]     # at most 2 GB; makes a store in --scratch first

The store repeats a few spectra, stored as scalestudy stores them, so that it can be made fast; every chunk is
written and read in full.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import tempfile
import time
from pathlib import Path

import dask
import numpy as np
import xarray as xr
import zarr
from zarr.codecs import BytesCodec, Crc32cCodec, ZstdCodec

from scalestudy.convergence import distances
from scalestudy.limit import GaussianEquivalentLaw

MODELS = ("sqrt_d_A", "sqrt_d_A_perp", "Y", "Y_f", "Y_Q", "Y_Q_lin", "Y_f_lin")
POINT = ("d", "beta", "gamma", "psi")


def spectra(n: int, trials: int, beta: float) -> np.ndarray:
    """Quantiles at slightly irregular probabilities, as rigid as those of random matrices, descending."""
    rng = np.random.default_rng(n)
    p = (np.arange(n) + 0.5 + 0.5 * rng.standard_normal((trials, len(MODELS), n))) / n
    law = GaussianEquivalentLaw(beta)
    return -np.sort(-law.ppf(np.clip(p, 1e-6, 1.0 - 1e-6)), axis=-1)


def coordinates(d: list[int], betas: list[float]) -> dict:
    sizes = np.array(d)[:, None]
    return {
        "d": d,
        "beta": betas,
        "gamma": [1.0],
        "psi": [1.0],
        "model": np.array(MODELS, dtype=object),
        "ell": (("d", "gamma"), sizes),
        "d_qk": (("d", "psi"), sizes),
        "theta1_Q": (("d", "beta"), np.tile(0.99 * np.expm1(np.square(betas)), (len(d), 1))),
        "theta2_Q": (("d", "beta"), np.tile(0.99 * np.square(betas), (len(d), 1))),
    }


def measure(ds: xr.Dataset) -> float:
    start = time.perf_counter()
    result = distances(ds, tokens="orthonormal")
    with dask.config.set(scheduler="threads", num_workers=2):
        result = result.compute()
    assert np.isfinite(result["w1"]).all()
    return time.perf_counter() - start


def speed() -> None:
    trials, betas = 143, [0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5]
    data = np.stack([spectra(1000, trials, beta) for beta in betas])[None, :, None, None]
    squares = ((*POINT, "trial", "model", "rank"), data)
    ds = xr.Dataset({"squared_singular_values": squares}, coords=coordinates([1000], betas))
    seconds = measure(ds.chunk(beta=1))
    count = trials * len(betas) * len(MODELS)
    print(f"{count:,} spectra of length 1000: {seconds:.1f} s on 2 threads, all measures (bar: 20 s)")


def write_store(path: Path, gigabytes: float) -> int:
    """Write a store of that size, chunked and compressed as scalestudy does, and return its bytes."""
    n, trials, block = 1024, 64, 16
    points = max(1, round(gigabytes * 2**30 / (trials * len(MODELS) * n * 8)))
    betas = np.linspace(0.5, 1.5, points).tolist()
    group = zarr.open_group(path, mode="w", zarr_format=3)
    squares = group.create_array(
        "squared_singular_values",
        shape=(1, points, 1, 1, trials, len(MODELS), n),
        chunks=(1, 1, 1, 1, block, len(MODELS), 512),
        dtype="float64",
        fill_value=np.nan,
        dimension_names=(*POINT, "trial", "model", "rank"),
        chunk_key_encoding={"name": "default", "separator": "."},
        compressors=[ZstdCodec(level=1), Crc32cCodec()],
        serializer=BytesCodec(),
    )
    some = spectra(n, trials, 1.0)
    for k in range(points):
        squares[0, k, 0, 0] = some
    coords = xr.Dataset(coords=coordinates([n], betas), attrs={"title": "repeated spectra"})
    coords.attrs["scalestudy_manifest"] = json.dumps({"identity": {"tokens": "orthonormal"}})
    coords.to_zarr(path, mode="a", zarr_format=3, consolidated=False)
    return squares.nbytes


def memory(gigabytes: float, scratch: str | None) -> None:
    folder = Path(tempfile.mkdtemp(dir=scratch))
    try:
        size = write_store(folder / "store.zarr", gigabytes)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        seconds = measure(xr.open_zarr(folder / "store.zarr", chunks={}, consolidated=False))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(
            f"store of {size / 2**30:.2f} GB: {seconds:.0f} s on 2 threads, "
            f"peak {peak:.2f} GB (bar: 2 GB; {before:.2f} GB before measuring)"
        )
    finally:
        shutil.rmtree(folder)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["speed", "memory"])
    parser.add_argument("--gb", type=float, default=4.0)
    parser.add_argument("--scratch")
    arguments = parser.parse_args()
    speed() if arguments.what == "speed" else memory(arguments.gb, arguments.scratch)


if __name__ == "__main__":
    main()
