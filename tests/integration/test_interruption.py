"""Ctrl-C and SIGTERM, at any time: one line, status 130, no lock left behind; and one run per store."""

import os
import signal
import time

import psutil
import pytest

pytestmark = pytest.mark.distributed

LONG = {
    "grid": {"d": [96, 128], "beta": [0.5, 0.75, 1.0], "gamma": [1.0], "psi": [1.0]},
    "trials": 96,
    "trials_per_block": 4,
}


def ended_well(made, process):
    """Assert that an interrupted sweep said one line and left nothing behind; return what it said."""
    children = psutil.Process(process.pid).children(recursive=True) if process.poll() is None else []
    out, err = process.communicate(timeout=60)
    assert err == ""
    assert process.returncode == 130
    assert "Traceback" not in out
    assert not (made.folder / "store.zarr.lock").exists()
    _, alive = psutil.wait_procs(children, timeout=20)
    assert not alive
    return out.splitlines()[-1]


def test_ctrl_c_and_another_one_while_it_closes(study):
    made = study(**LONG)
    process = made.start("--workers", 2, quiet=False)
    made.wait_for_blocks(4, process)
    # Ctrl-C in a terminal reaches every process of the group.
    for _ in range(6):
        os.killpg(process.pid, signal.SIGINT)
        time.sleep(0.2)
    line = ended_well(made, process)
    assert line.startswith("Stopped: ")
    assert line.endswith("run the same command again to resume.")


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_the_cluster_starts(study, signum):
    made = study(**LONG)
    process = made.start("--workers", 2, quiet=False)
    # The lock is taken just before the cluster is started.
    while not (made.folder / "store.zarr.lock").exists():
        assert process.poll() is None
        time.sleep(0.01)
    while not psutil.Process(process.pid).children():
        time.sleep(0.01)
    os.killpg(process.pid, signum) if signum == signal.SIGINT else process.send_signal(signum)
    line = ended_well(made, process)
    assert line == "Stopped before any work was done; run the same command again."


def test_a_second_run_is_refused_by_name_and_sigterm_ends_the_first(study):
    made = study(**LONG)
    process = made.start("--workers", 1, quiet=False)
    made.wait_for_blocks(1, process)
    second = made.call("sweep", "--workers", 1)
    process.send_signal(signal.SIGTERM)
    line = ended_well(made, process)
    assert line.startswith("Stopped: ")
    assert second.returncode == 2
    assert f"process {process.pid} on host {os.uname().nodename}" in second.stderr


SLOW_TO_CLOSE = """
import pathlib, sys, time
if "scalestudy.sweep" in sys.orig_argv:
    from scalestudy.execution import cluster
    honest = cluster._close_quietly
    def slow(thing):
        pathlib.Path("closing").touch()
        time.sleep(1.0)
        honest(thing)
    cluster._close_quietly = slow
"""


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_the_cluster_is_closed_loses_no_report(study, signum):
    made = study(grid={"d": [16], "beta": [1.0]}, trials=8, trials_per_block=2)
    (made.folder / "sitecustomize.py").write_text(SLOW_TO_CLOSE)
    made.environment["PYTHONPATH"] = os.pathsep.join([str(made.folder), made.environment["PYTHONPATH"]])
    process = made.start("--workers", 1, quiet=False)
    while not (made.folder / "closing").exists():
        assert process.poll() is None
        time.sleep(0.01)
    os.killpg(process.pid, signum) if signum == signal.SIGINT else process.send_signal(signum)
    line = ended_well(made, process)
    assert line.startswith("Stopped: 4 more blocks saved in ")
    assert line.endswith(" at most 0 left; run the same command again to resume.")


def test_blocks_that_nobody_has_heard_of_are_counted(study, broken):
    """A group comes back as a whole: its blocks are in the store long before."""
    made = study(grid={"d": [16], "beta": [1.0]}, trials=24, trials_per_block=2)
    broken(made, "time.sleep(2 if start >= 8 else 0)")
    process = made.start("--workers", 1, quiet=False)
    made.wait_for_blocks(4, process)
    time.sleep(0.5)
    process.send_signal(signal.SIGTERM)
    line = ended_well(made, process)
    held = made.done_blocks()
    assert held >= 4
    assert line.startswith(f"Stopped: {held} more blocks saved in ")
    assert f", at most {12 - held} left" in line


DANGLING = """
import atexit, logging, sys
if "scalestudy.sweep" in sys.orig_argv:
    # What the garbage collector may do with a connection that was cut off.
    atexit.register(lambda: logging.getLogger("distributed.comm.tcp").warning("Closing dangling stream"))
"""


def test_what_dask_says_at_exit_is_not_passed_on(study):
    made = study(grid={"d": [16], "beta": [1.0]}, trials=2)
    (made.folder / "sitecustomize.py").write_text(DANGLING)
    made.environment["PYTHONPATH"] = os.pathsep.join([str(made.folder), made.environment["PYTHONPATH"]])
    result = made.run("sweep", "--workers", 1)
    assert (result.returncode, result.stderr) == (0, "")
