"""The limit law of the Gaussian equivalent, nu(beta, gamma, psi), for every token ensemble: one class."""

from __future__ import annotations

from typing import Any, Protocol, Self

import numpy as np
import numpy.typing as npt

from scalestudy.errors import LawError
from scalestudy.limit.closed_form import ClosedFormLaw
from scalestudy.limit.general import TabulatedLaw
from scalestudy.limit.gram import gram_law
from scalestudy.limit.law import Complex, Real, at_complex, at_points, at_probabilities, draw, order_of
from scalestudy.limit.parameters import Statistics, positive, statistics_from_beta, statistics_from_thetas

CLOSED_FORM = ("identity", "orthonormal")


class Solver(Protocol):
    """What computes a law: the same methods on one-dimensional arrays free of NaN."""

    def pdf(self, x: Real) -> Real: ...  # noqa: D102
    def cdf(self, x: Real) -> Real: ...  # noqa: D102
    def ppf(self, p: Real) -> Real: ...  # noqa: D102
    def partial_mean(self, p: Real) -> Real: ...  # noqa: D102
    def stieltjes(self, z: Complex) -> Complex: ...  # noqa: D102
    def moment(self, k: int) -> float: ...  # noqa: D102
    def intervals(self) -> list[tuple[float, float, float]]: ...  # noqa: D102
    def hard_edge_coefficient(self) -> float: ...  # noqa: D102


class GaussianEquivalentLaw:
    r"""Limit law of the squared singular values of ``sqrt(b2) S / sqrt(ell) + sqrt(a2) W / sqrt(ell)``.

    Parameters
    ----------
    beta : float
        Inverse temperature of the softmax, in [1e-4, 6].
    gamma : float, optional
        Tokens per dimension, ell / d.
    psi : float, optional
        Head width per dimension, d_qk / d; gamma / psi must be in [1/100, 100].
    tokens : str or array_like, shape (ell, d), optional
        ``identity`` or ``orthonormal`` (gamma <= 1), ``spherical``, ``gaussian``, ``parseval`` (gamma >= 1),
        or a token matrix, whose rows are scaled to unit norm and whose shape must agree with gamma.

    Attributes
    ----------
    theta1, theta2, ratio : float
        Total variance, variance of the score part, and ell / d_qk.

    Notes
    -----
    Orthonormal tokens, and any matrix with orthonormal rows, are solved in closed form to about 1e-15. For
    other tokens tables are built once, and are checked to 1e-10 in the distribution function while they are.
    The law has no atom at 0 whatever the tokens, because W has full rank.

    Raises
    ------
    LawError
        A parameter is not positive and finite, lies where double precision cannot hold the accuracy, or the
        tokens do not exist at this gamma.

    Examples
    --------
    >>> law = GaussianEquivalentLaw(1.0)
    >>> print(round(law.cdf(2.0), 12))
    0.685852215853
    >>> [(round(a, 9), round(b, 9)) for a, b in GaussianEquivalentLaw(0.3, 1, 1 / 4).support()]
    [(0.0, 0.012456582), (0.053991044, 1.126200593)]
    >>> GaussianEquivalentLaw(1.0, gamma=0.5, tokens="parseval")
    Traceback (most recent call last):
    scalestudy.errors.LawError: Invalid gamma 0.5 for parseval tokens. Must be at least 1.
    """

    def __init__(
        self, beta: float, gamma: float = 1.0, psi: float = 1.0, tokens: str | npt.ArrayLike = "orthonormal"
    ) -> None:
        self._set(statistics_from_beta(beta, gamma, psi), gamma, tokens)

    @classmethod
    def from_statistics(
        cls,
        theta1: float,
        theta2: float,
        ratio: float = 1.0,
        *,
        gamma: float | None = None,
        tokens: str | npt.ArrayLike = "orthonormal",
    ) -> Self:
        """Return the law with a2 = theta1 - theta2 and b2 = theta2, as of rung M5.

        Parameters
        ----------
        theta1, theta2 : float
            Total variance and variance of the score part, theta1 > theta2 > 0.
        ratio : float
            ell / d_qk = gamma / psi.
        gamma : float, optional
            ell / d; needed for tokens other than orthonormal ones, whose law does not depend on it.
        tokens : str or array_like
            As for the class.
        """
        law = cls.__new__(cls)
        law._set(statistics_from_thetas(theta1, theta2, ratio), gamma, tokens)
        return law

    def _set(self, statistics: Statistics, gamma: float | None, tokens: str | npt.ArrayLike) -> None:
        self.theta1, self.theta2, self.ratio = statistics.theta1, statistics.theta2, float(statistics.ratio)
        self._tokens = tokens if isinstance(tokens, str) else "matrix"
        self._solver: Solver
        if gamma is None and isinstance(tokens, str) and tokens in CLOSED_FORM:
            self._solver = ClosedFormLaw(statistics)
            return
        if gamma is None:
            raise LawError("Missing gamma. The law for these tokens depends on ell / d.")
        positive("gamma", gamma)
        kappa = gram_law(tokens, float(gamma))
        self._solver = ClosedFormLaw(statistics) if kappa.is_identity else TabulatedLaw(statistics, kappa)

    def __repr__(self) -> str:
        statistics = f"theta1={self.theta1!r}, theta2={self.theta2!r}, ratio={self.ratio!r}"
        return f"<GaussianEquivalentLaw {statistics}, tokens={self._tokens}>"

    def pdf(self, x: npt.ArrayLike) -> Any:
        """Density; infinite at x = 0 and zero at the other edges."""
        return at_points(self._solver.pdf, x)

    def cdf(self, x: npt.ArrayLike) -> Any:
        """Distribution function."""
        return at_points(self._solver.cdf, x)

    def ppf(self, p: npt.ArrayLike) -> Any:
        """Quantile, the smallest x with cdf(x) >= p; NaN outside [0, 1].

        When the support splits and p is exactly the mass of the lower interval, every point of the gap is a
        quantile; this returns the gap's lower end. The next larger p is already in the upper interval.
        """
        return at_probabilities(self._solver.ppf, p)

    def partial_mean(self, p: npt.ArrayLike) -> Any:
        """Integral of ppf over [0, p]; at p = 1 the mean."""
        return at_probabilities(self._solver.partial_mean, p)

    def stieltjes(self, z: npt.ArrayLike) -> Any:
        """m(z) = integral of dnu(x) / (x - z); on the support, the limit from the upper half plane."""
        return at_complex(self._solver.stieltjes, z)

    def mean(self) -> float:
        """First moment."""
        return self._solver.moment(1)

    def moment(self, k: int) -> float:
        """k-th moment about zero, k >= 0."""
        return self._solver.moment(order_of(k))

    def support(self) -> list[tuple[float, float]]:
        """Disjoint intervals in ascending order."""
        return [(left, right) for left, right, _ in self._solver.intervals()]

    def masses(self) -> list[float]:
        """Probability of each interval of `support`."""
        return [mass for _, _, mass in self._solver.intervals()]

    def hard_edge_coefficient(self) -> float:
        """C in pdf ~ C / sqrt(x) as x -> 0."""
        return self._solver.hard_edge_coefficient()

    def rvs(
        self, size: int | tuple[int, ...] | None = None, seed: int | np.random.Generator | None = None
    ) -> Any:
        """Independent draws from the law, by inversion; a scalar when size is None."""
        return draw(self, size, seed)
