"""Imports run downward only, and every library with one home stays in it."""

import ast
from pathlib import Path

import pytest

import scalestudy

ROOT = Path(scalestudy.__file__).parent

# A folder may import itself, errors, units, and these.
ALLOWED = {
    "ensembles": set(),
    "spectra": set(),
    "limit": set(),
    "convergence": {"limit"},
    "study": {"ensembles", "spectra"},
    # Beside the study: draw version, names and sizes, which its manifest records.
    "store": {"study", "ensembles"},
    "execution": {"study", "ensembles", "spectra", "store"},
    "reporting": {"store", "convergence", "limit"},
}
HOMES = {
    "yaml": {"study/yaml12.py"},
    "ctypes": {"spectra/two_stage.py"},
    "zarr": {"store"},
    "distributed": {"execution"},
    "matplotlib": {"reporting"},
    "pydantic": {"study"},
    "jinja2": {"reporting"},
}
FILES = sorted(ROOT.rglob("*.py"))


def imported(path):
    """Yield (module, is inside a function) for every import of a file."""
    tree = ast.parse(path.read_text())
    top = set(map(id, tree.body))
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            yield name, id(node) not in top


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_run_downward(path):
    folder = path.relative_to(ROOT).parts[0]
    if folder not in ALLOWED:
        return
    for name, _ in imported(path):
        if name.startswith("scalestudy."):
            target = name.split(".")[1]
            assert target in {folder, "errors", "units"} | ALLOWED[folder], f"{folder} imports {name}"


@pytest.mark.parametrize("library", HOMES)
def test_one_library_one_home(library):
    for path in FILES:
        where = path.relative_to(ROOT).as_posix()
        if any(where == home or where.startswith(f"{home}/") for home in HOMES[library]):
            continue
        for name, _ in imported(path):
            assert name.split(".")[0] != library, f"{where} imports {library}"


def test_every_folder_has_a_rule():
    folders = {path.name for path in ROOT.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert folders == set(ALLOWED)
