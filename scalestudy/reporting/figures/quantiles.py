"""Sorted spectra against the law: curves by rank, quantile against quantile, and the differences."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from scalestudy.convergence.laws import Tokens
from scalestudy.reporting.figures.sample import Sample, sample_of
from scalestudy.reporting.figures.style import FULL, GREY, INK, LEGEND, label, look_of, note, panels
from scalestudy.reporting.means import Real

MARKERS = 12
"""Markers on a curve, so that rungs are told apart in greyscale."""


def sorted_curves(
    study: xr.Dataset | Sample, *, drop: int = 3, tokens: Tokens | None = None, width: float = FULL
) -> Figure:
    """Draw sorted squared singular values, averaged over trials, against rank, with the quantiles of the law.

    Parameters
    ----------
    study : Dataset or Sample
        One point of a study; see `sample_of`.
    drop : int
        Largest values left out.
    tokens : str or ndarray, optional
        The tokens, if the study does not name an ensemble.
    width : float
        Width in inches.
    """
    sample = sample_of(study, tokens)
    rank = (np.arange(drop, sample.point.ell) + 0.5) / sample.point.ell
    law = None if sample.nu is None else np.asarray(sample.nu.ppf(1.0 - rank))
    curves = {name: values[:, drop:].mean(axis=0) for name, values in sample.squares.items()}
    figure, axes = _two(width)
    _draw(axes, rank, curves, law, rank)
    if law is not None:
        axes[0].plot(rank, law, color=INK, linewidth=2.4, alpha=0.35, zorder=1)
    label(axes[0], "rank / $\\ell$", "$s^2$, mean over trials")
    label(axes[1], "rank / $\\ell$", r"$s^2$ minus its $\nu$-quantile")
    for axis in axes:
        axis.set_xlim(0.0, 1.0)
    _finish(figure, axes, sample, r"$\nu$-quantiles")
    return figure


def quantile_quantile(
    study: xr.Dataset | Sample, *, drop: int = 3, tokens: Tokens | None = None, width: float = FULL
) -> Figure:
    """Draw singular values, averaged over trials rank by rank, against the quantiles of the law.

    Parameters
    ----------
    study, drop, tokens, width
        As for `sorted_curves`.
    """
    sample = sample_of(study, tokens)
    figure, axes = _two(width)
    curves = {name: np.sqrt(values[:, drop:]).mean(axis=0) for name, values in sample.squares.items()}
    rank = (np.arange(drop, sample.point.ell) + 0.5) / sample.point.ell
    if sample.nu is None:
        for axis in axes:
            axis.text(0.5, 0.5, "no limit law here", transform=axis.transAxes, ha="center", color=GREY)
    else:
        law = np.sqrt(np.asarray(sample.nu.ppf(1.0 - rank)))
        axes[0].plot([0.0, law[0]], [0.0, law[0]], color=INK, linewidth=2.4, alpha=0.35, zorder=1)
        _draw(axes, law, curves, law, law)
        label(axes[0], r"$\nu$-quantile of $s$", "$s$, mean over trials")
        label(axes[1], r"$\nu$-quantile of $s$", r"$s$ minus its $\nu$-quantile")
        for axis in axes:
            axis.set_xlim(0.0, None)
    _finish(figure, axes, sample, "equality")
    return figure


def _two(width: float) -> tuple[Figure, list[Axes]]:
    wide = width >= 5.0
    rows, columns = (1, 2) if wide else (2, 1)
    return panels(rows, columns, width=width, height=3.2 if wide else 5.4)


def _draw(axes: list[Axes], x: Real, curves: dict[str, Real], law: Real | None, along: Real) -> None:
    """Draw curves in the first panel, and what they differ by from the law in the second."""
    for shift, (name, curve) in enumerate(curves.items()):
        look = look_of(name)
        # Markers at even steps of x, each rung's a little further on than the one's before.
        targets = along.min() + np.ptp(along) * (np.arange(MARKERS) + shift / len(curves)) / MARKERS
        places = np.unique(np.abs(along[:, None] - targets).argmin(axis=0)).tolist()
        style = {"color": look.color, "linestyle": look.line, "linewidth": 0.9, "markevery": places}
        axes[0].plot(x, curve, **style, **look.markers(3.0))
        if law is not None:
            axes[1].plot(x, curve - law, **style, **look.markers(3.0))
    if law is not None:
        axes[1].axhline(0.0, color=INK, linewidth=2.4, alpha=0.35, zorder=1)


def _finish(figure: Figure, axes: list[Axes], sample: Sample, law: str) -> None:
    axes[0].set_ylim(0.0, None)
    handles = []
    for name in sample.squares:
        look = look_of(name)
        style = {"color": look.color, "linestyle": look.line, "linewidth": 0.9}
        handles.append(Line2D([], [], label=look.symbol, **style, **look.markers(3.0)))
    if sample.nu is not None:
        handles.append(Line2D([], [], color=INK, linewidth=2.4, alpha=0.35, label=law))
    figure.legend(handles=handles, loc="outside upper center", ncols=4, **LEGEND)
    note(figure, sample.title)
