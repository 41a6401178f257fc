"""The headline: how far every rung is from its limit law, and how fast it gets closer as d grows."""

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
from scalestudy.reporting.figures.style import DISTANCE, FULL, GREY, PALE, SMALL, label, look_of, note
from scalestudy.reporting.means import Real, over_trials
from scalestudy.reporting.wording import AXIS_SYMBOLS, signed

ONE_POWER = 0.01
"""p-value below which the trial means do not lie on one power law."""

_NOT_ONE_POWER = "* not one power law (p < 0.01): the exponent changes with $d$"


def convergence(
    distances: xr.Dataset,
    rates: xr.Dataset | None = None,
    *,
    width: float = FULL,
    most: int = points.MOST_PANELS,
) -> Figure:
    """Draw W1 to the limit law against d for every rung, one panel for each (beta, gamma, psi).

    Error bars are 95 % intervals of the mean over trials, lines the fitted power laws, whose exponents stand
    in the legend with their bootstrap intervals. A rung that moves in steps of the integer n_d is joined, not
    fitted. Beside them: the least distance that any spectrum of so many values can have, and the distance of
    the attention bulk to the Marchenko-Pastur law with the constant that it tends to.

    Parameters
    ----------
    distances : Dataset
        As `scalestudy.convergence.distances` returns it; points of beta above 6 are left out.
    rates : Dataset, optional
        As `scalestudy.convergence.rates` returns it for ``w1``; without it nothing is fitted. A study with
        one d has no rates: its rungs are shown beside each other.
    width : float
        Width in inches; below 5 everything stands in one column.
    most : int
        Most panels; of more points so many are taken, evenly spaced, and the figure says so.
    """
    full = points.drawable(distances)
    every = points.families(full)
    chosen = points.spread(every, most)
    many = full.sizes["d"] > 1
    layout = Layout(len(chosen), width, entries=10 if many else 3)
    figure, axes = layout.figure()
    notes = [points.shown_of(len(chosen), len(every))]
    for axis, family in zip(axes, chosen, strict=True):
        curve = points.curve_at(full, family)
        fitted = None if rates is None else points.at_family(rates, family)
        _set_range(axis, curve)
        handles = _draw_curve(axis, curve, fitted, layout.inside) if many else _draw_rungs(axis, curve)
        mark_cut_bars(axis)
        legend(axis, layout, handles)
        label(axis, title=points.title_of(family))
        if fitted is not None and _bent(fitted).any():
            notes.append(_NOT_ONE_POWER)
    layout.outer_labels(axes, f"{AXIS_SYMBOLS['d']}, embedding dimension" if many else "", DISTANCE)
    note(figure, "    ".join(dict.fromkeys(filter(None, notes))))
    return figure


def interval_text(fit: xr.Dataset) -> str:
    """Return an exponent with its interval, if it has one.

    Parameters
    ----------
    fit : Dataset
        Rates of one rung at one point.
    """
    value, low, high = (fit[f"exponent{end}"].item() for end in ("", "_low", "_high"))
    star = "*" if bool(_bent(fit)) else ""
    bracket = f" [{signed(low)}, {signed(high)}]" if np.isfinite(low) else ""
    return rf"$\alpha$ = {signed(value)}{star}{bracket}"


def _bent(fit: xr.Dataset) -> xr.DataArray:
    return (fit["p_value"] < ONE_POWER) & ~fit["stepped"]


def _draw_curve(axis: Axes, curve: xr.Dataset, rates: xr.Dataset | None, inches: float) -> list[Line2D]:
    d = curve["d"].values.astype(np.float64)
    handles = []
    for model in curve["model"].values:
        look = look_of(str(model))
        handle = Line2D([], [], color=look.color, linestyle="none", label=look.symbol, **look.markers())
        mean, error = over_trials(curve["w1"].sel(model=model))
        if not np.isfinite(mean).any():
            continue
        handles.append(handle)
        axis.errorbar(
            d, mean, error, capsize=1.8, elinewidth=0.8, color=look.color, ls="none", **look.markers()
        )
        fit = None if rates is None else rates.sel(model=model)
        if fit is None or not np.isfinite(fit["exponent"].item()):
            continue
        if bool(fit["stepped"]):
            axis.plot(d, mean, color=look.color, linestyle=":", linewidth=0.8)
            handle.set(linestyle=":", linewidth=0.8, label=f"{look.symbol}  steps with $n_d$")
        else:
            power = fit["prefactor"].item() * d ** -fit["exponent"].item()
            axis.plot(d, power, color=look.color, linestyle=look.line, linewidth=1.0)
            handle.set(linestyle=look.line, linewidth=1.0, label=f"{look.symbol}  {interval_text(fit)}")
    logarithmic_d(axis, list(d), inches)
    # A line through a single d would not be seen.
    return handles + _draw_bounds(axis, curve, d, d if len(d) > 1 else np.array(axis.get_xlim()))


def _draw_rungs(axis: Axes, curve: xr.Dataset) -> list[Line2D]:
    """Show the rungs of a single d beside each other."""
    names = [str(model) for model in curve["model"].values]
    for place, model in enumerate(names):
        look = look_of(model)
        mean, error = over_trials(curve["w1"].sel(model=model))
        style = {"color": look.color, "ls": "none", **look.markers(5.0)}
        axis.errorbar([place], mean, error, capsize=2.5, elinewidth=0.9, **style)
    span = np.array([-0.6, len(names) - 0.4])
    axis.set_xlim(*span)
    axis.set_xticks(range(len(names)), [look_of(name).symbol for name in names])
    place = names.index(REFERENCE) if REFERENCE in names else 0
    return _draw_bounds(axis, curve, np.array([place]), span)


def _draw_bounds(axis: Axes, curve: xr.Dataset, places: Real, span: Real) -> list[Line2D]:
    """Draw what no rung depends on, as far as it is in view: the Marchenko-Pastur contrast and the floor."""
    bottom, _ = axis.get_ylim()
    style: Any = {"color": GREY, "ls": "none", "marker": "x", "markersize": 4.0}
    handles: list[Line2D] = []
    if REFERENCE in curve["model"].values:
        mean, error = over_trials(curve["w1_mp"].sel(model=REFERENCE))
        axis.errorbar(places, mean, error, capsize=1.8, elinewidth=0.8, **style)
        if (mean > bottom).any():
            handles.append(Line2D([], [], label=f"{look_of(REFERENCE).symbol} to MP", **style))
    constant, floor = (curve[name].values * np.ones(len(span)) for name in ("w1_nu_mp", "floor"))
    if np.isfinite(floor).any():
        axis.fill_between(span, floor, 0.0, color=PALE, linewidth=0, alpha=0.6)
        name = rf"$\nu$ to MP: {constant[-1]:.3g}"
        line = axis.plot(span, constant, color=GREY, linestyle="--", linewidth=0.9, label=name)
        handles += line if (constant > bottom).any() else []
        handles += axis.plot(span, floor, color=GREY, linestyle=":", linewidth=1.0, label="$n$-point floor")
    return handles


def _set_range(axis: Axes, curve: xr.Dataset) -> None:
    """Fit y to the rungs and the floor; a contrast far below the floor would only make them flat."""
    shown = np.concatenate([over_trials(curve["w1"])[0].ravel(), curve["floor"].values.ravel()])
    contrast = np.concatenate([over_trials(curve["w1_mp"])[0].ravel(), curve["w1_nu_mp"].values.ravel()])
    shown, contrast = (values[np.isfinite(values) & (values > 0)] for values in (shown, contrast))
    if shown.size:
        low = float(shown.min())
        high = float(max(shown.max(), *contrast[contrast > low], low))
        logarithmic_distance(axis, low / 1.4, high * 1.5)
    else:
        low, high = positive_range(contrast)
        # What is said stands above what is drawn.
        logarithmic_distance(axis, low, high * (high / low) ** 0.3)
        style: dict[str, Any] = {"ha": "center", "va": "top", "fontsize": SMALL, "color": GREY}
        axis.text(0.5, 0.97, "no limit law here", transform=axis.transAxes, **style)
