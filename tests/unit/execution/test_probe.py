"""What workers say when asked, and those that are gone before they answer."""

import pytest
from distributed.comm import CommClosedError

from scalestudy.errors import ClusterError
from scalestudy.execution import probe as module
from scalestudy.execution.probe import probe, probe_here
from scalestudy.store import Location


class Workers:
    """Stands for a client; each round of answers is one, with a worker that is there answering honestly."""

    def __init__(self, *rounds):
        self.rounds = list(rounds)

    def run(self, function, url, nonce, on_error):
        assert (function, on_error) == (probe_here, "return")
        answers = self.rounds.pop(0) if len(self.rounds) > 1 else self.rounds[0]
        return {
            address: answer if isinstance(answer, BaseException) else function(url, nonce)
            for address, answer in answers.items()
        }


@pytest.fixture(autouse=True)
def _at_once(monkeypatch):
    monkeypatch.setattr(module, "_PAUSE_SECONDS", 0)


@pytest.fixture
def location(tmp_path):
    return Location.of(tmp_path / "s.zarr")


LOST = CommClosedError("Stream is closed")


def test_a_worker_that_is_lost_while_it_is_asked_is_no_verdict(location):
    workers = Workers({"a": None, "b": LOST}, {}, {"a": None, "c": None})
    probe(workers, location)
    assert len(workers.rounds) == 1
    assert "probe" not in location.names()


def test_one_that_stays_unreachable_leaves_the_work_to_the_others(location):
    probe(Workers({"a": None, "b": LOST}), location)


def test_the_one_that_replaces_it_is_judged(location):
    with pytest.raises(ClusterError, match="The worker c cannot run scalestudy"):
        probe(Workers({"a": None, "b": LOST}, {"a": None, "c": ModuleNotFoundError("scalestudy")}), location)


def test_all_lost_is_said(location):
    with pytest.raises(ClusterError, match="All workers were lost while"):
        probe(Workers({"a": LOST}), location)
