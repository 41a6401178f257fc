"""Which solver to use: the names that can be asked for, and the policy behind ``auto``."""

from __future__ import annotations

from collections.abc import Callable

from scalestudy.spectra.gram import Gram
from scalestudy.spectra.protocol import Solver
from scalestudy.spectra.svd import SVD
from scalestudy.spectra.two_stage import TwoStage, available

SOLVERS: dict[str, Callable[[], Solver]] = {"svd": SVD, "gram": Gram, "two_stage": TwoStage}
"""Everything that can be named, besides ``auto``."""


# One stage reads the whole matrix from memory for every column, two stages pay for the band. Time of Gram
# over time of TwoStage for the five reductions of a ladder, paired medians on one core of a 2.1 GHz Xeon
# (AVX-512) whose other core was busy, SciPy 1.17, OpenBLAS 0.3.34:
#   n         256    512    700    850    1000   1400   2000
#   float64   0.77   0.87   0.94   1.1    1.2    1.5    1.7
#   float32   0.68   0.74   0.76   0.80   0.85   1.1    1.2
_TWO_STAGE_FROM = {"float64": 800, "float32": 1300}


def choose(n: int, dtype: str = "float64") -> Solver:
    """Pick the fastest installed solver for (n, n) matrices.

    Parameters
    ----------
    n : int
        Size of the matrices.
    dtype : {"float64", "float32"}
        Their precision.

    Returns
    -------
    Solver
        A new one, with its own scratch memory.
    """
    return TwoStage() if n >= _TWO_STAGE_FROM[dtype] and available() else Gram()


def installation_note() -> str | None:
    """Say what is missing for full speed, for a command to print once; None when nothing is."""
    if available():
        return None
    return "scipy-openblas64 is not installed: spectra take about twice as long as they need to."


def solver(name: str) -> Solver:
    """Make the solver of that name.

    Parameters
    ----------
    name : str
        A key of `SOLVERS`.

    Returns
    -------
    Solver

    Raises
    ------
    ValueError
        If there is none of that name.

    Examples
    --------
    >>> solver("svd").name
    'svd'
    """
    if name not in SOLVERS:
        raise ValueError(f"Invalid solver {name!r}. Must be one of {', '.join(SOLVERS)} or auto.")
    return SOLVERS[name]()
