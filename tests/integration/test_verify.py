"""Every kind of damage to a store is found, named, and mended to the undisturbed values."""

import json
import os
import shutil

import numpy as np
import pytest
import xarray as xr
from click.testing import CliRunner

from scalestudy.execution.session import carry_out
from scalestudy.status import status
from scalestudy.store import Location, prepare, writing
from scalestudy.store.schema import BLOCKWISE, COORDINATES
from scalestudy.study import override, parse_source, parse_spec
from scalestudy.verify import verify

SPEC = """\
seed: 3
grid: {d: [16, 24], beta: [1.0, 0.5]}
trials: {16: 5, 24: 4}
trials_per_block: 2
models: [sqrt_d_A_perp, Y_f_lin]
bulk: {drop: 1}
"""
BLOCK = "c.1.0.0.0.0"
WORDS = "d=24, beta=0.5, gamma=1, psi=1, trials 0-1"


def spec_of(place, *options):
    return parse_spec(override(parse_source(SPEC, "f.yaml"), [f"store='{place}'", *options]))


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    place = tmp_path_factory.mktemp("sound") / "s.zarr"
    report = carry_out(spec_of(place), serial=True)
    assert report.blocks == 2 * 3 + 2 * 2
    return place


@pytest.fixture
def place(sound, tmp_path):
    return shutil.copytree(sound, tmp_path / "s.zarr")


def run(place, *options):
    result = CliRunner().invoke(verify, [str(place), "--sample", "4", *options])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exc_info
    return result.exit_code, result.output


def values(place):
    return xr.open_zarr(place, consolidated=True).load().drop_vars("seconds").drop_attrs()


def flip(path, at=-9, bit=0x10):
    data = bytearray(path.read_bytes())
    data[at] ^= bit
    path.write_bytes(bytes(data))


def found_and_mended(place, sound, *words):
    """Assert that verify finds something and says these words, and that --repair mends it."""
    status, output = run(place)
    assert status == 1
    assert "--repair" in output
    for word in words:
        assert word in output, output
    status, output = run(place, "--repair")
    assert status == 0, output
    xr.testing.assert_identical(values(place), values(sound))
    status, output = run(place)
    assert status == 0, output
    assert "Bad" not in output


def test_a_sound_store_is_sound(place):
    before = {path: path.read_bytes() for path in place.rglob("*") if path.is_file()}
    status, output = run(place)
    assert status == 0
    assert output == (
        "Read 50 chunks: 10 sound blocks with 18 trials.\n"
        "Recomputed 4 trials: 4 identical, 0 equal to rounding, 0 different.\n"
    )
    assert {path: path.read_bytes() for path in place.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("array", ["squared_singular_values", "row_normalizer", "seconds", "solver"])
def test_a_flipped_bit(place, sound, array):
    chunk = next((place / array).glob(f"{BLOCK}*"))
    flip(chunk)
    found_and_mended(place, sound, f"Bad: {WORDS}: corrupt: {array}: ", "checksum")


@pytest.mark.parametrize("at", [0, 4, 12, 40, -1])
def test_a_flipped_bit_anywhere_in_a_chunk(place, at):
    flip(next((place / "row_normalizer").glob(f"{BLOCK}*")), at=at)
    status, output = run(place)
    assert status == 1
    assert f"Bad: {WORDS}: corrupt: row_normalizer" in output


@pytest.mark.parametrize("array", ["squared_singular_values", "row_normalizer", "seconds", "solver"])
@pytest.mark.parametrize("size", [0, 3, 20])
def test_a_truncated_chunk(place, sound, array, size):
    os.truncate(next((place / array).glob(f"{BLOCK}*")), size)
    found_and_mended(place, sound, f"Bad: {WORDS}: corrupt: {array}: ")


@pytest.mark.parametrize("array", ["squared_singular_values", "row_normalizer", "seconds", "solver"])
def test_a_deleted_chunk(place, sound, array):
    chunk = next((place / array).glob(f"{BLOCK}*"))
    chunk.unlink()
    found_and_mended(place, sound, f"Bad: {WORDS}: missing: {array}/{chunk.name}")


def test_a_deleted_count(place, sound):
    (place / "done" / BLOCK).unlink()
    found_and_mended(place, sound, f"Bad: {WORDS}: half-written: it has values and no count in `done`")


@pytest.mark.parametrize("content", [b"", b"\x02", b"\x02\0\0\0", b"\x02\0\0\0\0\0\0\0", b"\xff" * 8])
def test_a_count_that_cannot_be_read(place, sound, content):
    (place / "done" / BLOCK).write_bytes(content)
    found_and_mended(place, sound, f"Bad: {WORDS}: corrupt: its count in `done` cannot be read")


def test_the_count_of_a_last_short_block_is_found_again(place, sound):
    for name in ("c.0.0.0.0.2", "c.0.1.0.0.2"):
        (place / "done" / name).write_bytes(b"")
    (place / "seconds" / "c.0.1.0.0.2").write_bytes(b"")
    found_and_mended(place, sound, "d=16, beta=0.5", "d=16, beta=1, gamma=1, psi=1, trials 4-4")


@pytest.mark.parametrize("count", [-3, 3, 99])
def test_an_impossible_count(place, sound, count):
    group = Location.of(place).group("r+")
    group["done"][1, 0, 0, 0, 0] = count
    found_and_mended(place, sound, f"its count in `done` is {count}; possible are 1 to 2")


def test_many_damages_at_once(place, sound):
    flip(next((place / "squared_singular_values").glob("c.0.0.0.0.0*")))
    (place / "done" / "c.0.1.0.0.1").write_bytes(b"")
    (place / "seconds" / "c.1.1.0.0.0").unlink()
    (place / "solver" / "zarr.json").unlink()
    (place / "d" / "c.0").write_bytes(b"x")
    (place / "done" / "c.0.0.0.0.0.7f.partial").write_bytes(b"")
    found_and_mended(
        place,
        sound,
        "Bad: solver: half-grown or damaged: the array has no metadata",
        "Bad: d: corrupt",
        "trials 2-3: corrupt: its count",
        "Bad: done/c.0.0.0.0.0.7f.partial: a writer was killed",
    )


def put(place, array, index, value):
    """Write values as a program with an error would: with a good checksum."""
    Location.of(place).group("r+")[array][index] = value


@pytest.mark.parametrize(
    ("array", "index", "value", "words"),
    [
        ("squared_singular_values", (1, 0, 0, 0, 1, 0, 3), 1e9, "not in descending order"),
        ("squared_singular_values", (0, 1, 0, 0, 1, 0, 20), 1.0, "values past ell = 16"),
        ("squared_singular_values", (1, 0, 0, 0, 1, 1, 0), np.inf, "are not finite"),
        ("squared_singular_values", (1, 0, 0, 0, 1, 1, 23), np.nan, "are not finite"),
        ("row_normalizer", (1, 0, 0, 0, 0, 2), np.nan, "are not finite"),
        ("row_normalizer", (1, 0, 0, 0, 0, 2), -0.5, "a row normaliser is not positive"),
        ("row_normalizer", (0, 1, 0, 0, 0, 17), 1.0, "values past ell = 16"),
        ("seconds", (1, 0, 0, 0, 0), np.nan, "are not finite"),
        ("solver", (1, 0, 0, 0, 0), 77, "unknown codes"),
    ],
)
def test_values_that_cannot_be(place, sound, array, index, value, words):
    put(place, array, index, value)
    found_and_mended(place, sound, f"{array}: ", words)


def test_a_block_that_was_being_extended_when_its_writer_was_killed(place, sound):
    put(place, "done", (0, 0, 0, 0, 0), 1)
    found_and_mended(place, sound, "trials 0-0: half-written: squared_singular_values: values of more trials")


def test_values_that_look_right_and_are_not_those_of_their_seeds(place, sound):
    group = Location.of(place).group("r+")
    group["squared_singular_values"][1, 0, 0, 0, 1] *= 1 + 1e-9
    status, output = run(place, "--sample", "100")
    assert status == 1
    assert "Bad: d=24, beta=0.5, gamma=1, psi=1, trial 1: differs from its recomputation by 1e-09" in output
    assert "Recomputed 18 trials: 17 identical, 0 equal to rounding, 1 different." in output
    assert run(place, "--sample", "100", "--repair")[0] == 0
    xr.testing.assert_identical(values(place), values(sound))


def test_rounding_is_no_difference_and_is_said(place):
    group = Location.of(place).group("r+")
    group["squared_singular_values"][1, 0, 0, 0, 1] *= 1 + 1e-13
    status, output = run(place, "--sample", "100")
    assert status == 0
    assert "17 identical, 1 equal to rounding, 0 different" in output


def test_nothing_is_overwritten_where_most_of_the_sample_differs(place):
    root = json.loads((place / "zarr.json").read_text())
    manifest = json.loads(root["attributes"]["scalestudy_manifest"])
    manifest["identity"]["seed"] = 4
    root["attributes"]["scalestudy_manifest"] = json.dumps(manifest)
    (place / "zarr.json").write_text(json.dumps(root))
    before = values(place)
    status, output = run(place, "--repair")
    assert status == 2
    assert "4 of 4 recomputed trials of" in output
    assert "Nothing is repaired" in output
    xr.testing.assert_identical(values(place), before)


def test_another_draw_version_is_read_and_not_repaired(place, monkeypatch):
    monkeypatch.setattr("scalestudy.verify.DRAW_VERSION", 9)
    status, output = run(place)
    assert status == 0
    assert "none of its trials can be computed again" in output
    assert "Recomputed" not in output
    status, output = run(place, "--repair")
    assert status == 2
    assert "drawn with draw version 1, this package has 9" in output


@pytest.mark.parametrize("resized", [0, 2, 9])
def test_a_growth_that_stopped_between_its_resizes(place, sound, tmp_path, monkeypatch, resized):
    """The manifest is grown, and some arrays are: verify finds that, repair goes through with the growth."""
    location, grown = Location.of(place), spec_of(place, "grid.d=16,24,32", "trials=7")

    def apply(location, manifest, values):
        for name in [*BLOCKWISE, *COORDINATES][:resized]:
            array = location.group("r+")[name]
            array.resize([manifest.lengths[dim] for dim in array.metadata.dimension_names])
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("scalestudy.store.schema.apply", apply)
        with pytest.raises(KeyboardInterrupt):
            prepare(location, grown, tokens="orthonormal", matrix=None, trials_per_block=2, attributes={})
    xr.testing.assert_identical(values(place), values(sound))
    status, output = run(place)
    assert status == 1
    assert (
        "Bad: seconds: half-grown or damaged: the array has shape (2, 2, 1, 1, 5), the manifest asks for "
        "(3, 2, 1, 1, 7)" in output
    ) == (resized < 3)
    assert "Bad: theta2_Q: half-grown" in output
    assert "Bad: zarr.json: its consolidated metadata are stale" in output
    assert run(place, "--repair")[0] == 0
    after = values(place)
    assert dict(after.sizes)["d"] == 3
    assert dict(after.sizes)["trial"] == 7
    carry_out(grown, serial=True)
    other = tmp_path / "other.zarr"
    for options in ([], ["grid.d=16,24,32", "trials=7"]):
        carry_out(spec_of(other, *options), serial=True)
    xr.testing.assert_identical(values(place), values(other))


def test_a_making_that_was_cut_short(place, sound, monkeypatch):
    shutil.rmtree(place)

    def apply(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("scalestudy.store.schema.apply", apply)
        with pytest.raises(KeyboardInterrupt):
            carry_out(spec_of(place), serial=True)
    shown = CliRunner().invoke(status, [str(place)])
    assert shown.exit_code == 0
    assert "0 of 18 trials of its spec done" in shown.output
    code, output = run(place)
    assert code == 1
    assert "Bad: done: half-grown or damaged: the array has no metadata" in output
    assert run(place, "--repair")[0] == 0
    carry_out(spec_of(place), serial=True)
    xr.testing.assert_identical(values(place), values(sound))


@pytest.mark.parametrize(
    "options",
    [
        ["dtype=float32", "solver=svd"],
        ["models=all", "polynomial={theta: monte_carlo, samples: 1000}"],
        ["tokens=gaussian", "grid.gamma=0.5,2", "grid.psi=0.5"],
    ],
    ids=str,
)
@pytest.mark.parametrize("where", ["local", "memory"])
def test_other_studies_and_places(tmp_path, options, where):
    place = tmp_path / "s.zarr" if where == "local" else f"memory://{tmp_path.name}/s.zarr"
    spec = spec_of(place, "trials=3", "grid.d=16", *options)
    carry_out(spec, serial=True)
    code, output = run(place)
    assert code == 0
    assert "Recomputed 4 trials: 4 identical" in output
    location = Location.of(place)
    location.replace("seconds/c.0.0.0.0.0", b"damaged")
    location.delete("done/c.0.1.0.0.1")
    code, output = run(place, "--repair")
    assert code == 0
    assert output.count("Bad: ") == output.count(": computed again") == 2


def test_a_lost_list_of_coordinates(place, sound):
    root = json.loads((place / "zarr.json").read_text())
    del root["attributes"]["coordinates"]
    (place / "zarr.json").write_text(json.dumps(root))
    found_and_mended(
        place, sound, "Bad: zarr.json: its attribute `coordinates` does not name the coordinates"
    )


@pytest.mark.parametrize("damage", ["missing", "old"])
def test_stale_consolidated_metadata(place, sound, damage):
    root = json.loads((place / "zarr.json").read_text())
    if damage == "missing":
        del root["consolidated_metadata"]
    else:
        root["consolidated_metadata"]["metadata"]["seconds"]["shape"][0] = 1
    (place / "zarr.json").write_text(json.dumps(root))
    found_and_mended(place, sound, "Bad: zarr.json: its consolidated metadata are stale")


def test_coordinates_that_are_not_those_of_the_manifest(place, sound):
    put(place, "beta", 0, 7.0)
    put(place, "model", 0, "other")
    found_and_mended(
        place, sound, "Bad: beta: the values of this coordinate", "Bad: model: the values of this"
    )


def test_a_user_s_notes_in_the_attributes_are_no_damage(place):
    Location.of(place).group("r+")["seconds"].attrs["note"] = "mine"
    assert run(place)[0] == 0


def test_what_is_no_store_is_bad_input(tmp_path):
    for path in (tmp_path / "none.zarr", tmp_path):
        status, output = run(path)
        assert status == 2
        assert output.startswith("Error: ")
    assert run("qq://x")[0] == 2


def test_a_store_that_is_being_written_is_read_and_not_repaired(place):
    with writing(Location.of(place)):
        assert run(place)[0] == 0
        status, output = run(place, "--repair")
    assert status == 2
    assert f"is being written by process {os.getpid()}" in output


def test_a_sample_of_none_reads_only_and_a_seed_chooses_others(place, monkeypatch):
    asked = []

    def recompute(location, manifest, point, start, stop, solver):
        asked.append((point, start))
        raise KeyboardInterrupt

    monkeypatch.setattr("scalestudy.execution.verification.recompute", recompute)
    assert run(place, "--sample", "0")[0] == 0
    assert not asked
    for seed in range(8):
        assert run(place, "--seed", str(seed))[0] == 130
    assert len(set(asked)) > 2


def test_a_damaged_token_matrix_is_found_and_mended_by_the_sweep(tmp_path):
    tokens, place = tmp_path / "X.npy", tmp_path / "t.zarr"
    np.save(tokens, np.random.default_rng(0).standard_normal((16, 16)))
    options = ["grid.d=16", "grid.beta=1", "trials=2", f"tokens={{file: '{tokens}'}}"]
    carry_out(spec_of(place, *options), serial=True)
    assert run(place)[0] == 0
    chunk = next(
        path for path in (place / "tokens/matrix").rglob("*") if path.is_file() and path.name != "zarr.json"
    )
    flip(chunk)
    status, output = run(place, "--sample", "0")
    assert status == 1
    assert "Bad: tokens/matrix: corrupt" in output
    carry_out(spec_of(place, *options, "trials=3"), serial=True)
    assert run(place)[0] == 0


def test_status_says_where_the_versions_differ(place):
    shown = CliRunner().invoke(status, [str(place)]).output
    assert "not what last wrote here" not in shown
    root = json.loads((place / "zarr.json").read_text())
    root["attributes"]["libraries"] = root["attributes"]["libraries"].replace("numpy ", "numpy 0.")
    root["attributes"]["package"] = "scalestudy 0.0.1"
    (place / "zarr.json").write_text(json.dumps(root))
    shown = CliRunner().invoke(status, [str(place)]).output
    assert "This is not what last wrote here: scalestudy 0.0.1 there, " in shown
    assert f"numpy 0.{np.__version__} there, numpy {np.__version__} here." in shown
