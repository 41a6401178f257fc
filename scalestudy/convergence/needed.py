"""From which d on a distance stays below a target: with an interval, and whether it is seen or predicted."""

from __future__ import annotations

import numpy as np
import xarray as xr

from scalestudy.convergence.bootstrap import TrialMeans
from scalestudy.convergence.bulk import Real
from scalestudy.convergence.columns import checked_measure, columns, other_dims, stepped_models
from scalestudy.convergence.fits import goodness, power_law
from scalestudy.errors import AnalysisError

TAIL = 3
"""How many of the largest d a prediction beyond the data is made from."""

BENT_P_VALUE = 0.1
"""Below this p-value of a power law through all d, a prediction must reckon with a bend."""


def d_needed(
    distances: xr.Dataset,
    target: float = 0.01,
    measure: str = "w1_relative",
    dim: str = "d",
    *,
    samples: int = 2000,
    seed: int = 0,
    level: float = 0.95,
) -> xr.Dataset:
    """Find the d from which on the trial mean of a distance stays below a target.

    Between two d it is interpolated in log-log. Beyond the largest it is predicted by a power law through the
    last three d: a fit through all of them would carry the behaviour at small d to where it no longer holds.
    Where the means are no power law (p < 0.1), the interval also covers the prediction of a parabola fitted
    to all of them in log-log: the exponent changes with d, and whether it goes on to is not known.

    Parameters
    ----------
    distances : Dataset
        As `distances` returns it.
    target : float
        The distance to reach: 0.01 of ``w1_relative`` is a relative Wasserstein distance of 1 %.
    measure, dim, samples, seed, level
        As for `rates`.

    Returns
    -------
    Dataset
        ``d_needed`` with ``d_needed_low`` and ``d_needed_high``; inf where the distance does not fall, NaN
        where fewer than two d can be used. ``extrapolated`` is True where it lies beyond the largest d, and
        ``at_smallest`` where even the smallest d is below the target, which makes it an upper bound.
        ``stepped`` (model) is as for `rates`: a prediction for such a rung ignores the steps to come.

    Raises
    ------
    AnalysisError
        As for `rates`, and unless the target is positive.
    """
    data = checked_measure(distances, measure, dim)
    if not target > 0.0:
        raise AnalysisError(f"Invalid target {target}. Must be positive.")
    others = other_dims(data, dim)
    shape = tuple(data.sizes[name] for name in others)
    names = ("d_needed", "d_needed_low", "d_needed_high")
    found = {name: np.full(shape, np.nan) for name in names}
    flags = {name: np.zeros(shape, dtype=bool) for name in ("extrapolated", "at_smallest")}
    for index, means in columns(data, dim, samples, seed):
        if len(means.x) < 2:
            continue
        place = _crossing(means, means.mean[None], target)[0]
        ends = _interval(means, target, level)
        for name, value in zip(names, (place, *ends), strict=True):
            found[name][index] = value
        flags["extrapolated"][index] = bool(means.mean[-1] > target)
        flags["at_smallest"][index] = bool((means.mean <= target).all())
    labels = {
        "d_needed": f"{dim} from which on {measure} is below {target:g}",
        "d_needed_low": f"low end of the {100 * level:g} % interval",
        "d_needed_high": f"high end of the {100 * level:g} % interval",
        "extrapolated": f"lies beyond the largest {dim}",
        "at_smallest": f"is an upper bound: the smallest {dim} is below the target",
    }
    result = xr.Dataset(
        {
            name: (others, values, {"long_name": labels[name], "units": "1"})
            for name, values in (found | flags).items()
        },
        coords={name: data[name].variable for name in others if name in data.coords},
        attrs={"measure": measure, "dim": dim, "target": target, "level": level},
    )
    return result.assign(stepped=stepped_models(distances, data, dim)) if "model" in data.dims else result


def _interval(means: TrialMeans, target: float, level: float) -> tuple[float, float]:
    """Return the interval; it also covers the parabola's where the means are known to be no power law."""
    y = means.resampled
    low, high = means.interval(_crossing(means, y, target), level, positive=True)
    if means.mean[-1] <= target or len(means.x) < TAIL or not y.size:
        return low, high
    residual = np.log(means.mean / power_law(means.x, means.mean, means.log_error).at(means.x))
    if goodness(residual, means.log_error, 2)[1] >= BENT_P_VALUE:
        return low, high
    bent = means.interval(_crossing(means, y, target, bent=True), level, positive=True)
    return min(low, bent[0]), max(high, bent[1])


def _crossing(means: TrialMeans, y: Real, target: float, *, bent: bool = False) -> Real:
    """Return the d at which each row of y, shape (rows, k), falls below the target for good."""
    x, k = means.x, y.shape[1]
    above = y > target
    last = np.where(above.any(axis=1), k - 1 - above[:, ::-1].argmax(axis=1), -1)
    place = np.full(len(y), x[0])
    inside = (last >= 0) & (last < k - 1)
    rows, i = np.flatnonzero(inside), last[inside]
    upper, lower = np.log(y[rows, i] / target), np.log(y[rows, i + 1] / target)
    share = upper / (upper - lower)
    place[rows] = x[i] * (x[i + 1] / x[i]) ** share
    beyond = last == k - 1
    if beyond.any() and bent:
        place[beyond] = _parabola(x, y[beyond], means.log_error, target)
    elif beyond.any():
        tail = slice(-min(TAIL, k), None)
        fit = power_law(x[tail], y[beyond][:, tail], means.log_error[tail])
        falls = fit.exponent > 0.0
        with np.errstate(over="ignore"):
            predicted = (fit.prefactor / target) ** (1.0 / np.where(falls, fit.exponent, 1.0))
        # A noisy line may pass below the target before the last d, where the data are above it.
        place[beyond] = np.where(falls, np.maximum(predicted, x[-1]), np.inf)
    return place


def _parabola(x: Real, y: Real, log_error: Real, target: float) -> Real:
    """Return where the parabola fitted to each row, in log-log, reaches the target beyond the last x.

    Parameters
    ----------
    x : ndarray of shape (k,)
        Three values or more.
    y : ndarray of shape (rows, k)
        All rows end above the target.
    log_error : ndarray of shape (k,)
        Standard errors of log(y).

    Returns
    -------
    ndarray of shape (rows,)
        The last x where the parabola is below the target there already; inf where it turns before it gets
        there.
    """
    bend, slope, height = np.polyfit(np.log(x / x[-1]), np.log(y / target).T, 2, w=1.0 / log_error)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        denominator = -slope + np.sqrt(slope**2 - 4.0 * bend * height)
        found = x[-1] * np.exp(2.0 * height / denominator)
    return np.where(height <= 0.0, x[-1], np.where(denominator > 0.0, found, np.inf))
