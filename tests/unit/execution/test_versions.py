"""A worker that has another version of the package refuses to work, whenever it came."""

import pytest

from scalestudy.errors import ClusterError
from scalestudy.execution.block import installed_version, run_and_write


def test_a_worker_of_another_version_refuses():
    assert run_and_write([], None, version=installed_version()) == []
    with pytest.raises(ClusterError, match=r"has scalestudy .*; here it is scalestudy 0\.0\.0"):
        run_and_write([], None, version="scalestudy 0.0.0, draw version 0")
