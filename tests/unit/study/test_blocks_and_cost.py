"""Points, blocks, B, and the cost model."""

from dataclasses import replace

import pytest

from scalestudy.errors import ResourceError
from scalestudy.study import (
    Calibration,
    CostModel,
    Point,
    blocks_of,
    parse_source,
    parse_spec,
    points_of,
    trials_per_block,
)


def spec_of(more=""):
    return parse_spec(
        parse_source(
            "seed: 1\ngrid: {d: [16, 64, 32], beta: [1, 2], gamma: [0.5, 1], psi: [1, 0.25]}\n"
            f"trials: 4\nbulk: {{drop: 1}}\n{more}"
        )
    )


def test_points_are_the_product_of_the_axes_dearest_first():
    points = points_of(spec_of())
    assert len(points) == len(set(points)) == 3 * 2 * 2 * 2
    assert [p.d for p in points] == sorted((p.d for p in points), reverse=True)
    assert points[0] == Point(64, 1.0, 1.0, 1.0)


def test_words_for_points_and_blocks():
    (block,) = blocks_of(Point(64, 0.5, 1.0, 2.0), 3, 8)
    assert str(block) == "d=64, beta=0.5, gamma=1, psi=2, trials 0-2"


@pytest.mark.parametrize(("trials", "size"), [(1, 1), (7, 3), (8, 4), (3, 64), (64, 64), (65, 64)])
def test_blocks_cover_every_trial_once(trials, size):
    blocks = list(blocks_of(Point(16, 1.0, 1.0, 1.0), trials, size))
    assert [t for b in blocks for t in range(b.start, b.stop)] == list(range(trials))
    assert [b.index for b in blocks] == list(range(len(blocks)))
    assert all(b.start == b.index * size and 1 <= b.trials <= size for b in blocks)


@pytest.mark.parametrize(
    ("seconds", "size"), [(0.0, 64), (1e-4, 64), (0.04, 50), (0.5, 4), (0.9, 2), (1.5, 1), (3600.0, 1)]
)
def test_a_block_is_about_two_seconds_of_trials(seconds, size):
    assert trials_per_block(spec_of(), lambda point: seconds) == size
    assert trials_per_block(spec_of("trials_per_block: 7"), lambda point: seconds) == 7


SECONDS = {16: 1e-3, 64: 0.002, 128: 0.006, 256: 0.023, 512: 0.11, 1024: 0.65, 2048: 3.3}


@pytest.mark.parametrize(
    ("trials", "size"),
    [
        # 3,760 trials that take 83 s: 207 blocks may be written at 8 ms each, but a twelfth of it is 7 s.
        ({64: 2000, 128: 1000, 256: 500, 512: 200, 1024: 60}, 10),
        # Nothing is gained by writing less where trials are dear.
        ({512: 20, 1024: 40}, 3),
        # Ten dear trials are not one block, whatever the cheap ones would like.
        ({64: 1000, 1024: 10}, 3),
        # A few very dear ones may be one block, where that is an eleventh of the study.
        ({16: 100_000, 64: 20_000, 2048: 4}, 64),
        ({16: 1_000_000}, 64),
        ({2048: 1}, 1),
    ],
)
def test_a_block_is_longer_where_many_cheap_ones_would_cost_more_to_write(trials, size):
    spec = parse_spec(parse_source(f"seed: 1\ngrid: {{d: {list(trials)}, beta: 1.0}}\ntrials: {trials}\n"))
    assert trials_per_block(spec, lambda point: SECONDS[point.d]) == size


def test_a_pilot_sets_the_speed_and_predicts_itself():
    model = CostModel(spec_of())
    asked = []

    def run(point):
        asked.append(point)
        return [9.0, 0.5][len(asked) - 1]

    calibrated = model.calibrated(run)
    assert asked == [points_of(model.spec)[0]] * 2
    assert calibrated.calibration.measured
    assert calibrated.trial_seconds(asked[0]) == pytest.approx(0.5, rel=1e-6)
    assert model.calibration == Calibration()


@pytest.mark.parametrize(
    ("grid", "tokens", "d"),
    [
        ("d: [16, 2048]", "orthonormal", 1024),
        ("d: [64, 20000]", "orthonormal", 625),
        ("d: 20000, gamma: 0.001, psi: 0.002", "spherical", 20000),
        ("d: 60000, gamma: 0.002, psi: [0.001, 0.5]", "spherical", 7500),
        ("d: 20000, gamma: 0.5", "{file: X.npy}", 20000),
    ],
)
def test_a_pilot_of_a_dear_study_is_the_dearest_trial_made_smaller(grid, tokens, d):
    model = CostModel(
        parse_spec(parse_source(f"seed: 1\ngrid: {{{grid}, beta: 1}}\ntrials: 1\ntokens: {tokens}"))
    )
    asked = []
    model.calibrated(lambda point: asked.append(point) or 0.3)
    dearest = max(points_of(model.spec), key=model.trial_flops)
    assert asked == [replace(dearest, d=d)] * 2
    assert model.trial_seconds(asked[0]) <= 1 or d == dearest.d


def test_a_pilot_keeps_a_size_at_which_every_model_exists():
    model = CostModel(spec_of(), Calibration(flops_per_second=1.0))
    asked = []
    model.calibrated(lambda point: asked.append(point.d) or 9.0)
    assert asked == [16, 16]


def test_a_short_pilot_is_repeated_until_it_can_be_trusted():
    times = iter([0.05] + [4e-3, 1e-3] * 100)
    asked = []
    spec = parse_spec(parse_source("seed: 1\ngrid: {d: 16, beta: 1}\ntrials: 1"))
    calibrated = CostModel(spec).calibrated(lambda point: asked.append(point) or next(times))
    assert len(asked) == 1 + 20
    assert calibrated.trial_seconds(asked[0]) == pytest.approx(1e-3)


def test_dear_trials_are_priced_at_the_speed_of_dear_trials():
    spec = parse_spec(parse_source("seed: 1\ngrid: {d: [16, 2048], beta: 1}\ntrials: 1"))
    machine = CostModel(spec, Calibration(flops_per_second=80e9, overhead=1.2e-3))
    found = CostModel(spec).calibrated(machine.trial_seconds)
    total, expected = (sum(map(model.trial_seconds, points_of(spec))) for model in (found, machine))
    assert total == pytest.approx(expected, rel=0.01)


def test_seconds_grow_with_d_like_a_matrix_product():
    spec = parse_spec(parse_source("seed: 1\ngrid: {d: [1024, 2048], beta: 1}\ntrials: 1\nsolver: gram"))
    large, small = (CostModel(spec).trial_seconds(point) for point in points_of(spec))
    assert 7 < large / small < 8.5


def test_what_cannot_fit_is_refused_with_both_numbers():
    cost = CostModel(spec_of())
    cost.refuse_what_cannot_fit(cost.worker_bytes())
    with pytest.raises(ResourceError, match=r"d = 64, gamma = 1 needs .* GB, a worker can use 0.1 GB"):
        cost.refuse_what_cannot_fit(100_000_000)


def test_bytes_on_disk_count_every_model_and_the_normalisers():
    spec = parse_spec(parse_source("seed: 1\ngrid: {d: 64, beta: 1}\ntrials: 10\nmodels: [Y, Y_f]"))
    assert CostModel(spec).disk_bytes() == int(10 * 64 * 3 * 8 * 0.95)


def test_bytes_on_disk_count_a_token_file():
    spec = parse_spec(
        parse_source("seed: 1\ngrid: {d: 500, beta: 1, gamma: 0.2}\ntrials: 1\ntokens: {file: X.npy}")
    )
    plain = spec.model_copy(update={"tokens": "spherical"})
    assert CostModel(spec).disk_bytes() - CostModel(plain).disk_bytes() == int(8 * 100 * 500 * 0.95)
