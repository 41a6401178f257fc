"""A sweep that is killed and run again ends as if it had not been, and pays only for what was in flight."""

import os
import signal

import pytest

pytestmark = pytest.mark.distributed

# About a second of work for each of 48 blocks' groups, so that a kill lands in the middle.
LONG = {
    "grid": {"d": [96, 128], "beta": [0.5, 0.75, 1.0], "gamma": [1.0], "psi": [1.0]},
    "trials": 48,
    "trials_per_block": 4,
}


def test_sigkill_of_the_whole_group_then_the_same_command(study, same, kill):
    broken, whole = study(**LONG), study(**LONG)
    process = broken.start("--workers", 2)
    broken.wait_for_blocks(10, process)
    kill(process)
    before = broken.mtimes()
    total = 2 * 3 * 12
    assert len(before) < total, "the sweep was over before it was killed"
    result = broken.run("sweep", "--workers", 2)
    assert result.returncode == 0, result.stderr
    after = broken.mtimes()
    assert len(after) == total
    assert all(after[name] == when for name, when in before.items()), "a finished block was computed again"
    assert whole.call("sweep", "--serial").returncode == 0
    same(broken.store, whole.store)


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_with_one_line_and_status_130(study, signum):
    made = study(**LONG)
    process = made.start("--workers", 2, quiet=False)
    made.wait_for_blocks(4, process)
    if signum == signal.SIGINT:
        # Ctrl-C in a terminal reaches every process of the group.
        os.killpg(process.pid, signum)
    else:
        process.send_signal(signum)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in out + err
    assert err == ""
    assert "run the same command again to resume" in out
    assert not (made.folder / "store.zarr.lock").exists()


def test_a_second_run_on_the_same_store_is_refused_by_name(study):
    made = study(**LONG)
    process = made.start("--workers", 1)
    made.wait_for_blocks(1, process)
    second = made.run("sweep", "--workers", 1)
    process.send_signal(signal.SIGTERM)
    process.wait(timeout=60)
    assert second.returncode == 2
    assert f"process {process.pid} on host {os.uname().nodename}" in second.stderr
    assert "Traceback" not in second.stderr
