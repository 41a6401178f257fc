"""Random edits of a spec, each followed by a run: the store is always the one that was made in one go.

Values are compared bit for bit, except `seconds`. What was asked for by an earlier spec stays.
"""

import random
import warnings
from collections import defaultdict

import numpy as np
import pytest
import xarray as xr
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scalestudy.execution.block import run_block
from scalestudy.execution.requests import request_for
from scalestudy.execution.session import carry_out
from scalestudy.store import Location, Manifest, completed, open_study, read_manifest
from scalestudy.study import Point, override, parse_source, parse_spec, points_of

SPEC = """\
seed: 5
grid: {d: [20], beta: [1.0], gamma: [0.5], psi: [1.0]}
trials: 3
trials_per_block: 2
models: [sqrt_d_A_perp, Y_f_lin]
bulk: {drop: 1}
"""
# Values below, between and above the first ones.
VALUES = {
    "d": [16, 18, 20, 22, 24],
    "beta": [0.5, 1.0, 1.5],
    "gamma": [0.25, 0.5, 1.0],
    "psi": [0.5, 1.0],
}
LARGEST_GRID = 12


class Model:
    """What a store must hold: the trials that any spec so far has asked for at each point."""

    def __init__(self):
        self.asked = defaultdict(int)
        self.truth = {}

    def ask(self, spec):
        for point in points_of(spec):
            self.asked[point] = max(self.asked[point], spec.trials_at(point.d))

    def values(self, manifest, point, trial):
        """Return a trial as it comes out of the kernel, without any store; computed once."""
        key = (point, trial)
        if key not in self.truth:
            result = run_block(request_for(manifest, point), trial, trial + 1)
            self.truth[key] = result.squared_singular_values[0], result.row_normalizer[0]
        return self.truth[key]

    def check(self, place):
        """Assert that plain xarray and open_study show exactly what was asked for, and NaN elsewhere."""
        location = Location.of(place)
        manifest = read_manifest(location)
        counts = completed(location, manifest)
        assert {p: int(c.sum()) for p, c in counts.items()} == dict(self.asked)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            plain = xr.open_zarr(place).load()
        assert dict(plain.sizes) == manifest.lengths
        study = open_study(place).load()
        for axis in ("d", "beta", "gamma", "psi"):
            assert plain[axis].values.tolist() == list(getattr(manifest, axis))
            assert study[axis].values.tolist() == sorted(getattr(manifest, axis))
        for ds in (plain, study):
            self.check_values(ds, manifest)

    def check_values(self, ds, manifest):
        axes = {axis: ds[axis].values.tolist() for axis in ("d", "beta", "gamma", "psi")}
        spectra, rows = (
            np.full_like(ds.squared_singular_values, np.nan),
            np.full_like(ds.row_normalizer, np.nan),
        )
        for point, trials in self.asked.items():
            at = tuple(axes[axis].index(getattr(point, axis)) for axis in axes)
            ell = point.sizes.ell
            for trial in range(trials):
                spectra[(*at, trial)][:, :ell], rows[(*at, trial)][:ell] = self.values(manifest, point, trial)
            assert int(ds.ell.values[at[0], at[2]]) == ell
            assert int(ds.done.values[at].sum()) == trials
        np.testing.assert_array_equal(ds.squared_singular_values.values, spectra)
        np.testing.assert_array_equal(ds.row_normalizer.values, rows)
        np.testing.assert_array_equal(np.isnan(ds.seconds.values), np.isnan(rows[..., 0]))
        np.testing.assert_array_equal(ds.solver.values == 0, np.isnan(rows[..., 0]))


def spec_of(place, grid, trials):
    options = [f"grid.{axis}={','.join(map(str, values))}" for axis, values in grid.items()]
    return parse_spec(
        override(parse_source(SPEC, "f.yaml"), [f"store='{place}'", f"trials={trials}", *options])
    )


def edited(rng, grid, trials):
    """Change one thing: a value more or less on an axis, or the number of trials, for all or for each d."""
    grid = {axis: list(values) for axis, values in grid.items()}
    action = rng.choice(["add", "add", "add", "remove", "trials", "each"])
    axis = rng.choice(list(VALUES))
    if action == "add":
        new = [value for value in VALUES[axis] if value not in grid[axis]]
        grid[axis] += rng.sample(new, min(len(new), 1))
        if np.prod([len(values) for values in grid.values()]) > LARGEST_GRID:
            grid = {name: values[-2:] for name, values in grid.items()}
    elif action == "remove" and len(grid[axis]) > 1:
        grid[axis].remove(rng.choice(grid[axis]))
    elif action == "trials":
        trials = rng.randint(1, 7)
    return grid, ({d: rng.randint(1, 7) for d in VALUES["d"]} if action == "each" else trials)


def edit_and_run(place, seed, edits):
    rng, model = random.Random(seed), Model()
    grid = {"d": [20], "beta": [1.0], "gamma": [0.5], "psi": [1.0]}
    trials = 3
    for _ in range(edits):
        spec = spec_of(place, grid, trials)
        before = dict(model.asked)
        model.ask(spec)
        report = carry_out(spec, serial=True)
        assert not report.failed
        new = sum(trials - before.get(point, 0) for point, trials in model.asked.items())
        # A short last block is computed again whole: at most one trial more for each point, with B = 2.
        assert new <= report.trials <= new + sum(model.asked[p] > before.get(p, 0) for p in model.asked)
        model.check(place)
        grid, trials = edited(rng, grid, trials)
    return model


@pytest.mark.parametrize("seed", [1, 2])
def test_edits_one_after_the_other(tmp_path, seed):
    edit_and_run(tmp_path / "s.zarr", seed, 6)


@pytest.mark.slow
def test_fifty_edits_one_after_the_other(tmp_path):
    model = edit_and_run(tmp_path / "s.zarr", 11, 50)
    assert len(model.asked) > 30


def test_the_order_of_growth_changes_no_value(tmp_path):
    """All at once, and in two orders: the same values, by coordinate."""
    parts = [{"d": [16, 20]}, {"beta": [0.5, 1.0]}, {"gamma": [0.5, 1.0]}]
    whole = {"d": [16, 20], "beta": [0.5, 1.0], "gamma": [0.5, 1.0]}
    carry_out(spec_of(tmp_path / "0.zarr", whole, 3), serial=True)
    want = open_study(tmp_path / "0.zarr").load().drop_vars("seconds").drop_attrs()
    for name, order in [("1.zarr", parts), ("2.zarr", parts[::-1])]:
        for part in order:
            carry_out(spec_of(tmp_path / name, part, 2), serial=True)
        carry_out(spec_of(tmp_path / name, whole, 3), serial=True)
        found = open_study(tmp_path / name).load().drop_vars("seconds").drop_attrs()
        xr.testing.assert_identical(found, want)


def test_the_check_sees_a_wrong_value_a_lost_trial_and_one_too_many(tmp_path):
    place = tmp_path / "s.zarr"
    model = edit_and_run(place, 3, 1)
    point = Point(20, 1.0, 0.5, 1.0)
    group = Location.of(place).group("r+")
    held = group["squared_singular_values"][0, 0, 0, 0, 0]
    group["squared_singular_values"][0, 0, 0, 0, 0] = held * (1 + 2e-16)
    with pytest.raises(AssertionError):
        model.check(place)
    group["squared_singular_values"][0, 0, 0, 0, 0] = held
    model.check(place)
    for wrong in (2, 4):
        model.asked[point] = wrong
        with pytest.raises(AssertionError):
            model.check(place)


axis_values = {
    axis: st.lists(st.sampled_from(values), min_size=1, max_size=3, unique=True)
    for axis, values in VALUES.items()
}


@given(st.lists(st.tuples(st.fixed_dictionaries(axis_values), st.integers(1, 9)), min_size=1, max_size=5))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_manifest_grows_to_hold_every_spec_and_moves_nothing(tmp_path, sequence):
    specs = [spec_of(tmp_path / "none.zarr", grid, trials) for grid, trials in sequence]
    manifest = Manifest.first(specs[0], "orthonormal", 2)
    for spec in specs:
        grown = manifest.grown(spec)
        assert grown.grown(spec) == grown
        assert all(grown.lengths[dim] >= length for dim, length in manifest.lengths.items())
        for axis in VALUES:
            assert getattr(grown, axis)[: len(getattr(manifest, axis))] == getattr(manifest, axis)
            assert set(getattr(spec.grid, axis)) <= set(getattr(grown, axis))
        assert (grown.chunk, grown.trials_per_block, grown.identity) == (
            manifest.chunk,
            manifest.trials_per_block,
            manifest.identity,
        )
        manifest = grown
