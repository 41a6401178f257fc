"""Command: tabulate or plot a limit law (``python -m scalestudy.law --beta 1 --gamma 1 --psi 1``)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import numpy as np
from rich.console import Console
from rich.table import Table

from scalestudy.commands import command
from scalestudy.errors import ScaleStudyError
from scalestudy.limit import GaussianEquivalentLaw, Law, MarchenkoPastur

PROBABILITIES = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)
ORDERS = (1, 2, 3, 4)
ENSEMBLES = ("identity", "orthonormal", "spherical", "gaussian", "parseval")
SLICES = 20_001
WIDTH = 100


def summary(law: Law) -> dict[str, Any]:
    """Return the numbers the command prints: edges, masses, moments, quantiles, hard edge."""
    return {
        "support": [list(interval) for interval in law.support()],
        "masses": law.masses(),
        "moments": {str(k): law.moment(k) for k in ORDERS},
        "quantiles": {str(p): float(law.ppf(p)) for p in PROBABILITIES},
        "hard_edge_coefficient": law.hard_edge_coefficient(),
    }


def wasserstein(law: Law, other: Law) -> float:
    """W1 between two laws: integral of |ppf - ppf|, exact but for slices with a sign change."""
    p = np.sin(0.5 * np.pi * np.linspace(0.0, 1.0, SLICES)) ** 2
    return float(np.abs(np.diff(law.partial_mean(p) - other.partial_mean(p))).sum())


@command("law")
@click.option("--beta", type=float, required=True, help="Inverse temperature of the softmax.")
@click.option("--gamma", type=float, default=1.0, show_default=True, help="Tokens per dimension, ell / d.")
@click.option("--psi", type=float, default=1.0, show_default=True, help="Head width per dimension, d_qk / d.")
@click.option("--tokens", type=click.Choice(ENSEMBLES), default="orthonormal", show_default=True)
@click.option(
    "--plot", type=click.Path(dir_okay=False, path_type=Path), help="Write a figure (png, pdf, svg)."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
def law(beta: float, gamma: float, psi: float, tokens: str, plot: Path | None, as_json: bool) -> int:
    """Print the limit law nu(beta, gamma, psi) beside Marchenko-Pastur, and plot it."""
    nu = GaussianEquivalentLaw(beta, gamma, psi, tokens)
    contrast = MarchenkoPastur(nu.theta1)
    distance = wasserstein(nu, contrast)
    if plot is not None:
        _write(plot, nu, contrast, f"beta = {beta:g}, gamma = {gamma:g}, psi = {psi:g}, {tokens} tokens")
    contrast_summary = {"w1": distance, "w1_relative": distance / nu.theta1, **summary(contrast)}
    result = {
        "beta": beta,
        "gamma": gamma,
        "psi": psi,
        "tokens": tokens,
        "theta1": nu.theta1,
        "theta2": nu.theta2,
        **summary(nu),
        "marchenko_pastur": contrast_summary,
    }
    if as_json:
        click.echo(json.dumps(result, indent=2, allow_nan=False))
    else:
        _print(result)
    return 0


def _write(path: Path, nu: Law, contrast: Law, title: str) -> None:
    # Matplotlib takes most of a second to import, and only a plot needs it.
    from scalestudy.reporting.law_figure import law_figure

    try:
        law_figure(nu, contrast, title).savefig(path, dpi=150)
    except (OSError, ValueError) as error:
        raise ScaleStudyError(f"Cannot write the plot {str(path)!r}: {error}.") from error


def _print(result: dict[str, Any]) -> None:
    other = result["marchenko_pastur"]
    title = "nu(beta={beta:g}, gamma={gamma:g}, psi={psi:g}), {tokens} tokens".format(**result)
    table = Table(title=title, title_justify="left")
    table.add_column("")
    table.add_column("Gaussian equivalent", justify="right")
    table.add_column("Marchenko-Pastur", justify="right")
    rows = max(len(result["support"]), len(other["support"]))
    for k in range(rows):
        table.add_row(f"interval {k + 1}", *(_interval(each, k) for each in (result, other)))
        table.add_row("  its mass", *(_mass(each, k) for each in (result, other)))
    for k in ORDERS:
        table.add_row(f"moment {k}", *(f"{each['moments'][str(k)]:.12g}" for each in (result, other)))
    for p in PROBABILITIES:
        table.add_row(f"quantile {p:g}", *(f"{each['quantiles'][str(p)]:.12g}" for each in (result, other)))
    table.add_row("pdf sqrt(x) at 0", *(f"{each['hard_edge_coefficient']:.12g}" for each in (result, other)))
    # A fixed width, so that a pipe or a narrow terminal neither wraps nor truncates numbers.
    Console(width=WIDTH).print(table)
    click.echo(
        f"theta1 = {result['theta1']:.12g}, theta2 = {result['theta2']:.12g}. "
        f"W1 to Marchenko-Pastur {other['w1']:.6g}, {100 * other['w1_relative']:.3g} % of theta1."
    )


def _interval(each: dict[str, Any], k: int) -> str:
    return "[{:.12g}, {:.12g}]".format(*each["support"][k]) if k < len(each["support"]) else ""


def _mass(each: dict[str, Any], k: int) -> str:
    return f"{each['masses'][k]:.12g}" if k < len(each["masses"]) else ""


if __name__ == "__main__":
    law()
