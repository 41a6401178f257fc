"""The largest singular values of each rung, and the row normalisers, of one point of a study."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from scalestudy.convergence.laws import Tokens
from scalestudy.errors import LawError
from scalestudy.limit import mean_row_normalizer, var_row_normalizer
from scalestudy.reporting.figures.finite_size import ORTHONORMAL
from scalestudy.reporting.figures.sample import Sample, sample_of
from scalestudy.reporting.figures.style import FULL, INK, LEGEND, TINY, label, look_of, note, panels
from scalestudy.reporting.means import Real, mean_and_error
from scalestudy.reporting.wording import short

TOP = 5
BINS = 60
_FAR = 3.0
"""The largest value is out of sight if it is so many times further away than the 99.5 % quantile."""

_INVISIBLE = 0.03
"""A bar lower than this share of the axis carries its value."""

_SPIKE = 4.0
"""A top value so many times the median of the rungs' is a spike: its bar is cut."""


def top_values(study: xr.Dataset | Sample, *, tokens: Tokens | None = None, width: float = FULL) -> Figure:
    """Draw the five largest squared singular values of every rung as bars.

    Bars are means over trials with 95 % intervals. Those that would flatten all others, the spikes of the
    uncentred rungs, are cut and carry their value. A line marks the right edge of the limit law.

    Parameters
    ----------
    study : Dataset or Sample
        One point of a study; see `sample_of`.
    tokens : str or ndarray, optional
        The tokens, if the study does not name an ensemble.
    width : float
        Width in inches.
    """
    sample = sample_of(study, tokens)
    figure, (axis,) = panels(1, 1, width=width, height=min(3.2, 0.62 * width + 0.6))
    rows = [values[:, :TOP].T for values in sample.squares.values()]
    statistics = [mean_and_error(row) for row in rows]
    typical = float(np.median([mean[0] for mean, _ in statistics]))
    edge = sample.nu.support()[-1][1] if sample.nu is not None else 0.0
    kept = [
        value + (error if np.isfinite(error) else 0.0)
        for mean, errors in statistics
        for value, error in zip(mean, errors, strict=True)
        if value <= _SPIKE * typical
    ]
    top = 1.18 * max([*kept, edge])
    for place, (name, (mean, error)) in enumerate(zip(sample.squares, statistics, strict=True)):
        _bars(axis, place, look_of(name).color, mean, error, top)
        if mean[0] < _INVISIBLE * top:
            axis.text(place, 0.02 * top, short(float(mean[0])), fontsize=TINY, color=INK, ha="center")
    if sample.nu is not None:
        line = axis.axhline(
            edge, color=INK, linestyle="--", linewidth=0.9, label=rf"right edge of $\nu$: {short(edge)}"
        )
        axis.legend(handles=[line], loc="lower center", bbox_to_anchor=(0.5, 1.0), **LEGEND)
    axis.grid(False, axis="x")
    axis.set_ylim(0.0, top)
    axis.set_xticks(range(len(rows)), [look_of(name).symbol for name in sample.squares])
    label(axis, "rung, its 5 largest from left to right", "$s^2$")
    note(figure, sample.title)
    return figure


def _bars(axis: Axes, place: int, color: str, mean: Real, error: Real, top: float) -> None:
    each = 0.8 / TOP
    x = place + (np.arange(len(mean)) - (TOP - 1) / 2) * each
    cut = mean > top
    axis.bar(x, np.minimum(mean, top), each * 0.9, color=color, alpha=0.6, edgecolor=INK, linewidth=0.4)
    axis.errorbar(x[~cut], mean[~cut], error[~cut], ls="none", color=INK, elinewidth=0.7, capsize=1.2)
    for bar in np.flatnonzero(cut):
        axis.plot(
            x[bar] + np.array([-0.6, 0.6]) * each, [0.93 * top, 0.96 * top], color="white", linewidth=2.5
        )
        axis.annotate(
            short(float(mean[bar])),
            (x[bar] + 0.6 * each, 0.95 * top),
            fontsize=TINY,
            color=INK,
            va="center",
        )


def row_normalizers(
    study: xr.Dataset | Sample, *, tokens: Tokens | None = None, width: float = FULL
) -> Figure:
    """Draw the histogram of D_i over rows and trials, with its exact mean and deviation.

    Parameters
    ----------
    study, tokens, width
        As for `top_values`. The exact values are for orthonormal tokens; for others there is the histogram
        and its own mean and deviation.
    """
    sample = sample_of(study, tokens)
    figure, (axis,) = panels(1, 1, width=width, height=min(3.0, 0.62 * width + 0.5))
    values = sample.normalizer[np.isfinite(sample.normalizer)]
    low, high, beyond = _range(values)
    counts, edges = np.histogram(values, bins=BINS, range=(low, high))
    density = counts / (values.size * (high - low) / BINS)
    axis.stairs(density, edges, fill=True, color="#9ecae1")
    axis.stairs(density, edges, color="#4a7fa5", linewidth=0.6)
    mean, deviation = float(values.mean()), float(values.std())
    handles: list[Line2D | Patch] = [
        Patch(
            facecolor="#9ecae1",
            edgecolor="#4a7fa5",
            label=f"measured: mean {mean:.5f}, deviation {deviation:.4f}",
        )
    ]
    if (exact := _exact_normalizer(sample)) is not None:
        center, width_ = exact
        handles.append(axis.axvline(center, color=INK, linewidth=1.2))
        handles[-1].set_label(f"exact: mean {center:.5f}, deviation {width_:.4f}")
        for side in (center - width_, center + width_):
            axis.axvline(side, color=INK, linewidth=0.9, linestyle="--")
    axis.set_xlim(low, high)
    axis.set_ylim(0.0, 1.08 * float(density.max()))
    axis.legend(handles=handles, loc="lower center", bbox_to_anchor=(0.5, 1.0), **LEGEND)
    label(axis, r"row normaliser $D_i = Z_i / (\ell\, e^{\beta^2/2})$", "probability density")
    note(figure, sample.title + (f",  {beyond} of {values.size} values lie further right" if beyond else ""))
    return figure


def _range(values: Real) -> tuple[float, float, int]:
    """Return the histogram's range, and how many values it leaves out: a few huge D_i, as at large beta."""
    low, middle, high, highest = (float(q) for q in np.quantile(values, [0.0, 0.5, 0.995, 1.0]))
    if highest - middle <= _FAR * (high - middle):
        high = highest
    # Rounding may leave all values of a tiny sample equal.
    high = max(high, low + 1e-9)
    return low, high, int((values > high).sum())


def _exact_normalizer(sample: Sample) -> tuple[float, float] | None:
    point = sample.point
    if sample.tokens not in ORTHONORMAL:
        return None
    try:
        mean = mean_row_normalizer(point.beta, point.d_qk)
        return mean, float(np.sqrt(var_row_normalizer(point.beta, point.ell, point.d_qk)))
    except LawError:
        return None
