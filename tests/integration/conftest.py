"""Small studies, the commands as a user runs them, and what must be equal between two stores."""

import contextlib
import importlib
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import psutil
import pytest
import xarray as xr
import yaml
from click.testing import CliRunner

import scalestudy
from scalestudy.reporting.page import Picture

# Commands run from another folder must find the package under test, installed or not.
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(scalestudy.__file__).parents[1])}

SMALL = {
    "name": "small",
    "seed": 7,
    "grid": {"d": [16, 24], "beta": [0.5, 1.0], "gamma": [1.0], "psi": [1.0]},
    "trials": {16: 6, 24: 3},
    "trials_per_block": 2,
}


class Study:
    """A spec file in a folder of its own, and the commands on it."""

    def __init__(self, folder: Path, **changes):
        self.folder = folder
        self.store = folder / "store.zarr"
        self.spec = {**SMALL, "store": str(self.store), **changes}
        self.path = folder / "spec.yaml"
        self.environment = dict(ENVIRONMENT)
        self.write()

    def write(self, **changes):
        self.spec.update(changes)
        self.path.write_text(yaml.safe_dump(self.spec))

    def command(self, name="sweep", *options):
        # Drawing takes longer than these studies do.
        target = [str(self.path), "--no-report"] if name == "sweep" else [str(self.store)]
        return [sys.executable, "-m", f"scalestudy.{name}", *target, *map(str, options)]

    def run(self, name="sweep", *options, timeout=180):
        """Run a command to its end."""
        return subprocess.run(
            self.command(name, *options),
            capture_output=True,
            text=True,
            timeout=timeout,
            cwd=self.folder,
            env=self.environment,
        )

    def call(self, name="sweep", *options):
        """Run a command to its end in this process: the same, without the seconds that imports take."""
        function = getattr(importlib.import_module(f"scalestudy.{name}"), name)
        _, _, _, *arguments = self.command(name, *options)
        result = CliRunner().invoke(function, arguments)
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return SimpleNamespace(returncode=result.exit_code, stdout=result.stdout, stderr=result.stderr)

    def start(self, *options, quiet=True):
        """Start a sweep in a process group of its own."""
        sink = subprocess.DEVNULL if quiet else subprocess.PIPE
        return subprocess.Popen(
            self.command("sweep", *options),
            stdout=sink,
            stderr=sink,
            text=True,
            cwd=self.folder,
            start_new_session=True,
            env=self.environment,
        )

    def done_blocks(self):
        """How many blocks the store counts as done."""
        return sum(path.suffix != ".partial" for path in (self.store / "done").glob("c.*"))

    def wait_for_blocks(self, count, process, seconds=90):
        """Wait until that many blocks are done; fail if the sweep ends before."""
        end = time.monotonic() + seconds
        while self.done_blocks() < count:
            assert process.poll() is None, "the sweep ended before it could be stopped"
            assert time.monotonic() < end, "the sweep is too slow"
            time.sleep(0.005)

    def mtimes(self):
        """When each block's count was written."""
        return {path.name: path.stat().st_mtime_ns for path in (self.store / "done").glob("c.*")}


def kill_group(process):
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def load(store):
    """Everything in a store that a rerun must reproduce, axes sorted."""
    with xr.open_zarr(store) as lazy:
        dataset = lazy.load().drop_vars("seconds")
    return dataset.sortby(["d", "beta", "gamma", "psi"])


def assert_same(store, other):
    """Assert that two stores hold the same study, bit for bit (times aside)."""
    left, right = load(store), load(other)
    assert set(left.variables) == set(right.variables)
    assert dict(left.sizes) == dict(right.sizes)
    for name in left.variables:
        np.testing.assert_array_equal(left[name].values, right[name].values, err_msg=str(name))


@pytest.fixture
def study(tmp_path):
    """A function that makes a study in a folder of its own."""
    made = iter(range(1000))

    def make(**changes):
        folder = tmp_path / f"study{next(made)}"
        folder.mkdir()
        return Study(folder, **changes)

    return make


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """A study that is done and measured, to be copied."""
    made = Study(tmp_path_factory.mktemp("measured"))
    assert made.call("sweep", "--serial").returncode == 0
    return made


@pytest.fixture
def same():
    return assert_same


@pytest.fixture
def loaded():
    return load


@pytest.fixture
def kill():
    return kill_group


def wait_for(path, process, seconds=60):
    end = time.monotonic() + seconds
    while not path.exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end
        time.sleep(0.05)
    return json.loads(path.read_text())["address"]


class DaskProcesses:
    """A scheduler and workers, started by Dask's own commands."""

    def __init__(self, folder, options=(), env=None):
        self.folder, self.options, self.env = folder, [*options], {**ENVIRONMENT, **(env or {})}
        self.file = folder / "scheduler.json"
        self.processes = []
        self._start("scheduler", "--port", "0")
        self.address = wait_for(self.file, self.processes[0])

    def add_worker(self, *options, **env):
        """Start a worker with one thread."""
        self._start("worker", "--nthreads", "1", *options, env=env)
        return self.processes[-1]

    def _start(self, what, *options, env=None):
        fixed = ["--no-dashboard", "--host", "127.0.0.1", "--scheduler-file", str(self.file)]
        self.processes.append(
            subprocess.Popen(
                [sys.executable, "-m", "dask", what, *fixed, *options, *self.options],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd=self.folder,
                env={**self.env, **(env or {})},
            )
        )

    def stop(self):
        """Kill all of them, and what they started."""
        for process in self.processes:
            if process.poll() is None:
                for child in psutil.Process(process.pid).children(recursive=True):
                    with contextlib.suppress(psutil.NoSuchProcess):
                        child.kill()
                process.kill()
            process.wait()


@pytest.fixture
def dask_processes(tmp_path):
    """A function that starts a scheduler and some workers by Dask's own commands."""
    started = []

    def start(workers=1, options=(), env=None):
        started.append(DaskProcesses(tmp_path, options, env))
        for _ in range(workers):
            started[-1].add_worker()
        return started[-1]

    yield start
    for processes in started:
        processes.stop()


def break_blocks(made, body):
    """Make `run_block` misbehave in worker processes only, from `sitecustomize`, as a bad machine would."""
    code = """
    import os, signal, sys, time
    if "spawn_main" in " ".join(sys.orig_argv):
        import scalestudy.execution.block as block
        honest = block.run_block
        def run_block(request, start, stop, workspace=None):
    {body}
            return honest(request, start, stop, workspace)
        block.run_block = run_block
    """
    code = textwrap.dedent(code).format(body=textwrap.indent(textwrap.dedent(body).strip(), " " * 8))
    (made.folder / "sitecustomize.py").write_text(code)
    made.environment["PYTHONPATH"] = os.pathsep.join([str(made.folder), ENVIRONMENT["PYTHONPATH"]])


@pytest.fixture
def broken():
    """The function that makes the blocks of a study misbehave; mended by `mend`."""
    return break_blocks


@pytest.fixture
def mend():
    return lambda made: (made.folder / "sitecustomize.py").unlink()


def worker_processes(process):
    """The Dask worker processes of a sweep."""
    children = psutil.Process(process.pid).children(recursive=True)
    return [child for child in children if "spawn_main" in " ".join(child.cmdline())]


@pytest.fixture
def workers_of():
    return worker_processes


@pytest.fixture
def whole(study, same):
    """Assert that a study's store equals one made in peace."""

    def check(made):
        other = study(**{key: made.spec[key] for key in ("grid", "trials", "trials_per_block")})
        assert other.call("sweep", "--serial").returncode == 0
        same(made.store, other.store)

    return check


@pytest.fixture
def blank(monkeypatch):
    """Leave out the drawing, where a test is about the page."""

    def picture(plate, directory):
        return Picture(plate, "data:,", "data:,", 10, 10)

    monkeypatch.setattr("scalestudy.report.picture_of", picture)
