"""The published table (d = ell = d_qk = 1000, beta = 1, 10 trials) beside what a store holds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr

from scalestudy.reporting.figures import Sample

SETTING = {"d": 1000, "beta": 1.0, "gamma": 1.0, "psi": 1.0}

PUBLISHED = {
    "sqrt_d_A": (1002.21, 0.0202, 0.0068),
    "sqrt_d_A_perp": (10.29, 0.0, 0.0),
    "Y": (1004.40, 0.0320, 0.0313),
    "Y_f": (11.48, 0.0322, 0.0265),
    "Y_Q": (10.28, 0.0381, 0.0165),
    "Y_Q_lin": (8.83, 0.0486, 0.0352),
    "Y_f_lin": (8.88, 0.0501, 0.0389),
}
"""Rung: largest s^2, L1 distance of histograms and mean curve error to ``sqrt_d_A_perp``."""

PUBLISHED_SCALARS = {
    "s_1(A)": (1.0011, ".4f"),
    "mean of D_i": (0.99994, ".5f"),
    "deviation of D_i": (0.047, ".3f"),
    "largest |D_i - 1|": (0.199, ".3f"),
}
"""Name: what was published, and the format of both."""


@dataclass(frozen=True)
class Row:
    """One quantity: its name, and pairs of what is here and what was published."""

    name: str
    pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Comparison:
    """Rows of the seven rungs, rows of single numbers, and the trials behind what is here."""

    rungs: tuple[Row, ...]
    scalars: tuple[Row, ...]
    trials: int


def holds_setting(distances: xr.Dataset) -> bool:
    """Whether a study has trials at the published point, with its tokens."""
    if distances.attrs.get("tokens") not in ("orthonormal", "identity"):
        return False
    if any(value not in np.atleast_1d(distances[name].values) for name, value in SETTING.items()):
        return False
    here = {name: value for name, value in SETTING.items() if name in distances["trials_used"].dims}
    return bool(distances["trials_used"].sel(here) > 0)


def compare(distances: xr.Dataset, sample: Sample) -> Comparison:
    """Put the numbers of a store beside the published ones.

    Parameters
    ----------
    distances : Dataset
        In memory, of a study that `holds_setting`.
    sample : Sample
        The spectra of that point.
    """
    here = distances.sel({name: value for name, value in SETTING.items() if name in distances.dims})
    rungs = []
    for model, (top, l1, curve) in PUBLISHED.items():
        if model not in sample.squares:
            continue
        found = here.sel(model=model)
        pairs = (
            (f"{sample.squares[model][:, 0].mean():.2f}", f"{top:.2f}"),
            (f"{found['l1'].item():.4f}", f"{l1:.4f}"),
            (f"{found['curve'].item():.4f}", f"{curve:.4f}"),
        )
        rungs.append(Row(model, pairs))
    measured = {
        "s_1(A)": here["s1_A"].mean().item(),
        "mean of D_i": here["d_mean"].mean().item(),
        "deviation of D_i": here["d_std"].mean().item(),
        "largest |D_i - 1|": here["d_max"].max().item(),
    }
    scalars = tuple(
        Row(name, ((f"{measured[name]:{form}}", f"{value:{form}}"),))
        for name, (value, form) in PUBLISHED_SCALARS.items()
    )
    return Comparison(tuple(rungs), scalars, len(sample.normalizer))
