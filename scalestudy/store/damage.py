"""What a command says that meets damage in a store: the first finding, and the command that mends it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from scalestudy.errors import DamagedStoreError, ScaleStudyError
from scalestudy.store.integrity import inspect
from scalestudy.store.location import Location
from scalestudy.store.root import read_manifest
from scalestudy.units import counted


@contextlib.contextmanager
def damage_named(location: Location) -> Iterator[None]:
    """Where reading a store fails in the body, say what is damaged and what mends it.

    A failed checksum comes out of zarr as a ValueError that names no chunk. So the store is inspected; an
    error for which it is not to blame goes on as it was.

    Raises
    ------
    DamagedStoreError
        If the store is damaged.
    """
    try:
        yield
    except ScaleStudyError:
        raise
    except Exception as error:
        # A damaged document makes zarr and its codecs raise whatever they have.
        findings = inspect(location, read_manifest(location)).findings
        if not findings:
            raise
        what = f"{counted(len(findings), 'finding')}, the first: {findings[0]}"
        raise DamagedStoreError.at(location, what) from error
