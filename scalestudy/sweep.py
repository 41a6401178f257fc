"""Command: run, resume or extend the study of a spec.

python -m scalestudy.sweep sweeps/d_scaling.yaml
"""

from __future__ import annotations

import click

from scalestudy.commands import command


@command("sweep")
@click.argument("spec", type=click.Path(dir_okay=False))
@click.option("--store", metavar="PLACE", help="Path or URL of the store, in place of the spec's.")
@click.option("--scheduler", metavar="ADDRESS", help="Use the workers of this Dask scheduler.")
@click.option("--workers", type=click.IntRange(min=1), help="Number of local worker processes.")
@click.option("--trials", type=click.IntRange(min=1), help="Trials at every point, in place of the spec's.")
@click.option(
    "--set", "assignments", metavar="KEY=VALUE", multiple=True, help="Change the spec, e.g. grid.beta=0.5,1."
)
@click.option("--dry-run", is_flag=True, help="Print what would run and what it costs; run nothing.")
@click.option("--serial", is_flag=True, help="Run in this process, without Dask.")
@click.option("--no-report", is_flag=True, help="Do not draw figures and write the page at the end.")
@click.option("--trust-cluster", is_flag=True, help="Allow any cluster that the spec names.")
def sweep(
    spec: str,
    store: str | None,
    scheduler: str | None,
    workers: int | None,
    trials: int | None,
    assignments: tuple[str, ...],
    dry_run: bool,
    serial: bool,
    no_report: bool,
    trust_cluster: bool,
) -> int:
    """Run the study that SPEC (a YAML file) describes; resume or extend it if its store exists."""
    # Every worker process imports this module again, as the main module of its parent: so it must stay light.
    from scalestudy.running import run_sweep

    return run_sweep(
        spec,
        [*assignments, *([f"trials={trials}"] if trials is not None else [])],
        store=store,
        scheduler=scheduler,
        workers=workers,
        dry_run=dry_run,
        serial=serial,
        draw=not no_report,
        trust=trust_cluster or scheduler is not None,
    )


if __name__ == "__main__":
    sweep()
