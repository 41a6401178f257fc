"""How fast a distance falls: exponents, limits, and their bootstrap intervals, for every rung at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from scalestudy.convergence.bootstrap import TrialMeans
from scalestudy.convergence.bulk import Real
from scalestudy.convergence.columns import checked_measure, columns, other_dims, stepped_models
from scalestudy.convergence.fits import fitted_means, goodness, power_law, power_law_with_limit, scatter
from scalestudy.errors import AnalysisError

ESTIMATES = {
    "exponent": "exponent alpha of C {dim}^-alpha",
    "prefactor": "prefactor C of C {dim}^-alpha",
    "limit": "limit w_inf of w_inf + C {dim}^-alpha",
    "limit_exponent": "exponent alpha of w_inf + C {dim}^-alpha",
    "limit_prefactor": "prefactor C of w_inf + C {dim}^-alpha",
    "local_exponent": "exponent between neighbouring {dim}",
}
"""What has an interval, in ``..._low`` and ``..._high``."""

QUALITIES = {
    "chi2_reduced": "chi^2 per degree of freedom of C {dim}^-alpha",
    "p_value": "p-value of the fit C {dim}^-alpha",
    "limit_chi2_reduced": "chi^2 per degree of freedom of w_inf + C {dim}^-alpha",
    "limit_p_value": "p-value of the fit w_inf + C {dim}^-alpha",
    "limit_contains_zero": "whether the interval of w_inf contains 0",
    "scatter": "scatter of log means about C {dim}^-alpha beyond their errors",
    "points_used": "values of {dim} behind the fit",
    "mean": "mean over trials",
    "stderr": "standard error of the mean over trials",
}

DOUBTFUL_P_VALUE = 0.01
"""Below it, trial means are no pure power law."""

Found = dict[str, Any]


def rates(
    distances: xr.Dataset,
    measure: str = "w1",
    dim: str = "d",
    *,
    samples: int = 2000,
    seed: int = 0,
    level: float = 0.95,
) -> xr.Dataset:
    """Fit how a distance falls along d, for every rung and point.

    Parameters
    ----------
    distances : Dataset
        As `distances` returns it.
    measure : str
        Variable to fit. One without trials (``w1_pooled``, ``truncation_bias``) is fitted with equal weights
        and has neither intervals nor a goodness of fit.
    dim : str
        Dimension along which it falls.
    samples, seed : int
        Bootstrap samples, and the seed of their draws.
    level : float
        Coverage of the intervals.

    Returns
    -------
    Dataset
        Over the remaining dimensions of the measure:

        ``exponent``, ``prefactor``
            Weighted fit of C d^-alpha to the trial means. ``chi2_reduced`` and ``p_value`` say how well a
            pure power law describes them. Where it does not (p < 0.01), ``scatter`` is added to the errors,
            so that the d with most trials do not decide alone; then trust ``local_exponent``.
        ``limit``, ``limit_exponent``, ``limit_prefactor``
            The fit w_inf + C d^-alpha with w_inf >= 0, from three d on. ``limit_contains_zero`` is 1 where
            the interval of w_inf contains 0, so that convergence to the law is supported, 0 where it does
            not, NaN where there is no interval: there is none where this curve does not describe the means
            either (``limit_p_value`` below 0.01, or a fit that would need a negative limit).
        ``local_exponent`` (d_pair)
            Slope between neighbouring d that can be used; at the geometric mean of the two.
        ``mean``, ``stderr`` (d)
            What was fitted.
        ``points_used``
            How many d have at least two complete trials and a positive mean; the others are left out. With
            fewer than two of them everything else is NaN.
        ``stepped`` (model)
            True where the rung also changes by the integer n_d within the data: then it moves in steps, and
            one power law cannot be expected to hold.

        The first six have intervals, ``..._low`` and ``..._high``.

    Raises
    ------
    AnalysisError
        If there is no such measure or dimension, fewer than two values along it, or negative distances.
    """
    data = checked_measure(distances, measure, dim)
    if samples < 1 or not 0.0 < level < 1.0:
        raise AnalysisError(f"Invalid samples {samples} or level {level}. Must be at least 1, and in (0, 1).")
    x = np.asarray(data[dim].values, dtype=np.float64)
    others = other_dims(data, dim)
    found: Found = {}
    for index, means in columns(data, dim, samples, seed):
        for name, value in _fit(means, x, level).items():
            found.setdefault(name, np.full((*(data.sizes[o] for o in others), *np.shape(value)), np.nan))[
                index
            ] = value
    last = {"mean": (dim,), "stderr": (dim,)}
    last |= {f"local_exponent{end}": (f"{dim}_pair",) for end in ("", "_low", "_high")}
    result = xr.Dataset(
        {
            name: (
                (*others, *last.get(name, ())),
                values,
                {"long_name": _label(name, dim, level), "units": "1"},
            )
            for name, values in found.items()
        },
        coords={name: data[name].variable for name in (dim, *others) if name in data.coords},
        attrs={"measure": measure, "dim": dim, "samples": samples, "seed": seed, "level": level},
    )
    result = result.assign_coords(
        {
            f"{dim}_pair": (
                f"{dim}_pair",
                np.sqrt(x[:-1] * x[1:]),
                {"long_name": f"geometric mean of neighbouring {dim}"},
            ),
            f"{dim}_lower": (f"{dim}_pair", data[dim].values[:-1]),
            f"{dim}_upper": (f"{dim}_pair", data[dim].values[1:]),
        }
    )
    return result.assign(stepped=stepped_models(distances, data, dim)) if "model" in data.dims else result


def _fit(means: TrialMeans, x: Real, level: float) -> Found:
    """All results of one column, by name; NaN what its points cannot give."""
    k = len(means.x)
    found: Found = {f"{name}{end}": np.nan for name in ESTIMATES for end in ("", "_low", "_high")}
    found |= dict.fromkeys(QUALITIES, np.nan)
    found |= {name: np.full(len(x), np.nan) for name in ("mean", "stderr")}
    found |= {f"local_exponent{end}": np.full(len(x) - 1, np.nan) for end in ("", "_low", "_high")}
    places = np.searchsorted(x, means.x)
    found["mean"][places], found["stderr"][places] = means.mean, means.error
    found["points_used"] = float(k)
    if k >= 2:
        _fit_power_law(found, means, level)
        _fit_neighbours(found, means, places, level)
    if k >= 3:
        _fit_limit(found, means, level)
    return found


def _fit_power_law(found: Found, means: TrialMeans, level: float) -> None:
    error = means.log_error
    if means.resampled.size:
        residual = np.log(means.mean / power_law(means.x, means.mean, error).at(means.x))
        found["chi2_reduced"], found["p_value"] = goodness(residual, error, 2)
        # Points of a curve that is no power law deserve weights by how far they are from one.
        misfit = found["p_value"] < DOUBTFUL_P_VALUE
        found["scatter"] = scatter(means.x, means.mean, error) if misfit else 0.0
        error = np.hypot(error, found["scatter"])
    fit, again = (power_law(means.x, y, error) for y in (means.mean, means.resampled))
    _put(found, "exponent", fit.exponent, *means.interval(again.exponent, level))
    _put(found, "prefactor", fit.prefactor, *means.interval(again.prefactor, level, positive=True))


def _fit_neighbours(found: Found, means: TrialMeans, places: Any, level: float) -> None:
    for i in range(len(places) - 1):
        if places[i + 1] == places[i] + 1:
            pair = means.only(slice(i, i + 2))
            slope, again = (
                power_law(pair.x, y, pair.log_error).exponent for y in (pair.mean, pair.resampled)
            )
            low, high = pair.interval(again, level)
            for end, value in (("", slope), ("_low", low), ("_high", high)):
                found[f"local_exponent{end}"][places[i]] = value


def _fit_limit(found: Found, means: TrialMeans, level: float) -> None:
    """Fit with a limit: w_inf >= 0 for the estimates, any w_inf for the intervals.

    A distance has no negative limit. But resampled fits that stop at 0 would make the exponent's interval
    too short, so theirs is free, and the limit's interval is cut at 0 afterwards. There is none where the
    means are no such curve: where chi^2 says so, or where all of the interval lies below 0.
    """
    x, error = means.x, means.log_error
    typical = fitted_means(x, means.mean, error)
    fit = power_law_with_limit(x, means.mean, error, typical)
    again = power_law_with_limit(x, means.resampled, error, typical, negative=True)
    for name in ("exponent", "prefactor", "limit"):
        value = float(getattr(fit, name))
        low, high = means.interval(getattr(again, name), level)
        if name == "limit":
            free_high = high
        key = "limit" if name == "limit" else f"limit_{name}"
        _put(found, key, value, np.minimum(low, value), np.maximum(high, value))
    if means.resampled.size:
        residual = means.mean - fit.at(x)
        found["limit_chi2_reduced"], found["limit_p_value"] = goodness(residual, error * typical, 3)
        if found["limit_p_value"] < DOUBTFUL_P_VALUE or free_high <= 0.0:
            found["limit_low"] = found["limit_high"] = np.nan
        else:
            found["limit_low"] = max(found["limit_low"], 0.0)
            found["limit_contains_zero"] = float(found["limit_low"] == 0.0)


def _put(found: Found, name: str, value: Any, low: float, high: float) -> None:
    found[name], found[f"{name}_low"], found[f"{name}_high"] = float(value), low, high


def _label(name: str, dim: str, level: float) -> str:
    for end in ("low", "high"):
        stem = name.removesuffix(f"_{end}")
        if stem != name:
            return f"{_label(stem, dim, level)}, {end} end of the {100 * level:g} % interval"
    return (ESTIMATES | QUALITIES)[name].format(dim=dim)
