"""The four figures of the published experiment, for one point of a study."""

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
from scalestudy.reporting.figures.means import Real, mean_and_error
from scalestudy.reporting.figures.sample import Sample, sample_of
from scalestudy.reporting.figures.style import (
    FULL,
    GREY,
    INK,
    LEGEND,
    TINY,
    label,
    look_of,
    note,
    panels,
)

TOP = 5
BINS = 60
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
    if sample.nu is not None:
        line = axis.axhline(
            edge, color=INK, linestyle="--", linewidth=0.9, label=rf"right edge of $\nu$: {edge:.3g}"
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
    axis.bar(x, np.minimum(mean, top), each * 0.9, color=color, edgecolor=INK, linewidth=0.4)
    axis.errorbar(x[~cut], mean[~cut], error[~cut], ls="none", color=INK, elinewidth=0.7, capsize=1.2)
    for bar in np.flatnonzero(cut):
        axis.plot(
            x[bar] + np.array([-0.6, 0.6]) * each, [0.93 * top, 0.96 * top], color="white", linewidth=2.5
        )
        axis.annotate(
            f"{mean[bar]:.4g}",
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
    # A few huge D_i at large beta would leave one bin for all others.
    low, high = np.quantile(values, [0.0, 0.999])
    counts = axis.hist(
        values, bins=BINS, range=(low, high), density=True, color="#9ecae1", edgecolor="#4a7fa5", lw=0.3
    )
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
    axis.set_ylim(0.0, 1.08 * float(np.max(counts[0])))
    axis.legend(handles=handles, loc="lower center", bbox_to_anchor=(0.5, 1.0), **LEGEND)
    label(axis, r"row normaliser $D_i = Z_i / (\ell\, e^{\beta^2/2})$", "probability density")
    note(figure, sample.title)
    return figure


def _exact_normalizer(sample: Sample) -> tuple[float, float] | None:
    point = sample.point
    if sample.tokens not in ORTHONORMAL:
        return None
    try:
        mean = mean_row_normalizer(point.beta, point.d_qk)
        return mean, float(np.sqrt(var_row_normalizer(point.beta, point.ell, point.d_qk)))
    except LawError:
        return None


def bulk_histograms(
    study: xr.Dataset | Sample, *, drop: int = 3, tokens: Tokens | None = None, width: float = FULL
) -> Figure:
    """Draw the bulk histogram of every rung, the law's density over it, and Marchenko-Pastur's for contrast.

    They are densities of the singular value s, not of s^2: there the hard edge at 0 is a divergence
    x^{-1/2}, here it is the finite value 2 C at s = 0, and the Marchenko-Pastur law is a quarter circle.

    Parameters
    ----------
    study, tokens, width
        As for `top_values`.
    drop : int
        Largest values left out of every spectrum.
    """
    sample = sample_of(study, tokens)
    columns = 4 if width >= 5.0 else 2
    rows = -(-len(sample.squares) // columns)
    figure, axes = panels(rows, columns, width=width, height=1.65 * rows + 0.5, sharex=True, sharey=True)
    bulks = {name: np.sqrt(np.maximum(values[:, drop:], 0.0)) for name, values in sample.squares.items()}
    edges = [np.sqrt(law.support()[-1][1]) for law in (sample.nu, sample.contrast) if law is not None]
    right = 1.08 * max(*edges, *(float(np.quantile(bulk, 0.998)) for bulk in bulks.values()))
    x = np.linspace(0.0, right, 801)[1:]
    weight = 1.0 / (sample.point.ell * len(sample.normalizer))
    step = right / BINS
    highest = 0.0
    for axis, (name, bulk) in zip(axes, bulks.items(), strict=False):
        counts, bins = np.histogram(bulk, bins=BINS, range=(0.0, right))
        density = counts * weight / step
        axis.stairs(density, bins, fill=True, color=look_of(name).color, alpha=0.45)
        axis.stairs(density, bins, color=look_of(name).color, linewidth=0.5)
        highest = max(highest, float(density.max()))
        for law, line, color in ((sample.contrast, ":", GREY), (sample.nu, "-", INK)):
            if law is not None:
                axis.plot(x, 2.0 * x * law.pdf(x * x), color=color, linestyle=line, linewidth=1.2)
        label(axis, title=look_of(name).symbol)
    _finish_histograms(figure, axes, columns, len(bulks), sample, highest, right)
    return figure


def _finish_histograms(
    figure: Figure, axes: list[Axes], columns: int, count: int, sample: Sample, highest: float, right: float
) -> None:
    axes[0].set_xlim(0.0, right)
    axes[0].set_ylim(0.0, 1.25 * highest)
    for axis in axes[count:]:
        axis.set_axis_off()
    for axis in axes[:count][-columns:]:
        axis.tick_params(labelbottom=True)
        label(axis, "$s$")
    for axis in axes[::columns]:
        label(axis, y="density")
    handles = [Line2D([], [], color=GREY, linestyle=":", linewidth=1.2, label="Marchenko-Pastur")]
    if sample.nu is not None:
        handles.insert(0, Line2D([], [], color=INK, linewidth=1.2, label=r"$\nu$, the limit law"))
    figure.legend(handles=handles, loc="outside upper center", ncols=2, **LEGEND)
    note(figure, sample.title)
