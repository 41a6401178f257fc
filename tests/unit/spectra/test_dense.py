import numpy as np
import pytest

from scalestudy.spectra import SVD, Gram, choose, peak_bytes, solve_flops, solver

ALL = ("sqrt_d_A", "sqrt_d_A_perp", "Y", "Y_f", "Y_Q", "Y_Q_lin", "Y_f_lin")


class Shape:
    d, ell, d_qk = 100, 200, 50


def test_reference_is_numpy():
    B = np.random.default_rng(0).standard_normal((30, 30))
    without, with_spike = SVD().squares_with_spike(B.copy())
    np.testing.assert_array_equal(without, np.linalg.svd(B, compute_uv=False) ** 2)
    spiked = np.linalg.svd(B + np.ones((30, 30)) / np.sqrt(30), compute_uv=False) ** 2
    np.testing.assert_allclose(with_spike, spiked, rtol=1e-13)


def test_names():
    assert solver("gram").name == "gram"
    with pytest.raises(ValueError, match=r"Invalid solver 'qr'\. Must be one of svd, gram"):
        solver("qr")


def test_a_choice_is_a_fresh_solver():
    assert choose(100) is not choose(100)


def test_flops_count_shared_work():
    gram = Gram()
    both = solve_flops(200, ("sqrt_d_A", "sqrt_d_A_perp"), "gram")
    assert both == gram.spike_flops(200) < 2 * gram.flops(200)
    assert solve_flops(200, ("sqrt_d_A", "Y"), "gram") == 2 * gram.flops(200)
    assert solve_flops(200, ALL, "gram") == 2 * gram.spike_flops(200) + 3 * gram.flops(200)
    assert solve_flops(200, ALL, "svd") > solve_flops(200, ALL, "gram")
    assert solve_flops(200, ALL) > 0


def test_peak_bytes_count_what_is_held():
    matrix = 8 * 200 * 200
    bare = peak_bytes(Shape, ALL, "orthonormal", "float64", "gram")
    buffers = 16_000_000
    assert buffers + 4 * matrix < bare < buffers + 5 * matrix
    assert peak_bytes(Shape, ALL, "orthonormal", "float32", "gram") - buffers == (bare - buffers) // 2
    assert peak_bytes(Shape, ALL, "parseval", "float64", "gram") > buffers + 3 * matrix + 3 * 8 * 200 * 100
