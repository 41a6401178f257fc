"""How it is solved: squared singular values of dense square matrices, by methods one can name and compare.

Two operations serve the whole ladder. `squares` gives the squared singular values of a matrix B, and
`squares_with_spike` those of B and of ``B + 1 1^T/sqrt(ell)`` together: M0 and M1 = B differ by that spike,
and so do M2 and M3 = B. `SVD` is the reference; `Gram` and `TwoStage` work on ``G = B B^T``, where the spike
is a rank-two update; `choose` says which one to use. Notation: ``u = 1/sqrt(ell)``, ``n = ell``.
"""

from scalestudy.spectra.choose import SOLVERS, choose, installation_note, missing, or_auto, resolve, solver
from scalestudy.spectra.cost import peak_bytes, solve_flops
from scalestudy.spectra.gram import Gram
from scalestudy.spectra.protocol import Solver
from scalestudy.spectra.svd import SVD
from scalestudy.spectra.two_stage import TwoStage

__all__ = [
    "SOLVERS",
    "SVD",
    "Gram",
    "Solver",
    "TwoStage",
    "choose",
    "installation_note",
    "missing",
    "or_auto",
    "peak_bytes",
    "resolve",
    "solve_flops",
    "solver",
]
