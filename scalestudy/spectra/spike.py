"""The spike in good coordinates: ``B + sqrt(n) u u^T`` changes only the leading 2 x 2 block of ``G = B B^T``.

With ``b = B u``,

    (B + sqrt(n) u u^T) (B + sqrt(n) u u^T)^T = G + sqrt(n) (b u^T + u b^T) + n u u^T.

Reflect u onto e_1, then what is left of b onto e_2. LAPACK's reductions of the lower triangle leave leading
coordinates alone (tridiagonalisation the first, reduction to a band of half-width kd the first kd), so the
work up to there is shared. When b is parallel to u, as for M1 whose rows sum to zero, only ``G[0, 0]``
changes, and with it only the first diagonal entry of the tridiagonal matrix: one reduction serves both.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg import get_blas_funcs

from scalestudy.spectra.protocol import Matrix


@dataclass(frozen=True, slots=True)
class Spike:
    """What the spike adds to G in the new coordinates.

    Attributes
    ----------
    corner : float
        Added to ``G[0, 0]``: ``n + 2 sqrt(n) u.b``.
    across : float
        Added to ``G[1, 0]``: sqrt(n) times the length of b across u, with a sign; 0 when it is of the size of
        rounding.
    """

    corner: float
    across: float


def align_spike(G: Matrix, b: Matrix) -> Spike:
    """Rotate G into the coordinates of the spike.

    Parameters
    ----------
    G : (n, n) Fortran-contiguous ndarray, n >= 2
        Its lower triangle becomes that of ``Q G Q^T``, in O(n^2); the upper is neither read nor written.
    b : (n,) ndarray
        ``B u``.

    Returns
    -------
    Spike
    """
    n = len(G)
    root = math.sqrt(n)
    sign, b = _reflect(G, np.full(n, 1 / root, G.dtype), 0, b)
    b *= sign
    corner = n + 2 * root * float(b[0])
    b[0] = 0
    across = root * float(np.linalg.norm(b))
    # Dropping b across u then changes the spiked matrix by no more than forming it in floating point does.
    if across <= 16 * float(np.finfo(G.dtype).eps) * abs(float(G[0, 0]) + corner):
        return Spike(corner, 0.0)
    sign, _ = _reflect(G, b, 1, b)
    return Spike(corner, sign * across)


def _reflect(G: Matrix, x: Matrix, k: int, b: Matrix) -> tuple[float, Matrix]:
    """Replace G by ``H G H`` with the Householder reflection ``H x = sign |x| e_k``; return sign and ``H b``.

    Coordinates in which x is zero, k excepted, are left alone.
    """
    real = G.dtype.type
    v = x / real(np.linalg.norm(x))
    sign = math.copysign(1.0, float(v[k]))
    v[k] += real(sign)
    tau = 2.0 / float(v @ v)
    symv, syr2 = get_blas_funcs(("symv", "syr2"), dtype=G.dtype)
    # H G H = G - v w^T - w v^T with p = tau G v and w = p - tau/2 (p.v) v.
    p = symv(tau, G, v, lower=True)
    w = p - real(0.5 * tau * float(p @ v)) * v
    syr2(-1.0, v, w, a=G, lower=True, overwrite_a=True)
    return -sign, b - real(tau * float(v @ b)) * v
