"""The spectra of one point, in memory, with the laws that they are compared with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr

from scalestudy.convergence.laws import Point, Tokens, contrast_law, limit_law
from scalestudy.convergence.schema import POINT
from scalestudy.convergence.study import points_of, tokens_of, trials_to_read, with_all_axes
from scalestudy.errors import AnalysisError, LawError
from scalestudy.limit import Law
from scalestudy.reporting.means import Real
from scalestudy.reporting.points import title_of


@dataclass(frozen=True)
class Sample:
    """One point of a study.

    Attributes
    ----------
    point : Point
        Sizes and beta.
    squares : dict of str to ndarray of shape (trials, ell)
        Squared singular values of every rung, descending; complete trials only.
    normalizer : ndarray of shape (trials, ell)
        Row normalisers D_i.
    nu : Law, optional
        The limit law; None where there is none.
    contrast : Law
        The Marchenko-Pastur law of the same variance.
    tokens : str
        Ensemble of the tokens, or ``matrix``.
    """

    point: Point
    squares: dict[str, Real]
    normalizer: Real
    nu: Law | None
    contrast: Law
    tokens: str

    @property
    def title(self) -> str:
        """The point in symbols, with the number of trials."""
        sizes = {"beta": self.point.beta, "gamma": self.point.ell / self.point.d}
        sizes["psi"] = self.point.d_qk / self.point.d
        trials = len(self.normalizer)
        count = f"{trials} trial{'' if trials == 1 else 's'}"
        return f"$d$ = {self.point.d},  {title_of(sizes)},  {count}"


def sample_of(study: xr.Dataset | Sample, tokens: Tokens | None = None) -> Sample:
    """Read the complete trials of a study that was selected to one point.

    Parameters
    ----------
    study : Dataset or Sample
        A selection from what `open_study` returns, such as ``study.sel(d=1024, beta=1, gamma=1, psi=1)``;
        only this point is read. A sample is handed back, so that several figures can share it.
    tokens : str or ndarray of shape (ell, d), optional
        The tokens, by default those that the study names.

    Raises
    ------
    AnalysisError
        If there is more than one point, or no complete trial of it.
    """
    if isinstance(study, Sample):
        return study
    full = with_all_axes(study)
    sizes = {name: full.sizes[name] for name in POINT}
    if any(size != 1 for size in sizes.values()):
        raise AnalysisError(
            f"This figure shows one point; the study has {sizes}. Select one with study.sel(d=..., beta=...)."
        )
    _, point = next(iter(points_of(full)))
    full = full.isel(dict.fromkeys(POINT, 0)).isel(trial=slice(int(trials_to_read(full).max())))
    spectra = full["squared_singular_values"].isel(rank=slice(point.ell)).transpose("trial", "model", "rank")
    values = np.asarray(spectra.values, dtype=np.float64)
    used = np.isfinite(values).all(axis=(1, 2))
    if not used.any():
        raise AnalysisError(f"No trial is complete at d = {point.d}, beta = {point.beta:g}.")
    normalizer = full["row_normalizer"].isel(token=slice(point.ell)).transpose("trial", "token")
    chosen = tokens_of(study) if tokens is None else tokens
    try:
        nu: Law | None = limit_law(point, chosen)
    except LawError:
        nu = None
    return Sample(
        point,
        {str(name): values[used, k] for k, name in enumerate(full["model"].values)},
        np.asarray(normalizer.values, dtype=np.float64)[used],
        nu,
        contrast_law(point),
        chosen if isinstance(chosen, str) else "matrix",
    )
