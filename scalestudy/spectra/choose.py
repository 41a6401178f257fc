"""Which solver to use: the names that can be asked for, and the policy behind ``auto``."""

from __future__ import annotations

from collections.abc import Callable

from scalestudy.spectra.gram import Gram
from scalestudy.spectra.protocol import Solver
from scalestudy.spectra.svd import SVD
from scalestudy.spectra.two_stage import SMALLEST, TwoStage, available

SOLVERS: dict[str, Callable[[], Solver]] = {"svd": SVD, "gram": Gram, "two_stage": TwoStage}
"""Everything that can be named, besides ``auto``."""


# One stage reads the whole matrix from memory for every column, two stages pay for the band. Time of Gram
# over time of TwoStage for the five reductions of a ladder, paired medians on one core of a 2.1 GHz Xeon
# (AVX-512) whose other core was busy, SciPy 1.17, OpenBLAS 0.3.34:
#   n         256    512    700    850    1000   1400   2000
#   float64   0.77   0.87   0.94   1.1    1.2    1.5    1.7
#   float32   0.68   0.74   0.76   0.80   0.85   1.1    1.2
_TWO_STAGE_FROM = {"float64": 800, "float32": 1300}
_GAIN_AT_2000 = {"float64": 1.7, "float32": 1.2}


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


def resolve(name: str, n: int, dtype: str = "float64") -> Solver:
    """Make what runs for (n, n) matrices when a solver of that name is asked for.

    It has the name that results are stored under: ``auto`` chooses, and below `SMALLEST` ``two_stage`` is
    ``gram``. What a solver costs can be asked of one that is not installed.

    Parameters
    ----------
    name : str
        A key of `SOLVERS`, or ``auto``.
    n : int
        Size of the matrices.
    dtype : {"float64", "float32"}
        Their precision.

    Returns
    -------
    Solver

    Raises
    ------
    ValueError
        If there is none of that name.

    Examples
    --------
    >>> resolve("two_stage", 10).name
    'gram'
    """
    if name == "auto":
        return choose(n, dtype)
    return Gram() if name == "two_stage" and n < SMALLEST else solver(name)


def missing(name: str) -> str | None:
    """Say what the solver of that name lacks here, and what to do; None where it can run."""
    if name != "two_stage" or available():
        return None
    return (
        "two_stage needs the package scipy-openblas64, which is not installed "
        "(pip install scipy-openblas64); solvers that run are auto, gram and svd"
    )


def or_auto(name: str) -> str:
    """Return the name of a solver if it can run here, else ``auto``: equal results up to rounding."""
    return name if name in SOLVERS and missing(name) is None else "auto"


def installation_note(name: str, n: int, dtype: str = "float64") -> str | None:
    """Say what would make a study faster, for a command to print once; None when nothing would.

    Parameters
    ----------
    name : str
        The solver that is asked for.
    n : int
        Size of the largest matrices.
    dtype : {"float64", "float32"}
        Their precision.
    """
    if available() or name != "auto" or n < _TWO_STAGE_FROM[dtype]:
        return None
    return (
        f"scipy-openblas64 is not installed (pip install scipy-openblas64): from ell = "
        f"{_TWO_STAGE_FROM[dtype]} on spectra take longer than they need to, {_GAIN_AT_2000[dtype]} times as "
        "long at ell = 2000."
    )


def solver(name: str) -> Solver:
    """Make the solver of that name, whatever the size and whether or not it can run here.

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
