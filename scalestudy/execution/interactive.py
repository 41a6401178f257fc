"""`run`: what the command `sweep` does, as a function for notebooks and scripts."""

from __future__ import annotations

import os
import warnings

import xarray as xr

from scalestudy.execution.options import with_options
from scalestudy.execution.session import carry_out
from scalestudy.store import open_study
from scalestudy.study import Spec, load_spec
from scalestudy.units import counted


def run(
    spec: Spec | str | os.PathLike[str],
    *,
    store: str | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
    serial: bool = False,
    trust_cluster: bool = False,
) -> xr.Dataset:
    """Run a study, or what is left of it, and open its store.

    Parameters
    ----------
    spec : Spec, str or path
        A spec, or the path of its YAML file.
    store, workers, scheduler : optional
        In place of what the spec says.
    serial : bool
        Run in this process, without Dask.
    trust_cluster : bool
        Allow any cluster class, and the scheduler of another machine, if it is the spec that names them.

    Returns
    -------
    xarray.Dataset
        As `open_study` gives it. A warning tells if blocks failed.

    Raises
    ------
    ScaleStudyError
        If the study cannot be run.
    """
    if not isinstance(spec, Spec):
        spec = load_spec(spec)
    spec = with_options(spec, store=store, workers=workers, scheduler=scheduler)
    report = carry_out(spec, serial=serial, trust=trust_cluster or scheduler is not None)
    if report.failed or report.stopped:
        what = report.stopped or f"{counted(len(report.failed), 'block')} failed"
        warnings.warn(f"{what}; see: python -m scalestudy.status {report.location}", stacklevel=2)
    return open_study(report.location.url)
