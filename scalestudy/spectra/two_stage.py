"""Two-stage tridiagonalisation of the Gram matrix, with one first stage for a matrix and its spiked partner.

Stage one (``sytrd_sy2sb``) takes G to a band of half-width kd by matrix products; stage two takes the band to
a tridiagonal matrix in O(n^2 kd). SciPy offers neither stage; the package scipy-openblas64 ships both, and
this is the only file that calls it, through ctypes: Fortran calling convention, 64-bit integers, lengths of
character arguments at the end. In the coordinates of `spike` the band of the spiked matrix is that of G with
two entries changed.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from scalestudy.spectra.gram import Gram, gram_matrix, row_means, tridiagonal_values
from scalestudy.spectra.protocol import Matrix, Values, check_square
from scalestudy.spectra.spike import align_spike


def _load() -> ctypes.CDLL | None:
    try:
        import scipy_openblas64

        path = Path(scipy_openblas64.get_lib_dir()) / scipy_openblas64.get_library(fullname=True)
        return ctypes.CDLL(str(path))
    except (ImportError, OSError):
        return None


# Loaded on import, not on first use, so that a limit on BLAS threads set around a trial reaches it.
_LIBRARY = _load()

# Below this size the reductions' set-up costs more than they save (and a 2 x 2 block must fit).
SMALLEST = 32


def available() -> bool:
    """Whether the two-stage routines are installed."""
    return _LIBRARY is not None


@dataclass(frozen=True, slots=True)
class Stages:
    """How an (n, n) matrix is reduced: the half-bandwidth between the stages, and the second routine."""

    kd: int
    second: str


def stages(n: int) -> Stages:
    """Pick the half-bandwidth and the second stage for size n.

    A wider band makes stage one faster and stage two slower. ``sbtrd`` (Givens rotations, vectorised along
    the band) wins for narrow bands and small n, ``sytrd_sb2st`` (Householder blocks) for wide ones.
    """
    # Milliseconds of stage one + two on one core of a 2.1 GHz Xeon (AVX-512), OpenBLAS 0.3.34:
    #   n = 256    16 sbtrd 1 + 1        24 sbtrd 1 + 1.3      32 sb2st 1 + 2.3
    #   n = 512    16 sbtrd 6 + 4        24 sbtrd 6 + 5        32 sb2st 6 + 7
    #   n = 1000   16 sbtrd 48 + 31      24 sbtrd 39 + 30      32 sb2st 38 + 36
    #   n = 2000   24 sbtrd 255 + 125    32 sb2st 242 + 108    48 sb2st 220 + 115
    #   n = 4000   32 sb2st 2300 + 620   48 sb2st 2060 + 710   64 sb2st 1800 + 730
    if n < 700:
        return Stages(16, "sbtrd")
    if n < 1400:
        return Stages(24, "sbtrd")
    return Stages(48, "sytrd_sb2st") if n < 3000 else Stages(64, "sytrd_sb2st")


def _call(routine: str, dtype: np.dtype[np.floating], *arguments: bytes | int | NDArray[np.floating]) -> None:
    """Call the LAPACK routine of that name for that precision, and look at its ``info``."""
    if _LIBRARY is None:
        raise ValueError("Invalid solver 'two_stage'. It needs the package scipy-openblas64.")
    converted: list[object] = []
    for argument in arguments:
        if isinstance(argument, bytes):
            converted.append(argument)
        elif isinstance(argument, int):
            converted.append(ctypes.byref(ctypes.c_int64(argument)))
        else:
            assert argument.dtype == dtype
            converted.append(argument.ctypes.data_as(ctypes.c_void_p))
    info = ctypes.c_int64(0)
    lengths = [ctypes.c_size_t(1) for argument in arguments if isinstance(argument, bytes)]
    letter = "d" if dtype == np.float64 else "s"
    getattr(_LIBRARY, f"scipy_{letter}{routine}_64_")(*converted, ctypes.byref(info), *lengths)
    if info.value:
        raise np.linalg.LinAlgError(f"{letter}{routine} failed with info = {info.value}.")


def _work_size(n: int, kd: int) -> int:
    """Numbers of workspace that suffice for either stage; 128 bounds LAPACK's block size for QR."""
    return max(n * kd + n * max(kd, 128) + 2 * kd * kd, (2 * kd + 1) * n + kd)


class TwoStage:
    """``G = B B^T`` by ``syrk``, then two-stage tridiagonalisation and ``sterf``.

    Making one needs no library, so that a study can be priced where it cannot be run; matrices of `SMALLEST`
    and more raise ValueError without scipy-openblas64.
    """

    name = "two_stage"

    def __init__(self) -> None:
        self._arrays: dict[str, NDArray[np.floating]] = {}

    def squares(self, matrix: Matrix) -> Values:
        """Squared singular values of `matrix`; see `Solver`."""
        if check_square(matrix) < SMALLEST:
            return Gram().squares(matrix)
        return tridiagonal_values(*self._tridiagonal(self._band(self._gram(matrix))))

    def squares_with_spike(self, matrix: Matrix) -> tuple[Values, Values]:
        """Squared singular values of `matrix` and of ``matrix + 1 1^T/sqrt(ell)``; see `Solver`."""
        if check_square(matrix) < SMALLEST:
            return Gram().squares_with_spike(matrix)
        b = row_means(matrix)
        G = self._gram(matrix)
        spike = align_spike(G, b)
        band = self._band(G)
        if spike.across == 0:
            diagonal, off_diagonal = self._tridiagonal(band)
            spiked = diagonal.copy()
            spiked[0] += spike.corner
            return tridiagonal_values(diagonal, off_diagonal), tridiagonal_values(spiked, off_diagonal)
        spiked_band = band.copy()
        spiked_band[0, 0] += spike.corner
        spiked_band[0, 1] += spike.across
        return (
            tridiagonal_values(*self._tridiagonal(band)),
            tridiagonal_values(*self._tridiagonal(spiked_band)),
        )

    def flops(self, n: int) -> float:
        """Operations of `squares`; see `Solver`. The factors are measured, see `stages`."""
        return 2.75 * n**3 + 600.0 * n**2 + _tridiagonal_flops(n)

    def spike_flops(self, n: int) -> float:
        """Operations of `squares_with_spike`; see `Solver`. Both members go through stage two."""
        return self.flops(n) + _tridiagonal_flops(n)

    def workspace_bytes(self, n: int, dtype: str) -> int:
        """Count the Gram matrix, two bands, and the workspace of the stages."""
        kd = stages(n).kd
        return np.dtype(dtype).itemsize * (n * n + 2 * n * (kd + 1) + _work_size(n, kd) + 5 * n)

    def _array(self, name: str, shape: tuple[int, ...], dtype: np.dtype[np.floating]) -> Matrix:
        """Scratch memory, kept from call to call."""
        array = self._arrays.get(name)
        if array is None or array.shape != shape or array.dtype != dtype:
            self._arrays[name] = array = np.empty(shape, dtype)
        return array

    def _gram(self, matrix: Matrix) -> Matrix:
        """Lower triangle of B B^T in Fortran order; the other triangle is undefined."""
        return gram_matrix(matrix, out=self._array("gram", matrix.shape, matrix.dtype).T)

    def _band(self, G: Matrix) -> Matrix:
        """Stage one, (n, kd + 1): row j holds G's band column j from the diagonal down. Overwrites G."""
        n, kd = len(G), stages(len(G)).kd
        band = self._array("band", (n, kd + 1), G.dtype)
        tau = np.empty(n, G.dtype)
        size = _work_size(n, kd)
        work = self._array("work", (size,), G.dtype)
        _call("sytrd_sy2sb", G.dtype, b"L", n, kd, G, n, band, kd + 1, tau, work, size)
        return band

    def _tridiagonal(self, band: Matrix) -> tuple[Matrix, Matrix]:
        """Stage two: diagonal, (n,), and off-diagonal, (n - 1,). Overwrites the band."""
        n, kd, dtype = len(band), band.shape[1] - 1, band.dtype
        diagonal, off_diagonal = np.empty(n, dtype), np.empty(n, dtype)
        size = _work_size(n, kd)
        work = self._array("work", (size,), dtype)
        if stages(n).second == "sbtrd":
            unused = work[:1]
            _call(
                "sbtrd", dtype, b"N", b"L", n, kd, band, kd + 1, diagonal, off_diagonal, unused, 1, work[1:]
            )
        else:
            reflectors = np.empty(4 * n, dtype)
            _call(
                "sytrd_sb2st", dtype, b"Y", b"N", b"L", n, kd, band, kd + 1,
                diagonal, off_diagonal, reflectors, 4 * n, work, size,
            )  # fmt: skip
        return diagonal, off_diagonal[:-1]


def _tridiagonal_flops(n: int) -> float:
    """Operations of stage two and of ``sterf``."""
    return (1000.0 + 30.0 * stages(n).kd + 950.0) * n**2
