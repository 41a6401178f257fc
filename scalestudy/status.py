"""Command: what a store holds, what failed, what is left and what it should cost.

python -m scalestudy.status results/d_scaling.zarr
"""

from __future__ import annotations

import click
import numpy as np
from rich.console import Console
from rich.table import Table

from scalestudy.commands import command
from scalestudy.execution.provenance import differences
from scalestudy.reporting.terminal import console, span
from scalestudy.store import (
    Location,
    Manifest,
    completed,
    failures,
    read_attributes,
    read_manifest,
    read_spec,
)
from scalestudy.study import CostModel, Point, Spec, make_plan
from scalestudy.study.plan import Done
from scalestudy.units import counted, duration


@command("status")
@click.argument("store")
@click.option("--traceback", is_flag=True, help="Show the whole traceback of every failure.")
def status(store: str, traceback: bool) -> int:
    """Show how much of the study in STORE is done, what failed, and what is left."""
    location = Location.of(store)
    manifest = read_manifest(location)
    attributes = read_attributes(location)
    done = completed(location, manifest)
    out = console()
    out.print(
        f"{attributes.get('title', '')}  {location}  "
        f"({attributes.get('package', '')}, {attributes.get('updated', '')})"
    )
    out.print(_table(manifest, done))
    _print_left(out, manifest, done, read_spec(location))
    changed = differences(attributes)
    if changed:
        out.print(f"This is not what last wrote here: {'; '.join(changed)}.", markup=False, soft_wrap=True)
    found = failures(location)
    for failure in found:
        out.print()
        out.print(f"Failed: {failure.block} at {failure.when}: {failure.error}", markup=False)
        if traceback and failure.traceback:
            out.print(failure.traceback, markup=False)
        out.print(f"  streams (seed, d, ell, d_qk, trial): {failure.seeds}", markup=False)
        out.print(f"  replay: {failure.replay}", markup=False)
    return 1 if found else 0


def _table(manifest: Manifest, done: Done) -> Table:
    """Return trials held at each d: over its points the least, the most and all."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("d", "points", "trials at each", "trials"):
        table.add_column(name, justify="right")
    for d in sorted(manifest.d):
        counts = np.array([done[p].sum() if p in done else 0 for p in _points(manifest, d)])
        held = int(np.count_nonzero(counts))
        table.add_row(f"{d}", f"{held} of {counts.size}", span(counts), f"{counts.sum()}")
    return table


def _points(manifest: Manifest, d: int) -> list[Point]:
    return [Point(d, b, g, p) for b in manifest.beta for g in manifest.gamma for p in manifest.psi]


def _print_left(out: Console, manifest: Manifest, done: Done, spec: Spec | None) -> None:
    if spec is None:
        return
    plan = make_plan(spec, manifest.trials_per_block, done, CostModel(spec))
    if not plan.blocks_left:
        out.print(f"Complete: {counted(plan.trials_asked, 'trial')} of its spec done, none left.")
        return
    left = plan.trials_asked - plan.trials_done
    out.print(
        f"{plan.trials_done} of {counted(plan.trials_asked, 'trial')} of its spec done; left: "
        f"{counted(left, 'trial')} in {counted(plan.blocks_left, 'block')}, about "
        f"{duration(plan.seconds_left)} of one core."
    )


if __name__ == "__main__":
    status()
