"""Finite-size scaling studies of the singular-value law of softmax self-attention at initialisation.

A map of the package; imports run downward only:

=================  =====================================================================
commands           sweep, status, report, verify, law (``python -m scalestudy.sweep ...``)
`execution`        where it runs: the trial kernel, executors, sessions
`reporting`        how it is shown: figures, page, terminal
`store`            what is kept: one xarray dataset in Zarr
`convergence`      how far it is: distances, rates
`study`            what was asked: spec, blocks, cost, plan
`ensembles`        what is drawn: tokens, seeds, the ladder of seven models
`spectra`          how it is solved: singular values
`limit`            where it goes: the limit laws
`errors`           every error a user can meet
=================  =====================================================================
"""

from scalestudy.convergence import d_needed, distances, rates
from scalestudy.execution.replay import replay
from scalestudy.execution.session import run
from scalestudy.limit import GaussianEquivalentLaw, MarchenkoPastur
from scalestudy.store import open_study
from scalestudy.study import load_spec

__all__ = [
    "GaussianEquivalentLaw",
    "MarchenkoPastur",
    "d_needed",
    "distances",
    "load_spec",
    "open_study",
    "rates",
    "replay",
    "run",
]
