"""Heat maps: how far one rung is from the law over beta and d, or over gamma and psi."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from scalestudy.errors import AnalysisError
from scalestudy.reporting import points
from scalestudy.reporting.figures.scales import readable
from scalestudy.reporting.figures.style import FULL, GREY, LEGEND, SMALL, TINY, label, look_of, note, panels
from scalestudy.reporting.means import Real, over_trials
from scalestudy.reporting.wording import AXIS_SYMBOLS, percent

MODELS = ("sqrt_d_A_perp", "Y_f_lin")
_DIM_CELL = 0.45
"""Below this brightness numbers are white."""

_STEPS = 201
"""Places of a curve across a map: enough that it ends where it leaves the map."""


def heat_map(
    distances: xr.Dataset,
    x: str = "d",
    y: str = "beta",
    *,
    models: Sequence[str] = MODELS,
    width: float = FULL,
) -> Figure:
    """Draw the relative W1 distance to the limit law over two axes of a study, a panel for each rung.

    Colours are logarithmic and common to the panels, cells carry the distance in percent of theta1. Over
    beta and d two curves show how far the equivalence can reach: second moments of e^{beta S} concentrate
    below sqrt(log(ell) / 2), and softmax condenses onto single tokens near sqrt(2 log ell).

    Parameters
    ----------
    distances : Dataset
        As `scalestudy.convergence.distances` returns it. Axes that are not shown are taken at their value
        that is nearest to 1, d at the largest of which most points are done; the figure says which.
    x, y : str
        Two of d, beta, gamma, psi.
    models : sequence of str
        Rungs; those that the study does not have are left out.
    width : float
        Width in inches; below 5 the panels stand above each other.

    Raises
    ------
    AnalysisError
        If x and y are not two axes, or nothing is done at a beta up to 6, where figures end.
    """
    full = points.drawable(distances)
    if x == y or not {x, y} <= set(AXIS_SYMBOLS):
        raise AnalysisError(f"Invalid axes {x!r} and {y!r}. Must be two of {', '.join(AXIS_SYMBOLS)}.")
    if not points.families(full):
        raise AnalysisError("There is nothing to draw: no trial is complete at a beta that figures show.")
    held = [str(name) for name in full["model"].values]
    shown = [name for name in models if name in held] or held[-1:]
    fixed = _fixed(full, x, y)
    plane = full.sel(fixed).transpose(y, x, ...)
    maps = [
        100.0 * over_trials(plane["w1_relative"].sel(model=name).transpose(y, x, "trial"))[0]
        for name in shown
    ]
    wide = width >= 5.0
    rows, columns = (1, len(shown)) if wide else (len(shown), 1)
    height = 0.5 + 0.3 * max(plane.sizes[y], 5) if wide else rows * (0.75 + 0.26 * max(plane.sizes[y], 4))
    figure, axes = panels(rows, columns, width=width, height=height + 0.4)
    norm = _norm(maps)
    mesh: Any = None
    for axis, name, values in zip(axes, shown, maps, strict=True):
        mesh = _cells(axis, plane[x].values, plane[y].values, values, norm, width / columns)
        label(axis, AXIS_SYMBOLS[x], AXIS_SYMBOLS[y], look_of(name).symbol)
        if {x, y} == {"d", "beta"} and min(plane.sizes[x], plane.sizes[y]) > 1:
            _reach(axis, plane, x)
    bar = figure.colorbar(mesh, ax=axes, fraction=0.05, pad=0.02)
    bar.set_label(r"$W_1$(bulk, $\nu$) / $\theta_1$  [%]", fontsize=SMALL)
    bar.ax.tick_params(labelsize=SMALL)
    bar.ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    bar.ax.yaxis.set_major_locator(readable(*mesh.get_clim()))
    bar.ax.yaxis.set_minor_formatter(NullFormatter())
    handles, _ = axes[0].get_legend_handles_labels()
    if handles:
        figure.legend(handles=handles, loc="outside upper center", ncols=2 if wide else 1, **LEGEND)
    where = ",  ".join(f"{AXIS_SYMBOLS[name]} = {value:g}" for name, value in fixed.items())
    missing = any(np.isnan(values).any() for values in maps)
    note(figure, f"at {where}" + (";  a cross: nothing to show" if missing else ""))
    return figure


def _fixed(full: xr.Dataset, x: str, y: str) -> dict[str, float]:
    """Choose where the plane lies along the axes that it does not show."""
    fixed: dict[str, float] = {}
    for name in AXIS_SYMBOLS:
        if name in (x, y):
            continue
        values = full[name].values
        if name == "d":
            done = (full["trials_used"] > 0).sum([other for other in AXIS_SYMBOLS if other != "d"]).values
            fixed[name] = int(values[np.flatnonzero(done == done.max())[-1]])
        else:
            fixed[name] = float(values[np.abs(np.log(values)).argmin()])
    return fixed


def _norm(maps: list[Real]) -> LogNorm:
    good = np.concatenate([values[np.isfinite(values) & (values > 0)] for values in maps])
    low, high = (float(good.min()), float(good.max())) if good.size else (0.1, 100.0)
    return LogNorm(low, max(high, 1.01 * low))


def _cells(axis: Axes, x: Real, y: Real, values: Real, norm: LogNorm, inches: float) -> Any:
    """Draw equal cells, one for each value of the axes, with their numbers where there is room."""
    mesh = axis.pcolormesh(
        np.arange(len(x) + 1) - 0.5, np.arange(len(y) + 1) - 0.5, values, norm=norm, cmap="viridis"
    )
    mesh.set_edgecolor("white")
    mesh.set_linewidth(0.6)
    axis.grid(False)
    for set_ticks, numbers in ((axis.set_xticks, x), (axis.set_yticks, y)):
        set_ticks(range(len(numbers)), [f"{value:.4g}" for value in numbers])
    room = (inches - 1.2) / len(x) * 72.0 >= 3.2 * TINY
    for (i, j), value in np.ndenumerate(values):
        if not np.isfinite(value):
            axis.plot(j, i, marker="x", color=GREY, markersize=4.0)
        elif room:
            red, green, blue, _ = mesh.cmap(norm(value))
            dark = 0.299 * red + 0.587 * green + 0.114 * blue < _DIM_CELL
            color = "white" if dark else "black"
            # In front of the lines, which pause behind it.
            behind = {"facecolor": (red, green, blue), "linewidth": 0.0, "pad": 1.5}
            style: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": TINY, "zorder": 3}
            axis.text(j, i, percent(value), color=color, bbox=behind, **style)
    return mesh


def _reach(axis: Axes, plane: xr.Dataset, x: str) -> None:
    """Draw the two curves beta(d), if in view; cells are equal, so places between them are interpolated."""
    log_ell = np.log(plane["ell"].values.astype(np.float64).ravel())
    beta = np.log(plane["beta"].values)
    across = np.linspace(0.0, len(log_ell) - 1.0, _STEPS)
    log_ell = np.interp(across, np.arange(len(log_ell)), log_ell)
    for limit, line, name in (
        (np.sqrt(log_ell / 2.0), "-", r"$\beta = \sqrt{\log(\ell)/2}$: moments concentrate below"),
        (np.sqrt(2.0 * log_ell), "--", r"$\beta = \sqrt{2 \log \ell}$: softmax condenses"),
    ):
        inside = (np.log(limit) >= beta[0]) & (np.log(limit) <= beta[-1])
        if not inside.any():
            continue
        up = np.where(inside, np.interp(np.log(limit), beta, np.arange(len(beta))), np.nan)
        places = (across, up) if x == "d" else (up, across)
        # White below black: seen on every colour, and in greyscale.
        axis.plot(*places, color="white", linewidth=3.0, zorder=2.1)
        axis.plot(*places, color="black", linestyle=line, linewidth=1.4, zorder=2.2, label=name)
