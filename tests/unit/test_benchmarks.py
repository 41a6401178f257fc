"""Every benchmark of the suite starts: what it imports is there, and it says what it measures."""

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"
SUITE = runpy.run_path(str(FOLDER / "__main__.py"))["SUITE"]


def test_the_suite_and_its_readme_name_every_benchmark():
    files = {path.stem for path in FOLDER.glob("*.py")} - {"__init__", "__main__"}
    assert set(SUITE) == files
    readme = (FOLDER / "README.md").read_text()
    assert all(f"`{name}.py`" in readme for name in files)


@pytest.mark.parametrize("name", SUITE)
def test_a_benchmark_starts(name):
    done = subprocess.run(
        [sys.executable, str(FOLDER / f"{name}.py"), "--help"], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("usage: ")
