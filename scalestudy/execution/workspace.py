"""Memory and solvers that consecutive trials share."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from scalestudy import spectra
from scalestudy.spectra import Solver

Matrix = NDArray[np.floating]


@dataclass
class Workspace:
    """Memory reused from trial to trial; one workspace serves one thread.

    Fresh pages cost about a quarter of a millisecond a megabyte, each trial anew. Solvers are kept too, with
    their scratch memory.
    """

    _arrays: dict[str, Matrix] = field(default_factory=dict)
    _solvers: dict[tuple[str, int, str], Solver] = field(default_factory=dict)

    def matrix(self, name: str, ell: int, dtype: str) -> Matrix:
        """Return the (ell, ell) array of that name, its contents undefined."""
        array = self._arrays.get(name)
        if array is None or array.shape[0] != ell or array.dtype != dtype:
            self._arrays[name] = array = np.empty((ell, ell), dtype)
        return array

    def solver(self, name: str, ell: int, dtype: str) -> Solver:
        """Return what `spectra.resolve` makes of that name for that size."""
        key = (name, ell, dtype)
        if key not in self._solvers:
            self._solvers.clear()
            self._solvers[key] = spectra.resolve(name, ell, dtype)
        return self._solvers[key]
