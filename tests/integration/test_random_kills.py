"""Any process may be killed at any time: what was done stays, what was in flight is done once more."""

import os
import random
import signal
import time

import pytest

pytestmark = pytest.mark.distributed

GRID = {"d": [96, 128], "beta": [0.5, 1.0], "gamma": [1.0], "psi": [1.0]}
WORKERS = 2
BLOCK = 4

# Every block that a worker begins, and whether it is in the store already: then it is computed in vain.
LEDGER = """
d, beta = {d}.index(request.sizes.d), {beta}.index(request.beta)
name = f"c.{{d}}.{{beta}}.0.0.{{start // {block}}}"
with open({ledger!r}, "a") as file:
    file.write(f"{{name}} {{os.path.exists(os.path.join({done!r}, name))}}\\n")
"""


def kill_something(process, victim, workers_of, rng):
    """Kill the client, one worker, all workers or the whole group; whether the sweep ends of it."""
    if victim == "group":
        os.killpg(process.pid, signal.SIGKILL)
    elif victim == "client":
        process.kill()
    else:
        workers = workers_of(process)
        for worker in workers if victim == "workers" else rng.sample(workers, min(1, len(workers))):
            worker.kill()
    return victim in ("group", "client")


def survive(study, same, broken, workers_of, *, trials, kills, seed):
    """Run a sweep under a schedule of kills, resume it each time, and check store and ledger."""
    rng = random.Random(seed)
    made, other = (study(grid=GRID, trials=trials, trials_per_block=BLOCK) for _ in range(2))
    ledger = made.folder / "ledger"
    where = {"ledger": str(ledger), "done": str(made.store / "done"), "block": BLOCK}
    broken(made, LEDGER.format(**where, **GRID))
    total = len(GRID["d"]) * len(GRID["beta"]) * (trials // BLOCK)
    # Each kind of victim equally often, each somewhere in its own share of the work.
    victims = [("worker", "client", "workers", "group")[i % 4] for i in range(kills)]
    rng.shuffle(victims)
    kept, restarts, process = {}, 0, None
    for number, victim in enumerate(victims):
        if process is None:
            process = made.start("--workers", WORKERS)
        goal = int(total * (number + rng.uniform(0.2, 0.9)) / (kills + 1))
        made.wait_for_blocks(max(goal, 1), process)
        time.sleep(rng.uniform(0.0, 0.1))
        if kill_something(process, victim, workers_of, rng):
            process.wait()
            process, restarts = None, restarts + 1
        now = made.mtimes()
        assert all(now[name] == when for name, when in kept.items()), "a finished block was written again"
        kept = now
    if process is not None:
        assert process.wait(timeout=300) == 0
    last = made.run("sweep", "--workers", WORKERS)
    assert last.returncode == 0, last.stderr
    assert last.stderr == ""
    assert made.done_blocks() == total
    assert all(made.mtimes()[name] == when for name, when in kept.items())

    begun = [line.split() for line in ledger.read_text().splitlines()]
    assert not [name for name, held in begun if held == "True"], "a finished block was computed again"
    extra = len(begun) - total
    print(
        f"\n{kills} kills, {restarts} restarts of the client, {total} blocks of {BLOCK} trials: "
        f"{len(begun)} begun, {extra} of them again"
    )
    # A kill costs at most what each worker had in hand.
    assert 0 <= extra <= WORKERS * kills
    assert other.call("sweep", "--serial").returncode == 0
    same(made.store, other.store)


def test_one_kill_of_each_kind(study, same, broken, workers_of):
    survive(study, same, broken, workers_of, trials=64, kills=4, seed=1)


@pytest.mark.slow
def test_thirty_kills(study, same, broken, workers_of):
    survive(study, same, broken, workers_of, trials=2000, kills=30, seed=2)
