"""What a law is made of: its three statistics to fifty digits, and the range in which they are accepted.

A law's edges are square-root singularities, so an error of one unit in the last place of a parameter is
magnified without bound next to them. Statistics are therefore kept as `decimal.Decimal` until the edges are
known, and rounded once. This happens once per law and costs a few microseconds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal, localcontext

from scalestudy.errors import LawError

DIGITS = 60
BETA_RANGE = (1e-4, 6.0)
RATIO_RANGE = (1e-2, 1e2)
NOISE_SHARE_MINIMUM = 1e-9


@dataclass(frozen=True)
class Statistics:
    """The three numbers that fix the law of ``sqrt(b2) S / sqrt(ell) + sqrt(a2) W / sqrt(ell)``.

    Attributes
    ----------
    a2 : Decimal
        Variance of the independent part, theta1 - theta2.
    b2 : Decimal
        Variance of the score part, theta2.
    ratio : Decimal
        Tokens over head width, ell / d_qk = gamma / psi.
    """

    a2: Decimal
    b2: Decimal
    ratio: Decimal

    @property
    def theta1(self) -> float:
        """Total variance a2 + b2."""
        return float(self.a2 + self.b2)

    @property
    def theta2(self) -> float:
        """Variance of the score part."""
        return float(self.b2)


def exp_minus_linear(b: Decimal) -> Decimal:
    """Sum ``e^b - 1 - b`` from its series, whose terms are all positive for b > 0.

    Examples
    --------
    >>> float(exp_minus_linear(Decimal("1e-8")))
    5.0000000166666667e-17
    """
    with localcontext() as context:
        context.prec = DIGITS
        term, total, k = b, Decimal(0), 1
        while term > total.scaleb(-DIGITS):
            k += 1
            term = term * b / k
            total += term
        return total


def positive(name: str, value: float) -> Decimal:
    """Return a parameter exactly, or say why it cannot be one."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise LawError(f"Invalid {name} {value!r}. Must be a number.") from None
    if not math.isfinite(number) or number <= 0.0:
        raise LawError(f"Invalid {name} {value!r}. Must be positive and finite.")
    return Decimal(number)


def statistics_from_beta(beta: float, gamma: float, psi: float) -> Statistics:
    """Return the statistics of nu(beta, gamma, psi): theta1 = e^{beta^2} - 1, theta2 = beta^2.

    Raises
    ------
    LawError
        A parameter is not positive and finite, or lies where double precision cannot hold the accuracy.
    """
    exact_beta, exact_gamma, exact_psi = (
        positive("beta", beta),
        positive("gamma", gamma),
        positive("psi", psi),
    )
    if not BETA_RANGE[0] <= beta <= BETA_RANGE[1]:
        raise LawError(
            f"Invalid beta {beta!r}. Must be in [{BETA_RANGE[0]:g}, {BETA_RANGE[1]:g}], "
            "the range in which double precision holds the law's stated accuracy."
        )
    with localcontext() as context:
        context.prec = DIGITS
        b2 = exact_beta * exact_beta
        return _checked(Statistics(exp_minus_linear(b2), b2, exact_gamma / exact_psi))


def statistics_from_thetas(theta1: float, theta2: float, ratio: float) -> Statistics:
    """Return the statistics with a2 = theta1 - theta2 and b2 = theta2, as rung M5 of the ladder needs.

    Raises
    ------
    LawError
        Unless theta1 > theta2 > 0 and ratio > 0, or where double precision cannot hold the accuracy.
    """
    total, score = positive("theta1", theta1), positive("theta2", theta2)
    exact_ratio = positive("ratio", ratio)
    with localcontext() as context:
        context.prec = DIGITS
        return _checked(Statistics(total - score, score, exact_ratio))


def _checked(statistics: Statistics) -> Statistics:
    theta1, ratio = statistics.theta1, float(statistics.ratio)
    if float(statistics.a2) < NOISE_SHARE_MINIMUM * theta1:
        raise LawError(
            f"Invalid theta1 {theta1!r} at theta2 {statistics.theta2!r}. "
            f"(theta1 - theta2) / theta1 must be at least {NOISE_SHARE_MINIMUM:g}, "
            "the range in which double precision holds the law's stated accuracy."
        )
    if not RATIO_RANGE[0] <= ratio <= RATIO_RANGE[1]:
        raise LawError(
            f"Invalid ratio gamma / psi {ratio!r}. Must be in [{RATIO_RANGE[0]:g}, {RATIO_RANGE[1]:g}], "
            "the range in which double precision holds the law's stated accuracy."
        )
    return statistics
