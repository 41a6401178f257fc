"""Bulk histograms of the rungs, with the densities of the two laws over them."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from scalestudy.convergence.laws import Tokens
from scalestudy.reporting.figures.sample import Sample, sample_of
from scalestudy.reporting.figures.style import FULL, GREY, INK, LEGEND, label, look_of, note, panels

BINS = 60
_SAME_SCALE = 4.0
"""Panels whose peaks differ by more than this have their own vertical scales."""


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
    figure, axes = panels(rows, columns, width=width, height=1.7 * rows + 0.3)
    bulks = {name: np.sqrt(np.maximum(values[:, drop:], 0.0)) for name, values in sample.squares.items()}
    edges = [np.sqrt(law.support()[-1][1]) for law in (sample.nu, sample.contrast) if law is not None]
    right = 1.08 * max(*edges, *(float(np.quantile(bulk, 0.998)) for bulk in bulks.values()))
    x = np.linspace(0.0, right, 801)[1:]
    weight = 1.0 / (sample.point.ell * len(sample.normalizer))
    step = right / BINS
    highest = []
    for axis, (name, bulk) in zip(axes, bulks.items(), strict=False):
        counts, bins = np.histogram(bulk, bins=BINS, range=(0.0, right))
        density = counts * weight / step
        axis.stairs(density, bins, fill=True, color=look_of(name).color, alpha=0.45)
        axis.stairs(density, bins, color=look_of(name).color, linewidth=0.5)
        highest.append(float(density.max()))
        for law, line, color in ((sample.contrast, ":", GREY), (sample.nu, "-", INK)):
            if law is not None:
                axis.plot(x, 2.0 * x * law.pdf(x * x), color=color, linestyle=line, linewidth=1.2)
        label(axis, title=look_of(name).symbol)
    _finish_histograms(figure, axes, columns, len(bulks), sample, highest, right)
    return figure


def _finish_histograms(
    figure: Figure,
    axes: list[Axes],
    columns: int,
    count: int,
    sample: Sample,
    highest: list[float],
    right: float,
) -> None:
    common = max(highest) <= _SAME_SCALE * min(highest)
    for axis, own in zip(axes, highest, strict=False):
        axis.set_xlim(0.0, right)
        axis.set_ylim(0.0, 1.25 * (max(highest) if common else own))
    for axis in axes[count:]:
        axis.set_axis_off()
    for axis in axes[:count][-columns:]:
        label(axis, "singular value $s$")
    for axis in axes[:count:columns]:
        label(axis, y="density")
    handles = [Line2D([], [], color=GREY, linestyle=":", linewidth=1.2, label="Marchenko-Pastur")]
    if sample.nu is not None:
        handles.insert(0, Line2D([], [], color=INK, linewidth=1.2, label=r"$\nu$, the limit law"))
    if count < len(axes):
        axes[count].legend(handles=handles, loc="center", **LEGEND)
    else:
        figure.legend(handles=handles, loc="outside upper center", ncols=2, **LEGEND)
    note(figure, sample.title + ("" if common else ";  each panel has its own vertical scale"))
