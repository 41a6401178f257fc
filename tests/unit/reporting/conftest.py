"""A small real study, its distances, and what every figure must satisfy."""

import itertools
import json

import numpy as np
import pytest
import xarray as xr
from matplotlib.backends.backend_agg import FigureCanvasAgg

import scalestudy
from scalestudy.reporting.figures.style import COLUMN, FULL

SPEC = """
name: small
seed: 5
grid: {d: [16, 32, 128], beta: [0.5, 1.0], gamma: [0.5, 1.0], psi: [1.0]}
trials: {16: 6, 32: 4, 128: 3}
trials_per_block: 3
"""


@pytest.fixture(scope="session")
def store(tmp_path_factory):
    """A complete store; tests only read it."""
    folder = tmp_path_factory.mktemp("reporting")
    (folder / "small.yaml").write_text(SPEC)
    scalestudy.run(folder / "small.yaml", store=str(folder / "small.zarr"), serial=True)
    return folder / "small.zarr"


@pytest.fixture(scope="session")
def study(store):
    return scalestudy.open_study(store)


@pytest.fixture(scope="session")
def measured(study):
    return scalestudy.distances(study).compute()


@pytest.fixture(scope="session")
def fitted(measured):
    return scalestudy.rates(measured, samples=200)


@pytest.fixture(scope="session")
def point(study):
    """The spectra of one point, loaded."""
    return study.sel(d=128, beta=1, gamma=1, psi=1).load()


@pytest.fixture(scope="session")
def unfinished(measured):
    """Distances of a study that was stopped: one d empty at one beta, another with a single trial."""
    some = measured.copy(deep=True)
    for name, variable in some.data_vars.items():
        if "trial" in variable.dims:
            values = variable.transpose("d", "beta", "trial", ...)
            values[2, 1] = np.nan
            values[1, 1, 1:] = np.nan
            some[name] = values.transpose(*variable.dims)
        elif name in ("w1_pooled", "w1_pooled_mp", "curve", "l1"):
            variable[2, 1] = np.nan
    some["trials_used"][2, 1] = 0
    some["trials_used"][1, 1] = 1
    return some


@pytest.fixture(scope="session")
def many(measured):
    """Distances of a study with twelve values of (beta, gamma, psi)."""
    copies = [measured.assign_coords(psi=[float(psi)]) for psi in (0.5, 1.0, 2.0)]
    return xr.concat(copies, "psi", data_vars="minimal", coords="minimal", compat="override", join="outer")


@pytest.fixture(scope="session")
def beyond(measured):
    """Distances of a study half of whose points lie at beta = 25, where there is no law."""
    far = measured.assign_coords(beta=[1.0, 25.0])
    at_25 = far.beta > 6.0
    changes = {name: far[name].where(~at_25) for name in ("w1", "w1_relative", "w1_nu_mp", "floor")}
    changes |= {name: far[name].where(~at_25, 1e268) for name in ("w1_mp", "w1_to_next", "s1_A")}
    return far.assign(changes)


@pytest.fixture(scope="session")
def one_of_three(measured):
    """Distances of a study that was stopped while its largest d ran, the first one to run."""
    some = measured.copy(deep=True)
    for name in some.data_vars:
        if "d" in some[name].dims:
            some[name] = some[name].where(some.d == 128)
    return some.assign(trials_used=some.trials_used.fillna(0).astype(int))


@pytest.fixture(params=[FULL, COLUMN], ids=["full", "column"])
def width(request):
    return request.param


def panels_of(figure):
    """The axes that hold data: no blank places, no colour bars."""
    return [axis for axis in figure.axes if axis.axison and axis.get_label() != "<colorbar>"]


def error_bars(axis):
    """x, y and half lengths of every series with error bars, by order of drawing."""
    found = []
    for container in axis.containers:
        line, _, bars = container.lines
        lengths = [np.nan] * len(line.get_xdata())
        if bars:
            segments = bars[0].get_segments()
            lengths = [np.nan if not len(each) else (each[1][1] - each[0][1]) / 2 for each in segments]
        found.append((np.asarray(line.get_xdata()), np.asarray(line.get_ydata()), np.asarray(lengths)))
    return found


def assert_tidy(figure):
    """Assert that no labels overlap, nothing leaves the figure, and no legend covers a panel or the note."""
    renderer = FigureCanvasAgg(figure).get_renderer()
    figure.draw_without_rendering()
    frame = figure.bbox.padded(2.0)
    note = figure._supxlabel.get_window_extent(renderer) if figure._supxlabel else None
    legends = [each for each in [*figure.legends, *(axis.get_legend() for axis in figure.axes)] if each]
    for axis in figure.axes:
        if not axis.axison:
            continue
        for one in (axis.xaxis, axis.yaxis):
            low, high = sorted(one.get_view_interval())
            shown = [
                label.get_window_extent(renderer)
                for place, label in zip(one.get_majorticklocs(), one.get_majorticklabels(), strict=False)
                if label.get_text() and low <= place <= high
            ]
            for a, b in itertools.combinations(shown, 2):
                assert not a.overlaps(b), f"tick labels overlap in {axis.get_title()!r}"
            name = one.label.get_window_extent(renderer)
            if one.label.get_text():
                assert not any(name.overlaps(each) for each in shown), f"{one.label.get_text()} covers ticks"
                assert not (note and name.overlaps(note)), f"the note covers {one.label.get_text()}"
        box = axis.get_tightbbox(renderer)
        inside = box.x0 >= frame.x0 and box.x1 <= frame.x1 and box.y0 >= frame.y0 and box.y1 <= frame.y1
        assert inside, f"{axis.get_title()!r} leaves the figure"
    for legend in legends:
        box = legend.get_window_extent(renderer)
        assert box.x0 >= frame.x0, "a legend leaves the figure"
        assert box.x1 <= frame.x1, "a legend leaves the figure"
        assert not (note and box.overlaps(note)), "a legend covers the note"
        for axis in panels_of(figure):
            # A legend may touch the frame of a panel.
            data = axis.get_window_extent(renderer).padded(-1.0)
            assert not box.overlaps(data), "a legend covers data"
    for a, b in itertools.combinations(
        [axis.title.get_window_extent(renderer) for axis in panels_of(figure)], 2
    ):
        assert not (a.width and b.width and a.overlaps(b)), "titles overlap"


@pytest.fixture
def tidy():
    return assert_tidy


@pytest.fixture
def drawn():
    return error_bars


@pytest.fixture
def note():
    """A function that returns the small print of a figure."""
    return lambda figure: figure._supxlabel.get_text() if figure._supxlabel else ""


@pytest.fixture
def panels():
    return panels_of


@pytest.fixture
def as_tokens():
    """A function that says of a study that it has other tokens."""

    def renamed(study, name):
        manifest = json.loads(study.attrs["scalestudy_manifest"])
        manifest["identity"]["tokens"] = name
        return study.assign_attrs(scalestudy_manifest=json.dumps(manifest))

    return renamed
