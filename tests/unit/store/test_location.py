"""Places: what is one, what is not, and what the file operations promise."""

import os
from pathlib import Path

import pytest

from scalestudy.errors import StoreError
from scalestudy.store import Location


@pytest.fixture(params=["local", "memory"])
def location(request, tmp_path):
    return Location.of(tmp_path / "s" if request.param == "local" else f"memory://{tmp_path.name}/s")


def test_a_path_becomes_absolute(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert Location.of("a/b.zarr").url == str(tmp_path / "a/b.zarr")
    assert str(Location.of("a/b.zarr")) == "a/b.zarr"
    assert Location.of(f"file://{tmp_path}/x") == Location.of(tmp_path / "x")
    assert Location.of("~/x").url == str(Path.home() / "x")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("qq://bucket/x", "unknown protocol 'qq'; for example az, file, gs, memory, s3"),
        ("s3:/bucket/x", "is neither a path nor a URL; did you mean s3://?"),
        ("s3://", "s3:// names no place; for example s3://bucket/study.zarr"),
        ("memory:///", "names no place"),
        ("", "'' is not a path"),
        ("a\0b", "is not a path"),
    ],
)
def test_what_is_no_place_is_refused_and_nothing_created(place, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StoreError) as caught:
        Location.of(place)
    assert words in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_a_protocol_whose_package_is_missing_says_what_to_install(monkeypatch):
    def missing(protocol):
        raise ImportError("Install s3fs to access S3")

    monkeypatch.setattr("fsspec.get_filesystem_class", missing)
    with pytest.raises(StoreError, match=r"Install s3fs.*pip install 'scalestudy\[cluster\]'"):
        Location.of("s3://bucket/x")


def test_documents_are_replaced_read_listed_and_deleted(location):
    assert location.read("a/b") is None
    assert not location.exists()
    assert location.names("a") == []
    location.replace("a/b", b"1")
    location.replace("a/b", b"2")
    location.replace("a/c", b"3")
    assert location.read("a/b") == b"2"
    assert location.exists("a/c")
    assert sorted(location.names("a")) == ["b", "c"]
    location.delete("a/b")
    location.delete("a/b")
    assert location.names("a") == ["c"]
    location.delete("a")
    assert not location.exists("a/c")


def test_many_are_read_in_the_order_that_is_asked_for(location):
    for name in ("z", "b", "m"):
        location.replace(f"done/{name}", name.encode())
    keys = ["done/m", "done/gone", "done/z", "done/b"]
    assert location.read_many(keys) == [b"m", b"", b"z", b"b"]
    assert location.read_many([]) == []


def test_a_replacement_that_fails_leaves_the_old_document(tmp_path, monkeypatch):
    location = Location.of(tmp_path)
    location.replace("k", b"old")

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        location.replace("k", b"new")
    assert location.read("k") == b"old"
    assert location.names() == ["k"]


def test_partials_are_found_and_swept(tmp_path):
    location = Location.of(tmp_path)
    for key in ("a.partial", "done/c.0.partial", "done/c.0"):
        location.replace(key, b"")
    assert location.partials(["", "done", "none"]) == ["a.partial", "done/c.0.partial"]
    assert location.sweep_partials(["", "done", "none"]) == 2
    assert location.names("done") == ["c.0"]


def test_an_error_of_an_object_store_s_library_is_one_clear_error(monkeypatch):
    class CredentialsError(Exception):
        pass

    def fail(*_, **__):
        raise CredentialsError("Unable to locate\ncredentials.")

    location = Location.of("memory://bucket/x")
    filesystem = location._filesystem[0]
    for name in ("cat_file", "cat", "ls", "exists", "pipe_file", "rm"):
        monkeypatch.setattr(filesystem, name, fail, raising=True)
    for call in (
        lambda: location.read("a"),
        lambda: location.read_many(["a"]),
        lambda: location.names("a"),
        lambda: location.exists(),
        lambda: location.replace("a", b""),
        lambda: location.delete("a"),
    ):
        with pytest.raises(StoreError, match="cannot be reached: Unable to locate credentials"):
            call()
