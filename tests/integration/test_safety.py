"""A running sweep listens on this machine only, and neither a spec nor a store can make it run code."""

import json
import os
import pickle
import signal

import numpy as np
import psutil
import pytest

import scalestudy
from scalestudy.errors import StoreError


@pytest.mark.distributed
def test_nothing_listens_on_the_network(study, workers_of):
    made = study(
        grid={"d": [128], "beta": [1.0], "gamma": [1.0], "psi": [1.0]}, trials=2000, trials_per_block=4
    )
    process = made.start("--workers", 2)
    made.wait_for_blocks(2, process)
    family = [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]
    assert len(workers_of(process)) == 2
    listening = {
        (member.pid, connection.laddr)
        for member in family
        for connection in member.net_connections(kind="inet")
        if connection.status == psutil.CONN_LISTEN
    }
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=60) == 130
    # The scheduler and its dashboard, and in each nanny and worker a port.
    assert len({pid for pid, _ in listening}) >= 3
    assert len(listening) >= 4
    assert {address.ip for _, address in listening} == {"127.0.0.1"}


class Bomb:
    """Unpickled, it leaves a mark."""

    def __init__(self, mark):
        self.mark = str(mark)

    def __reduce__(self):
        return (os.mkdir, (self.mark,))


def test_a_store_with_a_codec_that_unpickles_is_refused(study, monkeypatch):
    """Zarr reads arrays of format 2 also from a list of format 3, and format 2 knows a pickle codec."""
    monkeypatch.setattr("numcodecs.pickles.ALLOW_UNSAFE_PICKLE_DECODE", True, raising=False)
    made, mark = study(), None
    assert made.call("sweep", "--serial").returncode == 0
    mark = made.folder / "mark"
    path = made.store / "zarr.json"
    root = json.loads(path.read_text())
    root["consolidated_metadata"]["metadata"]["beta"] = {
        "zarr_format": 2,
        "node_type": "array",
        "shape": [2],
        "chunks": [2],
        "dtype": "|O",
        "fill_value": None,
        "order": "C",
        "filters": [{"id": "vlen-utf8"}, {"id": "pickle", "protocol": 5}],
        "compressor": None,
        "dimension_separator": ".",
        "attributes": {"_ARRAY_DIMENSIONS": ["beta"]},
    }
    path.write_text(json.dumps(root))
    (made.store / "beta" / "0").write_bytes(pickle.dumps(Bomb(mark)))
    with pytest.raises(StoreError, match=r"is damaged \(its list of arrays\)"):
        scalestudy.open_study(made.store).load()
    assert not mark.exists()
    # The sweep does not read that list, and makes it anew.
    made.write(trials=7)
    assert made.call("sweep", "--serial").returncode == 0
    assert np.isfinite(scalestudy.open_study(made.store).beta.values).all()
    assert not mark.exists()


def test_words_of_a_stranger_are_not_taken_for_markup(study):
    made = study(name="[/nothing] [red]name")
    assert made.call("sweep", "--serial").returncode == 0
    result = made.call("status")
    assert result.returncode == 0
    assert result.stdout.startswith("[/nothing] [red]name")
