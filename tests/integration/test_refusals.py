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


def test_no_report_of_what_is_no_store(study):
    made = study()
    for place in ("/", "."):
        made.store = place
        result = made.call("report")
        assert result.returncode == 2
        assert "not a scalestudy store" in result.stderr


@pytest.mark.parametrize("how", ["truncated", "garbled", "deleted"])
def test_a_damaged_root_is_called_by_its_name(study, how):
    made = study(grid=ONE, trials=1)
    assert made.call("sweep", "--serial").returncode == 0
    path = made.store / "zarr.json"
    whole = path.read_bytes()
    path.write_bytes(whole[:50] if how == "truncated" else whole.replace(b"scalestudy_m", b"scalesttdy_m"))
    if how == "deleted":
        path.unlink()
    for command in ("sweep", "status", "report", "verify"):
        result = made.call(command)
        assert result.returncode == 2
        assert "its root document zarr.json is damaged or lost" in result.stderr
    path.write_bytes(whole)
    assert made.call("verify").returncode == 0


@pytest.mark.parametrize(
    ("cluster", "words"),
    [
        ({"class": ""}, "cluster.class: it is empty"),
        ({"scheduler": ""}, "cluster.scheduler: it is empty"),
        ({"scheduler_file": ""}, "cluster.scheduler_file: it is empty"),
        ({"scheduler": "tcp://"}, "'tcp://' is not an address; for example tcp://host:8786"),
        ({"scheduler": "tcp://127.0.0.1"}, "is not an address"),
        ({"scheduler": "127.0.0.1:port"}, "is not an address"),
        ({"scheduler": "a://b://c"}, "is not an address"),
        ({"scheduler": "nonsense"}, "is not an address"),
        ({"class": "distributed.LocalCluster", "n_workers": -3}, "cluster.n_workers: -3 is not allowed"),
    ],
)
def test_a_cluster_that_cannot_be(study, cluster, words):
    made = study(cluster=cluster)
    options = ["--scheduler", cluster["scheduler"]] if "scheduler" in cluster else ["--trust-cluster"]
    for result in (made.call(), made.call("sweep", *options)):
        assert result.returncode == 2
        (line,) = result.stderr.splitlines()
        assert words in line
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
