"""Which solver to use: the names that can be asked for, and the policy behind ``auto``."""

from __future__ import annotations

from collections.abc import Callable

from scalestudy.spectra.gram import Gram
from scalestudy.spectra.protocol import Solver
from scalestudy.spectra.svd import SVD

SOLVERS: dict[str, Callable[[], Solver]] = {"svd": SVD, "gram": Gram}
"""Everything that can be named, besides ``auto``."""


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
    return Gram()


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
