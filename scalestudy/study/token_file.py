"""A token matrix from a `.npy` file: loaded without pickle, checked, and its rows scaled to unit norm."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from scalestudy.ensembles import Sizes, unit_rows
from scalestudy.errors import SpecError
from scalestudy.study.spec import Spec, TokenFile


def read_tokens(spec: Spec) -> NDArray[np.float64] | None:
    """Load the token matrix that a spec names, if it names one, with rows of unit norm.

    Returns
    -------
    ndarray of shape (ell, d), or None
        None where the tokens are an ensemble.

    Raises
    ------
    SpecError
        If the file is not a two-dimensional `.npy` array of finite numbers without zero rows, or if its
        shape is not the spec's (round(gamma d), d).
    """
    if not isinstance(spec.tokens, TokenFile):
        return None
    name = spec.tokens.file
    try:
        with np.errstate(over="ignore"):
            stored = np.load(Path(name), allow_pickle=False, mmap_mode="r")
    except FileNotFoundError:
        raise SpecError(f"tokens.file: {name}: no such file.") from None
    except Exception as error:
        # A damaged header ends in whatever the tokenizer, ast, mmap or zipfile raise.
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise SpecError(f"tokens.file: {name}: not a .npy array of numbers: {reason}") from None
    if not isinstance(stored, np.ndarray) or stored.ndim != 2 or stored.dtype.kind not in "fiu":
        what = (
            f"shape {stored.shape} and dtype {stored.dtype}"
            if isinstance(stored, np.ndarray)
            else "an archive"
        )
        raise SpecError(f"tokens.file: {name}: a token matrix is two-dimensional and real; this has {what}.")
    (d,), (gamma,) = spec.grid.d, spec.grid.gamma
    if stored.shape != (round(gamma * d), d):
        ell, width = stored.shape
        raise SpecError(
            f"tokens.file: {name}: the matrix has {ell} tokens of dimension {width}, the grid asks for "
            f"{round(gamma * d)} of dimension {d}; "
            f"set grid.d = {width} and grid.gamma = {ell / max(width, 1):.12g}."
        )
    try:
        return unit_rows(stored, Sizes(d=d, ell=stored.shape[0], d_qk=1))
    except ValueError as error:
        raise SpecError(f"tokens.file: {name}: {error}") from None


def tokens_label(spec: Spec, matrix: NDArray[np.float64] | None) -> str:
    """Return what identifies the tokens of a store: the ensemble's name, or the matrix's SHA-256."""
    if matrix is None:
        # With gamma = 1 the identity draws what orthonormal tokens draw: one ensemble, two names.
        return "orthonormal" if spec.tokens == "identity" else str(spec.tokens)
    return matrix_label(matrix)


def matrix_label(matrix: NDArray[np.float64]) -> str:
    """Return what identifies a token matrix: its SHA-256."""
    return "matrix sha256:" + hashlib.sha256(np.ascontiguousarray(matrix).data).hexdigest()[:32]
