"""What the command `sweep` does once it knows its options: run, measure, say what was found."""

from __future__ import annotations

import xarray as xr
from rich.console import Console

from scalestudy.commands import INTERRUPTED
from scalestudy.execution.cluster import silence_logs
from scalestudy.execution.forecast import Forecast, forecast
from scalestudy.execution.options import with_options
from scalestudy.execution.progress import ProgressDisplay
from scalestudy.execution.session import Report, carry_out
from scalestudy.execution.signals import stoppable
from scalestudy.reporting.measuring import measure
from scalestudy.reporting.terminal import console, summary_table
from scalestudy.reporting.verdicts import groups
from scalestudy.store import Location
from scalestudy.study import CostModel, Spec, override, parse_spec, read_source
from scalestudy.units import counted, duration, size

_BULK = "sqrt_d_A_perp"


def run_sweep(
    spec: str,
    assignments: list[str],
    *,
    store: str | None,
    scheduler: str | None,
    workers: int | None,
    dry_run: bool,
    serial: bool,
    draw: bool,
    trust: bool,
) -> int:
    """Run a spec file and return the exit status: 0 done, 1 some blocks failed, 130 interrupted.

    Parameters
    ----------
    spec : str
        Path of the YAML file.
    assignments : list of str
        What goes on top of it, such as ``grid.beta=0.5,1``.
    store, scheduler, workers
        In place of what it says.
    dry_run : bool
        Price the run and do nothing.
    serial : bool
        Run in this process.
    draw : bool
        Write the report at the end.
    trust : bool
        Take any cluster that the spec names.

    Raises
    ------
    ScaleStudyError
        If the study cannot be run.
    """
    study = with_options(
        parse_spec(override(read_source(spec), assignments)),
        store=store,
        workers=workers,
        scheduler=scheduler,
    )
    out = console()
    if dry_run:
        _print_forecast(out, forecast(study))
        return 0
    # For good: what an interrupted cluster leaves behind is collected, and complains, as late as at exit.
    silence_logs()
    try:
        with stoppable():
            report = carry_out(study, ProgressDisplay(out, CostModel(study)), serial=serial, trust=trust)
    except KeyboardInterrupt:
        out.print("Stopped before any work was done; run the same command again.")
        return INTERRUPTED
    return _conclude(out, study, report, draw=draw)


def _conclude(out: Console, study: Spec, report: Report, *, draw: bool) -> int:
    resume = "run the same command again to resume"
    if report.interrupted:
        left = report.plan.blocks_left - report.blocks
        saved = f"{counted(report.blocks, 'more block')} saved in {report.location}"
        out.print(f"Stopped: {saved}, at most {left} left; {resume}.")
        return INTERRUPTED
    out.print(_what_was_done(report))
    if not report.stopped:
        _print_findings(out, study, report.location, draw=draw)
    if report.failed:
        first = report.failed[0]
        error, failed = console(error=True), counted(len(report.failed), "block")
        error.print(f"{failed} failed, the first ({first.work.block}) with: {first.error}")
        error.print(f"See python -m scalestudy.status {report.location}; {resume}.")
    if report.stopped:
        console(error=True).print(f"{report.stopped}.")
    return 1 if report.failed or report.stopped else 0


def _print_findings(out: Console, study: Spec, location: Location, *, draw: bool) -> None:
    """Measure the store, print its table and the verdict, and say where everything is."""
    measured = measure(location, study.bulk.drop)
    out.print()
    out.print(summary_table(measured))
    out.print()
    _print_verdict(out, measured)
    out.print(f"Store: {location}")
    out.print(f'Open it: xarray.open_zarr("{location}"), or scalestudy.open_study("{location}")')
    if draw:
        # Matplotlib takes longer to import than a small study takes to run: not for those who do not draw.
        from scalestudy.report import write_report

        out.print(f"Report: {Location.of(write_report(location.url))}")


def _print_verdict(out: Console, measured: xr.Dataset) -> None:
    """Print the verdict on every rung, or on the attention bulk alone where there are several points."""
    said = groups(measured)
    for group in said:
        where = ", ".join(f"{name} = {value:g}" for name, value in group.point.items())
        out.print(f"Verdict at {where}:", style="bold")
        for model, line in group.lines:
            if len(said) == 1 or model == _BULK:
                out.print(f"  {model}: {line}", markup=False)
    out.print()


def _what_was_done(report: Report) -> str:
    if not report.plan.blocks_left:
        return f"Nothing to do: all {counted(report.plan.trials_asked, 'trial')} asked for are in the store."
    rate = report.trials / report.seconds if report.seconds else 0.0
    return (
        f"Ran {counted(report.trials, 'trial')} in {duration(report.seconds)}, {rate:.3g} trials per second."
    )


def _print_forecast(out: Console, expected: Forecast) -> None:
    plan = expected.plan
    where = f"{expected.cores} local workers" if expected.cores else "one core of the cluster"
    each = f"of {counted(expected.trials_per_block, 'trial')} each at most"
    lines = {
        "points": f"{expected.points}",
        "blocks": f"{plan.blocks_left} to run, {plan.blocks_done} done, {each}",
        "trials": f"{plan.trials_left} to run, {plan.trials_done} done",
        "time": f"{duration(expected.seconds)} on {where}, {duration(expected.core_seconds)} of one core",
        "memory": f"{size(expected.worker_bytes)} in each worker",
        "disk": f"{size(expected.disk_bytes)} in {expected.location}",
    }
    for name, value in lines.items():
        out.print(f"{name:>8}  {value}")
