"""Figures of a study: functions from datasets to `matplotlib.figure.Figure`, and nothing else.

No pyplot and no global state: save a figure with its own ``savefig``, or let a notebook show it. Curves
against d are drawn from what `scalestudy.convergence.distances` returns, spectra from one point of what
`scalestudy.open_study` returns: ``study.sel(d=1024, beta=1, gamma=1, psi=1)``.

Notation is that of the papers: A the attention matrix, s its singular values, nu the limit law, MP the
Marchenko-Pastur law of the same variance theta1. Error bars are 95 % intervals of means over trials.
"""

from scalestudy.reporting.figures.budget import error_budget
from scalestudy.reporting.figures.extremes import row_normalizers, top_values
from scalestudy.reporting.figures.finite_size import finite_size
from scalestudy.reporting.figures.histograms import bulk_histograms
from scalestudy.reporting.figures.maps import heat_map
from scalestudy.reporting.figures.quantiles import quantile_quantile, sorted_curves
from scalestudy.reporting.figures.sample import Sample, sample_of
from scalestudy.reporting.figures.scaling import convergence
from scalestudy.reporting.figures.style import COLUMN, FULL

__all__ = [
    "COLUMN",
    "FULL",
    "Sample",
    "bulk_histograms",
    "convergence",
    "error_budget",
    "finite_size",
    "heat_map",
    "quantile_quantile",
    "row_normalizers",
    "sample_of",
    "sorted_curves",
    "top_values",
]
