"""Every solver against the reference, on matrices chosen to be awkward."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scalestudy.spectra import SOLVERS, SVD, solver

FAST = [name for name in SOLVERS if name != "svd"]


@st.composite
def matrices(draw):
    """Square matrices of any rank and scale, with rows that do or do not sum to zero."""
    n = draw(st.integers(1, 90))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rank = draw(st.integers(0, n) | st.just(n))
    B = rng.standard_normal((n, n))
    if rank < n:
        B = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, n))
    shape = draw(
        st.sampled_from(["plain", "rows sum to zero", "constant rows", "one spike", "diagonal", "sparse"])
    )
    if shape == "rows sum to zero":
        B -= B.mean(axis=1, keepdims=True)
    elif shape == "constant rows":
        B = np.repeat(B[:, :1], n, axis=1)
    elif shape == "one spike":
        B[0, 0] += 1e3
    elif shape == "diagonal":
        B = np.diag(np.diag(B))
    elif shape == "sparse":
        B *= rng.random((n, n)) < 1 / n
    return B * 10.0 ** draw(st.integers(-60, 60))


def agree(found, expected, tolerance):
    assert found.shape == expected.shape
    assert found.dtype == np.float64
    assert (found >= 0).all()
    assert (np.diff(found) <= 0).all()
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * expected[0])


@pytest.mark.parametrize("name", FAST)
@settings(max_examples=150, deadline=None, derandomize=True)
@given(B=matrices())
def test_squares_agree_with_the_reference(name, B):
    agree(solver(name).squares(B.copy()), SVD().squares(B.copy()), 1e-12)


@pytest.mark.parametrize("name", FAST)
@settings(max_examples=150, deadline=None, derandomize=True)
@given(B=matrices())
def test_spiked_squares_agree_with_the_reference(name, B):
    n = len(B)
    found = solver(name).squares_with_spike(B.copy())
    spiked = np.linalg.svd(B + np.ones((n, n)) / np.sqrt(n), compute_uv=False) ** 2
    agree(found[0], SVD().squares(B.copy()), 1e-12)
    agree(found[1], spiked, 1e-12)


@pytest.mark.parametrize("name", SOLVERS)
@settings(max_examples=30, deadline=None, derandomize=True)
@given(B=matrices(), bad=st.sampled_from([np.nan, np.inf, -np.inf, 1e200]), place=st.integers(0, 10**6))
def test_a_matrix_that_is_not_finite_is_refused(name, B, bad, place):
    B.flat[place % B.size] = bad
    method = solver(name)
    for operation in (method.squares, method.squares_with_spike):
        with pytest.raises(ValueError, match="NaN or infinite entries, or entries too large to square"):
            operation(B.copy())


@pytest.mark.parametrize("name", FAST)
@settings(max_examples=60, deadline=None, derandomize=True)
@given(B=matrices())
def test_single_precision_is_accurate_to_its_digits(name, B):
    scale = np.abs(B).max()
    B = (B / scale if scale else B).astype(np.float32)
    n = len(B)
    found = solver(name).squares_with_spike(B.copy())
    spiked = np.linalg.svd(B + np.ones((n, n)) / np.sqrt(n), compute_uv=False) ** 2
    agree(found[0], SVD().squares(B.astype(np.float64)), 5e-6)
    agree(found[1], spiked, 5e-6)


@pytest.mark.parametrize("name", SOLVERS)
def test_zero_matrices(name):
    for n in (1, 2, 3, 16, 50):
        without, with_spike = solver(name).squares_with_spike(np.zeros((n, n)))
        np.testing.assert_array_equal(without, 0)
        agree(with_spike, np.concatenate([[n], np.zeros(n - 1)]), 1e-14)


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("n", [1, 2, 3])
def test_tiny_matrices(name, n):
    B = np.arange(1.0, n * n + 1).reshape(n, n)
    without, with_spike = solver(name).squares_with_spike(B.copy())
    agree(without, np.sort(np.linalg.eigvalsh(B @ B.T).clip(0))[::-1], 1e-14)
    C = B + 1 / np.sqrt(n)
    agree(with_spike, np.sort(np.linalg.eigvalsh(C @ C.T).clip(0))[::-1], 1e-14)
