"""What a command prints: the table at the end of a sweep, a plan, the state of a store."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from scalestudy.convergence.curves import curve_error, histogram_distance

_REFERENCE = "sqrt_d_A_perp"
_MOST_POINTS = 24


def summary_table(dataset: xr.Dataset, drop: int) -> Table:
    """Return one row for each point and rung: top squared value, distances to `sqrt_d_A_perp`.

    Parameters
    ----------
    dataset : xarray.Dataset
        As `open_study` gives it; points without a complete trial are left out. Of more than 24 points the
        24 of largest d are shown.
    drop : int
        Largest values left out of the distances.
    """
    axes = [name for name in ("beta", "gamma", "psi") if dataset.sizes[name] > 1]
    points = list(_points(dataset))
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("d", *axes, "trials"):
        table.add_column(name, justify="right")
    table.add_column("model")
    for name in ("top s^2", "curve error", "L1"):
        table.add_column(name, justify="right")
    for point in points[-_MOST_POINTS:]:
        squares = point["squared_singular_values"].transpose("trial", "model", "rank").values
        squares = squares[np.isfinite(squares[:, 0, 0])][:, :, : int(point["ell"])]
        names = [str(name) for name in point["model"].values]
        reference = squares[:, names.index(_REFERENCE)] if _REFERENCE in names else None
        where = [f"{int(point['d'])}", *(f"{float(point[name]):g}" for name in axes), f"{len(squares)}"]
        for i, name in enumerate(names):
            row = [f"{squares[:, i, 0].mean():.5g}", "", ""]
            if reference is not None:
                row[1] = f"{curve_error(squares[:, i], reference, drop):.4f}"
                row[2] = f"{histogram_distance(squares[:, i], reference, float(point['beta']), drop):.4f}"
            table.add_row(
                *(where if i == 0 else [""] * len(where)), name, *row, end_section=i == len(names) - 1
            )
    if len(points) > _MOST_POINTS:
        table.caption = f"the {_MOST_POINTS} points of largest d, of {len(points)}; the store holds them all"
    return table


def _points(dataset: xr.Dataset) -> Iterator[xr.Dataset]:
    done = dataset["done"].sum("block")
    for i, j, k, m in np.argwhere(done.transpose("d", "beta", "gamma", "psi").values > 0):
        yield dataset.isel(d=i, beta=j, gamma=k, psi=m)


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
