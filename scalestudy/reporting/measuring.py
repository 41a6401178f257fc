"""Measuring a store: its distances to the limit law, kept in its group `convergence`."""

from __future__ import annotations

import xarray as xr

from scalestudy.convergence import distances
from scalestudy.errors import DamagedStoreError
from scalestudy.store import (
    Location,
    open_study,
    read_group,
    read_manifest,
    read_tokens,
    settle,
    write_group,
    writing,
)
from scalestudy.store.damage import damage_named
from scalestudy.store.integrity import is_settled
from scalestudy.units import counted

GROUP = "convergence"


def measure(location: Location, drop: int = 3) -> xr.Dataset:
    """Measure what changed in a store since it was last measured, and keep the distances in the store.

    Parameters
    ----------
    location : Location
        The store.
    drop : int
        Largest squared singular values left out of every spectrum.

    Returns
    -------
    xarray.Dataset
        As `scalestudy.distances` gives it, in memory.

    Raises
    ------
    StoreError
        If there is no such store, or another run is writing to it; a `DamagedStoreError` if it cannot be
        read, or does not hold what it counts as done.
    """
    manifest = read_manifest(location)
    with writing(location), damage_named(location):
        if not is_settled(location, manifest):
            settle(location, manifest)
        matrix = read_tokens(location) if manifest.identity["tokens"].startswith("matrix ") else None
        earlier = read_group(location, GROUP)
        study = open_study(location.url)
        found = distances(study, drop, tokens=matrix, reuse=earlier).compute()
        lost = lost_trials(study, found)
        if lost:
            what = f"{counted(lost, 'trial')} of those that it counts as done not there"
            raise DamagedStoreError.at(location, what)
        if earlier is None or not found.identical(earlier):
            write_group(location, GROUP, found)
    return found


def lost_trials(study: xr.Dataset, measured: xr.Dataset) -> int:
    """Return how many trials are counted as done and could not be measured: a missing chunk reads as NaN."""
    return int((study["done"].sum("block") - measured["trials_used"]).sum())
