"""Without scipy-openblas64: what asks for its solver is refused in words, what it made can be checked."""

import os

import pytest

import scalestudy
from scalestudy.store import Location, read_manifest, schema

GRID = {"d": [40], "beta": [1.0], "gamma": [1.0], "psi": [1.0]}
WORDS = "two_stage needs the package scipy-openblas64, which is not installed (pip install scipy-openblas64)"
HIDING = """
import sys

class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "scipy_openblas64":
            raise ImportError("hidden")

sys.meta_path.insert(0, Hidden())
"""


@pytest.fixture
def without(tmp_path):
    """An environment in which the package cannot be imported."""
    folder = tmp_path / "hiding"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(HIDING)

    def path(environment):
        return {**environment, "PYTHONPATH": os.pathsep.join([str(folder), environment["PYTHONPATH"]])}

    return path


@pytest.fixture
def made(study):
    made = study(grid=GRID, trials=2, solver="two_stage")
    assert made.call("sweep", "--serial").returncode == 0
    return made


def test_a_study_that_needs_it_is_refused(study, without):
    made = study(grid=GRID, trials=2)
    made.environment = without(made.environment)
    for options in (["--dry-run"], ["--serial"], ["--workers", "1"]):
        result = made.run("sweep", "--set", "solver=two_stage", *options)
        assert result.returncode == 2
        assert result.stderr.startswith(f"Error: solver: {WORDS}; solvers that run are auto, gram and svd.")
        assert "Traceback" not in result.stderr
        assert not made.store.exists()


def test_a_worker_without_it_ends_the_run_in_one_line(study, dask_processes, without):
    made = study(grid=GRID, trials=2, solver="two_stage")
    cluster = dask_processes(workers=1, env={"PYTHONPATH": without(made.environment)["PYTHONPATH"]})
    result = made.run("sweep", "--scheduler", cluster.address)
    assert result.returncode == 1
    assert "cannot run this study: two_stage needs the package" in result.stderr
    assert "Traceback" not in result.stderr


def test_what_it_made_is_verified_repaired_replayed_and_priced_without_it(made, without):
    location = Location.of(made.store)
    handle = schema.handle(location, read_manifest(location), "solver")
    assert [schema.SOLVERS[code] for code in handle[0, 0, 0, 0, :2]] == ["two_stage", "two_stage"]
    made.environment = without(made.environment)
    result = made.run("verify")
    assert (result.returncode, result.stderr) == (0, "")
    assert "Recomputed 2 trials: 0 identical, 2 equal to rounding, 0 different." in result.stdout
    location.replace("seconds/c.0.0.0.0.0", b"damaged")
    result = made.run("verify", "--repair")
    assert (result.returncode, result.stderr) == (0, "")
    assert "computed again" in result.stdout
    made.write(trials=4)
    location.delete("done/c.0.0.0.0.0")
    assert made.run("status").returncode == 0


def test_a_replay_runs_the_solver_of_the_study(made):
    found = scalestudy.replay(made.store, d=40, beta=1.0, gamma=1.0, psi=1.0, start=0, stop=1)
    assert found.solver == "two_stage"
