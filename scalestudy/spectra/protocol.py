"""What every solver offers, and the checks they share."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.floating]
Values = NDArray[np.float64]


class Solver(Protocol):
    """Squared singular values of square matrices.

    A solver may overwrite the matrix it is given and may keep scratch memory between calls, so one solver
    serves one thread. Matrices are C-contiguous (ell, ell) arrays of float64 or float32; values come back
    as float64, descending, never negative. Solvers that square the matrix lose relative accuracy in the small
    values: the error is a multiple of the *largest* squared value, up to 2e-14 for n <= 1500 in double
    precision. In single precision it is, over the ladder at beta = 0.1, 1 and 2,

        n = 200    4e-6
        n = 1000   1.2e-5
        n = 2000   1.8e-5

    (`SVD`: 4e-6 and 2.3e-6 at the first two). In the bulk of M0 and M2 it is up to 2e-5 of the largest value
    of the *bulk*: their top value, of order n, stays in the first coordinate (see `spike`). At beta = 8 the
    largest values of M2 and M3 exceed the rest so far that single precision loses the bulk.

    Both methods raise ValueError for a matrix that is not square or not finite, or whose squares overflow.
    """

    @property
    def name(self) -> str:
        """Name of the method, as stored with results."""
        ...

    def squares(self, matrix: Matrix) -> Values:
        """Squared singular values of `matrix`, shape (ell,), descending."""
        ...

    def squares_with_spike(self, matrix: Matrix) -> tuple[Values, Values]:
        """Squared singular values of `matrix` and of ``matrix + 1 1^T/sqrt(ell)``, both descending."""
        ...

    def flops(self, n: int) -> float:
        """Floating-point operations of `squares` for an (n, n) matrix, counted as those of a fast product."""
        ...

    def spike_flops(self, n: int) -> float:
        """Floating-point operations of `squares_with_spike` for an (n, n) matrix, counted likewise."""
        ...

    def workspace_bytes(self, n: int, dtype: str) -> int:
        """Peak memory of either method beside the matrix itself, in bytes."""
        ...


def check_square(matrix: Matrix) -> int:
    """Return n of an (n, n) float matrix with n >= 1, or raise ValueError."""
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.size:
        raise ValueError(f"Invalid matrix of shape {matrix.shape}. Must be square and not empty.")
    if matrix.dtype not in (np.float64, np.float32):
        raise ValueError(f"Invalid matrix of {matrix.dtype}. Must be float64 or float32.")
    return len(matrix)


def check_finite(values: NDArray[np.floating]) -> None:
    """Raise ValueError unless all `values` are finite.

    The diagonal of B B^T holds the squared row norms of B, so looking at n numbers finds any NaN, infinity or
    overflow among the n^2 entries.
    """
    if not np.isfinite(values).all():
        raise ValueError("Invalid matrix: it has NaN or infinite entries, or entries too large to square.")


def descending(eigenvalues: NDArray[np.floating]) -> Values:
    """Ascending eigenvalues of a Gram matrix as descending squared singular values.

    Rounding can leave eigenvalues that should be zero slightly below it.
    """
    values: Values = np.maximum(eigenvalues[::-1], 0.0).astype(np.float64, copy=False)
    return values
