"""What is known exactly at finite d: the spread of the row normalisers, and the top singular value of A."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from scalestudy.errors import LawError
from scalestudy.limit import mean_row_normalizer, var_row_normalizer
from scalestudy.reporting import points
from scalestudy.reporting.figures.scales import (
    logarithmic_d,
    logarithmic_distance,
    mark_cut_bars,
    positive_range,
)
from scalestudy.reporting.figures.style import FULL, LEGEND, SERIES, label, note, panels
from scalestudy.reporting.means import Real, mean_and_error
from scalestudy.reporting.wording import AXIS_SYMBOLS

MOST_CURVES = len(SERIES)
ORTHONORMAL = ("orthonormal", "identity")
"""Tokens for which the exact formulas hold."""


def finite_size(distances: xr.Dataset, *, width: float = FULL, most: int = MOST_CURVES) -> Figure:
    """Draw the deviation of D_i and s_1(A) - 1 against d, with the curves known for orthonormal tokens.

    The deviation is about the exact mean E[D_i] (about 1 for other tokens), over rows and trials, so that its
    square has exactly the variance of D_i as its expectation. For the top singular value, to leading order
    s_1(A) - 1 = |A_perp^T u|^2 / 2, whose mean is ((e^{beta^2} - 1) / ell + beta^4 / (2 d_qk)) / 2.

    Parameters
    ----------
    distances : Dataset
        As `scalestudy.convergence.distances` returns it.
    width : float
        Width in inches; below 5 the two panels stand above each other.
    most : int
        Most values of (beta, gamma, psi), in each panel.
    """
    full = points.drawable(distances)
    every = points.families(full)
    chosen = points.spread(every, most)
    known = full.attrs.get("tokens") in ORTHONORMAL
    wide = width >= 5.0
    rows, columns = (1, 2) if wide else (2, 1)
    figure, axes = panels(rows, columns, width=width, height=3.0 if wide else 5.0)
    drawn: dict[int, list[Real]] = {0: [], 1: []}
    handles: list[Line2D] = []
    values: set[float] = set()
    for family, (color, marker, line) in zip(chosen, SERIES, strict=False):
        curve = points.curve_at(full, family)
        d = curve["d"].values.astype(np.float64)
        values.update(d.tolist())
        style: dict[str, Any] = {"color": color, "ls": "none", "marker": marker, "markersize": 4.0}
        measured = (_deviation(curve, known), _above_one(curve))
        theory = (_exact_deviation, _leading_above_one)
        for k, axis in enumerate(axes):
            mean, error = measured[k]
            axis.errorbar(d, mean, error, capsize=1.8, elinewidth=0.8, **style)
            drawn[k].append(mean)
            if known:
                exact = _along(curve, theory[k])
                axis.plot(d, exact, color=color, linestyle=line, linewidth=1.0, **_dash_if_alone(d))
                drawn[k].append(exact)
        handles.append(
            Line2D(
                [],
                [],
                linestyle=line if known else "none",
                color=color,
                marker=marker,
                markersize=4.0,
                label=points.title_of(family),
            )
        )
    for k, axis in enumerate(axes if values else []):
        logarithmic_d(axis, sorted(values), width / columns - 0.8)
        logarithmic_distance(axis, *positive_range(*drawn[k]))
        mark_cut_bars(axis)
    _words(axes, known)
    if len(handles) > 1 or known:
        figure.legend(handles=handles, loc="outside upper center", ncols=3 if wide else 1, **LEGEND)
    note(figure, points.shown_of(len(chosen), len(every)))
    return figure


def _words(axes: list[Axes], known: bool) -> None:
    x = f"{AXIS_SYMBOLS['d']}, embedding dimension"
    label(axes[0], x, r"deviation of $D_i$", "row normalisers" + (", exact curve" if known else ""))
    label(axes[1], x, r"$s_1(A) - 1$", "top singular value" + (", leading order" if known else ""))


def _dash_if_alone(d: Real) -> dict[str, Any]:
    """Return markers for a line through a single point, which would not be seen."""
    return {"marker": "_", "markersize": 12.0} if len(d) == 1 else {}


def _deviation(curve: xr.Dataset, known: bool) -> tuple[Real, Real]:
    """Root of the mean square about E[D_i], and half the width of its interval by the delta method."""
    center = _along(curve, lambda beta, ell, d_qk: mean_row_normalizer(beta, d_qk)) if known else 1.0
    center = np.nan_to_num(center, nan=1.0)
    mean = curve["d_mean"].transpose("d", "trial").values - np.reshape(center, (-1, 1))
    square, error = mean_and_error(curve["d_std"].transpose("d", "trial").values ** 2 + mean**2)
    root = np.sqrt(square)
    return root, error / (2.0 * root)


def _above_one(curve: xr.Dataset) -> tuple[Real, Real]:
    return mean_and_error(curve["s1_A"].transpose("d", "trial").values - 1.0)


def _exact_deviation(beta: float, ell: int, d_qk: int) -> float:
    return math.sqrt(var_row_normalizer(beta, ell, d_qk))


def _leading_above_one(beta: float, ell: int, d_qk: int) -> float:
    return 0.5 * (math.expm1(beta**2) / ell + beta**4 / (2.0 * d_qk))


def _along(curve: xr.Dataset, formula: Callable[[float, int, int], float]) -> Real:
    """Evaluate a formula of (beta, ell, d_qk) at each d; NaN where its moment is infinite."""
    values = []
    for d in curve["d"].values:
        sizes = (int(curve[name].sel(d=d)) for name in ("ell", "d_qk"))
        try:
            values.append(formula(float(curve["beta"]), *sizes))
        except LawError:
            values.append(np.nan)
    return np.array(values)
