"""The error budget of the ladder: what each replacement costs, from attention to its Gaussian equivalent."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from scalestudy.convergence.schema import REFERENCE
from scalestudy.reporting import points
from scalestudy.reporting.figures.layout import Layout, legend
from scalestudy.reporting.figures.scales import (
    logarithmic_d,
    logarithmic_distance,
    mark_cut_bars,
    positive_range,
)
from scalestudy.reporting.figures.style import FULL, GREY, label, look_of, note
from scalestudy.reporting.means import Real, over_trials
from scalestudy.reporting.wording import AXIS_SYMBOLS

_SEPARATOR = " to "


def error_budget(distances: xr.Dataset, *, width: float = FULL, most: int = points.MOST_PANELS) -> Figure:
    """Draw W1 between neighbouring rungs against d, one panel for each (beta, gamma, psi).

    Each curve has the look of the rung that its step leaves. Beside them stand the distance of the last rung
    to the law, the exact bias that truncation at degree n_d leaves in the polynomial rungs, and the total:
    the distance of the attention bulk to the law. By the triangle inequality the steps below the total,
    added up, are at least as large.

    Parameters
    ----------
    distances : Dataset
        As `scalestudy.convergence.distances` returns it.
    width : float
        Width in inches.
    most : int
        Most panels.
    """
    full = points.drawable(distances)
    every = points.families(full)
    chosen = points.spread(every, most)
    layout = Layout(len(chosen), width, entries=full.sizes["pair"] + 3)
    figure, axes = layout.figure()
    many = full.sizes["d"] > 1
    for axis, family in zip(axes, chosen, strict=True):
        curve = points.curve_at(full, family)
        handles = _draw(axis, curve, many)
        if many:
            logarithmic_d(axis, list(curve["d"].values.astype(float)), layout.inside)
        else:
            axis.set_xticks([])
        mark_cut_bars(axis)
        legend(axis, layout, handles)
        label(axis, title=points.title_of(family))
    x = f"{AXIS_SYMBOLS['d']}, embedding dimension" if many else "steps, in the order of the legend"
    layout.outer_labels(axes, x, r"$W_1$ of a step  [units of $s^2$]")
    note(figure, points.shown_of(len(chosen), len(every)))
    return figure


def _draw(axis: Axes, curve: xr.Dataset, many: bool) -> list[Line2D]:
    d = curve["d"].values.astype(np.float64)
    handles: list[Line2D] = []
    shown: list[Real] = []

    def put(mean: Any, error: Any, **style: Any) -> None:
        """Draw one curve, unless there is nothing of it."""
        if np.isfinite(mean).any() and (mean > 0).any():
            # At a single d the steps stand beside each other.
            x = d if many else np.array([len(handles)])
            axis.errorbar(x, mean, error, capsize=1.8, elinewidth=0.8, **style)
            handles.append(Line2D([], [], **style))
            shown.append(mean)

    for pair in curve["pair"].values:
        first, second = str(pair).split(_SEPARATOR)
        look = look_of(first)
        name = rf"{look.symbol} $\to$ {look_of(second).symbol}"
        style: dict[str, Any] = {
            "color": look.color,
            "linestyle": look.line,
            "linewidth": 1.0,
            **look.markers(),
        }
        put(*over_trials(curve["w1_to_next"].sel(pair=pair)), label=name, **style)
    models = [str(name) for name in curve["model"].values]
    last = look_of(models[-1])
    style = {"color": last.color, "linestyle": last.line, "linewidth": 1.0, **last.markers()}
    put(*over_trials(curve["w1"].sel(model=models[-1])), label=rf"{last.symbol} $\to\,\nu$", **style)
    bias = curve["truncation_bias"].values
    put(
        bias,
        None,
        label="truncation, exact",
        color=GREY,
        linestyle=":",
        linewidth=1.4,
        marker="_",
        markersize=7.0,
    )
    if REFERENCE in models and models[-1] != REFERENCE:
        total = over_trials(curve["w1"].sel(model=REFERENCE))
        name = rf"total: {look_of(REFERENCE).symbol} to $\nu$"
        put(
            *total,
            label=name,
            color=GREY,
            linestyle="-",
            linewidth=2.2,
            marker="h",
            markersize=6.0,
            alpha=0.55,
        )
    if shown:
        logarithmic_distance(axis, *positive_range(*shown))
    return handles
