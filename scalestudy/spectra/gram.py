"""Eigenvalues of the Gram matrix, by the routines SciPy offers everywhere."""

from __future__ import annotations

import numpy as np
from scipy.linalg import get_blas_funcs, lapack

from scalestudy.spectra.protocol import Matrix, Values, check_finite, check_square, descending


class Gram:
    """One ``syrk`` for ``G = B B^T``, then its eigenvalues by one-stage tridiagonalisation (``syevd``).

    For the spiked matrix, with ``r = B 1``,
    ``(B + 1 1^T/sqrt(n)) (B + 1 1^T/sqrt(n))^T = G + (r 1^T + 1 r^T)/sqrt(n) + 1 1^T``,
    so one product serves both.
    """

    name = "gram"

    def squares(self, matrix: Matrix) -> Values:
        """Squared singular values of `matrix`; see `Solver`."""
        check_square(matrix)
        return _eigenvalues(_gram(matrix))

    def squares_with_spike(self, matrix: Matrix) -> tuple[Values, Values]:
        """Squared singular values of `matrix` and of ``matrix + 1 1^T/sqrt(ell)``; see `Solver`."""
        n = check_square(matrix)
        r = matrix.sum(axis=1) / np.sqrt(n)
        G = _gram(matrix)
        # The matrix is not needed any more and is as large as what the second solve needs.
        spiked = matrix.T
        np.add(G, r[:, None], out=spiked)
        spiked += r + 1.0
        return _eigenvalues(G), _eigenvalues(spiked)

    def flops(self, n: int) -> float:
        """Operations of `squares`: n^3 and 4/3 n^3, half of the latter at memory speed."""
        return 4.5 * n**3

    def spike_flops(self, n: int) -> float:
        """Operations of `squares_with_spike`: one product, two reductions."""
        return 8.0 * n**3

    def workspace_bytes(self, n: int, dtype: str) -> int:
        """Count the Gram matrix, and blocks of 64 columns of the reduction."""
        return np.dtype(dtype).itemsize * (n * n + 2 * 64 * n)


def _gram(matrix: Matrix) -> Matrix:
    """Lower triangle of B B^T in Fortran order; the other triangle is zero."""
    # B^T of a C-ordered B is Fortran-ordered without a copy, and G = (B^T)^T (B^T).
    syrk = get_blas_funcs("syrk", dtype=matrix.dtype)
    G: Matrix = syrk(1.0, matrix.T, trans=True, lower=True)
    check_finite(G.diagonal())
    return G


def _eigenvalues(G: Matrix) -> Values:
    syevd = lapack.dsyevd if G.dtype == np.float64 else lapack.ssyevd
    eigenvalues, _, info = syevd(G, compute_v=False, lower=True, overwrite_a=True)
    if info:
        raise np.linalg.LinAlgError(f"Eigenvalues of the Gram matrix did not converge (syevd: {info}).")
    return descending(eigenvalues)
