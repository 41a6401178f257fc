"""Which figures a study gets, with their titles, captions and what a reader who cannot see them is told."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from scalestudy.convergence.laws import Tokens
from scalestudy.reporting import figures
from scalestudy.reporting.figures import Sample, points

MOST_SPECTRA = 3
"""Points whose spectra are shown: the one nearest to the published setting, and both ends."""


@dataclass(frozen=True)
class Plate:
    """A figure to be drawn.

    Attributes
    ----------
    name : str
        Name of its files.
    title, caption : str
        What stands above and below it.
    alt : str
        What it shows, for who cannot see it.
    draw : function of a width in inches
        Draws it.
    """

    name: str
    title: str
    caption: str
    alt: str
    draw: Callable[[float], Figure]


def curves(distances: xr.Dataset, rates: xr.Dataset | None) -> Iterator[Plate]:
    """Return the figures of distances, each drawn when asked for.

    Parameters
    ----------
    distances : Dataset
        In memory.
    rates : Dataset, optional
        Fitted to ``w1``; None for a study with a single d.
    """
    fits = (
        "Lines are power laws C d^-alpha fitted to the trial means; exponents carry bootstrap intervals over "
        "trials. Rungs that depend on the integer degree n_d move in steps and are joined, not fitted. "
        if rates is not None
        else ""
    )
    yield Plate(
        "convergence",
        "Distance to the limit law",
        "Wasserstein-1 distance between the bulk of squared singular values and the Gaussian-equivalent law "
        f"nu. Error bars are 95 % intervals of the mean over trials. {fits}The grey region lies below the "
        "least distance that any spectrum of so many values can have. Crosses are the distance of the "
        "attention bulk to the Marchenko-Pastur law; it tends to the dashed constant, not to zero.",
        "Distance of every rung of the ladder to the limit law against d on logarithmic axes, with the "
        "n-point floor below and the Marchenko-Pastur contrast above.",
        lambda width: figures.convergence(distances, rates, width=width),
    )
    yield Plate(
        "error_budget",
        "Where the error comes from",
        "Wasserstein-1 distance between neighbouring rungs: what each replacement costs, from attention to "
        "its Gaussian equivalent and to the law. The dotted line is the exact distance of the truncated law "
        "at degree n_d to nu, in which there is no sampling.",
        "Distances between neighbouring rungs against d on logarithmic axes, with the exact truncation bias "
        "and the total distance of the attention bulk to the law.",
        lambda width: figures.error_budget(distances, width=width),
    )
    if bool(np.isfinite(distances["d_std"]).any()) and bool(np.isfinite(distances["s1_A"]).any()):
        yield Plate(
            "finite_size",
            "Exact finite-size facts",
            "Left: root mean square deviation of the row normalisers D_i from their exact mean, with the exact "
            "deviation. Right: s_1(A) - 1 with its leading order ((e^(beta^2) - 1)/ell + beta^4/(2 d_qk))/2. "
            "The curves hold for orthonormal tokens. At large beta few huge rows carry the variance, and a "
            "sample that lacks them lies below the exact curve.",
            "Deviation of the row normalisers, and the top singular value of A minus one, against d on "
            "logarithmic axes, with their theoretical curves.",
            lambda width: figures.finite_size(distances, width=width),
        )
    for x, y in planes(distances):
        yield Plate(
            f"map_{y}_{x}",
            f"Distance to the law over {y} and {x}",
            "Wasserstein-1 distance to nu in percent of theta1 = e^(beta^2) - 1, the mean of nu; colours are "
            "logarithmic and common to both rungs.",
            f"Heat map of the relative distance to the law over {x} and {y}, for the attention bulk and for "
            "its Gaussian equivalent.",
            lambda width, x=x, y=y: figures.heat_map(distances, x, y, width=width),  # type: ignore[misc]
        )


def planes(distances: xr.Dataset) -> list[tuple[str, str]]:
    """Return the pairs of axes over which a study has a heat map to show."""
    longer = {name for name in ("d", *points.FAMILY) if distances[name].size > 1}
    wanted = [("d", "beta"), ("psi", "gamma")]
    if not {"psi", "gamma"} <= longer:
        wanted += [("d", "gamma"), ("d", "psi")]
    return [pair for pair in wanted if set(pair) <= longer]


def spectra(sample: Sample, drop: int, suffix: str) -> Iterator[Plate]:
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
    yield Plate(
        f"top_values{suffix}",
        "Largest squared singular values",
        "The five largest of every rung, means over trials with 95 % intervals. Cut bars are the spikes of the "
        "rungs that are not centred; they carry their values.",
        "Bars of the five largest squared singular values of every rung, with the right edge of the law.",
        lambda width: figures.top_values(sample, width=width),
    )
    yield Plate(
        f"row_normalizers{suffix}",
        "Row normalisers",
        "Histogram of D_i over rows and trials. The solid line is the exact mean at this d, the dashed lines "
        "one exact standard deviation to either side (for orthonormal tokens).",
        "Histogram of the row normalisers with their mean and deviation.",
        lambda width: figures.row_normalizers(sample, width=width),
    )
    yield Plate(
        f"bulk_histograms{suffix}",
        "Bulk of every rung",
        f"Singular values s without the {drop} largest, pooled over trials. The hard edge of nu at zero, a "
        "divergence x^(-1/2) in x = s^2, is finite as a density of s; Marchenko-Pastur is a quarter circle.",
        "Histograms of the singular values of every rung with the densities of the limit law and of the "
        "Marchenko-Pastur law.",
        lambda width: figures.bulk_histograms(sample, drop=drop, width=width),
    )
    yield Plate(
        f"sorted_curves{suffix}",
        "Sorted curves",
        "Squared singular values by rank, averaged over trials, and their differences to the quantiles of nu.",
        "Sorted squared singular values of every rung against rank, and their differences to the law.",
        lambda width: figures.sorted_curves(sample, drop=drop, width=width),
    )
    yield Plate(
        f"quantile_quantile{suffix}",
        "Quantiles against the law",
        "Singular values against the quantiles of nu of the same rank, averaged over trials, and what is left.",
        "Quantile-quantile plot of every rung against the limit law, and the differences.",
        lambda width: figures.quantile_quantile(sample, drop=drop, width=width),
    )


def spectral_points(distances: xr.Dataset) -> list[dict[str, float]]:
    """Choose whose spectra are shown, each at its largest d of which a trial is done.

    Returns
    -------
    list of dict
        Values of d, beta, gamma and psi: the point nearest to beta = gamma = psi = 1, where the published
        experiment is, and the first and the last of the study.
    """
    full = points.with_family(distances)
    every = points.families(full)
    if not every:
        return []
    near = min(every, key=lambda family: sum(abs(np.log(value)) for value in family.values()))
    chosen = [family for family in every if family in (every[0], near, every[-1])][:MOST_SPECTRA]
    return [{"d": int(points.curve_at(full, family)["d"].values[-1]), **family} for family in chosen]


def sample_at(study: xr.Dataset, point: dict[str, float], tokens: Tokens | None) -> Sample:
    """Read the spectra of one of `spectral_points`."""
    return figures.sample_of(study.sel(point), tokens)
