"""The manifest: identity, growth, and what a damaged one does."""

import json

import pytest

from scalestudy.ensembles import DRAW_VERSION
from scalestudy.errors import StoreError, StoreMismatchError
from scalestudy.store import Manifest
from scalestudy.study import Point, points_of


@pytest.fixture
def manifest(study):
    return Manifest.first(study.asked(), "orthonormal", 2)


def test_lengths_and_blocks(manifest):
    assert manifest.lengths == {
        **{"d": 2, "beta": 1, "gamma": 1, "psi": 1},
        **{"trial": 5, "model": 2, "rank": 10, "token": 10, "block": 3},
    }


def test_b_and_the_chunk_are_fixed_when_the_store_is_made(study, manifest):
    assert (manifest.trials_per_block, manifest.chunk) == (2, 10)
    grown = manifest.grown(study.asked("grid.d=16,2000", "trials=900", "trials_per_block=7"))
    assert (grown.trials_per_block, grown.chunk) == (2, 10)
    assert grown.lengths["rank"] == 1000
    assert Manifest.first(study.asked("grid.d=2000"), "orthonormal", 2).chunk == 512


def test_growing_appends_and_never_shrinks(study, manifest):
    grown = manifest.grown(study.asked("grid.d=18,16", "grid.beta=0.5,2", "trials=3"))
    assert grown.d == (16, 20, 18)
    assert grown.beta == (1.0, 0.5, 2.0)
    assert grown.trials == 5
    assert manifest.grown(study.asked("grid.d=16", "trials=1")) == manifest
    assert grown.grown(study.asked()) == grown


def test_a_point_has_a_place_and_a_place_a_point(study, manifest):
    grown = manifest.grown(study.asked("grid.d=18,16", "grid.beta=0.5,2"))
    for point in points_of(study.asked("grid.d=16,18,20", "grid.beta=0.5,1,2")):
        assert grown.point(grown.index(point)) == point
    with pytest.raises(ValueError, match="not in tuple"):
        grown.index(Point(17, 1.0, 0.5, 1.0))


def test_it_reads_back_from_json(manifest):
    assert Manifest.from_json(json.loads(json.dumps(manifest.to_json())), "s") == manifest


@pytest.mark.parametrize(
    ("options", "tokens", "key", "held", "asked"),
    [
        (["seed=2"], "orthonormal", "seed", "1", "2"),
        (["tokens=gaussian"], "gaussian", "tokens", "'orthonormal'", "'gaussian'"),
        ([], "matrix sha256:ab", "tokens", "'orthonormal'", "'matrix sha256:ab'"),
        (["polynomial.c=3"], "orthonormal", "polynomial", "'c': 2.0", "'c': 3.0"),
        (["polynomial.theta=monte_carlo"], "orthonormal", "polynomial", "'exact'", "'samples': 200000"),
        (["dtype=float32"], "orthonormal", "dtype", "'float64'", "'float32'"),
        (["models=[Y_f]"], "orthonormal", "models", "('sqrt_d_A_perp', 'Y_f')", "('Y_f',)"),
    ],
)
def test_another_study_is_refused_with_both_values(study, manifest, options, tokens, key, held, asked):
    with pytest.raises(StoreMismatchError) as caught:
        manifest.check(study.asked(*options), tokens, "the-store")
    first, line, last = str(caught.value).splitlines()
    assert first == "the-store holds another study:"
    assert line.startswith(f"  {key}: the store has ")
    before, after = line.split(", the spec asks for ")
    assert held in before
    assert asked in after
    assert "give the spec another `store`" in last


def test_samples_matter_only_to_monte_carlo_and_the_rest_is_free(study, manifest):
    for options in (["polynomial.samples=500"], ["bulk.drop=2"], ["solver=svd"], ["name=x"], ["trials=9"]):
        manifest.check(study.asked(*options), "orthonormal", "s")


def test_everything_that_differs_is_named(study, manifest):
    with pytest.raises(StoreMismatchError) as caught:
        manifest.check(study.asked("seed=2", "dtype=float32"), "gaussian", "s")
    assert len(str(caught.value).splitlines()) == 5


def test_another_draw_version_is_refused(study, manifest):
    data = manifest.to_json()
    data["identity"] = {**data["identity"], "draw_version": 99}
    old = Manifest.from_json(data, "s")
    with pytest.raises(StoreMismatchError) as caught:
        old.check(study.asked(), "orthonormal", "the-store")
    assert f"drawn with draw version 99, this package has {DRAW_VERSION}" in str(caught.value)


@pytest.mark.parametrize(
    "change",
    [
        {"trials_per_block": 0},
        {"chunk": -1},
        {"trials": "x"},
        {"d": []},
        {"d": 3},
        {"d": [16, 16]},
        {"d": [float("inf")]},
        {"beta": [float("nan")]},
        {"gamma": [-1.0]},
        {"psi": [1e-9]},
        {"identity": 3},
        {"identity": {}},
        {"identity": {"models": ["Z"]}},
    ],
    ids=str,
)
def test_a_damaged_manifest_is_one_clear_error(manifest, change):
    data = manifest.to_json()
    if isinstance(change.get("identity"), dict) and change["identity"]:
        change = {"identity": {**data["identity"], **change["identity"]}}
    with pytest.raises(StoreError, match="s: its manifest is damaged"):
        Manifest.from_json({**data, **change}, "s")


@pytest.mark.parametrize("data", [None, 3, [], "x", {}])
def test_what_is_no_manifest_is_one_clear_error(data):
    with pytest.raises(StoreError, match="s: its manifest is damaged"):
        Manifest.from_json(data, "s")


def test_another_format_is_named(manifest):
    with pytest.raises(StoreError, match="s has store format 7; this package reads format 1"):
        Manifest.from_json({**manifest.to_json(), "format": 7}, "s")
