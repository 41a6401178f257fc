"""The layout of a store: one table of its arrays, and how they are made to agree with a manifest.

Growth is atomic for a reader. The arrays' own metadata change one after the other, but xarray reads the
copy that is consolidated in the root document, and that is replaced in one step, last. Until then it shows
the old, complete study: growing appends along every axis and moves no chunk.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import zarr
from numpy.typing import NDArray
from zarr.codecs import BytesCodec, Crc32cCodec, ZstdCodec
from zarr.storage import MemoryStore, StorePath

from scalestudy.store.location import Location
from scalestudy.store.manifest import AXES, Manifest

_POINT = AXES
_COORDINATE_CHUNK = 256
# Values in one chunk of a token matrix: 32 MB, far below what a codec can take.
_TOKEN_CHUNK = 2**22
# What in an array's metadata must be as the manifest has it; codecs are compared by name, and must be usable.
_FIXED = (
    "zarr_format",
    "node_type",
    "shape",
    "data_type",
    "chunk_grid",
    "chunk_key_encoding",
    "fill_value",
    "dimension_names",
)
# What a root document says of the way in which it lists the metadata of its arrays.
CONSOLIDATED = {"kind": "inline", "must_understand": False}
SOLVERS = ("none", "svd", "gram", "two_stage")


@dataclass(frozen=True)
class Variable:
    """One array: its dimensions, dtype (None: the study's), fill value, and labels for plots."""

    dims: tuple[str, ...]
    dtype: str | None
    fill: Any
    long_name: str
    units: str = "1"


# Written block by block, by the task that computed the block.
BLOCKWISE = {
    "squared_singular_values": Variable(
        (*_POINT, "trial", "model", "rank"), None, np.nan, "squared singular value, descending"
    ),
    "row_normalizer": Variable((*_POINT, "trial", "token"), None, np.nan, "row normaliser D_i"),
    "seconds": Variable((*_POINT, "trial"), "float64", np.nan, "wall time of the trial", "s"),
    "solver": Variable((*_POINT, "trial"), "uint8", 0, "solver that found the spectra"),
    "done": Variable((*_POINT, "block"), "int32", 0, "complete trials of the block"),
}

# Written by the run that creates or grows the store.
COORDINATES = {
    "d": Variable(("d",), "int64", 0, "embedding dimension d"),
    "beta": Variable(("beta",), "float64", np.nan, "inverse temperature beta"),
    "gamma": Variable(("gamma",), "float64", np.nan, "tokens per dimension gamma"),
    "psi": Variable(("psi",), "float64", np.nan, "head width per dimension psi"),
    "model": Variable(("model",), "str", "", "rung of the ladder"),
    "ell": Variable(("d", "gamma"), "int64", 0, "number of tokens ell"),
    "d_qk": Variable(("d", "psi"), "int64", 0, "head width d_qk"),
    "degree": Variable(("d",), "int64", 0, "degree of Q_n (0: not used)"),
    "theta1_Q": Variable(("d", "beta"), "float64", np.nan, "theta1 of Q_n"),
    "theta2_Q": Variable(("d", "beta"), "float64", np.nan, "theta2 of Q_n"),
}


def chunks(manifest: Manifest) -> dict[str, int]:
    """Return the chunk length of a blockwise array along every dimension."""
    return {
        **dict.fromkeys(_POINT, 1),
        "trial": manifest.trials_per_block,
        "model": len(manifest.identity["models"]),
        "rank": manifest.chunk,
        "token": manifest.chunk,
        "block": 1,
    }


# Every folder in which a killed writer can leave a `.partial`.
FOLDERS = ["", *BLOCKWISE, *COORDINATES, "tokens/matrix"]


def expected(manifest: Manifest) -> dict[str, Any]:
    """Return the metadata document that every array must have for a manifest, from name to JSON object."""
    found: dict[str, Any] = json.loads(_expected(json.dumps(manifest.to_json())))
    return found


@lru_cache(maxsize=8)
def _expected(text: str) -> str:
    manifest = Manifest.from_json(json.loads(text), "")
    group = zarr.open_group(MemoryStore(), mode="w")
    for name, variable in {**BLOCKWISE, **COORDINATES}.items():
        _create(group, name, variable, _shape(variable, manifest), manifest)
    return json.dumps({name: array.metadata.to_dict() for name, array in group.arrays()})


def disagreement(document: bytes | None, wanted: dict[str, Any]) -> str:
    """Say in what an array's stored metadata differ from what they must be; nothing where they agree.

    Attributes may differ: a user may add notes to an array.
    """
    if document is None:
        return "has no metadata"
    try:
        found = json.loads(document)
        different = [key for key in _FIXED if found[key] != wanted[key]]
        different += ["codecs"] if _codecs(found) != _codecs(wanted) else []
        if not different:
            zarr.Array.from_dict(StorePath(MemoryStore()), found)
    except Exception:
        # One bit of a name or value can make zarr and its codecs raise whatever they have.
        return "has damaged metadata"
    if different == ["shape"]:
        return f"has shape {tuple(found['shape'])}, the manifest asks for {tuple(wanted['shape'])}"
    return f"has other metadata than the manifest asks for: {', '.join(different)}" if different else ""


def handle(location: Location, manifest: Manifest, name: str) -> zarr.Array[Any]:
    """Return an array for reading as the manifest describes it, whatever its own metadata say."""
    return zarr.Array.from_dict(location.group("r").store_path / name, expected(manifest)[name])


def apply(location: Location, manifest: Manifest, values: Mapping[str, NDArray[Any]]) -> None:
    """Create or resize every array so that it agrees with the manifest, and write the coordinates.

    Parameters
    ----------
    location : Location
        Where the root document already holds the manifest.
    manifest : Manifest
        What the arrays must agree with.
    values : mapping from str to ndarray
        The values of every coordinate, in the order of the manifest's axes.
    """
    group = location.group("r+")
    wanted = expected(manifest)
    for name, variable in {**BLOCKWISE, **COORDINATES}.items():
        wrong = disagreement(location.read(f"{name}/zarr.json"), wanted[name])
        if wrong.startswith("has shape"):
            group[name].resize(_shape(variable, manifest))
        elif wrong:
            # The metadata of an array follow from the manifest alone; its chunks stay.
            location.delete(f"{name}/zarr.json")
            _create(group, name, variable, _shape(variable, manifest), manifest)
    for name in COORDINATES:
        group[name][...] = values[name]


def put_tokens(location: Location, matrix: NDArray[np.float64]) -> None:
    """Keep a token matrix (ell x d) in the store, unless it is there already, whole."""
    try:
        if np.array_equal(read_tokens(location), matrix):
            return
    except (KeyError, ValueError, RuntimeError):
        # None yet, or what a killed run left of it.
        location.delete("tokens")
    array = (
        location.group("r+")
        .require_group("tokens")
        .create_array(
            "matrix",
            shape=matrix.shape,
            chunks=(max(1, min(len(matrix), _TOKEN_CHUNK // matrix.shape[1])), matrix.shape[1]),
            dtype="float64",
            compressors=[ZstdCodec(level=1), Crc32cCodec()],
            overwrite=True,
        )
    )
    array[...] = matrix


def read_tokens(location: Location) -> NDArray[np.float64]:
    """Read the token matrix (ell x d) that a store keeps."""
    array = location.group("r")["tokens/matrix"]
    return np.asarray(array[...], dtype=np.float64)


def consolidated(location: Location) -> dict[str, Any]:
    """Return the metadata of all arrays, as zarr consolidates them in a root document."""
    metadata = {}
    for name in (*COORDINATES, *BLOCKWISE):
        document = location.read(f"{name}/zarr.json")
        assert document is not None, name
        metadata[name] = json.loads(document)
    return {**CONSOLIDATED, "metadata": metadata}


def _shape(variable: Variable, manifest: Manifest) -> tuple[int, ...]:
    lengths = manifest.lengths
    return tuple(lengths[dim] for dim in variable.dims)


def _codecs(document: dict[str, Any]) -> list[str]:
    return [codec["name"] for codec in document["codecs"]]


def _create(
    group: zarr.Group, name: str, variable: Variable, shape: tuple[int, ...], manifest: Manifest
) -> None:
    blockwise = name in BLOCKWISE
    lengths = chunks(manifest)
    attributes: dict[str, Any] = {"long_name": variable.long_name, "units": variable.units}
    if name == "solver":
        attributes |= {"flag_values": list(range(len(SOLVERS))), "flag_meanings": " ".join(SOLVERS)}
    text = variable.dtype == "str"
    if text:
        attributes.pop("units")
    group.create_array(
        name,
        shape=shape,
        chunks=tuple(lengths[dim] if blockwise else _COORDINATE_CHUNK for dim in variable.dims),
        dtype=str if text else (variable.dtype or manifest.identity["dtype"]),
        fill_value=variable.fill,
        dimension_names=variable.dims,
        attributes=attributes,
        # "c.0.1" keeps all chunks of an array in one folder, which lists ten times faster than nested ones.
        chunk_key_encoding={"name": "default", "separator": "."},
        # The checksum is not optional: zstd decodes a flipped bit without a word.
        compressors=[Crc32cCodec()] if name == "done" else [ZstdCodec(level=1), Crc32cCodec()],
        serializer="auto" if text else BytesCodec(),
    )
