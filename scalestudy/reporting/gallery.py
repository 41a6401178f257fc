"""Which figures a study gets, with their titles and what a reader who cannot see them is told."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from scalestudy.convergence.laws import Tokens
from scalestudy.reporting import figures, points
from scalestudy.reporting.figures import Sample

MOST_SPECTRA = 3
"""Points whose spectra are shown: the one nearest to the published setting, and both ends."""


@dataclass(frozen=True)
class Plate:
    """A figure to be drawn.

    Attributes
    ----------
    kind : str
        Which figure; its caption is the one of ``templates/captions.html``.
    title : str
        What stands above it.
    alt : str
        What it shows, for who cannot see it.
    draw : function of a width in inches
        Draws it.
    suffix : str
        What tells its files from those of other points.
    """

    kind: str
    title: str
    alt: str
    draw: Callable[[float], Figure]
    suffix: str = ""

    @property
    def name(self) -> str:
        """Name of its files, without the extension."""
        return f"{self.kind}{self.suffix}"


def curves(distances: xr.Dataset, rates: xr.Dataset | None) -> Iterator[Plate]:
    """Return the figures of distances, each drawn when asked for.

    Parameters
    ----------
    distances : Dataset
        In memory, `points.drawable`.
    rates : Dataset, optional
        Fitted to ``w1``; None for a study with a single d.
    """
    along = "against d on logarithmic axes" if distances.sizes["d"] > 1 else "beside each other"
    yield Plate(
        "convergence",
        "Distance to the limit law",
        f"Distance of every rung of the ladder to the limit law, {along}, with the n-point floor and the "
        "distance to the Marchenko-Pastur law.",
        lambda width: figures.convergence(distances, rates, width=width),
    )
    yield Plate(
        "error_budget",
        "Where the error comes from",
        f"Distances between neighbouring rungs, {along}, with the exact truncation bias "
        "and the total distance of the attention bulk to the law.",
        lambda width: figures.error_budget(distances, width=width),
    )
    if any(bool(np.isfinite(distances[name]).any()) for name in ("d_std", "s1_A")):
        yield Plate(
            "finite_size",
            "Exact finite-size facts",
            "Deviation of the row normalisers, and the top singular value of A minus one, against d on "
            "logarithmic axes, with their theoretical curves.",
            lambda width: figures.finite_size(distances, width=width),
        )
    for x, y in planes(distances):
        yield Plate(
            "map",
            f"Distance to the law over {y} and {x}",
            f"Heat map of the relative distance to the law over {x} and {y}, for the attention bulk and for "
            "its Gaussian equivalent.",
            partial(_map, distances, x, y),
            f"_{y}_{x}",
        )


def _map(distances: xr.Dataset, x: str, y: str, width: float) -> Figure:
    return figures.heat_map(distances, x, y, width=width)


def planes(distances: xr.Dataset) -> list[tuple[str, str]]:
    """Return the pairs of axes over which a study has a heat map to show."""
    longer = {name for name in ("d", *points.FAMILY) if distances[name].size > 1}
    wanted = [("d", "beta"), ("psi", "gamma")]
    if not {"psi", "gamma"} <= longer:
        wanted += [("d", "gamma"), ("d", "psi")]
    return [pair for pair in wanted if set(pair) <= longer]


def spectra(sample: Sample, drop: int, suffix: str) -> list[Plate]:
    """Return the figures of one point's spectra.

    Parameters
    ----------
    sample : Sample
        The point.
    drop : int
        Largest values that are no part of the bulk.
    suffix : str
        What tells its files from those of other points.
    """
    return [
        Plate(
            "top_values",
            "Largest squared singular values",
            "Bars of the five largest squared singular values of every rung, with the right edge of the law.",
            lambda width: figures.top_values(sample, width=width),
            suffix,
        ),
        Plate(
            "row_normalizers",
            "Row normalisers",
            "Histogram of the row normalisers with their mean and deviation.",
            lambda width: figures.row_normalizers(sample, width=width),
            suffix,
        ),
        Plate(
            "bulk_histograms",
            "Bulk of every rung",
            "Histograms of the singular values of every rung with the densities of the limit law and of the "
            "Marchenko-Pastur law.",
            lambda width: figures.bulk_histograms(sample, drop=drop, width=width),
            suffix,
        ),
        Plate(
            "sorted_curves",
            "Sorted curves",
            "Sorted squared singular values of every rung against rank, and their differences to the law.",
            lambda width: figures.sorted_curves(sample, drop=drop, width=width),
            suffix,
        ),
        Plate(
            "quantile_quantile",
            "Quantiles against the law",
            "Quantile-quantile plot of every rung against the limit law, and the differences.",
            lambda width: figures.quantile_quantile(sample, drop=drop, width=width),
            suffix,
        ),
    ]


def spectral_points(distances: xr.Dataset) -> list[dict[str, float]]:
    """Choose whose spectra are shown, each at its largest d of which a trial is done.

    Returns
    -------
    list of dict
        Values of d, beta, gamma and psi: the point nearest to beta = gamma = psi = 1, where the published
        experiment is, and the first and the last of the study.
    """
    full = points.drawable(distances)
    every = points.families(full)
    if not every:
        return []
    near = min(every, key=lambda family: sum(abs(np.log(value)) for value in family.values()))
    chosen = [family for family in every if family in (every[0], near, every[-1])][:MOST_SPECTRA]
    return [{"d": int(points.curve_at(full, family)["d"].values[-1]), **family} for family in chosen]


def sample_at(study: xr.Dataset, point: dict[str, float], tokens: Tokens | None) -> Sample:
    """Read the spectra of one of `spectral_points`."""
    return figures.sample_of(study.sel(point), tokens)
