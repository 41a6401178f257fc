"""`scalestudy.run` from a plain script, as a newcomer writes it."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.distributed

SCRIPT = """
import scalestudy
print("hello")
study = scalestudy.run("spec.yaml", workers=2)
print(int(study.done.sum()), __file__.endswith("script.py"), __spec__)
"""


def test_a_script_without_a_main_guard_runs_once(study):
    made = study()
    (made.folder / "script.py").write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, "script.py"],
        capture_output=True,
        text=True,
        cwd=made.folder,
        env=made.environment,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    # Two d with 6 and 3 trials, two beta.
    assert done.stdout.split("\n") == ["hello", "18 True None", ""]
