"""Taking over what was measured before, so that a study that grows pays only for what is new."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from scalestudy.convergence.schema import POINT, VARIABLES
from scalestudy.convergence.study import complete_trials


def still_valid(full: xr.Dataset, old: xr.Dataset | None, attributes: dict[str, Any]) -> NDArray[np.bool_]:
    """Return at which points of a study earlier distances still hold.

    That is where just as many trials were complete then: trials never change, they only become more.

    Parameters
    ----------
    full : Dataset
        A study with all four axes.
    old : Dataset, optional
        Earlier distances, from the same study.
    attributes : dict
        How the distances are measured now; what was measured otherwise does not hold.

    Returns
    -------
    ndarray of bool, shape (d, beta, gamma, psi)
    """
    complete = complete_trials(full)
    nowhere = np.zeros([full.sizes[name] for name in POINT], dtype=bool)
    if old is None or complete is None:
        return nowhere
    if any(name not in old for name in VARIABLES) or old.sizes["trial"] > full.sizes["trial"]:
        return nowhere
    as_now = all(old.attrs.get(key) == attributes[key] for key in ("drop", "tokens"))
    if not as_now or list(map(str, old["model"].values)) != list(map(str, full["model"].values)):
        return nowhere
    used = _aligned(old["trials_used"], full).transpose(*POINT).values
    return np.asarray(used == complete)


def take_over(new: xr.Dataset, old: xr.Dataset, valid: NDArray[np.bool_]) -> xr.Dataset:
    """Return distances with those of `old` where they are still valid."""
    where = xr.DataArray(valid, dims=POINT)
    missing = new.sizes["trial"] - old.sizes["trial"]
    kept = {}
    for name in VARIABLES:
        there = _aligned(old[name], new)
        there = there.pad(trial=(0, missing)) if "trial" in there.dims and missing else there
        kept[name] = new[name].copy(data=there.where(where, new[name]).transpose(*new[name].dims).data)
    return new.assign(kept)


def _aligned(old: xr.DataArray, like: xr.Dataset) -> xr.DataArray:
    """Reindex to the axes of another dataset, NaN where they are new."""
    old = old.expand_dims([name for name in POINT if name not in old.dims])
    plain = old.drop_vars([name for name in old.coords if name not in POINT])
    return plain.reindex({name: like[name].values for name in POINT})
