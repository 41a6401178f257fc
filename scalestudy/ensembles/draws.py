"""Seeds and draws: the same numbers whatever the order, the worker, beta, the models or the precision."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import get_blas_funcs

from scalestudy.ensembles.sizes import Sizes
from scalestudy.ensembles.tokens import Tokens, check_tokens, draw_tokens

DRAW_VERSION = 1
"""Raised whenever a seed comes to mean other numbers; a store remembers the version it was made with."""

_CHUNK = 1 << 15  # numbers drawn at a time on the way to float32: 256 kB, so that they stay in cache


class Streams(NamedTuple):
    """The four independent random streams of a trial."""

    W_Q: np.random.Generator
    W_K: np.random.Generator
    W: np.random.Generator
    tokens: np.random.Generator


def streams(seed: int, sizes: Sizes, trial: int) -> Streams:
    """Streams keyed by values, never by position in a sweep.

    Parameters
    ----------
    seed : int
        Seed of the study, non-negative.
    sizes : Sizes
        Shapes of the trial.
    trial : int
        Number of the trial, non-negative.

    Returns
    -------
    Streams
        Children of ``SeedSequence((seed, d, ell, d_qk, trial))``. beta is not in the key, so trials at
        different beta share their draws and compare as pairs. The bit generator is SFC64, the fastest of
        NumPy's for Gaussians (15 ns against 18 ns of PCG64 for one, on a 2.1 GHz Xeon).

    Raises
    ------
    ValueError
        If seed or trial is negative.
    """
    key = (seed, sizes.d, sizes.ell, sizes.d_qk, trial)
    children = np.random.SeedSequence(key).spawn(len(Streams._fields))
    return Streams(*(np.random.Generator(np.random.SFC64(child)) for child in children))


def fill_normal(rng: np.random.Generator, out: NDArray[np.floating], scale: float = 1.0) -> None:
    """Fill an array with ``scale`` times standard Gaussians, in place.

    Parameters
    ----------
    rng : numpy.random.Generator
        Where the numbers come from.
    out : C-contiguous ndarray of float64 or float32
        Filled in memory order. float32 receives the float64 numbers, rounded.
    scale : float
        Factor.
    """
    flat = out.reshape(-1)
    chunk = np.empty(min(_CHUNK, flat.size))
    for start in range(0, flat.size, _CHUNK):
        target = flat[start : start + _CHUNK]
        if target.dtype == np.float64:
            rng.standard_normal(out=target)
            if scale != 1.0:
                target *= scale
        else:
            numbers = chunk[: target.size]
            rng.standard_normal(out=numbers)
            np.multiply(numbers, scale, out=target, casting="same_kind")


def draw_weights(rng: np.random.Generator, rows: int, d_qk: int) -> NDArray[np.float64]:
    """Draw W_Q, W_K, or their products with orthonormal tokens.

    Parameters
    ----------
    rng : numpy.random.Generator
        The stream of that matrix.
    rows : int
        d for the weights themselves, ell for ``X W`` with orthonormal X.
    d_qk : int
        Head width.

    Returns
    -------
    (rows, d_qk) ndarray
        I.i.d. N(0, 1), drawn head coordinate by head coordinate (the memory order is that of the transpose),
        so that `draw_scores` may draw them in blocks.
    """
    transposed = np.empty((d_qk, rows))
    fill_normal(rng, transposed)
    return transposed.T


def draw_noise(rng: np.random.Generator, out: NDArray[np.floating]) -> None:
    """Fill the (ell, ell) array `out` with W, i.i.d. N(0, 1), row by row."""
    fill_normal(rng, out)


def draw_scores(
    rngs: Streams,
    sizes: Sizes,
    tokens: Tokens,
    out: NDArray[np.floating],
    scratch: tuple[NDArray[np.floating], NDArray[np.floating]],
) -> None:
    """Draw the scores ``S = X W_Q W_K^T X^T / sqrt(d_qk)``.

    Parameters
    ----------
    rngs : Streams
        The trial's streams; W is not touched.
    sizes : Sizes
        Shapes.
    tokens : str or (ell, d) ndarray
        A name of `TOKENS`, or the matrix itself, whose rows are then scaled to unit norm.
    out : (ell, ell) C-contiguous ndarray
        Receives S.
    scratch : pair of (ell, ell) C-contiguous ndarrays
        Overwritten. Heads wider than ell are taken in blocks that fit, so memory does not grow with d_qk.

    Raises
    ------
    ValueError
        If the tokens do not exist at these sizes, or a given matrix is unusable.

    Notes
    -----
    For orthonormal tokens ``X W_Q`` is itself an (ell, d_qk) Gaussian matrix and is drawn directly: X never
    exists.
    """
    ell, d_qk, dtype = sizes.ell, sizes.d_qk, out.dtype
    if isinstance(tokens, str) and (reason := check_tokens(tokens, ell / sizes.d)) is not None:
        raise ValueError(f"Invalid tokens: {reason}.")
    X: NDArray[np.floating] | None = None
    if not (isinstance(tokens, str) and tokens in ("identity", "orthonormal")):
        X = draw_tokens(rngs.tokens, sizes, tokens).astype(dtype, copy=False)
        weights = np.empty((min(ell, d_qk), sizes.d), dtype)
    gemm = get_blas_funcs("gemm", dtype=dtype)
    scale = 1.0 / np.sqrt(d_qk)
    for start in range(0, d_qk, ell):
        width = min(ell, d_qk - start)
        queries, keys = scratch[0][:width], scratch[1][:width]
        for rng, product in ((rngs.W_Q, queries), (rngs.W_K, keys)):
            if X is None:
                fill_normal(rng, product)
            else:
                fill_normal(rng, weights[:width])
                np.matmul(weights[:width], X.T, out=product)
        # In Fortran order S^T += keys^T queries / sqrt(d_qk), without a temporary for the sum over blocks.
        gemm(scale, keys.T, queries.T, beta=float(start > 0), c=out.T, trans_b=True, overwrite_c=True)
