"""The plan: which blocks a store lacks, dearest first, in groups of about a second, less at the end.

Planning is a pure function of what was asked and what is done. A block counts as done when the store
holds at least as many of its trials as the spec asks for; otherwise it is computed again whole, which the
value-keyed seeds make idempotent. Nothing is ever planned away: a spec that asks for less leaves the
store as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scalestudy.study.blocks import Block, Point, blocks_of, points_of
from scalestudy.study.cost import CostModel
from scalestudy.study.spec import Spec

SECONDS_PER_GROUP = 1.0
# At the end groups become shorter, so that no core waits a second for another one's last group.
SHARE_OF_REST = 1 / 16
SHORTEST_GROUP = 0.1

# Complete trials of each block of a point, as the store counts them; a point it does not know is absent.
Done = Mapping[Point, NDArray[np.integer]]


@dataclass(frozen=True, slots=True)
class Group:
    """Blocks of one d that travel as one task, with their predicted seconds."""

    blocks: tuple[Block, ...]
    seconds: float

    @property
    def d(self) -> int:
        """The d of every block of the group."""
        return self.blocks[0].point.d


@dataclass(frozen=True)
class Plan:
    """What is to be done: groups in the order of submission, and the totals they belong to."""

    groups: tuple[Group, ...]
    blocks_asked: int
    blocks_done: int
    trials_asked: int
    trials_done: int

    @property
    def blocks_left(self) -> int:
        """The number of blocks in all groups."""
        return sum(len(group.blocks) for group in self.groups)

    @property
    def trials_left(self) -> int:
        """The number of trials in all groups; a short last block that grows is computed again whole."""
        return sum(block.trials for group in self.groups for block in group.blocks)

    @property
    def seconds_left(self) -> float:
        """Predicted core-seconds of all groups."""
        return sum(group.seconds for group in self.groups)


def make_plan(spec: Spec, size: int, done: Done, cost: CostModel) -> Plan:
    """Plan the blocks that are asked for and not done.

    Parameters
    ----------
    spec : Spec
        What is asked for.
    size : int
        Trials per block (B) of the store.
    done : mapping from Point to integer array
        Complete trials of each block of a point.
    cost : CostModel
        Predicts seconds, which decide order and grouping.
    """
    left: list[tuple[float, Block]] = []
    asked = held = trials_asked = trials_held = 0
    for point in points_of(spec):
        trials = spec.trials_at(point.d)
        counts = done.get(point)
        trial_seconds = cost.trial_seconds(point)
        trials_asked += trials
        for block in blocks_of(point, trials, size):
            count = int(counts[block.index]) if counts is not None and block.index < len(counts) else 0
            asked += 1
            held += count >= block.trials
            trials_held += min(count, block.trials)
            if count < block.trials:
                left.append((block.trials * trial_seconds, block))
    left.sort(key=lambda item: -item[0])
    return Plan(tuple(_grouped(left)), asked, held, trials_asked, trials_held)


def _grouped(left: list[tuple[float, Block]]) -> list[Group]:
    """Pack blocks of one d, in their order, until a group holds about a second of work, less at the end."""
    groups: list[Group] = []
    rest = sum(seconds for seconds, _ in left)
    open_groups: dict[int, list[Block]] = {}
    open_seconds: dict[int, float] = {}
    for seconds, block in left:
        d = block.point.d
        open_groups.setdefault(d, []).append(block)
        open_seconds[d] = open_seconds.get(d, 0.0) + seconds
        if open_seconds[d] >= min(SECONDS_PER_GROUP, max(SHORTEST_GROUP, SHARE_OF_REST * rest)):
            groups.append(Group(tuple(open_groups.pop(d)), open_seconds.pop(d)))
            rest -= groups[-1].seconds
    groups.extend(Group(tuple(blocks), open_seconds[d]) for d, blocks in open_groups.items())
    # What was left over of a large d comes before the cheap blocks that fill the last second.
    dearness = {id(block): seconds for seconds, block in left}
    return sorted(groups, key=lambda group: -dearness[id(group.blocks[-1])])
