"""A measure along one dimension, made ready to be fitted: checked, sorted, and cut into columns."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import xarray as xr

from scalestudy.convergence.bootstrap import TrialMeans, single_values, trial_means
from scalestudy.convergence.schema import STEPPED
from scalestudy.errors import AnalysisError


def checked_measure(distances: xr.Dataset, measure: str, dim: str) -> xr.DataArray:
    """Return a measure sorted along a dimension and in memory, or say why no power law can be fitted.

    Raises
    ------
    AnalysisError
        If there is no such measure or dimension, fewer than two values along it, values of it that are not
        positive numbers, or negative distances.
    """
    if measure not in distances.data_vars:
        names = ", ".join(str(name) for name in distances.data_vars)
        raise AnalysisError(f"Invalid measure {measure!r}. Must be one of {names}.")
    data = distances[measure]
    if dim not in data.dims or dim == "trial":
        dims = ", ".join(str(name) for name in data.dims if name != "trial")
        raise AnalysisError(f"Invalid dim {dim!r} for {measure}. Must be one of {dims}.")
    if data.sizes[dim] < 2:
        raise AnalysisError(f"A rate needs at least 2 values of {dim}; this has {data.sizes[dim]}.")
    if not np.issubdtype(data[dim].dtype, np.number) or bool((data[dim] <= 0).any()):
        raise AnalysisError(f"Rates are powers of {dim}, so its values must be positive numbers.")
    data = data.sortby(dim).compute()
    if bool((data < 0).any()):
        raise AnalysisError(
            f"{measure} has negative values: it is not a distance, no power law describes it."
        )
    return data


def other_dims(data: xr.DataArray, dim: str) -> tuple[str, ...]:
    """Return the dimensions that a fit along `dim` leaves."""
    return tuple(str(name) for name in data.dims if name not in (dim, "trial"))


def columns(
    data: xr.DataArray, dim: str, samples: int, seed: int
) -> Iterator[tuple[tuple[int, ...], TrialMeans]]:
    """Return the trial means along one dimension, at each index along the others.

    Parameters
    ----------
    data : DataArray
        From `checked_measure`; without a dimension trial its values are taken as they are.
    dim : str
        The dimension.
    samples, seed : int
        Bootstrap samples, and the seed of their draws.
    """
    x = np.asarray(data[dim].values, dtype=np.float64)
    others = other_dims(data, dim)
    has_trials = "trial" in data.dims
    tail = (dim, "trial") if has_trials else (dim,)
    values = np.asarray(data.transpose(*others, *tail).values, dtype=np.float64)
    for index in np.ndindex(*(data.sizes[name] for name in others)):
        column = values[index]
        yield index, trial_means(column, x, samples, seed) if has_trials else single_values(column, x)


def stepped_models(distances: xr.Dataset, data: xr.DataArray, dim: str) -> xr.DataArray:
    """Return which models change along `dim` by the integer n_d, besides changing with its size."""
    models = [str(name) for name in data["model"].values]
    changes = dim == "d" and "degree" in distances and len(np.unique(distances["degree"].values)) > 1
    flags = np.array([changes and name in STEPPED for name in models])
    label = {"long_name": "rung changes by the integer n_d within the data"}
    return xr.DataArray(flags, dims="model", coords={"model": data["model"]}, attrs=label)
