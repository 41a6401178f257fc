"""One writing run per store: a lock beside it that names its holder, and dies with it.

On a local file system the lock is the kernel's (`flock`), so a killed run never leaves it held; the text in
the file is for people, and for runs on another host that shares the folder. Object stores have no such
lock: there the text alone decides, and a holder on this host whose pid is gone is taken over.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import socket
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import fsspec
import psutil

from scalestudy.errors import StoreError, StoreLockedError
from scalestudy.store.location import Location


@contextlib.contextmanager
def writing(location: Location) -> Iterator[None]:
    """Hold the lock of a store while the body runs.

    Raises
    ------
    StoreLockedError
        If another run holds it; the message names its host and pid.
    StoreError
        If the place beside the store, where the lock lies, cannot be written.
    """
    held = _local(location) if location.is_local else _remote(location)
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(held)
        except (OSError, NotImplementedError) as error:
            reason = getattr(error, "strerror", None) or str(error) or "its protocol only reads"
            raise StoreError(f"{location} cannot be written: {reason}.") from None
        yield


def _card() -> bytes:
    started = datetime.now(UTC).isoformat(timespec="seconds")
    process = psutil.Process()
    return json.dumps(
        {"host": socket.gethostname(), "pid": process.pid, "born": process.create_time(), "since": started}
    ).encode()


@contextlib.contextmanager
def _local(location: Location) -> Iterator[None]:
    # By any name that leads to it, a store has one lock: it lies beside the store itself.
    path = Path(f"{os.path.realpath(location.url)}.lock")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise NotADirectoryError(errno.ENOTDIR, f"{path.parent} is not a folder") from None
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(descriptor, 4096)
            os.close(descriptor)
            raise _refusal(location, holder, str(path)) from None
        except OSError:
            os.close(descriptor)
            raise
        # A holder that has just finished removes the file: a lock on a removed file excludes nobody.
        with contextlib.suppress(FileNotFoundError):
            if os.fstat(descriptor).st_ino == path.stat().st_ino:
                break
        os.close(descriptor)
    try:
        holder = os.read(descriptor, 4096)
        if _lives_elsewhere(holder):
            raise _refusal(location, holder, str(path))
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, _card(), 0)
        try:
            yield
        finally:
            path.unlink(missing_ok=True)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _remote(location: Location) -> Iterator[None]:
    fs, key = fsspec.core.url_to_fs(f"{location.url}.lock")
    with contextlib.suppress(FileNotFoundError):
        holder = fs.cat_file(key)
        if _lives_here(holder) or _lives_elsewhere(holder):
            raise _refusal(location, holder, f"{location.url}.lock")
    fs.pipe_file(key, _card())
    try:
        yield
    finally:
        with contextlib.suppress(FileNotFoundError):
            fs.rm_file(key)


def _lives_here(holder: bytes) -> bool:
    card = _parsed(holder)
    try:
        return bool(
            card.get("host") == socket.gethostname()
            and psutil.Process(int(card["pid"])).create_time() == card["born"]
        )
    except (psutil.Error, KeyError, ValueError):
        return False


def _lives_elsewhere(holder: bytes) -> bool:
    """Whether another host left its card: it may be alive, and nobody here can tell."""
    here = socket.gethostname()
    return bool(_parsed(holder).get("host", here) != here)


def _parsed(holder: bytes) -> dict[str, Any]:
    try:
        card = json.loads(holder)
    except ValueError:
        return {}
    return card if isinstance(card, dict) else {}


def _refusal(location: Location, holder: bytes, path: str) -> StoreLockedError:
    card = _parsed(holder)
    pid, host, since = (card.get(key, "?") for key in ("pid", "host", "since"))
    who = f"process {pid} on host {host} (since {since})"
    return StoreLockedError(
        f"{location} is being written by {who}. Wait for it or stop it; "
        f"if that process is gone, remove {path}."
    )
