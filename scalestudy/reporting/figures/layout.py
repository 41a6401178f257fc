"""Panels with a legend each: how many columns, how high, where the legends stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scalestudy.reporting.figures.style import LEGEND, SMALL, TINY, label, panels

_WIDE = 5.0
_LEGEND_WIDTH = 1.9
_LINE = 0.165
_PANEL = 2.4


@dataclass(frozen=True)
class Layout:
    """A grid of panels for curves against d.

    Attributes
    ----------
    count : int
        Panels, at least one.
    width : float
        Width of the figure in inches.
    entries : int
        Lines of the longest legend.
    """

    count: int
    width: float
    entries: int

    @property
    def alone(self) -> bool:
        """Whether there is one panel, whose legend may be large."""
        return self.count <= 1

    @property
    def below(self) -> bool:
        """Whether the legend stands below its panel: one panel in one column."""
        return self.alone and self.width < _WIDE

    @property
    def columns(self) -> int:
        """Panels beside each other."""
        return 1 if self.alone or self.width < _WIDE else 2

    @property
    def inside(self) -> float:
        """Width of a panel's axes in inches, about."""
        return self.width / self.columns - (0.6 if self.below else _LEGEND_WIDTH + 0.5)

    def figure(self) -> tuple[Figure, list[Axes]]:
        """Return a figure with its panels; places without a panel are blank."""
        legend_height = self.entries * _LINE
        if self.below:
            # A legend that hangs below an axes is not counted when heights are shared out: give it its own.
            heights = [_PANEL, legend_height]
            figure, axes = panels(2, 1, width=self.width, height=sum(heights) + 0.5, height_ratios=heights)
        else:
            rows = max(1, -(-self.count // self.columns))
            each = max(3.8 if self.alone else 2.5, legend_height + 0.4)
            figure, axes = panels(rows, self.columns, width=self.width, height=each * rows)
        for axis in axes[self.count :]:
            axis.set_axis_off()
        return figure, axes[: self.count]

    def outer_labels(self, axes: Sequence[Axes], x: str, y: str) -> None:
        """Label y in the first column, and x under the last panel of each column."""
        for axis in axes[:: self.columns]:
            label(axis, y=y)
        for axis in axes[-self.columns :]:
            label(axis, x=x)


def legend(axis: Axes, layout: Layout, handles: Sequence[Artist]) -> None:
    """Put a panel's legend outside it, to the right or below."""
    style = {**LEGEND, "fontsize": SMALL if layout.alone else TINY}
    if layout.below:
        figure = axis.get_figure(root=True)
        assert figure is not None
        figure.axes[-1].legend(handles=handles, loc="upper center", **style)
    else:
        axis.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.02, 1.0), **style)
