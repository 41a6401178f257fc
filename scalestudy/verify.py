"""Command: read a whole store, compute a sample of its trials again, and repair what is bad.

python -m scalestudy.verify results/d_scaling.zarr --repair
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

import click
from rich.console import Console

from scalestudy.commands import command
from scalestudy.ensembles import DRAW_VERSION
from scalestudy.errors import StoreError
from scalestudy.execution.verification import Comparison, compare_sample, redo, remaining
from scalestudy.reporting.terminal import console
from scalestudy.store import Location, Manifest, read_manifest, read_spec, settle, writing
from scalestudy.store.derived import drop_damaged
from scalestudy.store.integrity import Inspection, inspect
from scalestudy.units import counted


@dataclass(frozen=True)
class Verdict:
    """What was read, and what was computed again."""

    inspection: Inspection
    comparisons: list[Comparison]

    @property
    def clean(self) -> bool:
        """Whether nothing is wrong."""
        return not self.inspection.findings and all(c.agrees for c in self.comparisons)


@command("verify")
@click.argument("store")
@click.option("--repair", is_flag=True, help="Compute bad blocks again and mend the rest.")
@click.option(
    "--sample", type=click.IntRange(min=0), default=10, show_default=True, help="Trials to recompute."
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Chooses the sample.")
def verify(store: str, repair: bool, sample: int, seed: int) -> int:
    """Read every chunk of STORE and compute a sample of its trials again.

    Exit status: 0 all is well, 1 something bad is there or remains, 2 bad input.
    """
    location = Location.of(store)
    manifest = read_manifest(location)
    out = console()
    with contextlib.ExitStack() as stack:
        if repair:
            stack.enter_context(writing(location))
            manifest = read_manifest(location)
            _refuse_other_draws(location, manifest)
        try:
            verdict = _checked(location, manifest, sample, seed)
            _print(out, verdict)
            if repair and not verdict.clean:
                _refuse_wholesale(location, verdict)
                _repair(out, location, manifest, verdict)
                verdict = _checked(location, manifest, sample, seed)
                _print(out, verdict)
        except OSError as error:
            raise StoreError(f"{location}: {error.strerror or error}.") from error
    if not verdict.clean and not repair:
        out.print(
            f"To mend it: python -m scalestudy.verify {location} --repair", markup=False, soft_wrap=True
        )
    return 0 if verdict.clean else 1


def _refuse_other_draws(location: Location, manifest: Manifest) -> None:
    held = manifest.identity["draw_version"]
    if held != DRAW_VERSION:
        raise StoreError(
            f"{location} was drawn with draw version {held}, this package has {DRAW_VERSION}: "
            "it can be repaired only by the version of the package that made it."
        )


def _refuse_wholesale(location: Location, verdict: Verdict) -> None:
    """Refuse to overwrite values of which most differ: then it is not they that are wrong."""
    wrong = [c for c in verdict.comparisons if not c.agrees]
    if 2 * len(wrong) > len(verdict.comparisons):
        raise StoreError(
            f"{len(wrong)} of {len(verdict.comparisons)} recomputed trials of {location} differ: rather its "
            "manifest is damaged, or this installation computes wrongly. Nothing is repaired; a larger "
            "--sample tells more."
        )


def _checked(location: Location, manifest: Manifest, sample: int, seed: int) -> Verdict:
    inspection = inspect(location, manifest)
    if manifest.identity["draw_version"] != DRAW_VERSION:
        click.echo(
            "The store is of another draw version: none of its trials can be computed again.", err=True
        )
        sample = 0
    sound = inspection.sound
    # Without a sound block, zarr may not even open the store.
    return Verdict(inspection, list(compare_sample(location, manifest, sound, sample, seed)) if sound else [])


def _print(out: Console, verdict: Verdict) -> None:
    inspection, comparisons = verdict.inspection, verdict.comparisons
    for finding in inspection.findings:
        out.print(f"Bad: {finding}", markup=False, soft_wrap=True)
    for comparison in comparisons:
        if not comparison.agrees:
            out.print(
                f"Bad: {comparison}: differs from its recomputation by {comparison.difference:.2g} of its "
                "largest value",
                markup=False,
                soft_wrap=True,
            )
    trials = sum(inspection.sound.values())
    out.print(
        f"Read {counted(inspection.chunks, 'chunk')}: {counted(len(inspection.sound), 'sound block')} with "
        f"{counted(trials, 'trial')}."
    )
    if comparisons:
        same = sum(c.identical for c in comparisons)
        close = sum(c.agrees and not c.identical for c in comparisons)
        out.print(
            f"Recomputed {counted(len(comparisons), 'trial')}: {same} identical, {close} equal to rounding, "
            f"{len(comparisons) - same - close} different."
        )


def _repair(out: Console, location: Location, manifest: Manifest, verdict: Verdict) -> None:
    settle(location, manifest)
    drop_damaged(location)
    blocks = remaining(verdict.inspection, verdict.comparisons)
    for outcome in redo(location, manifest, blocks, read_spec(location)):
        done = f"failed: {outcome.error}" if outcome.error else "computed again"
        out.print(f"Repair: {outcome.work.block}: {done}", markup=False, soft_wrap=True)


if __name__ == "__main__":
    verify()
