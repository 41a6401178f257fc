"""What a study costs: seconds, peak memory of a worker, bytes on disk.

Seconds of a trial are an overhead plus its operations at the machine's speed; operations are counted by
ensembles and spectra as multiplications of matrices that take as long. A pilot of one trial calibrates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np

from scalestudy.ensembles import Sizes, draw_flops
from scalestudy.errors import ResourceError
from scalestudy.spectra import installation_note, peak_bytes, solve_flops
from scalestudy.study.blocks import Point, points_of
from scalestudy.study.spec import Spec
from scalestudy.study.statistics import SMALLEST_POLYNOMIAL_D

# A worker process before its first trial: interpreter, NumPy, SciPy, zarr and distributed.
PROCESS_BYTES = 100_000_000
_LARGEST_PILOT_SECONDS = 1.0
_SHORTEST_PILOT_SECONDS = 0.1
# Random doubles compress to about 95 %, the padding of short spectra to nothing.
_COMPRESSED = 0.95


@dataclass(frozen=True)
class Calibration:
    """The speed of a machine.

    Attributes
    ----------
    flops_per_second : float
        Speed of one core at large matrices; the default is a server core of the 2020s.
    overhead : float
        Seconds of a trial that do not depend on its size.
    measured : bool
        Whether a pilot measured it here.
    """

    flops_per_second: float = 45e9
    overhead: float = 4e-4
    measured: bool = False


@dataclass(frozen=True)
class CostModel:
    """Predicts what trials of one spec cost."""

    spec: Spec
    calibration: Calibration = Calibration()

    def trial_flops(self, point: Point) -> float:
        """Return the operations of one trial, as those of a matrix product that takes as long."""
        spec = self.spec
        return draw_flops(point.sizes, spec.models, spec.tokens) + solve_flops(
            point.sizes.ell, spec.models, spec.solver, spec.dtype
        )

    def trial_seconds(self, point: Point) -> float:
        """Return the seconds of one trial on one core."""
        return self.calibration.overhead + self.trial_flops(point) / self.calibration.flops_per_second

    def worker_bytes(self) -> int:
        """Return the peak memory of one worker over all points of the grid."""
        spec = self.spec
        return PROCESS_BYTES + max(
            peak_bytes(sizes, spec.models, spec.tokens, spec.dtype, spec.solver)
            for sizes in _largest_sizes(spec)
        )

    def disk_bytes(self) -> int:
        """Return the bytes that the whole study takes in the store."""
        item = np.dtype(self.spec.dtype).itemsize
        tokens = 0
        if not isinstance(self.spec.tokens, str):
            # The store keeps the given matrix, in float64 whatever the precision.
            tokens = 8 * max(point.d * point.sizes.ell for point in points_of(self.spec))
        values = sum(
            self.spec.trials_at(point.d) * point.sizes.ell * (len(self.spec.models) + 1)
            for point in points_of(self.spec)
        )
        return int((values * item + tokens) * _COMPRESSED)

    def refuse_what_cannot_fit(self, memory_limit: int) -> None:
        """Raise ResourceError if the largest point needs more than a worker has."""
        needs = self.worker_bytes()
        if needs > memory_limit:
            d, gamma = max(self.spec.grid.d), max(self.spec.grid.gamma)
            raise ResourceError(
                f"A trial at d = {d}, gamma = {gamma:g} needs {needs / 1e9:.3g} GB, "
                f"a worker can use {memory_limit / 1e9:.3g} GB. "
                "Use fewer workers (--workers), a machine with more memory, or a smaller d."
            )

    def installation_note(self) -> str | None:
        """Say what would make the study faster, if anything; see `scalestudy.spectra.installation_note`."""
        largest = max(sizes.ell for sizes in _largest_sizes(self.spec))
        return installation_note(self.spec.solver, largest, self.spec.dtype)

    def calibrated(self, run: Callable[[Point], float]) -> CostModel:
        """Return this model with the speed of this machine.

        Parameters
        ----------
        run : callable
            Runs one trial at a point, which need not be in the grid, and returns its seconds. It is called at
            least twice: the first call also pays for loading libraries.
        """
        point = self._pilot_point()
        times = [run(point), run(point)]
        while sum(times) < _SHORTEST_PILOT_SECONDS:
            times.append(run(point))
        seconds = min(times)
        busy = max(seconds - self.calibration.overhead, 0.1 * seconds)
        speed = self.trial_flops(point) / busy
        return replace(self, calibration=replace(self.calibration, flops_per_second=speed, measured=True))

    def _pilot_point(self) -> Point:
        """Return the dearest point, its d halved until a trial should take no more than a second.

        The cheap points of a grid tell how long a trial takes to begin, not how long the dear ones take.
        Tokens from a file have one d only.
        """
        point = max(points_of(self.spec), key=self.trial_flops)
        while isinstance(self.spec.tokens, str) and self.trial_seconds(point) > _LARGEST_PILOT_SECONDS:
            smaller = replace(point, d=point.d // 2)
            if smaller.d < SMALLEST_POLYNOMIAL_D or min(smaller.gamma, smaller.psi) * smaller.d < 1:
                break
            point = smaller
        return point


def _largest_sizes(spec: Spec) -> Iterable[Sizes]:
    grid = spec.grid
    return [Sizes.at(max(grid.d), gamma, psi) for gamma in grid.gamma for psi in grid.psi]
