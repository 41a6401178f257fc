"""The laws of one point of a study: nu, the law of rung M5, and the Marchenko-Pastur contrast."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from scalestudy.errors import LawError
from scalestudy.limit import GaussianEquivalentLaw, MarchenkoPastur
from scalestudy.limit.parameters import statistics_from_beta, statistics_from_thetas

Tokens = str | npt.NDArray[np.float64]
CACHED_LAWS = 256
FROM_FILE = "matrix sha256:"
"""How a study names tokens that it was given as a matrix."""


@dataclass(frozen=True)
class Point:
    """What fixes the laws of a point, and n.

    Attributes
    ----------
    d, ell, d_qk : int
        Realised sizes; laws are evaluated at ell/d and d_qk/d, not at the gamma and psi asked for.
    beta : float
        Inverse temperature.
    truncated : tuple of two floats, optional
        theta1_Q and theta2_Q; None where the study has no polynomial rung.
    """

    d: int
    ell: int
    d_qk: int
    beta: float
    truncated: tuple[float, float] | None = None

    @property
    def theta1(self) -> float:
        """e^{beta^2} - 1, the mean of nu."""
        return math.expm1(self.beta**2)


def limit_law(point: Point, tokens: Tokens) -> GaussianEquivalentLaw:
    """Return nu at the realised ratios of a point.

    Raises
    ------
    LawError
        If there is no such law, or it cannot be computed.
    """
    gamma, psi = point.ell / point.d, point.d_qk / point.d
    if isinstance(tokens, str):
        return _limit_law(point.beta, gamma, psi, tokens)
    return GaussianEquivalentLaw(point.beta, gamma, psi, tokens)


def truncated_law(point: Point, tokens: Tokens) -> GaussianEquivalentLaw:
    """Return the law of rung M5, which is also the limit of M4 at its degree.

    Raises
    ------
    LawError
        If there is no such law, it cannot be computed, or the study has no polynomial rung.
    """
    if point.truncated is None:
        raise LawError("Without theta1_Q and theta2_Q there is no truncated law.")
    theta1, theta2 = point.truncated
    ratio, gamma = point.ell / point.d_qk, point.ell / point.d
    if isinstance(tokens, str):
        return _truncated_law(theta1, theta2, ratio, gamma, tokens)
    return GaussianEquivalentLaw.from_statistics(theta1, theta2, ratio, gamma=gamma, tokens=tokens)


def contrast_law(point: Point) -> MarchenkoPastur:
    """Return the law of an i.i.d. ell x ell matrix of the same variance: what the bulk does not follow."""
    return MarchenkoPastur(point.theta1)


def why_not(point: Point, tokens: Tokens) -> list[str]:
    """Return why a point lacks its limit law or that of its rung M5; empty where it has both.

    The parameters of a point are checked, which is cheap. That the tokens exist at its ratio ell/d is tried
    once for each ratio, because making a law is not.
    """
    gamma, psi = point.ell / point.d, point.d_qk / point.d
    reasons = [_reason(statistics_from_beta, point.beta, gamma, psi)]
    if point.truncated is not None:
        reasons.append(_reason(statistics_from_thetas, *point.truncated, point.ell / point.d_qk))
    if isinstance(tokens, str):
        reasons.append(_no_tokens(gamma, tokens))
    return [reason for reason in reasons if reason]


def _reason(make: Callable[..., object], *arguments: float | str) -> str:
    try:
        make(*arguments)
    except LawError as error:
        return str(error)
    return ""


@lru_cache(maxsize=CACHED_LAWS)
def _no_tokens(gamma: float, tokens: str) -> str:
    if tokens.startswith(FROM_FILE):
        return "The tokens came from a file, and a study keeps only their checksum: give tokens=, the matrix."
    return _reason(_limit_law, 1.0, gamma, gamma, tokens)


@lru_cache(maxsize=CACHED_LAWS)
def _limit_law(beta: float, gamma: float, psi: float, tokens: str) -> GaussianEquivalentLaw:
    return GaussianEquivalentLaw(beta, gamma, psi, tokens)


@lru_cache(maxsize=CACHED_LAWS)
def _truncated_law(
    theta1: float, theta2: float, ratio: float, gamma: float, tokens: str
) -> GaussianEquivalentLaw:
    return GaussianEquivalentLaw.from_statistics(theta1, theta2, ratio, gamma=gamma, tokens=tokens)
