"""Faults of machines, with real processes: after each, the same command makes the store whole again."""

import os
import subprocess
import sys
import textwrap
import time

import psutil
import pytest

pytestmark = pytest.mark.distributed

# Several seconds of work on two workers, so that a kill lands in the middle of a block.
LONG = {
    "grid": {"d": [96, 128], "beta": [0.5, 1.0], "gamma": [1.0], "psi": [1.0]},
    "trials": 48,
    "trials_per_block": 4,
}
BLOCKS = 2 * 2 * 12


def workers_of(process):
    """The Dask worker processes of a sweep."""
    children = psutil.Process(process.pid).children(recursive=True)
    return [child for child in children if "spawn_main" in " ".join(child.cmdline())]


def break_blocks(made, body):
    """Make `run_block` misbehave in worker processes only, from `sitecustomize`, as a bad machine would."""
    code = """
    import os, signal, sys
    if "spawn_main" in " ".join(sys.orig_argv):
        import scalestudy.execution.block as block
        honest = block.run_block
        def run_block(request, start, stop, workspace=None):
            {body}
            return honest(request, start, stop, workspace)
        block.run_block = run_block
    """
    code = textwrap.dedent(code).format(body=body)
    (made.folder / "sitecustomize.py").write_text(code)
    made.environment["PYTHONPATH"] = os.pathsep.join([str(made.folder), made.environment["PYTHONPATH"]])


def mend_blocks(made):
    (made.folder / "sitecustomize.py").unlink()


@pytest.fixture
def whole(study, same):
    """Assert that a study's store equals one made in peace."""

    def check(made):
        other = study(**{key: made.spec[key] for key in ("grid", "trials", "trials_per_block")})
        assert other.call("sweep", "--serial").returncode == 0
        same(made.store, other.store)

    return check


def test_a_worker_killed_twice_and_then_all_at_once(study, whole):
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
    assert "Traceback" not in out + err
    assert err == ""
    whole(made)


def test_a_block_that_kills_its_worker_is_recorded_and_retried_by_the_next_run(study, whole):
    made = study(trials=4, trials_per_block=2)
    break_blocks(made, "if request.sizes.d == 24 and start == 2: os.kill(os.getpid(), signal.SIGKILL)")
    result = made.run("sweep", "--workers", 2)
    assert result.returncode == 1
    assert "2 blocks failed" in result.stderr
    assert "its worker died each time it ran" in result.stderr
    assert "Traceback" not in result.stderr
    # Two d, two beta, two blocks each, of which the second at d = 24 dies.
    assert made.done_blocks() == 6
    status = made.call("status")
    assert status.returncode == 1
    assert "trials 2-3" in status.stdout
    assert "scalestudy.replay" in status.stdout
    mend_blocks(made)
    assert made.run("sweep", "--workers", 2).returncode == 0
    assert made.call("status").returncode == 0
    whole(made)


def test_a_block_that_raises_keeps_its_traceback_and_a_replay_command(study, whole):
    made = study(trials=4, trials_per_block=2)
    break_blocks(made, "if start == 2 and request.beta == 0.5: raise FloatingPointError('made to fail')")
    result = made.run("sweep", "--workers", 2)
    assert result.returncode == 1
    assert "FloatingPointError: made to fail" in result.stderr
    status = made.call("status", "--traceback")
    assert status.returncode == 1
    assert status.stdout.count("Traceback (most recent call last)") == 2
    assert "streams (seed, d, ell, d_qk, trial): (7, 16, 16, 16, 2)" in status.stdout
    replay = next(line for line in status.stdout.splitlines() if "replay:" in line).partition("replay: ")[2]
    replay = replay.replace("python ", f"{sys.executable} ", 1)
    subprocess.run(replay, shell=True, check=True, env=made.environment, timeout=60)
    mend_blocks(made)
    assert made.run("sweep", "--workers", 2).returncode == 0
    assert "Failed" not in made.call("status").stdout
    whole(made)


def test_a_lost_scheduler_ends_in_a_message(study, whole, dask_processes):
    made = study(**LONG)
    address, _, processes = dask_processes(workers=1)
    process = made.start("--scheduler", address, quiet=False)
    made.wait_for_blocks(4, process)
    began = time.monotonic()
    processes[0].kill()
    out, err = process.communicate(timeout=90)
    assert process.returncode == 1
    assert time.monotonic() - began < 75
    assert "scheduler" in err
    assert "what is done is saved" in err
    assert "Traceback" not in out + err
    assert made.run("sweep", "--workers", 2).returncode == 0
    whole(made)


def test_a_scheduler_without_workers_ends_in_a_message(study, dask_processes):
    made = study()
    address, _, _ = dask_processes(workers=0)
    began = time.monotonic()
    result = made.run("sweep", "--scheduler", address)
    assert result.returncode == 1
    assert "no workers" in result.stderr
    assert "Traceback" not in result.stderr
    assert time.monotonic() - began < 100


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
        $PYTHON -m scalestudy.sweep {made.path} --workers 2 || exit 8
        cp -r {disk}/store.zarr {made.store}
        """,
        made,
    )
    assert result.returncode == 0, result.stderr
    err = (made.folder / "err").read_text()
    assert (made.folder / "status").read_text().strip() == "1", err
    assert "cannot be written" in err
    assert "No space left on device" in err
    assert "Traceback" not in err
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
    assert "Read-only file system" in result.stderr
    assert "Traceback" not in result.stderr


def test_paused_workers_end_in_a_message(monkeypatch):
    from scalestudy.errors import ClusterError
    from scalestudy.execution.watch import Patience, Watch

    class Client:
        status = "running"

        def scheduler_info(self, n_workers):
            return {"workers": {"a": {"status": "paused"}, "b": {"status": state}}}

    state = "running"
    watch = Watch(Client(), Patience(all_paused=0.0))
    watch.look()
    watch.look()
    state = "paused"
    watch.look()
    with pytest.raises(ClusterError, match="All workers are paused"):
        watch.look()
