"""The public names exist, and importing the package does not import what a worker never uses."""

import subprocess
import sys

import pytest

import scalestudy


@pytest.mark.parametrize("name", scalestudy.__all__)
def test_a_public_name(name):
    assert name in dir(scalestudy)
    assert callable(getattr(scalestudy, name))
    assert getattr(scalestudy, name).__doc__


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'distance'"):
        scalestudy.distance  # noqa: B018


def test_a_worker_imports_neither_laws_nor_figures():
    code = (
        "import sys, scalestudy.execution.block, scalestudy.sweep\n"
        "heavy = ('matplotlib', 'scalestudy.limit', 'scalestudy.convergence', 'scipy.stats')\n"
        "print(sorted(name for name in heavy if name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
