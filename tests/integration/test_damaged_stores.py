"""A damaged store never ends a command in a traceback, and never goes unnoticed: what mends it is said."""

import shutil

import pytest

DAMAGES = ["flipped", "truncated", "deleted"]
CHUNK = "squared_singular_values/c.0.0.0.0.0.0.0"


@pytest.fixture
def damaged(study):
    """A function that makes a study with one damaged chunk, not yet measured."""

    def make(how):
        made = study()
        assert made.call("sweep", "--serial").returncode == 0
        shutil.rmtree(made.store / "convergence")
        path = made.store / CHUNK
        data = bytearray(path.read_bytes())
        data[-9] ^= 0x10
        path.write_bytes(data if how == "flipped" else data[:20])
        if how == "deleted":
            path.unlink()
        return made

    return make


@pytest.mark.parametrize("how", DAMAGES)
def test_a_sweep_that_meets_damage_says_what_mends_it(damaged, how):
    made = damaged(how)
    result = made.call("sweep", "--serial")
    assert result.returncode == 1
    assert len(result.stderr.splitlines()) == 1, result.stderr
    assert "is damaged (" in result.stderr
    assert "store.zarr --repair" in result.stderr
    assert made.call("verify", "--repair").returncode == 0
    again = made.call("sweep", "--serial")
    assert (again.returncode, again.stderr) == (0, "")


@pytest.mark.parametrize("how", DAMAGES)
def test_a_report_of_a_damaged_store_says_so(damaged, how):
    made = damaged(how)
    result = made.call("report")
    if how == "deleted":
        # It can be drawn without; but the page says what it lacks.
        assert result.returncode == 0
        page = (made.folder / "store_report" / "report.html").read_text()
        assert "2 trials counted as done not there: see python -m scalestudy.verify" in page
        return
    assert result.returncode == 1
    assert len(result.stderr.splitlines()) == 1, result.stderr
    assert "is damaged (1 finding, the first: d=" in result.stderr
