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
from scipy import stats

from scalestudy.convergence.bulk import Real

PRIOR_DEGREES = 4.0
"""Weight, in degrees of freedom, of the common relative variance against that of one d."""

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
        Standard error of log(mean). The relative variance at each d is shrunk towards that of all d, so that
        a few trials that happen to agree do not dominate a fit. Ones, if the measure has no trials.
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

    def interval(self, replicates: Real, level: float) -> tuple[float, float]:
        """Return the bootstrap interval of a statistic, from its replicates.

        Percentiles, expanded from the normal to the t distribution with as many degrees of freedom as the
        trials have: the percentile interval of a few trials is too short.

        Parameters
        ----------
        replicates : ndarray of shape (samples,)
            The statistic of each row of `resampled`; infinities are allowed, NaN gives NaN.
        level : float
            Coverage, 0.95 for example.
        """
        if replicates.size == 0 or np.isnan(replicates).any():
            return np.nan, np.nan
        freedom = int(np.sum(self.trials - 1))
        outside = float(stats.norm.cdf(stats.t.ppf(0.5 * (1.0 - level), freedom)))
        low, high = np.quantile(replicates, [outside, 1.0 - outside], method="inverted_cdf")
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
    return TrialMeans(x[good], mean, error, np.sqrt(_shrunk(relative, counts) / counts), counts, resampled)


def single_values(values: Real, x: Real) -> TrialMeans:
    """Wrap a measure that has one value at each d and no trials: equal weights, no intervals."""
    good = np.isfinite(values) & (values > 0.0)
    k = int(good.sum())
    nothing = np.full(k, np.nan)
    return TrialMeans(
        x[good], values[good], nothing, np.ones(k), np.ones(k, dtype=np.int64), np.empty((0, k))
    )


def _shrunk(relative: Real, counts: NDArray[np.int64]) -> Real:
    """Relative variances, drawn towards their mean as if that had PRIOR_DEGREES degrees of freedom."""
    if relative.size == 0:
        return relative
    freedom = counts - 1.0
    common = np.sum(freedom * relative) / np.sum(freedom)
    shrunk = (freedom * relative + PRIOR_DEGREES * common) / (freedom + PRIOR_DEGREES)
    return np.asarray(np.maximum(shrunk, _LEAST_VARIANCE))


@lru_cache(maxsize=64)
def _draws(samples: int, trials: int, x: float, seed: int) -> Real:
    """How often each trial is drawn in each sample, shape (samples, trials)."""
    key = [seed, trials, int(np.float64(x).view(np.uint64))]
    chosen = np.random.default_rng(np.random.SeedSequence(key)).integers(trials, size=(samples, trials))
    flat = (chosen + trials * np.arange(samples)[:, None]).ravel()
    return np.bincount(flat, minlength=samples * trials).reshape(samples, trials).astype(np.float64)
