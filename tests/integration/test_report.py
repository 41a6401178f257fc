"""The report command on real stores: complete, unfinished, empty, of one d, and none at all."""

import os
import shutil

import numpy as np
import pytest

import scalestudy
from scalestudy.report import write_report
from scalestudy.reporting.measuring import measure
from scalestudy.store import Location

GRID = {"d": [16, 24], "beta": [1.0], "gamma": [1.0], "psi": [1.0]}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A small complete store; tests copy it before they change it."""
    folder = tmp_path_factory.mktemp("report")
    (folder / "spec.yaml").write_text(
        f"name: <b>small</b>\nseed: 7\ngrid: {GRID}\ntrials: {{16: 6, 24: 4}}\ntrials_per_block: 2\n"
    )
    scalestudy.run(folder / "spec.yaml", store=str(folder / "small.zarr"), serial=True)
    return folder / "small.zarr"


@pytest.fixture
def copy(finished, tmp_path):
    return shutil.copytree(finished, tmp_path / "copy.zarr")


def forget(store, *indices):
    """Take blocks back, as if they had not been run."""
    for index in indices:
        (store / "done" / f"c.{index}").unlink()


def contents(store):
    return {path: path.stat().st_mtime_ns for path in store.rglob("*") if path.is_file()}


def test_command_writes_beside_the_store_and_leaves_the_store_alone(study):
    one = study(grid=GRID)
    assert one.run("sweep", "--serial").returncode == 0
    before = contents(one.store)
    done = one.run("report")
    assert done.returncode == 0, done.stderr
    page = one.folder / "store_report" / "report.html"
    assert done.stdout.strip() == f"Report: {os.path.relpath(page, one.folder)}"
    assert done.stderr == ""
    assert contents(one.store) == before
    figures = {path.stem for path in page.parent.glob("*.pdf")}
    assert figures == {
        "convergence",
        "error_budget",
        "finite_size",
        "top_values",
        "row_normalizers",
        "bulk_histograms",
        "sorted_curves",
        "quantile_quantile",
    }
    assert {path.stem for path in page.parent.glob("*.png")} == figures | {
        f"{name}_column" for name in figures
    }


def test_output_directory_and_escaped_title(finished, tmp_path, blank):
    page = write_report(finished, tmp_path / "a" / "b")
    assert page == tmp_path / "a" / "b" / "report.html"
    text = page.read_text()
    assert "&lt;b&gt;small&lt;/b&gt;" in text
    assert "<b>small</b>" not in text
    assert "Complete: all 10 trials are done" in text
    assert "from the law at d = 24" in text


def test_unfinished(copy, tmp_path, blank):
    forget(copy, "0.0.0.0.1", "1.0.0.0.0", "1.0.0.0.1")
    text = write_report(copy, tmp_path).read_text()
    assert "</b> 4 of 10 trials are done (40 %)" in text
    assert "one d gives no rate" in text


def test_nothing_done(copy, tmp_path):
    forget(copy, "0.0.0.0.0", "0.0.0.0.1", "0.0.0.0.2", "1.0.0.0.0", "1.0.0.0.1")
    page = write_report(copy, tmp_path)
    text = page.read_text()
    assert "</b> 0 of 10 trials are done" in text
    assert "there is nothing to say" in text
    assert [path.name for path in tmp_path.glob("*.png")] == []


def test_a_single_d_one_rung(tmp_path):
    spec = tmp_path / "one.yaml"
    spec.write_text("seed: 1\ngrid: {d: 20, beta: 1}\ntrials: 1\nmodels: [Y_f_lin]\n")
    scalestudy.run(spec, store=str(tmp_path / "one.zarr"), serial=True)
    text = write_report(tmp_path / "one.zarr").read_text()
    assert "one d gives no rate" in text
    assert (tmp_path / "one_report" / "quantile_quantile.png").exists()


def test_tokens_from_a_file_and_no_law(tmp_path, blank):
    tokens = np.random.default_rng(0).standard_normal((24, 16))
    np.save(tmp_path / "X.npy", tokens)
    spec = tmp_path / "tokens.yaml"
    spec.write_text(
        "seed: 1\ngrid: {d: 16, beta: [0.5, 7.0], gamma: 1.5}\ntrials: 2\n"
        f"tokens: {{file: {tmp_path}/X.npy}}\n"
        "models: [sqrt_d_A, sqrt_d_A_perp, Y_f]\n"
    )
    scalestudy.run(spec, store=str(tmp_path / "tokens.zarr"), serial=True)
    text = write_report(tmp_path / "tokens.zarr").read_text()
    assert "matrix sha256:" in text
    assert "Invalid beta 7.0" in text


def test_only_the_largest_d_done(copy, tmp_path):
    forget(copy, "0.0.0.0.0", "0.0.0.0.1", "0.0.0.0.2")
    text = write_report(copy, tmp_path).read_text()
    assert "power laws" not in text
    assert "beside each other" in text


def test_beta_beyond_the_law(study):
    one = study(grid={**GRID, "beta": [25.0]}, trials=2)
    assert one.run("sweep", "--serial", "--no-report").returncode == 0
    done = one.run("report")
    assert (done.returncode, done.stderr) == (0, "")
    folder = one.folder / "store_report"
    assert [path.name for path in folder.iterdir()] == ["report.html"]
    text = (folder / "report.html").read_text()
    assert "No figures are drawn of beta = 25" in text
    assert "no verdict" in text
    assert "Provenance" in text


def test_kept_distances_are_used(copy, tmp_path, blank, monkeypatch):
    fresh = write_report(copy, tmp_path / "fresh").read_bytes()
    measure(Location.of(copy), 3)

    def refuse(*_):
        raise AssertionError("measured again")

    monkeypatch.setattr("scalestudy.convergence.table.measure_point", refuse)
    assert write_report(copy, tmp_path / "kept").read_bytes() == fresh


def test_no_store_is_one_sentence(study):
    done = study().call("report")
    assert done.returncode == 2
    assert done.stderr.startswith("Error: ")
    assert "no such store" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_place_that_cannot_be_written(finished, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(scalestudy.errors.StoreError, match="cannot be written"):
        write_report(finished, tmp_path / "file")
