"""Points and blocks: where the trials of a study lie, and how they are cut into units of work and storage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product

from scalestudy.ensembles import Sizes
from scalestudy.study.spec import Spec

LARGEST_BLOCK = 64
_SECONDS_PER_BLOCK = 2.0
_LONGEST_SECONDS = 60.0
_LONGEST_SHARE = 1 / 12
# What writing a block takes of a core, and the share of a study that may go into it.
WRITING_SECONDS = 8e-3
_WRITING_SHARE = 0.02


@dataclass(frozen=True, slots=True)
class Point:
    """One point of the grid: the values of its four coordinates."""

    d: int
    beta: float
    gamma: float
    psi: float

    @property
    def sizes(self) -> Sizes:
        """The realised sizes: ell = round(gamma d) tokens, head width d_qk = round(psi d)."""
        return Sizes.at(self.d, self.gamma, self.psi)

    def __str__(self) -> str:
        return f"d={self.d}, beta={self.beta:g}, gamma={self.gamma:g}, psi={self.psi:g}"


@dataclass(frozen=True, slots=True)
class Block:
    """Consecutive trials `start` to `stop - 1` of one point: block number `index` of that point."""

    point: Point
    index: int
    start: int
    stop: int

    @property
    def trials(self) -> int:
        """The number of trials in the block."""
        return self.stop - self.start

    def __str__(self) -> str:
        return f"{self.point}, trials {self.start}-{self.stop - 1}"


def points_of(spec: Spec) -> list[Point]:
    """Return the points of the grid, dearest (largest d, gamma) first."""
    grid = spec.grid
    points = [Point(*values) for values in product(grid.d, grid.beta, grid.gamma, grid.psi)]
    return sorted(points, key=lambda p: (-p.d, -p.gamma, -p.psi, p.beta))


def blocks_of(point: Point, trials: int, size: int) -> Iterator[Block]:
    """Cut trials 0 to `trials - 1` of a point into blocks of `size`; the last one may be shorter."""
    for index, start in enumerate(range(0, trials, size)):
        yield Block(point, index, start, min(start + size, trials))


def trials_per_block(spec: Spec, trial_seconds: Callable[[Point], float]) -> int:
    """Choose B, which is fixed when a store is made, from 1 to 64.

    It is about two seconds of trials at the dearest point. Where that makes so many blocks of cheap points
    that writing them would take more than 2 % of the study, it is more: until it is 2 %, or until the longest
    block is a twelfth of the study or a minute. A kill loses the blocks in flight, and at the end the last
    one is waited for.

    Parameters
    ----------
    spec : Spec
        Decides where it says ``trials_per_block``.
    trial_seconds : callable
        Predicts the seconds of one trial at a point.
    """
    if isinstance(spec.trials_per_block, int):
        return spec.trials_per_block
    points = points_of(spec)
    points_at = Counter(point.d for point in points)
    dearest_at = {point.d: trial_seconds(point) for point in reversed(points)}
    total = sum(spec.trials_at(point.d) * trial_seconds(point) for point in points)

    def writing(size: int) -> float:
        return WRITING_SECONDS * sum(n * -(-spec.trials_at(d) // size) for d, n in points_at.items())

    def longest(size: int) -> float:
        return max(min(size, spec.trials_at(d)) * seconds for d, seconds in dearest_at.items())

    size = max(1, min(LARGEST_BLOCK, int(_SECONDS_PER_BLOCK / max(dearest_at[points[0].d], 1e-9))))
    most = min(LARGEST_BLOCK, max(map(spec.trials_at, points_at)))
    while size < most and writing(size) > _WRITING_SHARE * total:
        bearable = min(_LONGEST_SECONDS, _LONGEST_SHARE * (total + writing(size)))
        if longest(size + 1) > max(_SECONDS_PER_BLOCK, bearable):
            break
        size += 1
    return size
