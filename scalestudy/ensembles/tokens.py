"""The tokens X: which ensembles exist, where each is allowed, and how each is drawn.

All have unit-variance scores by construction, that is, rows of mean squared norm 1.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from scalestudy.ensembles.sizes import Sizes

TOKENS = ("identity", "orthonormal", "spherical", "gaussian", "parseval")
"""Names of the token ensembles; `identity` is `orthonormal` at gamma = 1."""

_CHUNK = 1 << 17  # numbers: 1 MB
_ROUNDING = 1e-13  # what a norm may be off one after rows were scaled to it

Tokens = str | NDArray[np.float64]
"""A name of `TOKENS`, or a given token matrix of shape (ell, d)."""


def check_tokens(tokens: str, gamma: float) -> str | None:
    """Say why a token ensemble does not exist at an aspect ratio.

    Parameters
    ----------
    tokens : str
        A name, expected to be in `TOKENS`.
    gamma : float
        Ratio ell/d: the requested or, better, the realised one.

    Returns
    -------
    str or None
        One sentence without a final stop, or None when the combination is allowed.

    Examples
    --------
    >>> check_tokens("orthonormal", 2.0)
    'orthonormal tokens need gamma <= 1 (ell <= d), got gamma = 2'
    >>> check_tokens("spherical", 2.0) is None
    True
    """
    if tokens not in TOKENS:
        return f"unknown tokens {tokens!r}, must be one of {', '.join(TOKENS)}"
    if tokens == "identity" and gamma != 1:
        return f"identity tokens need gamma = 1 (ell = d), got gamma = {gamma:g}"
    if tokens == "orthonormal" and gamma > 1:
        return f"orthonormal tokens need gamma <= 1 (ell <= d), got gamma = {gamma:g}"
    if tokens == "parseval" and gamma < 1:
        return f"parseval tokens need gamma >= 1 (ell >= d), got gamma = {gamma:g}"
    return None


def unit_rows(matrix: NDArray[np.floating], sizes: Sizes) -> NDArray[np.float64]:
    """Scale the rows of a given token matrix to unit norm.

    Parameters
    ----------
    matrix : (ell, d) ndarray
        Tokens as read from a file.
    sizes : Sizes
        What the shape must be.

    Returns
    -------
    (ell, d) ndarray of float64
        A new matrix.

    Raises
    ------
    ValueError
        If the shape is not (ell, d), or a row is zero, NaN or infinite.
    """
    if matrix.shape != (sizes.ell, sizes.d):
        raise ValueError(
            f"Invalid token matrix of shape {matrix.shape}. Must be (ell, d) = ({sizes.ell}, {sizes.d})."
        )
    # In one order whatever the given one, which numpy's sums would follow in their last bits.
    tokens = np.array(matrix, dtype=np.float64, order="C")
    for rows in _chunks(tokens):
        chunk = tokens[rows]
        largest = np.abs(chunk).max(axis=1, keepdims=True)
        bad = np.flatnonzero(~(np.isfinite(largest) & (largest > 0)))
        if bad.size:
            raise ValueError(f"Invalid token matrix: row {rows.start + bad[0]} is zero, NaN or infinite.")
        chunk /= largest
    tokens /= _norms(tokens)
    return tokens


def _chunks(matrix: NDArray[np.floating]) -> Iterator[slice]:
    """Rows taken together, so that no temporary is as large as the tokens."""
    rows = max(1, _CHUNK // matrix.shape[1])
    return (slice(start, start + rows) for start in range(0, len(matrix), rows))


def _norms(matrix: NDArray[np.floating]) -> NDArray[np.float64]:
    """Norms of the rows, (ell, 1)."""
    norms = [np.linalg.norm(matrix[rows], axis=1, keepdims=True) for rows in _chunks(matrix)]
    return np.concatenate(norms).astype(np.float64, copy=False)


def _given(matrix: NDArray[np.float64], sizes: Sizes) -> NDArray[np.float64]:
    """Return a given matrix with rows of unit norm: itself, without a copy, where they have it already."""
    if matrix.shape == (sizes.ell, sizes.d) and matrix.dtype == np.float64:
        # Squares that overflow belong to rows that are scaled below.
        with np.errstate(over="ignore", invalid="ignore"):
            if (np.abs(_norms(matrix) - 1) <= _ROUNDING).all():
                return matrix
    return unit_rows(matrix, sizes)


def draw_tokens(rng: np.random.Generator, sizes: Sizes, tokens: Tokens) -> NDArray[np.float64]:
    """Draw the token matrix X.

    Parameters
    ----------
    rng : numpy.random.Generator
        The trial's token stream.
    sizes : Sizes
        Shapes.
    tokens : str or (ell, d) ndarray
        A name of `TOKENS`, or the matrix itself, whose rows are scaled to unit norm if they are not yet.

    Returns
    -------
    (ell, d) ndarray of float64
        Not to be written to: it may be the given matrix.
        ``orthonormal`` and ``identity``: the first ell rows of the identity, so X X^T = I ([P]'s assumption;
        any other orthonormal rows give scores of the same law, because W_Q and W_K are Gaussian).
        ``spherical``: rows uniform on the unit sphere. ``gaussian``: i.i.d. N(0, 1/d). ``parseval``:
        X^T X = (ell/d) I with a Haar-distributed column space.

    Raises
    ------
    ValueError
        If the ensemble does not exist at these sizes, or a given matrix is unusable.
    """
    if not isinstance(tokens, str):
        return _given(tokens, sizes)
    reason = check_tokens(tokens, sizes.ell / sizes.d)
    if reason is not None:
        raise ValueError(f"Invalid tokens: {reason}.")
    if tokens in ("identity", "orthonormal"):
        return np.eye(sizes.ell, sizes.d)
    X = rng.standard_normal((sizes.ell, sizes.d))
    if tokens == "gaussian":
        X /= np.sqrt(sizes.d)
    elif tokens == "spherical":
        X /= _norms(X)
    else:
        X, triangle = np.linalg.qr(X)
        # The sign of a QR factor is LAPACK's choice; fixing it makes X depend on the draw alone.
        X *= np.where(np.diag(triangle) < 0, -1.0, 1.0) * np.sqrt(sizes.ell / sizes.d)
    return X
