"""The bulk of a spectrum: ascending, without its k largest values, and how much of the mass that leaves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scalestudy.errors import AnalysisError

Real = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Bulk:
    """Spectra without their k largest values, which lie on the probabilities [0, 1 - k/n].

    Attributes
    ----------
    values : ndarray of shape (..., n - k)
        Ascending; value i (from 0) is the quantile of every p in (i/n, (i + 1)/n].
    n : int
        Length of the whole spectrum.
    """

    values: Real
    n: int

    @property
    def kept(self) -> int:
        """Values kept, n - k."""
        return int(self.values.shape[-1])

    @property
    def mass(self) -> float:
        """Probability kept, 1 - k/n."""
        return self.kept / self.n

    def pooled(self) -> Bulk:
        """Return the bulk of the trial-averaged F_n.

        Every trial loses its own k largest values before the average, so the result is the average of
        ``min(F_n, 1 - k/n)``. All T (n - k) kept values form one sample in which each has mass 1/(n T).

        Returns
        -------
        Bulk
            One spectrum of T n values, of which T k are left out.
        """
        trials = self.values.size // self.kept
        return Bulk(np.sort(self.values, axis=None), self.n * trials)


def bulk_of(squares: npt.ArrayLike, drop: int) -> Bulk:
    """Sort spectra and leave out the `drop` largest values of each.

    Parameters
    ----------
    squares : array_like of shape (..., n)
        Squared singular values in any order; one NaN makes a spectrum NaN.
    drop : int
        How many to leave out, k.

    Returns
    -------
    Bulk

    Raises
    ------
    AnalysisError
        Unless 0 <= drop < n.

    Examples
    --------
    >>> bulk_of([9.0, 2.0, 1.0, 0.5], drop=1).values
    array([0.5, 1. , 2. ])
    """
    values = np.asarray(squares, dtype=np.float64)
    n = values.shape[-1] if values.ndim else 0
    if not 0 <= drop < n:
        raise AnalysisError(
            f"Invalid drop {drop}. Must be at least 0 and less than the spectrum's length, {n}."
        )
    ordered = np.sort(values, axis=-1)
    # NaN sorts last: without this it would be dropped as if it were an outlier.
    ordered[np.isnan(ordered[..., -1])] = np.nan
    return Bulk(ordered[..., : n - drop], n)
