"""What a command prints: the table at the end of a sweep, a plan, the state of a store."""

from __future__ import annotations

import os
import sys

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from scalestudy.convergence.schema import POINT
from scalestudy.reporting import points

_TO_REFERENCE = ("curve", "l1")
_MOST_POINTS = 24
_LONG = 1e6


def summary_table(distances: xr.Dataset) -> Table:
    """Return one row for each point and rung: top squared value, distances to `sqrt_d_A_perp`.

    Parameters
    ----------
    distances : xarray.Dataset
        As `scalestudy.distances` gives them; points without a complete trial are left out. Of more than 24
        points the 24 of largest d are shown.
    """
    full = points.with_family(distances)
    axes = [name for name in points.FAMILY if full.sizes[name] > 1]
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("d", *axes, "trials"):
        table.add_column(name, justify="right")
    table.add_column("model")
    for name in ("top s^2", "curve error", "L1"):
        table.add_column(name, justify="right")
    used = np.argwhere(full["trials_used"].transpose(*POINT).values > 0)
    for index in used[-_MOST_POINTS:]:
        point = full.isel(dict(zip(POINT, index, strict=True)))
        head = [f"{int(point['d'])}", *(f"{float(point[name]):g}" for name in axes)]
        head.append(f"{int(point['trials_used'])}")
        top = point["largest"].mean("trial")
        last = str(point["model"].values[-1])
        for name in map(str, point["model"].values):
            to_reference = (_shown(point[measure].sel(model=name)) for measure in _TO_REFERENCE)
            rung = [f"{float(top.sel(model=name)):.5g}", *to_reference]
            table.add_row(*head, name, *rung, end_section=name == last)
            head = [""] * len(head)
    if len(used) > _MOST_POINTS:
        table.caption = f"the {_MOST_POINTS} points of largest d, of {len(used)}; the store holds them all"
    return table


def _shown(value: xr.DataArray) -> str:
    """Return a number in few characters; nothing where there is none, as without the reference rung."""
    number = float(value)
    return "" if np.isnan(number) else f"{number:.4f}" if abs(number) < _LONG else f"{number:.2e}"


def span(counts: NDArray[np.integer]) -> str:
    """Return what all counts above zero have in common: `20`, `4 to 20`, or `0` without any."""
    held = counts[counts > 0]
    if not held.size:
        return "0"
    return f"{held.min()}" if held.min() == held.max() else f"{held.min()} to {held.max()}"


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Go on in silence: that nobody reads any more, as after `| head`, must not end a sweep."""
        self.quiet = True
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def console(*, error: bool = False) -> Console:
    """Return a console that does not wrap or colour what is piped, and takes no text for markup."""
    return _Console(stderr=error, highlight=False, soft_wrap=True, markup=False, emoji=False)
