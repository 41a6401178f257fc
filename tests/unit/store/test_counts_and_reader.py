"""What is done, and how a study is opened for analysis."""

from pathlib import Path

import numpy as np
import pytest

from scalestudy.errors import StoreError
from scalestudy.store import completed, open_study
from scalestudy.study import Point


def done(study):
    return {p.d: c.tolist() for p, c in completed(study.location, study.manifest).items()}


def test_counts_of_every_block(anywhere):
    anywhere.prepare()
    assert done(anywhere) == {}
    anywhere.write(only=lambda point, block: point.d == 20 or block.index == 1)
    assert done(anywhere) == {16: [0, 2, 0], 20: [2, 2, 1]}


def test_counts_do_not_depend_on_the_order_of_a_listing(anywhere):
    anywhere.prepare("trials={16: 5, 20: 3}")
    for d, index in [(20, 1), (16, 2), (20, 0), (16, 0), (16, 1)]:
        anywhere.write(only=lambda point, block, d=d, index=index: (point.d, block.index) == (d, index))
    assert done(anywhere) == {16: [2, 2, 1], 20: [2, 1, 0]}


@pytest.mark.parametrize("content", [b"", b"\2", b"\2\0\0\0\1\1\1\1", b"x" * 100])
def test_a_count_that_cannot_be_read_is_nothing_done(study, content):
    study.prepare()
    study.write()
    (Path(study.location.url) / "done/c.1.0.0.0.1").write_bytes(content)
    assert done(study) == {16: [2, 2, 1], 20: [2, 0, 1]}
    ds = open_study(study.location.url)
    assert ds.done.sel(d=20).values.ravel().tolist() == [2, 0, 1]
    assert np.isnan(ds.seconds.sel(d=20).values.ravel()).tolist() == [False, False, True, True, False]


@pytest.mark.parametrize(
    "name",
    ["c.0.0.0.0.0.aa.partial", "c.9.0.0.0.0", "c.0.0.0.0.7", "c.0.0", "c.a.0.0.0.0", "c", ".nfs001", "notes"],
)
def test_stray_files_are_not_counts(study, name):
    study.prepare()
    study.write()
    (Path(study.location.url) / "done" / name).write_bytes(b"\2\0\0\0")
    assert done(study) == {16: [2, 2, 1], 20: [2, 2, 1]}


def test_a_count_that_vanishes_while_it_is_read_is_nothing_done(study, monkeypatch):
    study.prepare()
    study.write()
    names = type(study.location).names
    monkeypatch.setattr(
        type(study.location), "names", lambda self, key="": [*names(self, key), "c.0.0.0.0.2"]
    )
    (Path(study.location.url) / "done/c.0.0.0.0.2").unlink()
    assert done(study)[16] == [2, 2, 0]


def test_axes_are_sorted_and_selected_by_nearest_value(anywhere):
    anywhere.prepare()
    anywhere.write()
    anywhere.prepare("grid.d=18,16", "grid.beta=0.25,1", "trials=3")
    anywhere.write(only=lambda point, block: point.d == 18 or point.beta == 0.25)
    ds = open_study(anywhere.location.url)
    assert ds.d.values.tolist() == [16, 18, 20]
    assert ds.beta.values.tolist() == [0.25, 1.0]
    assert float(ds.sel(beta=0.3, method="nearest").beta) == 0.25
    assert ds.ell.sel(gamma=0.5).values.tolist() == [8, 9, 10]
    held = ds.seconds.notnull().sum("trial").squeeze(["gamma", "psi"])
    assert held.sel(beta=1.0).values.tolist() == [5, 3, 5]
    assert held.sel(beta=0.25).values.tolist() == [3, 3, 0]
    assert ds.squared_singular_values.chunks is not None
    assert ds.squared_singular_values.attrs["long_name"] == "squared singular value, descending"


def test_trials_of_a_block_that_is_not_complete_are_nan(study):
    study.prepare()
    study.write()
    study.location.group("r+")["done"][0, 0, 0, 0, 0] = 1
    (Path(study.location.url) / "done/c.1.0.0.0.2").unlink()
    ds = open_study(study.location.url).load()
    for name in ("seconds", "row_normalizer", "squared_singular_values"):
        rest = [dim for dim in ds[name].dims if dim not in ("d", "trial")]
        shown = ds[name].notnull().any(rest)
        assert shown.sel(d=16).values.tolist() == [True, False, True, True, True]
        assert shown.sel(d=20).values.tolist() == [True, True, True, True, False]


def test_what_is_no_study_is_one_clear_error(tmp_path):
    with pytest.raises(StoreError, match="no such store"):
        open_study(tmp_path / "none.zarr")
    with pytest.raises(StoreError, match="not a scalestudy store"):
        open_study(tmp_path)


def test_a_point_that_the_store_does_not_hold_is_absent(study):
    study.prepare()
    study.write(only=lambda point, block: point.d == 16)
    assert Point(20, 1.0, 0.5, 1.0) not in completed(study.location, study.manifest)
