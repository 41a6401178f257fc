"""Tokens from a file: never unpickled, and checked before anything runs."""

import io
import pickle

import numpy as np
import pytest

from scalestudy.errors import SpecError
from scalestudy.study import parse_source, parse_spec
from scalestudy.study.token_file import read_tokens, tokens_label


def spec_for(path, gamma=0.5):
    return parse_spec(
        parse_source(
            f"seed: 1\ngrid: {{d: 16, beta: 1, gamma: {gamma}}}\ntrials: 1\ntokens: {{file: '{path}'}}"
        )
    )


def refusal(path, **spec):
    with pytest.raises(SpecError) as caught:
        read_tokens(spec_for(path, **spec))
    message = str(caught.value)
    assert message.startswith(f"tokens.file: {path}: ")
    assert "\n" not in message
    return message


@pytest.fixture
def good(tmp_path):
    path = tmp_path / "X.npy"
    np.save(path, np.random.default_rng(0).standard_normal((8, 16)))
    return path


def test_rows_are_scaled_to_unit_norm(good):
    tokens = read_tokens(spec_for(good))
    assert tokens.shape == (8, 16)
    np.testing.assert_allclose(np.linalg.norm(tokens, axis=1), 1)
    scaled = np.load(good) * np.arange(1, 9)[:, None]
    np.save(good, scaled)
    np.testing.assert_allclose(read_tokens(spec_for(good)), tokens, rtol=1e-14)


@pytest.mark.parametrize("dtype", ["float32", "int8", "uint16", ">f8"])
def test_other_real_dtypes_are_read_as_doubles(good, dtype):
    np.save(good, (np.arange(128).reshape(8, 16) % 7 + 1).astype(dtype))
    assert read_tokens(spec_for(good)).dtype == np.float64


def test_the_label_is_of_the_matrix_and_not_of_its_file(good, tmp_path):
    tokens = read_tokens(spec_for(good))
    label = tokens_label(spec_for(good), tokens)
    assert label.startswith("matrix sha256:")
    changed = tokens.copy()
    changed[3, 4] = np.nextafter(changed[3, 4], 1)
    assert tokens_label(spec_for(good), changed) != label


class Trap:
    def __reduce__(self):
        return (open, ("trap-was-sprung", "w"))


def test_nothing_is_unpickled(good, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save(good, np.array([[Trap()]], dtype=object), allow_pickle=True)
    assert "not a .npy array of numbers" in refusal(good)
    good.write_bytes(pickle.dumps(Trap()))
    assert "not a .npy array of numbers" in refusal(good)
    assert not (tmp_path / "trap-was-sprung").exists()


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_row_with_a_value_that_is_not_finite_is_named(good, value):
    matrix = np.load(good)
    matrix[5, 3] = value
    np.save(good, matrix)
    assert "row 5 is zero, NaN or infinite" in refusal(good)


def test_a_zero_row_is_named(good):
    matrix = np.load(good)
    matrix[2] = 0
    np.save(good, matrix)
    assert "row 2 is zero, NaN or infinite" in refusal(good)


def test_a_wrong_shape_names_both_and_says_what_to_set(good):
    message = refusal(good, gamma=1.0)
    assert "has 8 tokens of dimension 16, the grid asks for 16 of dimension 16" in message
    assert "set grid.d = 16 and grid.gamma = 0.5" in message


@pytest.mark.parametrize(
    "matrix",
    [np.ones(16), np.ones((2, 8, 16)), np.float64(3), np.ones((8, 16), complex), np.full((8, 16), "a")],
    ids=["vector", "cube", "scalar", "complex", "text"],
)
def test_what_is_no_real_matrix_is_refused(good, matrix):
    np.save(good, matrix)
    assert "a token matrix is two-dimensional and real; this has shape" in refusal(good)


def test_an_archive_is_refused(tmp_path):
    path = tmp_path / "X.npz"
    np.savez(path, X=np.ones((8, 16)))
    assert "this has an archive" in refusal(path)


def header(text):
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x93NUMPY",
        b"\x93NUMPY\x09\x00",
        b"PK\x03\x04 but no archive",
        b"1 2 3",
        header(b"{'descr': '<f8', 'fortran_order': False, 'shape': (8, 16), }\n"),
        header(b"{'descr': '<f8', 'fortran_order': False, 'shape': (2**62, 2**62), }\n"),
        header(b"{'descr': '<f8', 'fortran_order': False, 'shape': (9223372036854775807, 16), }\n"),
        header(b"{'descr': '<f8', 'fortran_order': False, 'shape': (-8, -16), }\n"),
        header(b"{'descr': __import__('os'), 'shape': (8, 16)}\n"),
        header(b"((((" * 2000),
        header(b"\xff\xfe\n"),
    ],
)
def test_damaged_files_are_refused(good, content):
    good.write_bytes(content)
    refusal(good)


def test_a_truncated_file_is_refused(good):
    buffer = io.BytesIO()
    np.save(buffer, np.ones((8, 16)))
    good.write_bytes(buffer.getvalue()[:-8])
    refusal(good)


def test_missing_files_and_folders_are_refused(tmp_path):
    assert "no such file" in refusal(tmp_path / "none.npy")
    refusal(tmp_path)
