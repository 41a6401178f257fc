"""The three integers that fix every shape of a trial."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True, slots=True)
class Sizes:
    """Token dimension, number of tokens and head width.

    Parameters
    ----------
    d : int
        Dimension of a token.
    ell : int
        Number of tokens; every matrix of the ladder is (ell, ell).
    d_qk : int
        Width of the query and key head.

    Raises
    ------
    ValueError
        If any of the three is below 1.
    """

    d: int
    ell: int
    d_qk: int

    def __post_init__(self) -> None:
        for name in ("d", "ell", "d_qk"):
            if getattr(self, name) < 1:
                raise ValueError(f"Invalid {name} = {getattr(self, name)}. Must be at least 1.")

    @classmethod
    def at(cls, d: int, gamma: float, psi: float) -> Self:
        """Sizes nearest to the aspect ratios ``gamma = ell/d`` and ``psi = d_qk/d``.

        Parameters
        ----------
        d : int
            Dimension of a token.
        gamma, psi : float
            Requested ratios; the realised ones are ``ell/d`` and ``d_qk/d``.

        Returns
        -------
        Sizes

        Raises
        ------
        ValueError
            If a size rounds to less than 1.

        Examples
        --------
        >>> Sizes.at(100, 0.5, 2)
        Sizes(d=100, ell=50, d_qk=200)
        """
        return cls(d=d, ell=round(gamma * d), d_qk=round(psi * d))
