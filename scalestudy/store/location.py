"""Where a store is: a local path or a URL, and the few file operations that zarr does not offer.

Zarr reads and writes chunks. Listing the chunks of one array, reading many tiny ones at once, and replacing
one metadata document so that it survives a power cut are done here, through fsspec.
"""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, wraps
from pathlib import Path
from typing import Any, TypeVar, cast

import fsspec
import zarr
from fsspec.core import url_to_fs
from fsspec.registry import known_implementations

from scalestudy.errors import DamagedStoreError, StoreError

_Method = TypeVar("_Method", bound=Callable[..., Any])


def _reached(method: _Method) -> _Method:
    """Turn the errors of an object store's own library, such as missing credentials, into one of ours."""

    @wraps(method)
    def reached(self: Location, *args: Any) -> Any:
        try:
            return method(self, *args)
        except (OSError, NotImplementedError):
            raise
        except Exception as error:
            if self.is_local:
                raise
            reason = " ".join(str(error).split()) or type(error).__name__
            raise StoreError(f"{self} cannot be reached: {reason.rstrip('.')}.") from error

    return cast(_Method, reached)


@dataclass(frozen=True)
class Location:
    """A place that can hold a store.

    Parameters
    ----------
    url : str
        A path, absolute or relative to the working directory, or a URL such as ``s3://bucket/study.zarr``.
    """

    url: str

    @classmethod
    def of(cls, place: str | os.PathLike[str]) -> Location:
        """Make a location from a path or URL; a local path becomes absolute, so that workers agree on it.

        Raises
        ------
        StoreError
            If the URL's protocol is not known, or needs a package that is not installed.
        """
        text = os.fspath(place)
        if text.startswith("file://"):
            text = text.removeprefix("file://")
        if "://" not in text:
            if "\0" in text or not text.strip():
                raise StoreError(f"{text!r} is not a path.")
            protocol = text.partition(":/")[0]
            if ":/" in text and protocol in known_implementations:
                raise StoreError(f"{text} is neither a path nor a URL; did you mean {protocol}://?")
            return cls(str(Path(text).expanduser().absolute()))
        protocol, _, place = text.partition("://")
        if not place.strip("/"):
            raise StoreError(f"{text} names no place; for example {protocol}://bucket/study.zarr.")
        try:
            fsspec.get_filesystem_class(protocol)
        except ValueError:
            known = ", ".join(sorted({"file", "s3", "gs", "az", "memory"}))
            raise StoreError(f"{text}: unknown protocol {protocol!r}; for example {known}.") from None
        except ImportError as error:
            raise StoreError(f"{text}: {error}. Try: pip install 'scalestudy[cluster]'.") from None
        return cls(text.rstrip("/"))

    @property
    def is_local(self) -> bool:
        """Whether this is a path of the local file system."""
        return "://" not in self.url

    @cached_property
    def _filesystem(self) -> tuple[Any, str]:
        filesystem, root = url_to_fs(self.url)
        return filesystem, str(root)

    def __str__(self) -> str:
        if not self.is_local:
            return self.url
        relative = os.path.relpath(self.url)
        return self.url if relative.startswith("..") else relative

    def group(self, mode: str, path: str = "") -> zarr.Group:
        """Open a group of the store with mode ``r`` or ``r+``; never with one that creates.

        Raises
        ------
        DamagedStoreError
            If there is a root document, and zarr does not take it for that of a group.
        """
        try:
            return zarr.open_group(self.url, mode=mode, path=path, use_consolidated=False)
        except (TypeError, ValueError) as error:
            if path or self.read("zarr.json") is None:
                raise
            raise DamagedStoreError.at(self, "its zarr.json is not that of a group") from error

    @_reached
    def exists(self, key: str = "") -> bool:
        """Whether a key, or anything at all, is there."""
        fs, root = self._filesystem
        fs.invalidate_cache()
        return bool(fs.exists(f"{root}/{key}" if key else root))

    def is_folder(self) -> bool:
        """Whether a local path is a folder."""
        return Path(self.url).is_dir()

    @_reached
    def read(self, key: str) -> bytes | None:
        """Return the bytes of a key, or None if there is none."""
        fs, root = self._filesystem
        try:
            return bytes(fs.cat_file(f"{root}/{key}"))
        except (FileNotFoundError, NotADirectoryError):
            return None

    @_reached
    def read_many(self, keys: list[str]) -> list[bytes]:
        """Return the bytes of many small keys; none for a key that is not there, or no longer."""
        fs, root = self._filesystem
        if self.is_local:
            return [_read_file(f"{root}/{key}") for key in keys]
        found = fs.cat([f"{root}/{key}" for key in keys], on_error="omit") if keys else {}
        # What is found comes in the order of the file system, under paths as it writes them.
        by_name = {str(path).rpartition("/")[2]: content for path, content in found.items()}
        return [by_name.get(key.rpartition("/")[2], b"") for key in keys]

    @_reached
    def names(self, key: str = "") -> list[str]:
        """List the names directly below a key; none if it is not there."""
        fs, root = self._filesystem
        folder = f"{root}/{key}" if key else root
        if self.is_local:
            try:
                return [entry.name for entry in os.scandir(folder)]
            except (FileNotFoundError, NotADirectoryError):
                return []
        fs.invalidate_cache()
        try:
            return [str(path).rstrip("/").rpartition("/")[2] for path in fs.ls(folder, detail=False)]
        except FileNotFoundError:
            return []

    @_reached
    def replace(self, key: str, content: bytes) -> None:
        """Put a document in one step: a reader sees the old or the new one, also after a power cut."""
        fs, root = self._filesystem
        if not self.is_local:
            fs.pipe_file(f"{root}/{key}", content)
            return
        target = Path(root) / key
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = target.with_name(f"{target.name}.{uuid.uuid4().hex}.partial")
        try:
            with partial.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            partial.replace(target)
            folder = os.open(target.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
        except OSError:
            with contextlib.suppress(OSError):
                partial.unlink(missing_ok=True)
            raise

    @_reached
    def delete(self, key: str) -> None:
        """Remove a key and all below it, if it is there."""
        fs, root = self._filesystem
        with contextlib.suppress(FileNotFoundError):
            fs.rm(f"{root}/{key}", recursive=True)

    def sweep_partials(self, folders: list[str]) -> int:
        """Remove what killed writers left half written; return how many files that were."""
        found = self.partials(folders)
        for key in found:
            (Path(self.url) / key).unlink(missing_ok=True)
        return len(found)

    def partials(self, folders: list[str]) -> list[str]:
        """List what killed writers left half written; only a local file system has such files."""
        return [
            f"{folder}/{name}".lstrip("/")
            for folder in (folders if self.is_local else [])
            for name in self.names(folder)
            if name.endswith(".partial")
        ]


def _read_file(path: str) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return b""
    try:
        return os.read(descriptor, 1 << 20)
    finally:
        os.close(descriptor)
