"""Logarithmic axes that say the numbers that were used: ticks at the d of a study, decimals at 1, 2, 5."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.container import ErrorbarContainer
from matplotlib.markers import CARETDOWN
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator
from numpy.typing import NDArray

from scalestudy.reporting.figures.style import SMALL

_PER_CHARACTER = 0.62
_GAP = 0.8
_LABELS = ((1,), (1, 2, 5), (1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9))
"""Multiples of a power of ten that carry labels, from wide axes to narrow ones."""

_FEWEST_LABELS = (3, 2)
"""A wide axis has so many labels at powers of ten alone, another one so many in all."""

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
    """Make y logarithmic from low to high with plain decimals, as many as it takes to read values."""
    axis.set_yscale("log", nonpositive="clip")
    axis.set_ylim(low, high)
    axis.yaxis.set_major_locator(readable(low, high))
    axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: decimal(value)))
    axis.yaxis.set_minor_formatter(NullFormatter())
    if np.log10(high / low) > _DECADES_WITH_MINOR_TICKS:
        axis.yaxis.set_minor_locator(NullLocator())


def mark_cut_bars(axis: Axes) -> None:
    """Put a tip at the foot of every error bar that runs out of the bottom of an axis."""
    bottom, _ = axis.get_ylim()
    for container in axis.containers:
        for bars in container.lines[2] if isinstance(container, ErrorbarContainer) else ():
            feet = [segment[0] for segment in bars.get_segments() if len(segment)]
            cut = [x for x, y in feet if y < bottom]
            style: dict[str, Any] = {"ls": "none", "marker": CARETDOWN, "markersize": 4.0}
            axis.plot(cut, [bottom] * len(cut), color=bars.get_color()[0], **style)


def readable(low: float, high: float) -> LogLocator:
    """Return ticks for a logarithmic axis: powers of ten, with as many between them as two labels take."""
    for subs, fewest in zip(_LABELS, (*_FEWEST_LABELS, 0), strict=True):
        locator = LogLocator(subs=subs)
        places = np.asarray(locator.tick_values(low, high))
        if np.count_nonzero((places >= low) & (places <= high)) >= fewest:
            break
    return locator


def decimal(value: float) -> str:
    r"""Return a tick label: a plain decimal, or a multiple of a power of ten where that would be long.

    Examples
    --------
    >>> decimal(0.02), decimal(1e-5), decimal(20000.0)
    ('0.02', '$10^{-5}$', '$2\\!\\times\\!10^{4}$')
    """
    mantissa, _, power = f"{value:.6e}".partition("e")
    if not 0 < value < math.inf or -3 <= int(power) < 4:
        return f"{value:g}"
    times = "" if float(mantissa) == 1.0 else rf"{float(mantissa):g}\!\times\!"
    return f"${times}10^{{{int(power)}}}$"


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
