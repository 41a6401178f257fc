"""One trial, one thread: the kernel against the published way, and against its own arithmetic.

``python benchmarks/kernel.py --sizes 256 1000 2000 --rounds 5`` times, in turn and in one process, (a) a
trial as the published walk-through writes it, drawn and built plainly with seven full ``numpy.linalg.svd``
calls, (b) the kernel, and (c) a matrix product, from whose rate follows the floor: the 15 n^3 operations of
one trial (the scores 2, five Gram matrices 5, six tridiagonal reductions 8). Ratios are taken within a
round, so that a machine that slows down between rounds does not enter; printed are their median and range.
On a machine that others use, ``--clock cpu`` leaves out the time this process had to wait for its turn.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
import threadpoolctl

from scalestudy.ensembles import Sizes, degree, ladder, theta_exact
from scalestudy.execution.trial import TrialRequest, run_trial
from scalestudy.execution.workspace import Workspace


def published_trial(n: int, beta: float, rng: np.random.Generator) -> np.ndarray:
    """Draw d = ell = d_qk = n, build the seven matrices, decompose each."""
    W_Q, W_K, W = (rng.standard_normal((n, n)) for _ in range(3))
    S = W_Q @ W_K.T / np.sqrt(n)
    n_d = degree(n)
    matrices = ladder(S, W, beta, n_d, *theta_exact(beta, n_d))
    return np.stack([np.linalg.svd(matrix, compute_uv=False) ** 2 for matrix in matrices.values()])


def kernel_request(n: int, beta: float, dtype: str = "float64", solver: str = "auto") -> TrialRequest:
    """Ask for the same trial from the kernel."""
    n_d = degree(n)
    theta1, theta2 = theta_exact(beta, n_d)
    return TrialRequest(
        seed=1, sizes=Sizes(n, n, n), beta=beta, degree=n_d, theta1_Q=theta1, theta2_Q=theta2,
        dtype=dtype, solver=solver,
    )  # fmt: skip


CLOCKS = {"wall": time.perf_counter, "cpu": time.thread_time}


def compare(n: int, rounds: int, solvers: tuple[str, ...], dtype: str, clock: str) -> dict[str, list[float]]:
    """Time each contender once a round; keys are contenders, ``floor`` among them."""

    def seconds(function: Callable[[], object]) -> float:
        start = CLOCKS[clock]()
        function()
        return CLOCKS[clock]() - start

    rng = np.random.default_rng(0)
    workspaces = {solver: Workspace() for solver in solvers}
    requests = {solver: kernel_request(n, 1.0, dtype, solver) for solver in solvers}
    left, right, out = rng.standard_normal((n, n)), rng.standard_normal((n, n)), np.empty((n, n))
    for solver in solvers:
        run_trial(requests[solver], 0, workspace=workspaces[solver])
    times: dict[str, list[float]] = {}
    for trial in range(1, rounds + 1):
        times.setdefault("published", []).append(seconds(lambda: published_trial(n, 1.0, rng)))
        products = []
        for solver in solvers:
            products.append(seconds(lambda: np.matmul(left, right, out=out)))
            request, workspace = requests[solver], workspaces[solver]
            times.setdefault(solver, []).append(
                seconds(lambda: run_trial(request, trial, workspace=workspace))  # noqa: B023
            )
        products.append(seconds(lambda: np.matmul(left, right, out=out)))
        times.setdefault("floor", []).append(7.5 * float(np.median(products)))
    return times


def spread(numerator: list[float], denominator: list[float]) -> str:
    ratios = np.divide(numerator, denominator)
    return f"{np.median(ratios):5.2f} ({ratios.min():.2f} .. {ratios.max():.2f})"


def report(n: int, times: dict[str, list[float]]) -> None:
    rate = 15 * n**3 / np.median(times["floor"]) / 1e9
    print(f"n = {n}: published {np.median(times['published']):.3f} s, matrix product {rate:.0f} Gflop/s")
    for name in times:
        if name not in ("published", "floor"):
            against = spread(times["published"], times[name])
            above = spread(times[name], times["floor"])
            print(
                f"  {name:<9} {np.median(times[name]):7.3f} s"
                f"   published / kernel {against}   kernel / floor {above}"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[256, 1000, 2000])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--solvers", nargs="+", default=["auto", "gram"])
    parser.add_argument("--dtype", default="float64", choices=["float64", "float32"])
    parser.add_argument("--clock", default="wall", choices=sorted(CLOCKS))
    options = parser.parse_args()
    with threadpoolctl.threadpool_limits(1):
        for n in options.sizes:
            report(n, compare(n, options.rounds, tuple(options.solvers), options.dtype, options.clock))


if __name__ == "__main__":
    main()
