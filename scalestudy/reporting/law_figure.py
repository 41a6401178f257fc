"""One figure: a limit law beside the Marchenko-Pastur law of the same mean."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure

from scalestudy.limit import Law

LAW_COLOUR, CONTRAST_COLOUR = "#0b5394", "#b45f06"
POINTS = 600
LEFT_OF_PLOT = 1e-7


def law_figure(law: Law, contrast: Law, title: str) -> Figure:
    """Draw both densities, of squared singular values and of singular values.

    The left panel has the hard edge ``C / sqrt(x)`` on logarithmic axes, where it is a straight line. The
    right one shows the density of ``sqrt(x)``, which is finite there: ``2 C`` at zero.

    Parameters
    ----------
    law, contrast : Law
        The law and what it is compared with.
    title : str
        Figure title.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure = Figure(figsize=(10.0, 4.2), layout="constrained")
    squared, plain = figure.subplots(1, 2)
    curves = (
        (law, LAW_COLOUR, "-", "Gaussian equivalent"),
        (contrast, CONTRAST_COLOUR, "--", "Marchenko-Pastur"),
    )
    top = max(each.support()[-1][1] for each, *_ in curves)
    for each, colour, style, label in curves:
        for k, (left, right) in enumerate(each.support()):
            x = _grid(left, right, top)
            named = label if k == 0 else None
            squared.plot(x, each.pdf(x), style, color=colour, label=named)
            r = np.sqrt(_from_zero(x, left))
            density = np.where(
                r > 0.0, 2.0 * r * np.nan_to_num(each.pdf(r * r)), 2.0 * each.hard_edge_coefficient()
            )
            plain.plot(r, density, style, color=colour, label=named)
    x = np.geomspace(LEFT_OF_PLOT * top, 1e-1 * top, 50)
    edge = law.hard_edge_coefficient()
    squared.plot(x, edge / np.sqrt(x), ":", color="0.4", label=rf"hard edge ${edge:.4g}\,x^{{-1/2}}$")
    squared.set(xscale="log", yscale="log", xlabel=r"$x = s^2$", ylabel="density of $x$")
    squared.set_xlim(LEFT_OF_PLOT * top, 2.0 * top)
    squared.set_ylim(bottom=1e-3 / top)
    plain.set(xlabel=r"$s = \sqrt{x}$", ylabel="density of $s$", xlim=(0.0, 1.05 * np.sqrt(top)))
    plain.set_ylim(bottom=0.0)
    squared.legend()
    plain.legend()
    figure.suptitle(title)
    return figure


def _grid(left: float, right: float, top: float) -> npt.NDArray[np.float64]:
    """Points crowding at both ends of an interval: geometrically at zero, quadratically at a soft edge."""
    angle = np.linspace(0.0, np.pi, POINTS)
    soft = left + (right - left) * 0.5 * (1.0 - np.cos(angle))
    if left > 0.0:
        return soft
    return np.unique(
        np.concatenate([np.geomspace(min(LEFT_OF_PLOT * top, 1e-3 * right), right, POINTS), soft[1:]])
    )


def _from_zero(x: npt.NDArray[np.float64], left: float) -> npt.NDArray[np.float64]:
    return x if left > 0.0 else np.concatenate([[0.0], x])
