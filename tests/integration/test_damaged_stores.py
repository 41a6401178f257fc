"""A damaged store never ends a command in a traceback, and never goes unnoticed: what mends it is said."""

import shutil

import pytest
import xarray as xr

pytestmark = pytest.mark.usefixtures("blank")

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
    assert "is damaged (2 findings, the first: d=" in result.stderr


@pytest.fixture
def copied(measured, study):
    made = study()
    shutil.copytree(measured.store, made.store)
    return made


# The first text after a mark in the root document, and what flipped bits make of it.
ENTRIES = {
    "the type of a derived array": (b'"convergence/w1": ', b'"data_type"', b'"data\x7ftype"'),
    "a codec of a derived array": (b'"convergence/w1": ', b'"endian"', b'"Endian"'),
    "the name of a derived array": (b'"convergence": ', b'"convergence/w1": ', b'"convergence/w9": '),
    "the derived group": (b'"seconds": ', b'"convergence": ', b'"confergence": '),
    "a codec of an array": (b'"seconds": ', b'"endian"', b'"Endian"'),
    "the kind of the list": (b'"consolidated_metadata"', b'"inline"', b'"inlinf"'),
    "the list": (b'"attributes"', b'"consolidated_metadata"', b'"consolidated_metadatq"'),
    "the type of the root": (b'"zarr_format"', b'"node_type": "group"', b'"node_type": "grouq"'),
}


def garble(made, after, old, new):
    path = made.store / "zarr.json"
    head, mark, tail = path.read_bytes().partition(after)
    assert old in tail
    path.write_bytes(head + mark + tail.replace(old, new, 1))


def opens_as(made, other):
    for group in (None, "convergence"):
        xr.testing.assert_identical(
            xr.open_zarr(made.store, group=group).load(), xr.open_zarr(other.store, group=group).load()
        )


@pytest.mark.parametrize("entry", ENTRIES)
def test_a_flipped_bit_in_the_root(copied, measured, entry):
    garble(copied, *ENTRIES[entry])
    result = copied.call("report")
    if result.returncode:
        (line,) = result.stderr.splitlines()
        assert "is damaged (" in line or "was cut short while it was made; run its sweep again" in line
    result = copied.call("verify", "--sample", 1)
    assert result.returncode == 1
    assert "Bad: zarr.json: " in result.stdout
    assert copied.call("verify", "--repair", "--sample", 1).returncode == 0
    result = copied.call("sweep", "--serial")
    assert (result.returncode, result.stderr) == (0, "")
    opens_as(copied, measured)


@pytest.mark.parametrize("entry", ENTRIES)
def test_a_sweep_heals_a_flipped_bit_in_the_root_by_itself(copied, measured, entry):
    garble(copied, *ENTRIES[entry])
    result = copied.call("sweep", "--serial")
    if entry in ("the list", "the type of the root"):
        # Of this root, zarr does not even open the counts.
        assert result.returncode == copied.call("status").returncode == 1
        assert "is damaged (its zarr.json is not that of a group). To mend it: " in result.stderr
        return
    assert (result.returncode, result.stderr) == (0, "")
    assert copied.call("verify", "--sample", 1).returncode == 0
    opens_as(copied, measured)


@pytest.mark.parametrize("how", DAMAGES)
@pytest.mark.parametrize("array", ["d_mean", "w1"])
def test_a_damaged_chunk_of_the_distances(copied, measured, array, how):
    path = next(
        p for p in (copied.store / "convergence" / array).rglob("*") if p.is_file() and p.name != "zarr.json"
    )
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0x10
    path.write_bytes(data if how == "flipped" else data[:8])
    if how == "deleted":
        path.unlink()
    shutil.copytree(copied.store, copied.folder / "other.zarr")
    result = copied.call("verify", "--sample", 1)
    assert result.returncode == 1
    assert "Bad: convergence: " in result.stdout
    assert copied.call("verify", "--repair", "--sample", 1).returncode == 0
    assert copied.call("report").returncode == 0
    # The same without a repair: a sweep takes nothing over from a damaged group.
    for place in (copied.store, copied.folder / "other.zarr"):
        copied.store = place
        copied.write(store=str(place))
        assert copied.call("sweep", "--serial").returncode == 0
        opens_as(copied, measured)
