from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from scalestudy.law import law


def run(*arguments):
    return CliRunner().invoke(law, list(arguments))


def test_table():
    result = run("--beta", "0.3", "--psi", "0.25")
    assert result.exit_code == 0
    assert "0.0539910439581" in result.output
    assert "its mass" in result.output


def test_json_holds_the_contrast():
    result = json.loads(run("--beta", "1", "--json").output)
    assert result["support"][0][1] == pytest.approx(9.009542550375312, rel=1e-15)
    assert result["marchenko_pastur"]["w1"] == pytest.approx(0.2155, abs=5e-5)
    assert result["masses"] == [1.0]


@pytest.mark.parametrize(
    "arguments",
    [("--beta", "0.3", "--psi", "0.25"), ("--beta", "1", "--gamma", "2", "--tokens", "spherical")],
)
def test_plot(tmp_path, arguments):
    path = tmp_path / "law.png"
    assert run(*arguments, "--plot", str(path)).exit_code == 0
    assert path.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--beta", "0"), "Invalid beta"),
        (("--beta", "1", "--gamma", "2"), "orthonormal tokens. Must be at most 1"),
        (("--beta", "1", "--plot", "law.nosuchformat"), "Cannot write the plot"),
    ],
)
def test_mistakes_end_in_one_line(arguments, message):
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.output
    assert "Traceback" not in result.output
