"""The points of a study that a figure shows: the axes all there, a panel for each, and no more than fit."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import xarray as xr

from scalestudy.convergence.schema import POINT
from scalestudy.errors import AnalysisError
from scalestudy.limit.parameters import BETA_RANGE
from scalestudy.reporting.wording import AXIS_SYMBOLS

T = TypeVar("T")

FAMILY = ("beta", "gamma", "psi")
"""A curve against d belongs to one value of each."""

MOST_PANELS = 6
"""Most curves' panels of one figure, unless told otherwise."""

LARGEST_BETA = BETA_RANGE[1]
"""Figures end where the limit law does: beyond, e^{beta^2} leaves no scale on which anything can be read."""


def with_family(distances: xr.Dataset) -> xr.Dataset:
    """Return distances with d, beta, gamma and psi all as dimensions, sorted, in memory.

    Raises
    ------
    AnalysisError
        If this is not what `scalestudy.convergence.distances` returns.
    """
    for name in ("w1", *POINT):
        if name not in distances:
            raise AnalysisError(
                f"This dataset has no {name!r}. Figures are drawn from what distances() returns."
            )
    missing = [name for name in POINT if name not in distances.dims]
    full: xr.Dataset = distances.expand_dims(missing).sortby(list(POINT)).compute()
    return full


def drawable(distances: xr.Dataset) -> xr.Dataset:
    """Return what figures show of a study: beta up to 6, and only d of which a trial is done there.

    Parameters
    ----------
    distances : Dataset
        As `with_family` takes it.
    """
    full = with_family(distances)
    full = full.isel(beta=np.flatnonzero(full["beta"].values <= LARGEST_BETA))
    used = full["trials_used"].sum(FAMILY)
    return full.isel(d=np.flatnonzero(used.values > 0))


def not_drawable(distances: xr.Dataset) -> str:
    """Return what a report says of points with trials that its figures leave out; nothing without any."""
    beta = sorted({point["beta"] for point in families(with_family(distances))})
    beyond = ", ".join(f"{value:g}" for value in beta if value > LARGEST_BETA)
    if not beyond:
        return ""
    return (
        f"No figures are drawn of beta = {beyond}: the limit law ends at beta = {LARGEST_BETA:g}, where "
        f"e^(beta^2) is about {np.exp(LARGEST_BETA**2):.0e}, and larger values leave no readable scale."
    )


def families(distances: xr.Dataset) -> list[dict[str, float]]:
    """Return (beta, gamma, psi) of every curve of which at least one trial is done."""
    used = distances["trials_used"].sum("d").transpose(*FAMILY)
    return [
        {name: float(used[name][i]) for name, i in zip(FAMILY, index, strict=True)}
        for index in np.argwhere(used.values > 0)
    ]


def curve_at(data: xr.Dataset, family: dict[str, float]) -> xr.Dataset:
    """Return what belongs to one (beta, gamma, psi), only the d of which a trial is done."""
    curve = data.sel(family)
    return curve.isel(d=np.flatnonzero(curve["trials_used"].values > 0))


def at_family(data: xr.Dataset, family: dict[str, float]) -> xr.Dataset:
    """Return what belongs to one (beta, gamma, psi), of a dataset that may have lost some of them."""
    return data.sel({name: value for name, value in family.items() if name in data.dims})


def spread(items: list[T], most: int) -> list[T]:
    """Return at most so many items, evenly spaced, the first and the last among them.

    Examples
    --------
    >>> spread([1, 2, 3, 4, 5, 6, 7], 3)
    [1, 4, 7]
    """
    if len(items) <= most:
        return items
    if most == 1:
        return items[:1]
    return [items[round(i * (len(items) - 1) / (most - 1))] for i in range(most)]


def title_of(family: dict[str, float]) -> str:
    """Return the panel title of a point, such as beta = 1, gamma = 0.5, psi = 1, in symbols."""
    return ",  ".join(f"{AXIS_SYMBOLS[name]} = {value:.4g}" for name, value in family.items())


def shown_of(shown: int, total: int) -> str:
    """Return what a capped figure must say; nothing if it shows all."""
    points = r"points ($\beta$, $\gamma$, $\psi$)"
    return "" if shown == total else f"{shown} of {total} {points} shown, evenly spaced"
