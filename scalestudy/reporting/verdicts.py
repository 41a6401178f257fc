"""The verdict as a page shows it: one line a rung, grouped by point; also where there is no rate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr

from scalestudy.convergence import verdict
from scalestudy.reporting import points
from scalestudy.reporting.means import over_trials
from scalestudy.reporting.wording import percent


@dataclass(frozen=True)
class Group:
    """What is said of one (beta, gamma, psi).

    Attributes
    ----------
    point : dict of str to float
        The point.
    lines : tuple of (str, str)
        Rung, and one line about it.
    """

    point: dict[str, float]
    lines: tuple[tuple[str, str], ...]


def groups(distances: xr.Dataset) -> list[Group]:
    """Return the verdict on every point of which a trial is done.

    Parameters
    ----------
    distances : Dataset
        In memory; with a single d there are distances in it and no rates.
    """
    full = points.with_family(distances)
    # The largest d are run first: those that an unfinished study has not come to say nothing yet.
    full = full.isel(d=(full["trials_used"] > 0).any(points.FAMILY).values)
    every = points.families(full)
    if full.sizes["d"] < 2:
        return [Group(family, _without_rates(points.curve_at(full, family))) for family in every]
    said: dict[tuple[float, ...], list[tuple[str, str]]] = {}
    for one in verdict(full):
        # The point stands above its group; the line goes on after it.
        _, _, text = str(one).partition("): ")
        said.setdefault((one.beta, one.gamma, one.psi), []).append((one.model, text))
    return [Group(family, tuple(said[tuple(family.values())])) for family in every]


def _without_rates(curve: xr.Dataset) -> tuple[tuple[str, str], ...]:
    theta1 = np.expm1(float(curve["beta"]) ** 2)
    contrast = percent(100.0 * curve["w1_nu_mp"].item() / theta1)
    lines = []
    for model in curve["model"].values:
        mean, error = (100.0 * value.item() for value in over_trials(curve["w1_relative"].sel(model=model)))
        if np.isfinite(mean):
            spread = f" ± {percent(error)}" if np.isfinite(error) else ""
            text = (
                f"{percent(mean)}{spread} % from the law at d = {int(curve['d'].item()):,} "
                f"(Marchenko-Pastur: {contrast} %); one d gives no rate."
            )
        else:
            text = "no limit law here."
        lines.append((str(model), text))
    return tuple(lines)
