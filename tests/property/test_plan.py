"""One checker of plans, fed with random studies and random states of their stores."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scalestudy.study import (
    Calibration,
    CostModel,
    Group,
    blocks_of,
    make_plan,
    parse_source,
    parse_spec,
    points_of,
)
from scalestudy.study.plan import SECONDS_PER_GROUP


def check_plan(plan, spec, size, done, cost):
    """Assert that a plan is exactly what is asked for and not done, dearest first, in groups of one d."""
    asked = {block for p in points_of(spec) for block in blocks_of(p, spec.trials_at(p.d), size)}
    held = {
        b
        for b in asked
        if b.point in done and b.index < len(done[b.point]) and done[b.point][b.index] >= b.trials
    }
    planned = [block for group in plan.groups for block in group.blocks]
    assert len(planned) == len(set(planned)), "a block is planned twice"
    assert set(planned) == asked - held, "a block is neither done nor planned, or both"
    for group in plan.groups:
        assert {block.point.d for block in group.blocks} == {group.d}, "a group has two d"
        seconds = [block.trials * cost.trial_seconds(block.point) for block in group.blocks]
        assert group.seconds == pytest.approx(sum(seconds))
        assert sum(seconds[:-1]) < SECONDS_PER_GROUP, "a group is longer than it need be"
    for d in spec.grid.d:
        order = [b.trials * cost.trial_seconds(b.point) for b in planned if b.point.d == d]
        assert order == sorted(order, reverse=True), "a cheaper block of one d comes before a dearer one"
    ends = [g.blocks[-1].trials * cost.trial_seconds(g.blocks[-1].point) for g in plan.groups]
    assert ends == sorted(ends, reverse=True), "a dear group comes after a cheaper one"
    full = [g for g in plan.groups if g.seconds >= SECONDS_PER_GROUP]
    dearest = [
        max(b.trials * cost.trial_seconds(b.point) for b in g.blocks) for g in full if len(g.blocks) == 1
    ]
    assert dearest == sorted(dearest, reverse=True), "single dear blocks are not in order"
    assert plan.blocks_asked == len(asked)
    assert plan.blocks_done == len(held)
    assert plan.blocks_left == len(planned)
    assert plan.trials_asked == sum(b.trials for b in asked)
    assert plan.trials_left == sum(b.trials for b in planned)
    assert plan.trials_done == sum(
        min(int(done[b.point][b.index]), b.trials)
        for b in asked
        if b.point in done and b.index < len(done[b.point])
    )
    assert plan.seconds_left == pytest.approx(sum(b.trials * cost.trial_seconds(b.point) for b in planned))


def axis(values, most=3):
    return st.lists(st.sampled_from(values), min_size=1, max_size=most, unique=True)


@st.composite
def specs(draw):
    d = draw(axis([16, 24, 64, 256, 1024]))
    each = draw(st.one_of(st.integers(1, 30), st.fixed_dictionaries({x: st.integers(1, 30) for x in d})))
    text = (
        f"seed: 1\ngrid: {{d: {d}, beta: {draw(axis([0.5, 1.0, 2.0]))}, gamma: {draw(axis([0.5, 1.0]))}, "
        f"psi: {draw(axis([0.5, 1.0]))}}}\ntrials: {each}\nbulk: {{drop: 1}}"
    )
    return parse_spec(parse_source(text))


@st.composite
def states(draw, spec, size):
    """Return counts of done trials as a store may hold them: of points asked for, and of others."""
    other = replace(points_of(spec)[0], beta=7.0)
    done = {}
    for point in [*points_of(spec), other]:
        if draw(st.booleans()):
            counts = draw(st.lists(st.integers(0, size), min_size=0, max_size=8))
            done[point] = np.array(counts, dtype=np.int32)
    return done


costs = st.builds(
    lambda speed, overhead: Calibration(flops_per_second=speed, overhead=overhead),
    st.floats(1e6, 1e11),
    st.floats(0, 0.3),
)


@given(st.data(), specs(), st.integers(1, 12), costs)
@settings(max_examples=60, deadline=None)
def test_every_block_is_done_or_planned_exactly_once(data, spec, size, calibration):
    cost = CostModel(spec, calibration)
    done = data.draw(states(spec, size))
    check_plan(make_plan(spec, size, done, cost), spec, size, done, cost)


@given(specs(), specs(), st.integers(1, 12))
@settings(max_examples=40, deadline=None)
def test_growth_plans_only_what_is_new(first, second, size):
    done = {}
    for group in make_plan(first, size, {}, CostModel(first)).groups:
        for b in group.blocks:
            done.setdefault(b.point, np.zeros(40, dtype=np.int32))[b.index] = b.trials
    assert not make_plan(first, size, done, CostModel(first)).groups
    plan = make_plan(second, size, done, CostModel(second))
    check_plan(plan, second, size, done, CostModel(second))
    old = {(p, t) for p in points_of(first) for t in range(first.trials_at(p.d))}
    for group in plan.groups:
        for b in group.blocks:
            assert (b.point, b.stop - 1) not in old, "a block without a new trial is planned again"


@pytest.mark.parametrize("fault", ["lost", "twice", "cheap first", "two d"])
def test_the_checker_sees_a_wrong_plan(fault):
    spec = parse_spec(parse_source("seed: 1\ngrid: {d: [16, 1024], beta: [1, 2]}\ntrials: 3"))
    cost = CostModel(spec, Calibration(flops_per_second=1e9))
    plan = make_plan(spec, 2, {}, cost)
    check_plan(plan, spec, 2, {}, cost)
    groups = list(plan.groups)
    if fault == "lost":
        groups = groups[1:]
    elif fault == "twice":
        groups = [groups[0], *groups]
    elif fault == "cheap first":
        groups = groups[::-1]
    else:
        groups = [
            *groups[:-2],
            Group(groups[-2].blocks + groups[-1].blocks, groups[-2].seconds + groups[-1].seconds),
        ]
    with pytest.raises(AssertionError):
        check_plan(replace(plan, groups=tuple(groups)), spec, 2, {}, cost)
