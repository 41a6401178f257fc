"""Logarithmic axes that say the numbers that were used: ticks at the d of a study, decimals at 1, 2, 5."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator
from numpy.typing import NDArray

from scalestudy.reporting.figures.style import SMALL

_PER_CHARACTER = 0.62
_GAP = 0.8
_DECADES_WITH_2_AND_5 = 1.6
_DECADES_WITH_MINOR_TICKS = 4
_LEAST_RATIO = 5.0


def logarithmic_d(axis: Axes, values: Sequence[float], inches: float) -> None:
    """Make x logarithmic, with a tick at each d, labelled where there is room.

    Parameters
    ----------
    axis : Axes
        The panel.
    values : sequence of float
        The d, ascending.
    inches : float
        Width that the panel will have, to say which labels fit.
    """
    axis.set_xscale("log")
    low, high = float(min(values)), float(max(values))
    margin = 1.12 if high > low else 1.6
    axis.set_xlim(low / margin, high * margin)
    axis.xaxis.set_major_locator(FixedLocator(labelled(values, inches, np.log(high / low * margin**2))))
    axis.xaxis.set_minor_locator(FixedLocator(list(values)))
    axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.xaxis.set_minor_formatter(NullFormatter())


def labelled(values: Sequence[float], inches: float, log_range: float) -> list[float]:
    """Return the values whose labels fit beside each other, the largest one first.

    Examples
    --------
    >>> labelled([64, 65, 128], inches=2.0, log_range=1.0)
    [65, 128]
    """
    kept: list[float] = []
    left = np.inf
    for value in sorted(values, reverse=True):
        width = (_PER_CHARACTER * len(f"{value:g}") + _GAP) * SMALL / 72.0
        place = np.log(value) / log_range * inches
        if place + width / 2 <= left:
            kept.append(value)
            left = place - width / 2
    return kept[::-1]


def logarithmic_distance(axis: Axes, low: float, high: float) -> None:
    """Make y logarithmic from low to high with plain decimals; labels at 2 and 5 too on a short axis."""
    axis.set_yscale("log", nonpositive="clip")
    axis.set_ylim(low, high)
    decades = np.log10(high / low)
    axis.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if decades < _DECADES_WITH_2_AND_5 else (1,)))
    axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: decimal(value)))
    axis.yaxis.set_minor_formatter(NullFormatter())
    if decades > _DECADES_WITH_MINOR_TICKS:
        axis.yaxis.set_minor_locator(NullLocator())


def decimal(value: float) -> str:
    """Return a tick label: a plain decimal, or a power of ten where that would be long.

    Examples
    --------
    >>> decimal(0.02), decimal(1e-5), decimal(10000.0)
    ('0.02', '$10^{-5}$', '$10^{4}$')
    """
    power = round(math.log10(value)) if 0 < value < math.inf else 0
    if value > 0 and not -3 <= power < 4 and math.isclose(value, 10.0**power):
        return f"$10^{{{power}}}$"
    return f"{value:g}"


def positive_range(*values: NDArray[np.float64]) -> tuple[float, float]:
    """Return limits for a logarithmic axis that shows all positive numbers of the arrays, with a margin."""
    every = np.concatenate([np.ravel(array) for array in values])
    good = every[np.isfinite(every) & (every > 0)]
    if not good.size:
        return 0.1, 1.0
    low, high = float(good.min()) / 1.4, float(good.max()) * 1.5
    # Less than a factor of 5 may hold a single label.
    widen = max(1.0, math.sqrt(_LEAST_RATIO * low / high))
    return low / widen, high * widen
