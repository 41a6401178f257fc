"""Trial means along d, and what they would have been with other trials: the bootstrap.

Trials are resampled, not points: within each d, with replacement, independently of the other d. The draws
depend on (seed, d, number of trials) alone. Rungs and temperatures that share their trials are therefore
resampled together, and a study that grows by a d keeps the draws at the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import special

from scalestudy.convergence.bulk import Real

PRIOR_DEGREES = 20.0
"""Weight, in degrees of freedom, of the relative variance's trend in d against that of one d alone."""

FEW_TRIALS = 8
"""Below so many, means of resampled trials take few values, and none of them is far from the mean."""

LEAST_SHARE = 1e-3
"""Relative variances below this share of their median count as that."""

_LEAST_VARIANCE = 1e-24


@dataclass(frozen=True)
class TrialMeans:
    """Means of one positive measure over trials, at the d where they can be used.

    Attributes
    ----------
    x : ndarray of shape (k,)
        The d, ascending: those with a positive mean of two or more trials (of one value, if the measure has
        no trials).
    mean : ndarray of shape (k,)
        Trial means.
    error : ndarray of shape (k,)
        Their standard errors, each from its own trials; NaN if the measure has no trials.
    log_error : ndarray of shape (k,)
        Standard error of log(mean). The relative variance at each d is drawn towards its trend in d, so
        that a few trials that happen to agree do not dominate a fit. Ones, if the measure has no trials.
    trials : ndarray of shape (k,)
        Trials behind each mean.
    resampled : ndarray of shape (samples, k)
        Bootstrap means; empty if the measure has no trials.
    """

    x: Real
    mean: Real
    error: Real
    log_error: Real
    trials: NDArray[np.int64]
    resampled: Real

    def only(self, some: slice) -> TrialMeans:
        """Return the means at some of the d."""
        return TrialMeans(
            self.x[some],
            self.mean[some],
            self.error[some],
            self.log_error[some],
            self.trials[some],
            self.resampled[:, some],
        )

    def interval(self, replicates: Real, level: float, *, positive: bool = False) -> tuple[float, float]:
        """Return the bootstrap interval of a statistic, from its replicates.

        Percentiles, expanded from the normal to the t distribution, because the percentile interval of a few
        trials is too short. A slope rests mostly on its ends, so half of the degrees of freedom count. Where
        a d has fewer than `FEW_TRIALS`, the replicates do not reach as far as that, and the interval reaches
        at least as far as so many of their standard deviations.

        Parameters
        ----------
        replicates : ndarray of shape (samples,)
            The statistic of each row of `resampled`; infinities are allowed, NaN gives NaN.
        level : float
            Coverage, 0.95 for example.
        positive : bool
            Whether the statistic is positive, and its deviations are those of its logarithm.
        """
        if replicates.size == 0 or np.isnan(replicates).any():
            return np.nan, np.nan
        freedom = 0.5 * float(np.sum(self.trials - 1))
        deviations = float(special.stdtrit(freedom, 0.5 * (1.0 - level)))
        outside = float(special.ndtr(deviations))
        low, high = np.quantile(replicates, [outside, 1.0 - outside], method="inverted_cdf")
        if self.trials.min() < FEW_TRIALS and np.isfinite(replicates).all():
            scaled = np.log(replicates) if positive else replicates
            ends = np.median(scaled) + deviations * scaled.std() * np.array([1.0, -1.0])
            with np.errstate(over="ignore"):
                ends = np.exp(ends) if positive else ends
            low, high = min(low, ends[0]), max(high, ends[1])
        return float(low), float(high)


def trial_means(values: Real, x: Real, samples: int = 2000, seed: int = 0) -> TrialMeans:
    """Average over trials and resample them.

    Parameters
    ----------
    values : ndarray of shape (k, trials)
        The measure; NaN where a trial was not done.
    x : ndarray of shape (k,)
        The d.
    samples : int
        Bootstrap samples.
    seed : int
        Seed of the resampling.
    """
    rows = [row[np.isfinite(row)] for row in values]
    good = [i for i, row in enumerate(rows) if len(row) > 1 and row.mean() > 0.0]
    rows = [rows[i] for i in good]
    counts = np.array([len(row) for row in rows], dtype=np.int64)
    mean = np.array([row.mean() for row in rows])
    relative = np.array([row.var(ddof=1) for row in rows]) / mean**2
    resampled = np.empty((samples, len(rows)))
    for k, (i, row) in enumerate(zip(good, rows, strict=True)):
        again = _draws(samples, len(row), float(x[i]), seed) @ row / len(row)
        # T values scatter about their own mean by (T - 1)/T too little.
        stretch = np.sqrt(len(row) / (len(row) - 1.0))
        resampled[:, k] = mean[k] * (again / mean[k]) ** stretch
    error = mean * np.sqrt(relative / counts)
    return TrialMeans(
        x[good], mean, error, np.sqrt(_shrunk(relative, counts, x[good]) / counts), counts, resampled
    )


def single_values(values: Real, x: Real) -> TrialMeans:
    """Wrap a measure that has one value at each d and no trials: equal weights, no intervals."""
    good = np.isfinite(values) & (values > 0.0)
    k = int(good.sum())
    nothing = np.full(k, np.nan)
    return TrialMeans(
        x[good], values[good], nothing, np.ones(k), np.ones(k, dtype=np.int64), np.empty((0, k))
    )


def _shrunk(relative: Real, counts: NDArray[np.int64], x: Real) -> Real:
    """Draw relative variances towards a power of d, as if that had PRIOR_DEGREES degrees of freedom.

    The power is fitted to the logarithms of the variances, whose bias and scatter are those of chi^2.
    """
    # Trials that agree by chance would pull the logarithm's trend down without bound.
    least = LEAST_SHARE * np.median(relative) if relative.size else 0.0
    variance = np.maximum(relative, max(least, _LEAST_VARIANCE))
    half = 0.5 * (counts - 1.0)
    if len(x) < 3:
        common = np.sum(half * variance) / max(np.sum(half), 0.5)
    else:
        unbiased = np.log(variance) - special.digamma(half) + np.log(half)
        scatter = np.sqrt(special.polygamma(1, half))
        common = np.exp(np.polyval(np.polyfit(np.log(x), unbiased, 1, w=1.0 / scatter), np.log(x)))
    prior = 0.5 * PRIOR_DEGREES
    return np.asarray((half * variance + prior * common) / (half + prior))


@lru_cache(maxsize=64)
def _draws(samples: int, trials: int, x: float, seed: int) -> Real:
    """How often each trial is drawn in each sample, shape (samples, trials)."""
    key = [seed, trials, int(np.float64(x).view(np.uint64))]
    chosen = np.random.default_rng(np.random.SeedSequence(key)).integers(trials, size=(samples, trials))
    flat = (chosen + trials * np.arange(samples)[:, None]).ravel()
    return np.bincount(flat, minlength=samples * trials).reshape(samples, trials).astype(np.float64)
