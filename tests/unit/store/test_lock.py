"""One writing run per store."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from scalestudy.errors import StoreError, StoreLockedError
from scalestudy.store import Location, writing

HOLD = """
import sys
from scalestudy.store import Location, writing
with writing(Location.of(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture(params=["local", "memory"])
def location(request, tmp_path):
    return Location.of(
        tmp_path / "s.zarr" if request.param == "local" else f"memory://{tmp_path.name}/s.zarr"
    )


def put_card(location, card):
    place, _, name = f"{location.url}.lock".rpartition("/")
    Location(place).replace(name, json.dumps(card).encode())


def lock_is_gone(location):
    place, _, name = f"{location.url}.lock".rpartition("/")
    return name not in Location(place).names()


def test_a_second_run_in_this_process_is_refused_and_told_who_holds_it(location):
    with writing(location):
        with pytest.raises(StoreLockedError) as caught, writing(location):
            pass
        assert f"process {os.getpid()} on host {socket.gethostname()}" in str(caught.value)
    assert lock_is_gone(location)
    with writing(location):
        pass


def test_the_lock_goes_when_the_body_fails(location):
    with pytest.raises(KeyError), writing(location):
        raise KeyError
    assert lock_is_gone(location)


def test_an_error_of_the_body_is_not_one_of_the_lock(location):
    with pytest.raises(OSError, match="disk"), writing(location):
        raise OSError("disk")


def test_a_live_process_of_this_host_holds_it_until_it_is_killed(tmp_path):
    location = Location.of(tmp_path / "s.zarr")
    root = Path(__file__).parents[3]
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, location.url],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(root)},
    )
    try:
        assert holder.stdout.readline() == b"held\n"
        who = f"process {holder.pid} on host {socket.gethostname()}"
        with pytest.raises(StoreLockedError, match=who), writing(location):
            pass
    finally:
        holder.kill()
        holder.communicate()
    assert not lock_is_gone(location)
    with writing(location):
        assert json.loads(Path(f"{location.url}.lock").read_text())["pid"] == os.getpid()


def test_a_live_holder_of_a_remote_store_is_refused(tmp_path):
    location = Location.of(f"memory://{tmp_path.name}/s.zarr")
    parent = psutil.Process(os.getppid())
    put_card(location, {"host": socket.gethostname(), "pid": parent.pid, "born": parent.create_time()})
    with pytest.raises(StoreLockedError, match=f"process {parent.pid} on host"), writing(location):
        pass


def test_a_dead_holder_is_taken_over(location):
    put_card(location, {"host": socket.gethostname(), "pid": 2**22 + 1, "born": 1.0, "since": "then"})
    with writing(location):
        pass
    assert lock_is_gone(location)


def test_a_pid_that_another_process_has_now_is_a_dead_holder(location):
    put_card(location, {"host": socket.gethostname(), "pid": os.getppid(), "born": 1.0, "since": "then"})
    with writing(location):
        pass


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"3", b'{"pid": "x"}'])
def test_a_damaged_card_of_nobody_is_taken_over(location, content):
    place, _, name = f"{location.url}.lock".rpartition("/")
    Location(place).replace(name, content)
    with writing(location):
        pass


def test_a_holder_on_another_host_is_refused_and_its_file_named(location):
    put_card(location, {"host": "elsewhere", "pid": 7, "born": 1.0, "since": "then"})
    with pytest.raises(StoreLockedError) as caught, writing(location):
        pass
    message = str(caught.value)
    assert "process 7 on host elsewhere (since then)" in message
    assert f"if that process is gone, remove {location.url}.lock" in message
    assert not lock_is_gone(location)


def test_where_no_lock_can_be_made_the_store_cannot_be_written(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    for place, why in (
        (tmp_path / "file/s.zarr", f"{tmp_path}/file is not a folder"),
        (tmp_path / "file/deep/s.zarr", f"{tmp_path}/file/deep is not a folder"),
        ("/proc/none/s.zarr", "No such file"),
    ):
        with pytest.raises(StoreError, match=f"cannot be written: {why}"), writing(Location.of(place)):
            pass
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_file_system_without_locks_is_not_taken_for_a_locked_store(tmp_path, monkeypatch):
    def unsupported(descriptor, operation):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr("fcntl.flock", unsupported)
    location = Location.of(tmp_path / "s.zarr")
    with pytest.raises(StoreError, match="cannot be written: Operation not") as caught, writing(location):
        pass
    assert not isinstance(caught.value, StoreLockedError)


def test_a_store_by_another_name_has_the_same_lock(tmp_path, monkeypatch):
    (tmp_path / "x").mkdir()
    (tmp_path / "k.zarr").mkdir()
    (tmp_path / "link.zarr").symlink_to("k.zarr")
    (tmp_path / "here").symlink_to(".")
    monkeypatch.chdir(tmp_path)
    for one in ("k.zarr", "link.zarr"):
        for other in ("link.zarr", "./x/../k.zarr", "here/k.zarr", f"file://{tmp_path}/k.zarr"):
            with (
                writing(Location.of(one)),
                pytest.raises(StoreLockedError, match="is being written") as caught,
                writing(Location.of(other)),
            ):
                pass
            assert str(caught.value).startswith(f"{Location.of(other)} ")
            assert str(tmp_path / "k.zarr.lock") in str(caught.value)
    assert not list(tmp_path.glob("*.lock"))


def test_a_link_that_leads_nowhere_yet_has_the_lock_of_its_target(tmp_path):
    (tmp_path / "link.zarr").symlink_to("k.zarr")
    with (
        writing(Location.of(tmp_path / "link.zarr")),
        pytest.raises(StoreLockedError),
        writing(Location.of(tmp_path / "k.zarr")),
    ):
        pass
