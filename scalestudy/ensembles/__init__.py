"""What is drawn: tokens, weights, seeds, and the ladder of seven matrices made from one draw.

Notation, with ``ell`` tokens of dimension ``d`` and heads of width ``d_qk``: ``X`` (ell, d) are the tokens,
``S = X W_Q W_K^T X^T / sqrt(d_qk)`` (ell, ell) the scores, ``A = softmax(beta S)`` the attention matrix and
``u = 1/sqrt(ell)`` the unit vector it keeps (``A u = u``). The ladder runs from ``M0 = sqrt(ell) A`` to the
Gaussian equivalent ``M6``; `ladder` writes it out literally, `inplace` builds the same matrices fast.

References
----------
[P] Hayase, Collins, Karakida, *Gaussian Equivalence for Self-Attention: Asymptotic Spectral Analysis of
    Attention Matrix*, AISTATS 2026, arXiv:2510.06685.
[B] A public walk-through of [P] with an experiment at d = 1000.
[M] Hayase, Karakida, *Gaussian Equivalence for Multi-Head Self-Attention*, arXiv:2610.10033.
"""

from scalestudy.ensembles.cost import draw_flops
from scalestudy.ensembles.draws import (
    DRAW_VERSION,
    Streams,
    draw_noise,
    draw_scores,
    draw_weights,
    fill_normal,
    streams,
)
from scalestudy.ensembles.ladder import MODELS, ladder
from scalestudy.ensembles.polynomial import (
    coefficients,
    degree,
    noise_variance,
    theta_exact,
    theta_monte_carlo,
)
from scalestudy.ensembles.sizes import Sizes
from scalestudy.ensembles.tokens import TOKENS, check_tokens, draw_tokens, unit_rows

__all__ = [
    "DRAW_VERSION",
    "MODELS",
    "TOKENS",
    "Sizes",
    "Streams",
    "check_tokens",
    "coefficients",
    "degree",
    "draw_flops",
    "draw_noise",
    "draw_scores",
    "draw_tokens",
    "draw_weights",
    "fill_normal",
    "ladder",
    "noise_variance",
    "streams",
    "theta_exact",
    "theta_monte_carlo",
    "unit_rows",
]
