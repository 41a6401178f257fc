"""Eigenvalues of the Gram matrix, by the routines SciPy offers everywhere."""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg import get_blas_funcs, lapack

from scalestudy.spectra.protocol import Matrix, Values, check_finite, check_square, descending
from scalestudy.spectra.spike import align_spike


class Gram:
    """One ``syrk`` for ``G = B B^T``, then one-stage tridiagonalisation (``sytrd``) and ``sterf``.

    The routines are called one by one, because SciPy's ``syevd`` asks for so little workspace that it runs
    the unblocked ``sytrd``, half as fast at n = 1000. They leave the first coordinate alone, so a spike along
    u costs no second reduction where B u is parallel to u; see `spike`.
    """

    name = "gram"

    def __init__(self) -> None:
        self._G: Matrix | None = None

    def squares(self, matrix: Matrix) -> Values:
        """Squared singular values of `matrix`; see `Solver`."""
        return tridiagonal_values(*_tridiagonal(self._gram(matrix)))

    def squares_with_spike(self, matrix: Matrix) -> tuple[Values, Values]:
        """Squared singular values of `matrix` and of ``matrix + 1 1^T/sqrt(ell)``; see `Solver`."""
        n = check_square(matrix)
        if n == 1:
            return self.squares(matrix), self.squares(matrix + 1)
        b = row_means(matrix)
        G = self._gram(matrix)
        spike = align_spike(G, b)
        if spike.across == 0:
            diagonal, off_diagonal = _tridiagonal(G)
            spiked = diagonal.copy()
            spiked[0] += spike.corner
            return tridiagonal_values(diagonal, off_diagonal), tridiagonal_values(spiked, off_diagonal)
        # The matrix is not needed any more and has the size of what the second reduction needs.
        spiked_G = matrix.T
        spiked_G[...] = G
        spiked_G[0, 0] += spike.corner
        spiked_G[1, 0] += spike.across
        return tridiagonal_values(*_tridiagonal(G)), tridiagonal_values(*_tridiagonal(spiked_G))

    def flops(self, n: int) -> float:
        """Operations of `squares`: n^3, and 4/3 n^3 of which half at memory speed; the factor is measured."""
        return 6.0 * n**3 + 1000.0 * n**2

    def spike_flops(self, n: int) -> float:
        """Operations of `squares_with_spike`: one product, two reductions."""
        return 11.0 * n**3 + 2000.0 * n**2

    def workspace_bytes(self, n: int, dtype: str) -> int:
        """Count the Gram matrix, and blocks of 64 columns of the reduction."""
        return np.dtype(dtype).itemsize * (n * n + 64 * n)

    def _gram(self, matrix: Matrix) -> Matrix:
        n = check_square(matrix)
        if self._G is None or self._G.shape != (n, n) or self._G.dtype != matrix.dtype:
            self._G = np.empty((n, n), matrix.dtype, order="F")
        return gram_matrix(matrix, out=self._G)


def row_means(matrix: Matrix) -> Matrix:
    """``b = B u``: the row sums over sqrt(n), shape (n,)."""
    b: Matrix = matrix.sum(axis=1)
    b *= matrix.dtype.type(1 / math.sqrt(len(matrix)))
    return b


def gram_matrix(matrix: Matrix, out: Matrix) -> Matrix:
    """Lower triangle of B B^T, one ``syrk``.

    Parameters
    ----------
    matrix : (n, n) C-contiguous ndarray
        B.
    out : (n, n) Fortran-contiguous ndarray
        Where to put it; the upper triangle is left as it is.

    Returns
    -------
    (n, n) ndarray
        `out`.

    Raises
    ------
    ValueError
        If B has NaN or infinite entries, or its squares overflow.
    """
    # B^T of a C-ordered B is Fortran-ordered without a copy, and G = (B^T)^T (B^T).
    syrk = get_blas_funcs("syrk", dtype=matrix.dtype)
    syrk(1.0, matrix.T, trans=True, lower=True, beta=0.0, c=out, overwrite_c=True)
    check_finite(out.diagonal())
    return out


def _tridiagonal(G: Matrix) -> tuple[Matrix, Matrix]:
    """Diagonal, (n,), and off-diagonal, (n - 1,), from the lower triangle of G, which is overwritten."""
    n = len(G)
    if n == 1:
        return G[0].copy(), np.empty(0, G.dtype)
    double = G.dtype == np.float64
    sytrd = lapack.dsytrd if double else lapack.ssytrd
    _, diagonal, off_diagonal, _, info = sytrd(G, lower=True, lwork=64 * n, overwrite_a=True)
    assert info == 0
    return diagonal, off_diagonal


def tridiagonal_values(diagonal: Matrix, off_diagonal: Matrix) -> Values:
    """Eigenvalues of a symmetric tridiagonal matrix, (n,), descending and not below zero."""
    if len(diagonal) == 1:
        return descending(diagonal)
    sterf = lapack.dsterf if diagonal.dtype == np.float64 else lapack.ssterf
    values, info = sterf(diagonal, off_diagonal)
    if info:
        raise np.linalg.LinAlgError(f"Eigenvalues of a tridiagonal matrix did not converge (info = {info}).")
    return descending(values)
