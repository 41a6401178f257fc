"""The variables of a distances dataset: one table of their dimensions and labels.

What was chosen where there was a choice:

* ``mean_error`` and ``second_moment_error`` are of the bulk, ``sum of kept x^k / n`` over ``integral of Q^k``
  on the same probabilities, minus 1: moments of whole spectra say little about rungs with an outlier.
* ``w1_pooled`` is of the trial-averaged F_n: each trial loses its own k largest values, and the kept values
  of all trials form one sample. Averaging sorted values instead would measure another law's quantiles.
* ``w1_to_next`` is the exact distance of two rungs' bulks in one trial, ``sum |sorted differences| / n``.
  In every trial w1(rung) <= w1_to_next + w1(next rung), so the ladder's error budget adds up.
* ``edge_gap`` is to the edge of the law, not to a quantile of it.
* ``curve`` and ``l1`` are [B]'s: a mean over kept ranks of trial means, and 120 bins on [0, 8] at beta = 1.
* ``truncation_bias`` and ``w1_nu_mp`` are of whole laws, nothing dropped.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

POINT = ("d", "beta", "gamma", "psi")
MODELS = ("sqrt_d_A", "sqrt_d_A_perp", "Y", "Y_f", "Y_Q", "Y_Q_lin", "Y_f_lin")
"""The ladder, M0 ... M6; the names of rungs that a dataset may hold."""

ATTENTION, REFERENCE = "sqrt_d_A", "sqrt_d_A_perp"
STEPPED = ("Y_Q", "Y_Q_lin")
"""Rungs that depend on the integer degree n_d."""


@dataclass(frozen=True)
class Variable:
    """Dimensions after those of the point, and what an axis label says; all are pure numbers."""

    dims: tuple[str, ...]
    long_name: str
    units: str = "1"


_ROW = ("trial", "model")

VARIABLES = {
    "w1": Variable(_ROW, "Wasserstein-1 distance of the bulk to nu"),
    "w1_relative": Variable(_ROW, "Wasserstein-1 distance of the bulk to nu, over theta1"),
    "ks": Variable(_ROW, "Kolmogorov-Smirnov distance of the bulk to nu"),
    "w1_mp": Variable(_ROW, "Wasserstein-1 distance of the bulk to Marchenko-Pastur"),
    "largest": Variable(_ROW, "largest squared singular value"),
    "edge_gap": Variable(_ROW, "largest kept squared singular value minus the right edge of nu"),
    "mean_error": Variable(_ROW, "relative error of the bulk's mean"),
    "second_moment_error": Variable(_ROW, "relative error of the bulk's second moment"),
    "w1_to_next": Variable(("trial", "pair"), "Wasserstein-1 distance of neighbouring rungs' bulks"),
    "d_mean": Variable(("trial",), "mean of the row normalisers D_i"),
    "d_std": Variable(("trial",), "standard deviation of the row normalisers D_i"),
    "d_max": Variable(("trial",), "largest |D_i - 1|"),
    "s1_A": Variable(("trial",), "largest singular value of A"),
    "w1_pooled": Variable(("model",), "Wasserstein-1 distance of the trial-averaged bulk to nu"),
    "w1_pooled_mp": Variable(
        ("model",), "Wasserstein-1 distance of the trial-averaged bulk to Marchenko-Pastur"
    ),
    "curve": Variable(("model",), "mean difference of sorted trial means to sqrt_d_A_perp"),
    "l1": Variable(("model",), "L1 distance of bulk histograms to sqrt_d_A_perp"),
    "floor": Variable((), "least Wasserstein-1 distance of an n-point spectrum to nu"),
    "truncation_bias": Variable((), "Wasserstein-1 distance of the law of Y_Q_lin to nu"),
    "w1_nu_mp": Variable((), "Wasserstein-1 distance of nu to Marchenko-Pastur"),
    "trials_used": Variable((), "trials that are complete"),
}
"""Name to variable, in the order in which they are shown."""


def pairs_of(models: tuple[str, ...]) -> list[str]:
    """Name the pairs of neighbouring rungs.

    Examples
    --------
    >>> pairs_of(("Y_f", "Y_Q", "Y_Q_lin"))
    ['Y_f to Y_Q', 'Y_Q to Y_Q_lin']
    """
    return [f"{first} to {second}" for first, second in pairwise(models)]
