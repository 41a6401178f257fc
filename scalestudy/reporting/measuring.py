"""Measuring a store: its distances to the limit law, kept in its group `convergence`."""

from __future__ import annotations

import xarray as xr

from scalestudy.convergence import distances
from scalestudy.store import (
    Location,
    open_study,
    read_group,
    read_manifest,
    read_tokens,
    write_group,
    writing,
)

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
        If there is no such store, or another run is writing to it.
    """
    matrix = (
        read_tokens(location) if read_manifest(location).identity["tokens"].startswith("matrix ") else None
    )
    with writing(location):
        earlier = read_group(location, GROUP)
        found = distances(open_study(location.url), drop, tokens=matrix, reuse=earlier).compute()
        if earlier is None or not found.identical(earlier):
            write_group(location, GROUP, found)
    return found
