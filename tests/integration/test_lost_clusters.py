"""A cluster that can do nothing any more ends a sweep with a message, within a stated time."""

import signal
import time

import dask
import pytest

from scalestudy.errors import ClusterError
from scalestudy.execution.watch import Patience

pytestmark = pytest.mark.distributed

PATIENCE = 2.0
SLACK = 20.0
STUDY = {
    "grid": {"d": [96, 128], "beta": [0.5, 1.0], "gamma": [1.0], "psi": [1.0]},
    "trials": 48,
    "trials_per_block": 4,
}


def test_no_workers_and_paused_workers(study, dask_processes):
    made = study(**STUDY)
    cluster = dask_processes(workers=0)

    def message_of_a_sweep(**patience):
        began = time.monotonic()
        with dask.config.set({"scalestudy.patience": patience}):
            result = made.call("sweep", "--scheduler", cluster.address)
        assert result.returncode == 1
        assert time.monotonic() - began < PATIENCE + SLACK
        return result.stderr

    said = message_of_a_sweep(without_workers=PATIENCE)
    assert said == "Error: There are no workers, for 2 s now; what is done is saved.\n"

    paused = cluster.add_worker("--memory-limit", "4GB", DASK_DISTRIBUTED__WORKER__MEMORY__PAUSE="0.001")
    said = message_of_a_sweep(all_paused=PATIENCE)
    assert said == (
        "All workers are paused because their memory is nearly full, for 2 s now; what is done is saved.\n"
    )
    paused.terminate()
    paused.wait()


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP], ids=["dies", "hangs"])
def test_a_scheduler_that_is_lost(study, whole, dask_processes, how):
    made = study(**STUDY)
    cluster = dask_processes(workers=1)
    made.environment |= {"DASK_SCALESTUDY__PATIENCE__WITHOUT_SCHEDULER": str(PATIENCE)}
    process = made.start("--scheduler", cluster.address, quiet=False)
    made.wait_for_blocks(2, process)
    began = time.monotonic()
    cluster.processes[0].send_signal(how)
    out, err = process.communicate(timeout=90)
    assert process.returncode == 1
    assert time.monotonic() - began < PATIENCE + SLACK
    assert err == "The scheduler does not answer any more, for 2 s now; what is done is saved.\n"
    assert "Traceback" not in out
    cluster.stop()
    assert made.call("sweep", "--serial").returncode == 0
    whole(made)


def test_patience_comes_from_the_configuration_of_dask():
    assert Patience.configured() == Patience()
    with dask.config.set({"scalestudy.patience.without-workers": "600"}):
        assert Patience.configured() == Patience(without_workers=600.0)
    with (
        dask.config.set({"scalestudy.patience.all_paused": "long"}),
        pytest.raises(ClusterError, match=r"all_paused = 'long'; it must be a number of seconds"),
    ):
        Patience.configured()
