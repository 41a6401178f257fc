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

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scalestudy.convergence import d_needed, distances, rates
    from scalestudy.execution.interactive import run
    from scalestudy.execution.replay import replay
    from scalestudy.limit import GaussianEquivalentLaw, MarchenkoPastur
    from scalestudy.store import open_study
    from scalestudy.study import load_spec

# Imported when first used: a worker needs neither the laws nor the statistics, whose imports take as long as
# all the rest, and every worker of every run would wait for them.
_HOMES = {
    "GaussianEquivalentLaw": "limit",
    "MarchenkoPastur": "limit",
    "d_needed": "convergence",
    "distances": "convergence",
    "load_spec": "study",
    "open_study": "store",
    "rates": "convergence",
    "replay": "execution.replay",
    "run": "execution.interactive",
}

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


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
