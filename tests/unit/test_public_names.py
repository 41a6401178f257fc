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


WORKER = ("scalestudy.execution.block", "scalestudy.execution.probe", "scalestudy.sweep")


@pytest.mark.parametrize(
    ("modules", "heavy"),
    [
        (WORKER, ("xarray", "matplotlib", "scalestudy.limit", "scalestudy.convergence", "scipy.stats")),
        (("scalestudy.running",), ("matplotlib",)),
    ],
    ids=["a worker imports nothing that analyses", "a sweep without a report imports nothing that draws"],
)
def test_what_is_not_imported(modules, heavy):
    code = f"import sys, {', '.join(modules)}\nprint(sorted(name for name in {heavy} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
