"""Making, growing and mending a store."""

import json
import os
import warnings
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
import zarr

from scalestudy.errors import StoreError, StoreMismatchError
from scalestudy.store import (
    Location,
    check_place,
    completed,
    history_of,
    open_study,
    read_attributes,
    read_manifest,
    read_tokens,
    schema,
)
from scalestudy.store.schema import BLOCKWISE, COORDINATES
from scalestudy.study import spec_text

GROWTH = ["grid.d=16,18,24", "grid.beta=0.5,1", "trials=7"]


def plain(location):
    """Open a store as any reader does; a warning is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return xr.open_zarr(location.url).load()


def test_a_store_and_its_growth_are_seen_by_plain_xarray(anywhere):
    anywhere.prepare()
    anywhere.write()
    first = plain(anywhere.location)
    assert set(first.data_vars) == set(BLOCKWISE)
    assert set(first.coords) == set(COORDINATES)
    assert first.squared_singular_values.dims == ("d", "beta", "gamma", "psi", "trial", "model", "rank")
    assert first.squared_singular_values.notnull().sum() == 5 * 2 * (8 + 10)
    assert first.done.values.ravel().tolist() == [2, 2, 1, 2, 2, 1]
    anywhere.prepare(*GROWTH)
    anywhere.write()
    grown = plain(anywhere.location)
    assert dict(grown.sizes) == anywhere.manifest.lengths
    assert grown.d.values.tolist() == [16, 20, 18, 24]
    assert grown.model.values.tolist() == ["sqrt_d_A_perp", "Y_f"]
    assert (grown.done.sel(d=[16, 18, 24]).sum("block") == 7).all()
    for name in ("squared_singular_values", "row_normalizer", "seconds", "solver"):
        old = grown[name].isel({dim: slice(n) for dim, n in first[name].sizes.items()})
        xr.testing.assert_equal(
            old.drop_vars(["degree", "theta1_Q", "theta2_Q"]),
            first[name].drop_vars(["degree", "theta1_Q", "theta2_Q"]),
        )


def test_chunks_are_blocks_and_names_are_flat(study):
    study.prepare()
    study.write()
    group = zarr.open_group(study.location.url, mode="r")
    assert group["squared_singular_values"].chunks == (1, 1, 1, 1, 2, 2, 10)
    assert group["row_normalizer"].chunks == (1, 1, 1, 1, 2, 10)
    assert group["seconds"].chunks == group["solver"].chunks == (1, 1, 1, 1, 2)
    assert group["done"].chunks == (1, 1, 1, 1, 1)
    assert sorted(n for n in study.location.names("done") if n != "zarr.json") == [
        f"c.{d}.0.0.0.{block}" for d in range(2) for block in range(3)
    ]
    for name in BLOCKWISE:
        assert "crc32c" in [
            codec["name"] for codec in json.loads(study.location.read(f"{name}/zarr.json"))["codecs"]
        ]


def test_the_root_says_what_the_study_is(study):
    study.prepare(attributes={"title": "t", "spec": spec_text(study.asked()), "updated": "now"})
    attributes = read_attributes(study.location)
    assert attributes["title"] == "t"
    assert attributes["spec"] == spec_text(study.spec)
    assert read_manifest(study.location) == study.manifest


def test_history_gains_an_entry_where_versions_differ(study):
    one = {"package": "p 1", "libraries": "n 1", "blas": "b 1", "commit": "c", "updated": "monday"}
    two = {**one, "libraries": "n 2", "updated": "wednesday"}
    study.prepare(attributes=one)
    study.prepare(attributes={**one, "updated": "tuesday"})
    study.prepare(attributes=two)
    study.prepare(attributes={**two, "updated": "thursday"})
    study.prepare(attributes={**one, "updated": "friday"})
    found = history_of(read_attributes(study.location))
    assert found == [one, two, {**one, "updated": "friday"}]


@pytest.mark.parametrize("text", ["", "{", "3", "[3]", None])
def test_a_damaged_history_is_an_empty_one(text):
    assert history_of({"history": text}) == []


def test_another_study_changes_nothing(study, monkeypatch):
    study.prepare()
    before = study.location.read("zarr.json")
    with pytest.raises(StoreMismatchError, match="seed: the store has 1, the spec asks for 2"):
        study.prepare("seed=2", "grid.d=64")
    monkeypatch.setattr("scalestudy.store.manifest.DRAW_VERSION", 5)
    with pytest.raises(StoreMismatchError, match="draw version 1, this package has 5"):
        study.prepare("grid.d=64")
    assert study.location.read("zarr.json") == before


class Killed(BaseException):
    """Stands for SIGKILL: nothing catches it."""


def cut_short(monkeypatch, after, grow):
    """Let `grow` die after that many of its writes: metadata, coordinates, root documents."""
    from zarr.storage import LocalStore

    left = [after]
    put, replace = LocalStore.set, Location.replace

    def count():
        left[0] -= 1
        if left[0] < 0:
            raise Killed

    async def counted_set(self, key, value, *rest, **named):
        count()
        return await put(self, key, value, *rest, **named)

    def counted_replace(self, key, content):
        count()
        replace(self, key, content)

    with monkeypatch.context() as m:
        m.setattr(LocalStore, "set", counted_set)
        m.setattr(Location, "replace", counted_replace)
        try:
            grow()
        except Killed:
            return True
    return False


@pytest.mark.parametrize("after", [0, 1, 5, 15, 20])
def test_a_growth_cut_short_anywhere_shows_the_old_study_and_is_mended(study, monkeypatch, after, tmp_path):
    study.prepare()
    study.write()
    old = plain(study.location)
    assert cut_short(monkeypatch, after, lambda: study.prepare(*GROWTH)), "the growth has fewer writes"
    xr.testing.assert_identical(plain(study.location).drop_attrs(), old.drop_attrs())
    xr.testing.assert_identical(
        open_study(study.location.url).load().drop_attrs(), old.sortby("d").drop_attrs()
    )
    assert {p: c.sum() for p, c in completed(study.location, read_manifest(study.location)).items()}
    study.prepare(*GROWTH)
    study.write()
    other = type(study)(Location.of(tmp_path / "other.zarr"), None)
    for options in ([], GROWTH):
        other.prepare(*options)
        other.write()
    xr.testing.assert_identical(plain(study.location), plain(other.location))


@pytest.mark.parametrize("after", [1, 6, 20])
def test_a_making_cut_short_is_said_and_is_mended(study, monkeypatch, after):
    assert cut_short(monkeypatch, after, study.prepare)
    with pytest.raises(StoreError, match="was cut short while it was made; run its sweep again"):
        open_study(study.location.url)
    assert completed(study.location, read_manifest(study.location)) == {}
    study.prepare()
    study.write()
    assert plain(study.location).done.sum() == 10


def test_a_killed_replacement_of_the_first_root_leaves_a_place_that_can_be_used(study):
    study.location.replace("zarr.json.0123.partial", b"{")
    assert check_place(study.location) is None
    study.prepare()
    assert study.location.partials([""]) == []


@pytest.mark.parametrize("damage", ["delete", "truncate", "empty", "other"])
def test_metadata_of_an_array_follow_from_the_manifest(study, damage):
    study.prepare()
    study.write()
    old = plain(study.location)
    for name in [*BLOCKWISE, *COORDINATES]:
        path = Path(study.location.url) / name / "zarr.json"
        text = path.read_text()
        if damage == "delete":
            path.unlink()
            continue
        other = text.replace('"separator": "."', '"separator": "/"')
        path.write_text({"truncate": text[:100], "empty": "", "other": other}[damage])
    study.prepare()
    xr.testing.assert_identical(plain(study.location), old)


def test_damaged_coordinates_are_written_anew(study):
    study.prepare("models=all")
    old = plain(study.location)
    for name in COORDINATES:
        for path in (Path(study.location.url) / name).glob("c.*"):
            path.write_bytes(b"damaged")
    study.prepare("models=all")
    xr.testing.assert_identical(plain(study.location), old)


def refused(place, words):
    study_location = Location.of(place)
    with pytest.raises(StoreError) as caught:
        check_place(study_location)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_places_that_hold_something_else_are_refused_and_left_alone(tmp_path, study):
    file, folder, foreign = tmp_path / "file", tmp_path / "folder", tmp_path / "foreign"
    file.write_text("x")
    (folder / "sub").mkdir(parents=True)
    zarr.open_group(foreign, mode="w").create_array("x", shape=3, dtype="int8")
    before = sorted(tmp_path.rglob("*"))
    for place in (file, folder, foreign):
        refused(place, "exists and is not a scalestudy store; give the spec another `store`")
        with pytest.raises(StoreError, match="not a scalestudy store"):
            read_manifest(Location.of(place))
    with pytest.raises(StoreError, match=r"none.zarr: no such store"):
        open_study(tmp_path / "none.zarr")
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    "root",
    [
        b"",
        b"{",
        b"[]",
        b"3",
        b'{"attributes": null}',
        b'{"attributes": 3}',
        b"\xff",
        b"[" * 100_000,
        b'{"zarr_format": 3}',
    ],
)
def test_a_damaged_root_is_one_clear_error(study, root):
    study.location.replace("zarr.json", root)
    study.location.replace("done/zarr.json", b"{}")
    refused(study.location.url, "is not a scalestudy store")


@pytest.mark.parametrize("text", ["", "{", "[]", "3", None, 5, [], "{}"])
def test_a_damaged_manifest_is_one_clear_error(study, text):
    study.location.replace("zarr.json", json.dumps({"attributes": {"scalestudy_manifest": text}}).encode())
    refused(study.location.url, "its manifest is damaged")


def test_a_place_that_cannot_be_read_is_one_clear_error(study, monkeypatch):
    def denied(self, key):
        raise PermissionError(13, "Permission denied")

    study.prepare()
    monkeypatch.setattr(Location, "read", denied)
    refused(study.location.url, "cannot be read: Permission denied")


@pytest.mark.parametrize(
    "error", [PermissionError(13, "Permission denied"), OSError(30, "Read-only file system")]
)
def test_a_place_that_cannot_be_written_is_one_clear_error(study, monkeypatch, error):
    def denied(*_):
        raise error

    monkeypatch.setattr(Location, "replace", denied)
    with pytest.raises(StoreError, match=f"cannot be written: {error.strerror}"):
        study.prepare()
    assert not Path(study.location.url).exists()


def test_a_protocol_that_only_reads_is_one_clear_error(study, monkeypatch):
    def denied(*_):
        raise NotImplementedError

    monkeypatch.setattr(Location, "replace", denied)
    with pytest.raises(StoreError, match="cannot be written: its protocol only reads"):
        study.prepare()


def test_partials_of_killed_writers_are_swept(study):
    study.prepare()
    for folder in ("", "done/", "squared_singular_values/", "d/"):
        study.location.replace(f"{folder}c.0.abc.partial", b"half")
    study.prepare()
    assert study.location.partials(schema.FOLDERS) == []


def test_the_token_matrix_is_kept_once_and_mended(study):
    matrix = np.random.default_rng(0).standard_normal((10, 20))
    study.prepare("grid.d=20", tokens="matrix sha256:ab", matrix=matrix)
    np.testing.assert_array_equal(read_tokens(study.location), matrix)
    chunk = Path(study.location.url) / "tokens/matrix/c/0/0"
    before = chunk.stat().st_mtime_ns
    study.prepare("grid.d=20", tokens="matrix sha256:ab", matrix=matrix)
    assert chunk.stat().st_mtime_ns == before
    for damage in (lambda: chunk.unlink(), lambda: chunk.write_bytes(b"x"), lambda: os.truncate(chunk, 40)):
        damage()
        study.prepare("grid.d=20", tokens="matrix sha256:ab", matrix=matrix)
        np.testing.assert_array_equal(read_tokens(study.location), matrix)
    (chunk.parents[2] / "zarr.json").unlink()
    study.prepare("grid.d=20", tokens="matrix sha256:ab", matrix=matrix)
    np.testing.assert_array_equal(read_tokens(study.location), matrix)
    assert set(plain(study.location).data_vars) == set(BLOCKWISE)


def test_a_large_token_matrix_is_cut_into_chunks(study, monkeypatch):
    monkeypatch.setattr(schema, "_TOKEN_CHUNK", 50)
    matrix = np.arange(1.0, 201).reshape(10, 20)
    study.prepare("grid.d=20", tokens="matrix sha256:ab", matrix=matrix)
    np.testing.assert_array_equal(read_tokens(study.location), matrix)
    assert len(list((Path(study.location.url) / "tokens/matrix/c").rglob("0"))) >= 5
