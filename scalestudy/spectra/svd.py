"""The reference: LAPACK's singular value decomposition of the matrix itself."""

from __future__ import annotations

import numpy as np

from scalestudy.spectra.protocol import Matrix, Values, check_finite, check_square


class SVD:
    """Singular values by ``numpy.linalg.svd``, then squared: slow, accurate in the small values as well."""

    name = "svd"

    def squares(self, matrix: Matrix) -> Values:
        """Squared singular values of `matrix`; see `Solver`."""
        check_square(matrix)
        check_finite(np.einsum("ij,ij->i", matrix, matrix))
        values: Values = np.linalg.svd(matrix, compute_uv=False).astype(np.float64) ** 2
        return values

    def squares_with_spike(self, matrix: Matrix) -> tuple[Values, Values]:
        """Squared singular values of `matrix` and of ``matrix + 1 1^T/sqrt(ell)``; see `Solver`."""
        n = check_square(matrix)
        without = self.squares(matrix)
        matrix += 1.0 / np.sqrt(n)
        return without, self.squares(matrix)

    def flops(self, n: int) -> float:
        """Operations of `squares`: 8/3 n^3, half of them at memory speed; the factor is measured."""
        return 18.0 * n**3

    def spike_flops(self, n: int) -> float:
        """Operations of `squares_with_spike`: two decompositions."""
        return 2.0 * self.flops(n)

    def workspace_bytes(self, n: int, dtype: str) -> int:
        """Count LAPACK's column-major copy and its blocks of 64 columns."""
        return np.dtype(dtype).itemsize * (n * n + 2 * 64 * n)
