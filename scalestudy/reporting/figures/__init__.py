"""Figures of a study: functions from datasets to `matplotlib.figure.Figure`, and nothing else.

No pyplot and no global state: save a figure with its own ``savefig``, or let a notebook show it.
"""

from scalestudy.reporting.figures.scaling import convergence
from scalestudy.reporting.figures.style import COLUMN, FULL

__all__ = ["COLUMN", "FULL", "convergence"]
