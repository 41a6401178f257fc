"""How every figure looks: widths, sizes, and one table of the seven rungs.

Colours are those of Okabe and Ito, which people with any form of colour blindness tell apart. Every rung has
a marker and a line style of its own too, so that figures survive a greyscale printer. Styles are passed to
each artist: nothing here touches matplotlib's global state.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

COLUMN, FULL = 3.4, 7.0
"""Widths in inches of one column and of a page of a journal."""

BASE, SMALL, TINY = 8.0, 7.0, 6.0
"""Font sizes in points: labels, ticks and legends, notes."""

INK, GREY, PALE = "#1a1a1a", "#6b6b6b", "#d9d9d9"
DPI = 200


@dataclass(frozen=True)
class Look:
    """A rung's symbol, colour, marker, line style, and whether its marker is filled."""

    symbol: str
    color: str
    marker: str
    line: Any
    filled: bool = True

    def markers(self, size: float = 4.0) -> dict[str, Any]:
        """Return keywords for a line's markers."""
        return {
            "marker": self.marker,
            "markersize": size if self.filled else size + 2.0,
            "markerfacecolor": self.color if self.filled else "none",
            "markeredgecolor": self.color,
            "markeredgewidth": 0.9,
        }


LOOKS = {
    "sqrt_d_A": Look(r"$\sqrt{\ell}\,A$", "#56B4E9", "s", (0, (1, 1)), filled=False),
    "sqrt_d_A_perp": Look(r"$\sqrt{\ell}\,A^{\!\perp}$", "#000000", "o", "-"),
    "Y": Look(r"$Y$", "#E69F00", "^", (0, (4, 1.5)), filled=False),
    "Y_f": Look(r"$Y_f$", "#D55E00", "v", (0, (4, 1.5, 1, 1.5))),
    "Y_Q": Look(r"$Y_Q$", "#CC79A7", "D", (0, (2, 1)), filled=False),
    "Y_Q_lin": Look(r"$Y_Q^{\mathrm{lin}}$", "#009E73", "P", (0, (6, 2))),
    "Y_f_lin": Look(r"$Y_f^{\mathrm{lin}}$", "#0072B2", "X", (0, (6, 1.5, 1, 1.5, 1, 1.5))),
}
"""The ladder, M0 ... M6, in order."""

SERIES: tuple[tuple[str, str, Any], ...] = (
    ("#000000", "o", "-"),
    ("#E69F00", "s", (0, (4, 1.5))),
    ("#0072B2", "^", (0, (4, 1.5, 1, 1.5))),
    ("#009E73", "D", (0, (1, 1))),
    ("#D55E00", "v", (0, (6, 2))),
    ("#CC79A7", "P", (0, (6, 1.5, 1, 1.5, 1, 1.5))),
)
"""Colour, marker and line style of curves that are not rungs."""

DISTANCE = r"$W_1$(bulk, $\nu$)  [units of $s^2$]"
"""Axis label of the distance to the law."""


def look_of(model: str) -> Look:
    """Return the look of a rung; grey circles for a name that is not of the ladder."""
    return LOOKS.get(model, Look(model, GREY, ".", "-"))


def panels(rows: int, columns: int, *, width: float, height: float, **grid: Any) -> tuple[Figure, list[Axes]]:
    """Return a figure with a grid of styled axes, row by row.

    Parameters
    ----------
    rows, columns : int
        Panels.
    width, height : float
        Size of the figure, in inches.
    **grid
        For `matplotlib.figure.Figure.subplots`, such as ``sharex``.
    """
    figure = Figure(figsize=(width, height), dpi=DPI, layout="constrained")
    axes = [axis for row in figure.subplots(rows, columns, squeeze=False, **grid) for axis in row]
    for axis in axes:
        dress(axis)
    return figure, axes


def dress(axis: Axes) -> None:
    """Style one panel: thin frame without top and right, faint grid, small ticks."""
    axis.tick_params(which="both", labelsize=SMALL, width=0.6, color=INK, labelcolor=INK)
    axis.tick_params(which="major", length=3.0)
    axis.tick_params(which="minor", length=1.8)
    for side, spine in axis.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_linewidth(0.6)
    axis.set_axisbelow(True)
    axis.grid(True, which="major", color=PALE, linewidth=0.4)


def label(axis: Axes, x: str = "", y: str = "", title: str = "") -> None:
    """Label a panel in the common sizes."""
    if x:
        axis.set_xlabel(x, fontsize=BASE, color=INK)
    if y:
        axis.set_ylabel(y, fontsize=BASE, color=INK)
    if title:
        axis.set_title(title, fontsize=BASE, color=INK, pad=4.0)


def note(figure: Figure, text: str) -> None:
    """Say something about the whole figure, in small print at its foot."""
    if text:
        figure.supxlabel(text, fontsize=TINY, color=GREY)


LEGEND: dict[str, Any] = {
    "fontsize": SMALL,
    "frameon": False,
    "handlelength": 2.4,
    "labelspacing": 0.35,
    "borderaxespad": 0.0,
}
"""Keywords of every legend."""
