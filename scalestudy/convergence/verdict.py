"""The answer in words: from which d on the law may be used, and at what rate each rung gets there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import xarray as xr

from scalestudy.convergence.needed import d_needed
from scalestudy.convergence.rates import DOUBTFUL_P_VALUE, rates

MEASURE = "w1_relative"

# Beyond so many times the largest d a power law is a way of saying "never", and its digits mean nothing.
_IN_SIGHT = 1000.0


@dataclass(frozen=True)
class Verdict:
    """What a study says about one rung at one (beta, gamma, psi).

    `str` of it is one line. Intervals are (low, high); numbers that the study cannot give are NaN.

    Attributes
    ----------
    model : str
        Rung of the ladder.
    beta, gamma, psi : float
        The point.
    target : float
        Relative Wasserstein distance asked for.
    largest_d : int
        Largest d with two trials or more, 0 if there is none.
    distance : float
        Trial mean of the relative distance there.
    contrast : float
        Relative distance of Marchenko-Pastur to the law: what "not the law" looks like.
    exponent, exponent_interval
        Rate alpha of C d^-alpha.
    last_exponent : float
        Slope between the two largest d.
    p_value : float
        Of the pure power law.
    limit_interval : tuple of float
        Interval of the limit w_inf of the relative distance.
    d_needed, d_needed_interval
        From which d on the target holds.
    extrapolated, at_smallest, stepped : bool
        As for `d_needed`.
    """

    model: str
    beta: float
    gamma: float
    psi: float
    target: float
    largest_d: int
    distance: float
    contrast: float
    exponent: float
    exponent_interval: tuple[float, float]
    last_exponent: float
    p_value: float
    limit_interval: tuple[float, float]
    d_needed: float
    d_needed_interval: tuple[float, float]
    extrapolated: bool
    at_smallest: bool
    stepped: bool

    def __str__(self) -> str:
        where = f"{self.model} (beta {self.beta:g}, gamma {self.gamma:g}, psi {self.psi:g})"
        if np.isnan(self.exponent):
            if np.isnan(self.contrast):
                return f"{where}: no verdict; there is no limit law to measure from."
            return f"{where}: no verdict; it takes two d with two complete trials each."
        parts = [self._distance(), self._rate(), self._needed(), self._limit()]
        return f"{where}: {'; '.join(part for part in parts if part)}."

    @property
    def falls(self) -> bool:
        """Whether the whole interval of the exponent, as it is shown, lies above 0."""
        low = self.exponent_interval[0]
        return round(self.exponent if np.isnan(low) else low, 2) > 0.0

    def _distance(self) -> str:
        text = f"{_share(self.distance)} from the law at d = {self.largest_d:,}"
        return text if np.isnan(self.contrast) else f"{text} (Marchenko-Pastur: {_share(self.contrast)})"

    def _rate(self) -> str:
        low, high = self.exponent_interval
        if self.falls:
            text = f"falls as d^-{_two(self.exponent)}{_range((low, high), _two)}"
        elif round(self.exponent if np.isnan(high) else high, 2) < 0.0:
            text = f"rises as d^{_two(-self.exponent)}{_range((-high, -low), _two)}"
        else:
            text = f"no clear fall with d, exponent {_two(self.exponent)}{_range((low, high), _two)}"
        if self.stepped:
            return f"{text}, in steps, because the degree n_d is an integer"
        if self.p_value < DOUBTFUL_P_VALUE:
            but = ", but is no pure power:" if self.falls else ";"
            return f"{text}{but} exponent {_two(self.last_exponent)} between the two largest d"
        return text

    def _needed(self) -> str:
        target = _percent(self.target)
        if not self.d_needed <= _IN_SIGHT * self.largest_d:
            return f"{target} is not in sight"
        if self.at_smallest:
            return f"within {target} already at the smallest d, {self.d_needed:,.0f}"
        place = f"{_rounded(self.d_needed)}{_range(self.d_needed_interval, _rounded)}"
        if self.extrapolated:
            return f"{target} expected from d of about {place} on, beyond the data"
        return f"within {target} from d = {place} on"

    def _limit(self) -> str:
        low, high = self.limit_interval
        # Steps of n_d look like a limit until the next one: no three-parameter fit can tell them apart.
        if self.stepped or not self.falls:
            return ""
        if np.isnan(high):
            return "these d do not tell whether its limit is 0"
        if low > 0.0:
            ends = (_percent(low), _percent(high))
            where = f"above {ends[0]}" if high > self.distance else f"of {' to '.join(dict.fromkeys(ends))}"
            return f"the data point to a limit {where}, not to the law"
        if high < 0.01 * self.target:
            return "no sign of a limit above 0"
        if high > 0.9 * self.distance:
            return "the data bound no limit"
        return f"a limit of 0 fits (upper bound {_percent(high)})"


def verdict(
    distances: xr.Dataset, target: float = 0.01, *, samples: int = 2000, seed: int = 0, level: float = 0.95
) -> list[Verdict]:
    """Say for every rung and point how near the law is, how fast it comes, and from which d on it is there.

    Parameters
    ----------
    distances : Dataset
        As `distances` returns it.
    target : float
        Relative Wasserstein distance that counts as near.
    samples, seed, level
        As for `rates`.

    Returns
    -------
    list of Verdict
        Ordered by beta, gamma, psi and rung.

    Raises
    ------
    AnalysisError
        As for `rates`.
    """
    axes = ("beta", "gamma", "psi")
    full = distances.expand_dims([name for name in axes if name not in distances[MEASURE].dims])
    fitted = rates(full, MEASURE, samples=samples, seed=seed, level=level).transpose(*axes, "model", ...)
    needed = d_needed(full, target, MEASURE, samples=samples, seed=seed, level=level).transpose(
        *axes, "model", ...
    )
    contrast = full["w1_nu_mp"].sortby("d").compute() / np.expm1(full["beta"] ** 2)
    found = []
    for index in np.ndindex(*(fitted.sizes[name] for name in (*axes, "model"))):
        place = dict(zip((*axes, "model"), index, strict=True))
        of_law = contrast.isel({name: place[name] for name in axes})
        found.append(_one(fitted.isel(place), needed.isel(place), of_law, target))
    return found


def _one(fit: xr.Dataset, needed: xr.Dataset, contrast: xr.DataArray, target: float) -> Verdict:
    """Collect the numbers of one rung at one point."""

    def number(name: str, source: xr.Dataset = fit) -> float:
        return float(source[name])

    def interval(name: str, source: xr.Dataset = fit) -> tuple[float, float]:
        return number(f"{name}_low", source), number(f"{name}_high", source)

    usable = np.flatnonzero(np.isfinite(fit["mean"].values))
    last = int(usable[-1]) if usable.size else -1
    local = fit["local_exponent"].values
    return Verdict(
        model=str(fit["model"].item()),
        beta=number("beta"),
        gamma=number("gamma"),
        psi=number("psi"),
        target=target,
        largest_d=int(fit["d"][last]) if usable.size else 0,
        distance=float(fit["mean"][last]) if usable.size else np.nan,
        contrast=float(contrast[last]),
        exponent=number("exponent"),
        exponent_interval=interval("exponent"),
        last_exponent=float(local[last - 1]) if last > 0 else np.nan,
        p_value=number("p_value"),
        limit_interval=interval("limit"),
        d_needed=number("d_needed", needed),
        d_needed_interval=interval("d_needed", needed),
        extrapolated=bool(needed["extrapolated"]),
        at_smallest=bool(needed["at_smallest"]),
        stepped=bool(fit["stepped"]),
    )


def _two(number: float) -> str:
    """Return a number with two decimals, and no minus sign before zero."""
    return f"{round(number, 2) + 0.0:.2f}"


def _percent(share: float) -> str:
    value = 100.0 * share
    return f"{value:.2g} %" if value < 99.5 else f"{value:.0f} %"


def _share(share: float) -> str:
    """Return a distance in percent; what is smaller than anybody can use is said to be small."""
    return "below 0.01 %" if share < 1e-4 else _percent(share)


def _rounded(d: float) -> str:
    """Three digits: more would not be meant. Beyond a billion an end of an interval is none."""
    if not d < 1e9:
        return "unbounded"
    return f"{float(f'{d:.3g}'):,.0f}"


def _range(interval: tuple[float, float], show: Callable[[float], str]) -> str:
    low, high = interval
    return "" if np.isnan(low) or np.isnan(high) else f" [{show(low)}, {show(high)}]"
