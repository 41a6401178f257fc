"""Whatever cannot run is refused in words: exit status 2, no traceback, nothing created."""

import pytest

ONE = {"d": [16], "beta": [1.0], "gamma": [1.0], "psi": [1.0]}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"grid": {**ONE, "gamma": [2.0]}}, "orthonormal tokens need gamma <= 1"),
        ({"grid": {**ONE, "d": [12]}, "trials": 1}, "below d = 16"),
        ({"grid": {**ONE, "psi": [0.01]}}, "d_qk = round(psi d) = 0"),
        ({"grid": {**ONE, "beta": [0]}}, "grid.beta.0: 0 is not allowed"),
        ({"grid": {**ONE, "beta": [-1.0]}}, "numbers above 0"),
        ({"grid": {**ONE, "beta": []}}, "grid.beta: [] is not allowed"),
        ({"grid": {**ONE, "gama": [1.0]}}, "Did you mean 'gamma'?"),
        ({"trials": "20"}, "write the number without quotes"),
        ({"tokens": "sferical"}, "Did you mean 'spherical'?"),
        ({"store": "/dev/null/x.zarr"}, "cannot be written"),
        ({"store": "s33://bucket/x.zarr"}, "unknown protocol 's33'"),
        ({"grid": {**ONE, "d": [500000]}, "trials": 1}, "GB"),
    ],
)
def test_a_bad_spec(study, changes, words):
    made = study(**changes)
    result = made.call()
    assert result.returncode == 2
    assert words in result.stderr
    assert "Traceback" not in result.stderr
    assert [path.name for path in made.folder.iterdir()] == ["spec.yaml"]


def test_a_store_of_another_study_shows_both_values(study):
    made = study()
    assert made.call("sweep", "--serial").returncode == 0
    made.write(
        seed=8,
        tokens="spherical",
        dtype="float32",
        models=["Y"],
        polynomial={"c": 3.0},
    )
    result = made.call()
    assert result.returncode == 2
    for words in (
        "seed: the store has 7, the spec asks for 8",
        "tokens: the store has 'orthonormal', the spec asks for 'spherical'",
        "dtype: the store has 'float64', the spec asks for 'float32'",
        "polynomial: the store has {'c': 2.0",
        "models: the store has ('sqrt_d_A'",
    ):
        assert words in result.stderr


@pytest.mark.parametrize("command", ["status"])
def test_a_mistyped_store_is_not_made(study, command):
    made = study()
    result = made.call(command)
    assert result.returncode == 2
    assert "no such store" in result.stderr
    assert not made.store.exists()


def test_a_foreign_folder_is_left_alone(study):
    made = study()
    made.store.mkdir()
    (made.store / "notes.txt").write_text("mine")
    result = made.call()
    assert result.returncode == 2
    assert "is not a scalestudy store" in result.stderr
    assert [path.name for path in made.store.iterdir()] == ["notes.txt"]


def test_a_dry_run_creates_nothing(study):
    made = study()
    result = made.call("sweep", "--dry-run")
    assert result.returncode == 0, result.stderr
    for words in ("points  4", "trials  18 to run", "memory", "disk"):
        assert words in result.stdout
    assert not made.store.exists()
