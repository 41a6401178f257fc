"""The notebooks run on a small store, with public names only, and are kept without outputs."""

import ast
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

import scalestudy

FOLDER = Path(__file__).parents[2] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("notebooks")
    (folder / "small.yaml").write_text("seed: 3\ngrid: {d: [16, 32, 64], beta: [1.0]}\ntrials: 4\n")
    scalestudy.run(folder / "small.yaml", store=str(folder / "small.zarr"), serial=True)
    return folder / "small.zarr"


def code_of(notebook):
    cells = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    return "\n".join(line for cell in cells for line in cell.splitlines() if not line.startswith("%"))


def test_there_are_two():
    assert [path.stem for path in NOTEBOOKS] == ["convergence", "published_table"]


@pytest.fixture
def executed(monkeypatch):
    """A function that runs a notebook on a store."""

    def execute(path, store, **options):
        notebook = nbformat.read(path, as_version=4)
        monkeypatch.setenv("SCALESTUDY_STORE", str(store))
        # The kernel must find the package under test, installed or not.
        monkeypatch.setenv("PYTHONPATH", str(Path(scalestudy.__file__).parents[1]))
        where = {"metadata": {"path": str(FOLDER)}}
        NotebookClient(notebook, timeout=120, resources=where, **options).execute()
        return notebook

    return execute


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_runs(path, store, executed):
    notebook = executed(path, store)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    outputs = [output for cell in code for output in cell.outputs]
    assert all(output.output_type != "stream" or output.name != "stderr" for output in outputs), outputs
    images = [output for output in outputs if "image/png" in output.get("data", {})]
    assert len(images) == 5
    # Every cell but the imports shows something.
    assert all(cell.outputs for cell in code[1:])


@pytest.mark.parametrize(
    ("grid", "models", "said"),
    [
        ("{d: [16, 32], beta: [1.0]}", "[Y_f, Y_Q]", None),
        (
            "{d: 16, beta: 1.0}",
            "[sqrt_d_A_perp, Y_f_lin]",
            "A rate needs at least 2 values of d; this has 1.",
        ),
    ],
    ids=["other rungs", "one d"],
)
def test_convergence_of_other_studies(grid, models, said, executed, tmp_path):
    (tmp_path / "s.yaml").write_text(f"seed: 3\ngrid: {grid}\nmodels: {models}\ntrials: 2\n")
    scalestudy.run(tmp_path / "s.yaml", store=str(tmp_path / "s.zarr"), serial=True)
    notebook = executed(FOLDER / "convergence.ipynb", tmp_path / "s.zarr", allow_errors=True)
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    errors = [output.evalue for output in outputs if output.output_type == "error"]
    assert errors[:1] == ([] if said is None else [said])


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_kept_without_outputs(path):
    for cell in nbformat.read(path, as_version=4).cells:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_only_public_names(path):
    tree = ast.parse(code_of(nbformat.read(path, as_version=4)))
    names = [node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    names += [
        alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names
    ]
    assert not [name for name in names if name.startswith("_")]
    used = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "scalestudy"
    }
    assert used <= set(scalestudy.__all__)
