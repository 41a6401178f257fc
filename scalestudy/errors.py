"""Every error a user can meet: one sentence each, no traceback, and the exit status that goes with it."""

from __future__ import annotations


class ScaleStudyError(Exception):
    """Base of all errors of this package; commands print it and exit with `exit_status`."""

    exit_status: int = 2


class SpecError(ScaleStudyError):
    """A study cannot be what was asked for: a bad key, value, or combination, with its place in the file."""


class StoreError(ScaleStudyError):
    """A store cannot be opened, made, or grown."""


class StoreMismatchError(StoreError):
    """An existing store holds another study: what is fixed for a store differs from the spec."""


class DamagedStoreError(StoreError):
    """What a store holds cannot be read back, or is not all there; ``verify --repair`` mends it."""

    exit_status = 1

    @classmethod
    def at(cls, place: object, what: str) -> DamagedStoreError:
        """Return the error that says what is damaged at a place, and the command that mends it."""
        return cls(f"{place} is damaged ({what}). To mend it: python -m scalestudy.verify {place} --repair")


class StoreLockedError(StoreError):
    """Another run is writing to this store."""


class ResourceError(ScaleStudyError):
    """A study does not fit in the memory of a worker, or on the disk."""


class ClusterError(ScaleStudyError):
    """No Dask cluster could be started, reached, or kept."""

    exit_status = 1


class LawError(ScaleStudyError, ValueError):
    """A limit law was asked for parameters at which it does not exist or cannot be computed accurately."""


class AnalysisError(ScaleStudyError, ValueError):
    """A measurement or fit was asked of data that cannot support it."""
