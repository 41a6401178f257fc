"""Operations and bytes of a trial, for the cost model."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

import numpy as np

from scalestudy.spectra.choose import resolve

# Buffers that the BLAS libraries fill on their first large product, measured as 13 to 17 MB.
_BLAS_BUFFERS = 16_000_000
# Of stored tokens, ten chunks of 32 MB are read at a time, and decoded beside what they are decoded from.
_READ_AT_A_TIME = 10 * 2 * 2**25


class HasSizes(Protocol):
    """Anything with the three sizes of a trial."""

    @property
    def d(self) -> int:
        """Dimension of a token."""
        ...

    @property
    def ell(self) -> int:
        """Number of tokens."""
        ...

    @property
    def d_qk(self) -> int:
        """Head width."""
        ...


def solve_flops(ell: int, models: Collection[str], solver: str = "auto", dtype: str = "float64") -> float:
    """Count what the spectra of one trial cost.

    Parameters
    ----------
    ell : int
        Number of tokens.
    models : collection of str
        Names of the ladder that are asked for.
    solver : str
        Name of a solver, or ``auto``.
    dtype : {"float64", "float32"}
        Precision, which matters to ``auto``.

    Returns
    -------
    float
        Operations, counted as matrix-multiplication flops that take as long. The pairs M0, M1 and M2, M3
        share work when both members are asked for.
    """
    method = resolve(solver, ell, dtype)
    total = 0.0
    alone = set(models)
    for pair in ({"sqrt_d_A", "sqrt_d_A_perp"}, {"Y", "Y_f"}):
        if pair <= alone:
            total += method.spike_flops(ell)
            alone -= pair
    return total + len(alone) * method.flops(ell)


def peak_bytes(
    sizes: HasSizes,
    models: Collection[str],
    tokens: object = "orthonormal",
    dtype: str = "float64",
    solver: str = "auto",
) -> int:
    """Predict the largest memory one trial holds at a time, beside the interpreter and its libraries.

    Parameters
    ----------
    sizes : Sizes
        ``d``, ``ell`` and ``d_qk`` of the trial.
    models : collection of str
        Names of the ladder that are asked for.
    tokens : str or ndarray
        Name of the token ensemble; anything else stands for a given matrix.
    dtype : {"float64", "float32"}
        Precision.
    solver : str
        Name of a solver, or ``auto``.

    Returns
    -------
    int
        Bytes: three (ell, ell) matrices for the scores, the exponentials or noise, and the matrix being
        solved, beside them the larger of what drawing the scores and what the solver needs, and the buffers
        of the BLAS libraries. A worker reads given tokens before that, and keeps them.
    """
    d, ell, d_qk = sizes.d, sizes.ell, sizes.d_qk
    item = np.dtype(dtype).itemsize
    name = tokens if isinstance(tokens, str) else None
    held = 8 * ell * d if name is None else 0
    reading = min(held, _READ_AT_A_TIME)
    drawing = 0
    if name not in ("identity", "orthonormal"):
        # Tokens are drawn in float64 whatever the precision; parseval ones hold their QR factors beside them.
        drawing = 8 * ell * d * {None: 0, "parseval": 3}.get(name, 1) + item * min(ell, d_qk) * d
        drawing += item * ell * d if item < 8 else 0
    solving = resolve(solver, ell, dtype).workspace_bytes(ell, dtype)
    return _BLAS_BUFFERS + held + max(reading, 3 * item * ell * ell + max(drawing, solving))
