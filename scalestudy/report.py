"""Command: figures of a study and one HTML page that shows them, from what its store holds.

python -m scalestudy.report results/d_scaling.zarr
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click
import numpy as np
import xarray as xr

from scalestudy.commands import command
from scalestudy.convergence import distances, rates
from scalestudy.convergence.laws import Tokens
from scalestudy.errors import SpecError
from scalestudy.reporting import gallery, points
from scalestudy.reporting.comparison import SETTING, Comparison, compare, holds_setting
from scalestudy.reporting.measuring import GROUP, lost_trials
from scalestudy.reporting.page import Page, Progress, Row, Section, picture_of, write_page
from scalestudy.reporting.terminal import console, span
from scalestudy.reporting.verdicts import groups
from scalestudy.store import (
    Location,
    completed,
    failures,
    open_study,
    read_attributes,
    read_group,
    read_manifest,
    read_tokens,
)
from scalestudy.store.damage import damage_named
from scalestudy.study import CostModel, Spec, make_plan, parse_source, parse_spec
from scalestudy.units import counted

_DROP = 3
_PROVENANCE = ("package", "libraries", "blas", "commit", "python", "updated")


@command("report")
@click.argument("store")
@click.option(
    "-o",
    "--output",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of the report, by default <store>_report beside the store.",
)
def report(store: str, output: Path | None) -> int:
    """Draw every figure of the study in STORE, as PNG and PDF, and write report.html."""
    page = write_report(store, output)
    console().print(f"Report: {Location.of(page)}", markup=False)
    return 0


def write_report(store: str | os.PathLike[str], directory: str | os.PathLike[str] | None = None) -> Path:
    """Write the figures and the page of a study; the store itself is only read.

    Distances that the store keeps in its group `convergence` are used where they still hold.

    Parameters
    ----------
    store : str or path
        A local path or a URL; the study may be unfinished.
    directory : str or path, optional
        Where the files go, made if need be. By default ``<store without .zarr>_report`` beside the store,
        or in the working directory for a store that is no local path.

    Returns
    -------
    Path
        The page, ``report.html``, which needs no other file.

    Raises
    ------
    StoreError
        If there is no usable store there, or the directory cannot be written; a `DamagedStoreError` if what
        it holds cannot be read.
    """
    location = Location.of(store)
    read_manifest(location)
    folder = default_directory(location) if directory is None else Path(directory)
    with damage_named(location):
        return _write(location, folder)


def _write(location: Location, folder: Path) -> Path:
    study = open_study(location.url)
    attributes = read_attributes(location)
    name = str(read_manifest(location).identity["tokens"])
    tokens: Tokens | None = read_tokens(location) if name.startswith("matrix ") else None
    spec = _spec_of(attributes, str(location))
    drop = _DROP if spec is None else spec.bulk.drop
    earlier = read_group(location, GROUP)
    measured = distances(study, drop, tokens=tokens, reuse=earlier).compute()
    shown = points.drawable(measured)
    fitted = rates(shown) if shown.sizes["d"] > 1 and points.families(shown) else None
    sections, comparison = [], None
    if points.families(shown):
        pictures = [picture_of(plate, folder) for plate in gallery.curves(shown, fitted)]
        sections = [Section("Convergence", {}, pictures), *_spectra(study, shown, tokens, drop, folder)]
        comparison = _comparison(study, shown, tokens)
    page = Page(
        title=str(attributes.get("title") or "study"),
        progress=_progress(study, location, spec),
        verdicts=groups(measured),
        sections=sections,
        comparison=comparison,
        notes=_notes(study, measured, location),
        provenance={
            "store": str(location),
            "tokens": name,
            "largest values left out": f"{drop}",
            **{key: str(attributes[key]) for key in _PROVENANCE if attributes.get(key)},
        },
        spec=str(attributes.get("spec", "")),
        drop=drop,
        fitted=fitted is not None and bool(np.isfinite(fitted["exponent"]).any()),
        bounded=bool(np.isfinite(shown["floor"]).any()),
    )
    return write_page(page, folder)


def default_directory(location: Location) -> Path:
    """Return where the report of a store goes unless told otherwise."""
    path = Path(location.url) if location.is_local else Path(location.url.rpartition("/")[2])
    return path.with_name(f"{path.name.removesuffix('.zarr')}_report")


def _spec_of(attributes: Mapping[str, Any], name: str) -> Spec | None:
    """Return the spec that the store was last run with; None if the text is no longer a spec."""
    try:
        return parse_spec(parse_source(str(attributes.get("spec", "")), name))
    except SpecError:
        return None


def _spectra(
    study: xr.Dataset, measured: xr.Dataset, tokens: Tokens | None, drop: int, folder: Path
) -> Iterator[Section]:
    """Draw the spectra of a few points, holding one of them in memory at a time."""
    chosen = gallery.spectral_points(measured)
    for number, point in enumerate(chosen, start=1):
        sample = gallery.sample_at(study, point, tokens)
        suffix = "" if len(chosen) == 1 else f"_{number}"
        pictures = [picture_of(plate, folder) for plate in gallery.spectra(sample, drop, suffix)]
        yield Section("Spectra", point, pictures)


def _comparison(study: xr.Dataset, measured: xr.Dataset, tokens: Tokens | None) -> Comparison | None:
    if not holds_setting(measured):
        return None
    return compare(measured, gallery.sample_at(study, SETTING, tokens))


def _progress(study: xr.Dataset, location: Location, spec: Spec | None) -> Progress:
    counts = study["done"].sum("block").transpose("d", ...).values.reshape(study.sizes["d"], -1)
    rows = []
    for d, each in zip(study["d"].values, counts, strict=True):
        held = int(np.count_nonzero(each))
        rows.append(Row(int(d), f"{held} of {each.size}", span(each), int(each.sum())))
    if spec is None:
        return Progress(int(counts.sum()), None, rows)
    manifest = read_manifest(location)
    plan = make_plan(spec, manifest.trials_per_block, completed(location, manifest), CostModel(spec))
    return Progress(plan.trials_done, plan.trials_asked, rows)


def _notes(study: xr.Dataset, measured: xr.Dataset, location: Location) -> list[str]:
    notes = [str(measured.attrs["law_errors"])] if measured.attrs.get("law_errors") else []
    left_out = points.not_drawable(measured)
    if left_out:
        notes.append(left_out)
    failed = len(failures(location))
    if failed:
        notes.append(f"{counted(failed, 'block')} failed: see python -m scalestudy.status.")
    lost = lost_trials(study, measured)
    if lost:
        notes.append(f"{counted(lost, 'trial')} counted as done not there: see python -m scalestudy.verify.")
    return notes


if __name__ == "__main__":
    report()
