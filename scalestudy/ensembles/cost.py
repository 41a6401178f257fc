"""Floating-point operations of drawing the scores, for the cost model."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from scalestudy.ensembles.sizes import Sizes

# What one Gaussian and one pass of element-wise work cost, in units of a matrix-multiplication flop: measured
# as 15 ns and 1 ns against 0.02 ns (dgemm at 50 Gflop/s, one core of a 2.1 GHz Xeon).
_GAUSSIAN = 750.0
_ELEMENT = 50.0
_PASSES = {"sqrt_d_A": 1, "sqrt_d_A_perp": 3, "Y": 1, "Y_f": 2, "Y_Q": 8, "Y_Q_lin": 2, "Y_f_lin": 2}


def draw_flops(sizes: Sizes, models: Collection[str], tokens: object = "orthonormal") -> float:
    """Count what making the matrices of one trial costs, without their spectra.

    Parameters
    ----------
    sizes : Sizes
        Shapes.
    models : collection of str
        Names of `MODELS` that are asked for.
    tokens : str or ndarray
        A name of `TOKENS`; anything else stands for a given matrix.

    Returns
    -------
    float
        Operations, with Gaussian draws and element-wise passes counted as the matrix-multiplication flops
        that take as long.
    """
    d, ell, d_qk = sizes.d, sizes.ell, sizes.d_qk
    given = not isinstance(tokens, str)
    flops = 2.0 * ell * ell * d_qk
    if not given and tokens in ("identity", "orthonormal"):
        gaussians = 2.0 * ell * d_qk
    else:
        flops += 4.0 * ell * d * d_qk
        gaussians = 2.0 * d * d_qk + (0 if given else ell * d)
        if not given and tokens == "parseval":
            flops += 4.0 * ell * d * d
    if not {"Y_Q_lin", "Y_f_lin"}.isdisjoint(models):
        gaussians += ell * ell
    passes = sum(_PASSES[name] for name in models)
    return float(flops + _GAUSSIAN * gaussians + _ELEMENT * np.square(float(ell)) * passes)
