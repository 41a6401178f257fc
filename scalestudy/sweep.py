"""Command: run, resume or extend the study of a spec.

    python -m scalestudy.sweep sweeps/d_scaling.yaml
"""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from scalestudy.commands import command
from scalestudy.execution.progress import ProgressDisplay
from scalestudy.execution.requests import request_for
from scalestudy.execution.session import Report, carry_out, fit_workers, with_options
from scalestudy.execution.trial import run_trial
from scalestudy.reporting.terminal import console, duration, size, summary_table
from scalestudy.store import Location, Manifest, check_place, completed, open_study
from scalestudy.study import CostModel, Point, Spec, make_plan, override, parse_spec, points_of, read_source, trials_per_block
from scalestudy.study.token_file import read_tokens, tokens_label


@command("sweep")
@click.argument("spec", type=click.Path(dir_okay=False))
@click.option("--store", metavar="PLACE", help="Path or URL of the store, in place of the spec's.")
@click.option("--scheduler", metavar="ADDRESS", help="Use the workers of this Dask scheduler.")
@click.option("--workers", type=click.IntRange(min=1), help="Number of local worker processes.")
@click.option("--trials", type=click.IntRange(min=1), help="Trials at every point, in place of the spec's.")
@click.option("--set", "assignments", metavar="KEY=VALUE", multiple=True, help="Change the spec, e.g. grid.beta=0.5,1.")
@click.option("--dry-run", is_flag=True, help="Print what would run and what it costs; run nothing.")
@click.option("--serial", is_flag=True, help="Run in this process, without Dask.")
@click.option("--trust-cluster-class", is_flag=True, help="Allow any cluster class that the spec names.")
def sweep(
    spec: str,
    store: str | None,
    scheduler: str | None,
    workers: int | None,
    trials: int | None,
    assignments: tuple[str, ...],
    dry_run: bool,
    serial: bool,
    trust_cluster_class: bool,
) -> int:
    """Run the study that SPEC (a YAML file) describes; resume or extend it if its store exists."""
    extra = [f"trials={trials}"] if trials is not None else []
    source = override(read_source(spec), [*assignments, *extra])
    study = with_options(parse_spec(source), store=store, workers=workers, scheduler=scheduler)
    out = console()
    if dry_run:
        _print_plan(out, study)
        return 0
    cost = CostModel(study)
    with _stoppable():
        report = carry_out(
            study,
            ProgressDisplay(out, cost),
            text=source.text,
            serial=serial,
            trust_class=trust_cluster_class,
        )
    return _conclude(out, study, report)
