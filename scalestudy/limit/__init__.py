r"""Where it goes: the limit laws of the squared singular values of softmax attention.

A point is (beta, gamma, psi): ell = gamma d tokens, head width d_qk = psi d, d -> infinity. The Gaussian
equivalent of the attention bulk is ``sqrt(b2) S / sqrt(ell) + sqrt(a2) W / sqrt(ell)`` with scores S, an
independent Gaussian W, ``b2 = theta2 = beta^2`` and ``a2 = theta1 - theta2 = e^{beta^2} - 1 - beta^2``; its
limit law is nu. The letters below are used throughout:

    c = r = ell / d_qk       ratio of the scores' factors
    x, z                     squared singular value, and the same in the complex plane
    s2 = theta1 = a2 + b2    mean of nu; t = a2 / s2 is the share of independent noise
    m(z)                     Stieltjes transform, integral of dnu(x) / (x - z)
    kappa                    limit law of the tokens' Gram matrix X X^T, mean 1

For orthonormal tokens everything is closed form (`curve`, `charts`, `sheet`, `closed_form`). For other tokens
one complex equation is solved on a grid and interpolated (`gram`, `general_curve`, `general_edges`,
`tabulated_band`, `general`). `GaussianEquivalentLaw` is both, and `MarchenkoPastur` is what attention is not.
Methods are those of scipy.stats and a few more; `law.Law` lists them. `finite_size` holds exact moments at
finite d.

Where we depart from the papers: the law is uniformised by the Cauchy transform of the *symmetrised* singular
values, which has one physical root and no singularity at the hard edge.

Examples
--------
>>> law = GaussianEquivalentLaw(beta=1.0)
>>> [(a, round(b, 12)) for a, b in law.support()]
[(0.0, 9.009542550375)]
>>> law.ppf([0.25, 0.5, 0.75]).round(6).tolist()
[0.203604, 0.907169, 2.585822]
"""

from scalestudy.limit.finite_size import (
    mean_row_normalizer,
    mean_square_y,
    mean_square_y_f,
    mean_square_y_f_lin,
    score_mgf,
    var_row_normalizer,
)
from scalestudy.limit.gaussian_equivalent import GaussianEquivalentLaw
from scalestudy.limit.law import Law
from scalestudy.limit.marchenko_pastur import MarchenkoPastur

__all__ = [
    "GaussianEquivalentLaw",
    "Law",
    "MarchenkoPastur",
    "mean_row_normalizer",
    "mean_square_y",
    "mean_square_y_f",
    "mean_square_y_f_lin",
    "score_mgf",
    "var_row_normalizer",
]
