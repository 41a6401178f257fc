r"""HOW FAR IT IS: distances between spectra and laws, and the rates at which they fall.

Notation (THEORY.md, sections 7 and 8). A spectrum is n = ell squared singular values; F_n is its empirical
distribution. ``nu`` is the limit law of the point, at the realised ratios ell/d and d_qk/d, with quantile
function Q, distribution function F and mean theta1 = e^{beta^2} - 1. The *bulk* is what is left after the k
largest of the n values are dropped: the probabilities [0, 1 - k/n], of the spectrum *and* of the law. So no
distance is biased by dropping, and each is a metric, with which the ladder can be walked:

    w1 = integral |F_n^{-1} - Q| dp,      ks = sup |F_n - F|      over the bulk,
    w1(M_i, nu) <= w1_to_next(M_i, M_{i+1}) + w1(M_{i+1}, nu).

``w1`` of a trial holds bias and the scatter of one draw, and cannot be less than ``floor``; ``w1_pooled``, of
the trial-averaged F_n, holds the bias, which is what the theorem is about.

========================================  ==================================================================
`bulk`, `wasserstein`, `ks`, `between`    one spectrum or law against another, in NumPy
`curves`                                  the distances published for d = 1000
`laws`, `tabulated`, `point`              everything about one point, from its arrays
`study`, `table`, `reuse`, `schema`       the xarray glue: a study in, a dataset of distances out
`bootstrap`, `fits`, `columns`, `rates`   exponents, limits, and their intervals
`needed`, `verdict`                       from which d on, and in words
========================================  ==================================================================

Departures from [B]: there distances are to rung M1 and of trial means (``curve``, ``l1``); here they are to
the law itself, per trial, so that they have error bars. The largest values are dropped from both sides.

References
----------
[P] Hayase, Collins, Karakida, *Gaussian Equivalence for Self-Attention: Asymptotic Spectral Analysis of
    Attention Matrix*, AISTATS 2026, arXiv:2510.06685.
[B] A public walk-through of [P] with an experiment at d = 1000.
"""

from scalestudy.convergence.between import w1_between
from scalestudy.convergence.ks import ks
from scalestudy.convergence.needed import d_needed
from scalestudy.convergence.rates import rates
from scalestudy.convergence.schema import VARIABLES
from scalestudy.convergence.table import distances
from scalestudy.convergence.verdict import Verdict, verdict
from scalestudy.convergence.wasserstein import floor, w1, w1_pooled

__all__ = [
    "VARIABLES",
    "Verdict",
    "d_needed",
    "distances",
    "floor",
    "ks",
    "rates",
    "verdict",
    "w1",
    "w1_between",
    "w1_pooled",
]
