"""Workers that die, blocks that fail, disks that are full: the same command makes the store whole again."""

import os
import shlex
import subprocess
import sys

import pytest

pytestmark = pytest.mark.distributed

# Several seconds of work on two workers, so that a kill lands in the middle of a block.
LONG = {
    "grid": {"d": [96, 128], "beta": [0.5, 1.0], "gamma": [1.0], "psi": [1.0]},
    "trials": 48,
    "trials_per_block": 4,
}


def test_a_worker_killed_twice_and_then_all_at_once(study, whole, workers_of):
    made = study(**LONG)
    process = made.start("--workers", 2, quiet=False)
    for blocks in (4, 8):
        made.wait_for_blocks(blocks, process)
        workers_of(process)[0].kill()
    made.wait_for_blocks(12, process)
    for worker in workers_of(process):
        worker.kill()
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert "Traceback" not in out
    assert err == ""
    whole(made)


BAD = """
if start == 2 and request.beta == 0.5:
    if request.sizes.d == 16:
        raise FloatingPointError("made to fail")
    if request.sizes.d == 20:
        os.kill(os.getpid(), signal.SIGKILL)
    hoard = []
    while True:
        hoard.append(b"x" * 2**24)
        time.sleep(0.02)
"""


def test_blocks_that_raise_kill_or_exhaust_memory_are_recorded_and_retried(
    study, whole, broken, mend, monkeypatch
):
    made = study(
        grid={"d": [16, 20, 24], "beta": [0.5, 1.0], "gamma": [1.0], "psi": [1.0]},
        trials=4,
        trials_per_block=2,
        cluster={
            "class": "distributed.LocalCluster",
            "n_workers": 2,
            "threads_per_worker": 1,
            "memory_limit": "700MB",
            "dashboard_address": "127.0.0.1:0",
        },
    )
    # Two workers must die of a block before it is blamed, by default four. What merely waits on a worker
    # that dies must not be blamed.
    monkeypatch.setitem(made.environment, "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES", "1")
    broken(made, BAD)
    result = made.run()
    assert result.returncode == 1
    assert "Traceback" not in result.stdout + result.stderr
    said = result.stderr.splitlines()
    assert said[0].startswith("3 blocks failed, the first (d="), said
    assert said[-1].endswith("run the same command again to resume."), said
    # Three d, two beta, two blocks each, of which three fail.
    assert made.done_blocks() == 9

    status = made.call("status", "--traceback")
    assert status.returncode == 1
    assert status.stdout.count("Failed: ") == 3
    assert status.stdout.count("its worker died each time it ran (out of memory, or killed)") == 2
    assert status.stdout.count("Traceback (most recent call last)") == 1
    assert "FloatingPointError: made to fail" in status.stdout
    assert "streams (seed, d, ell, d_qk, trial): (7, 16, 16, 16, 2)" in status.stdout
    replay = next(line for line in status.stdout.splitlines() if "replay:" in line).partition("replay: ")[2]
    command = [sys.executable, *shlex.split(replay)[1:]]
    subprocess.run(command, check=True, env=made.environment, timeout=60)

    mend(made)
    again = made.run()
    assert again.returncode == 0
    assert again.stderr == ""
    assert made.call("status").returncode == 0
    assert "Failed" not in made.call("status").stdout
    whole(made)


def test_a_store_deleted_under_a_sweep_is_noticed_and_leaves_no_rubble(study, whole):
    made = study(**LONG)
    process = made.start("--workers", 2, quiet=False)
    made.wait_for_blocks(4, process)
    made.store.rename(made.folder / "elsewhere")
    out, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "Traceback" not in out
    assert len(err.splitlines()) == 1, err
    assert "store.zarr is gone" in err
    assert not made.store.exists() or not list(made.store.rglob("c.*"))
    assert made.run().returncode == 0
    whole(made)


def in_a_private_mount(script, made):
    """Run a shell script in a mount namespace of its own, where a small or read-only disk can be made."""
    unshare = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--mount"]
    return subprocess.run(
        [*unshare, "bash", "-c", script],
        capture_output=True,
        text=True,
        timeout=240,
        env={**made.environment, "PYTHON": sys.executable},
    )


def test_a_full_disk_is_said_and_the_run_goes_on_once_there_is_room(study, whole):
    made = study(**LONG)
    disk = made.folder / "disk"
    disk.mkdir()
    made.write(store=str(disk / "store.zarr"))
    result = in_a_private_mount(
        f"""
        mount -t tmpfs -o size=2m none {disk} || exit 9
        head -c 1700000 /dev/zero > {disk}/filler
        $PYTHON -m scalestudy.sweep {made.path} --workers 2 > {made.folder}/out 2> {made.folder}/err
        echo $? > {made.folder}/status
        rm {disk}/filler
        mount -o remount,size=64m {disk}
        $PYTHON -m scalestudy.sweep {made.path} --serial || exit 8
        cp -r {disk}/store.zarr {made.store}
        """,
        made,
    )
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    (err,) = (made.folder / "err").read_text().splitlines()
    assert (made.folder / "status").read_text().strip() == "1", err
    assert "cannot be written" in err
    assert "No space left on device" in err
    whole(made)


def test_a_read_only_store_is_refused(study):
    made = study()
    assert made.call("sweep", "--serial").returncode == 0
    made.write(trials=8)
    result = in_a_private_mount(
        f"""
        mount --bind {made.folder} {made.folder} && mount -o remount,ro,bind {made.folder} || exit 9
        $PYTHON -m scalestudy.sweep {made.path} --workers 1
        """,
        made,
    )
    assert result.returncode == 2, result.stderr
    (line,) = result.stderr.splitlines()
    assert line.endswith("cannot be written: Read-only file system.")
