"""WHAT IS KEPT: one Zarr group, format 3, that is one xarray dataset of a whole study.

A *location* is where; a *manifest* is what the store is about and how large it is; the *schema* lists its
arrays. A *block* is the unit of writing: its task alone writes its chunks, whole, and then its `done`.
"""

from scalestudy.store.counts import completed
from scalestudy.store.derived import read_group, write_group
from scalestudy.store.failures import Failure, clear, failures, record
from scalestudy.store.lifecycle import history_of, prepare, settle
from scalestudy.store.location import Location
from scalestudy.store.lock import writing
from scalestudy.store.manifest import Manifest
from scalestudy.store.reader import open_study
from scalestudy.store.root import check_place, read_attributes, read_manifest, read_spec
from scalestudy.store.schema import read_tokens
from scalestudy.store.writer import BlockResult, BlockWriter, Slot

__all__ = [
    "BlockResult",
    "BlockWriter",
    "Failure",
    "Location",
    "Manifest",
    "Slot",
    "check_place",
    "clear",
    "completed",
    "failures",
    "history_of",
    "open_study",
    "prepare",
    "read_attributes",
    "read_group",
    "read_manifest",
    "read_spec",
    "read_tokens",
    "record",
    "settle",
    "write_group",
    "writing",
]
