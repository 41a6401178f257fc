import math

import mpmath
import numpy as np
import pytest

from scalestudy.ensembles import MODELS, inplace, ladder, noise_variance, theta_exact


def build(S, W, beta, degree):
    """The ladder as the kernel builds it, M0 and M2 by adding the spike."""
    E, B = np.empty_like(S), np.empty_like(S)
    source = inplace.exponentials(S, beta, out=E)
    normalizer = source.row_normalizer(beta)
    inplace.softmax_bulk(source, out=B)
    spike = 1 / math.sqrt(len(S))
    found = {"sqrt_d_A": B + spike, "sqrt_d_A_perp": B.copy()}
    M3 = inplace.centred_exponential(source, beta).copy()
    found |= {"Y": M3 + spike, "Y_f": M3}
    inplace.polynomial(S, beta, degree, out=B)
    found["Y_Q"] = B.copy()
    theta1, theta2 = theta_exact(beta, degree)
    inplace.linear_model(S, W, theta1 - theta2, theta2, out=B)
    found["Y_Q_lin"] = B.copy()
    noise = W.copy()
    inplace.linear_model(S, noise, noise_variance(beta), beta**2, out=noise)
    found["Y_f_lin"] = noise
    return found, normalizer


@pytest.mark.parametrize("beta", [1e-4, 0.1, 0.2499, 0.25, 1.0, 3.0])
@pytest.mark.parametrize("ell", [1, 2, 16, 150, 301])
def test_every_rung_is_the_literal_ladder(beta, ell):
    rng = np.random.default_rng(ell)
    S, W = rng.standard_normal((2, ell, ell))
    kept = S.copy()
    found, normalizer = build(S, W, beta, 7)
    expected = ladder(S, W, beta, 7, *theta_exact(beta, 7))
    assert tuple(expected) == MODELS
    for name in MODELS:
        scale = max(1.0, np.abs(expected[name]).max())
        np.testing.assert_allclose(found[name], expected[name], atol=4e-15 * scale, rtol=0, err_msg=name)
    np.testing.assert_allclose(normalizer, np.exp(beta * S - beta**2 / 2).mean(axis=1), rtol=1e-13)
    np.testing.assert_array_equal(S, kept)


@pytest.mark.parametrize("beta", [1e-4, 1e-2, 0.24, 0.26])
def test_small_beta_keeps_its_digits(beta):
    S = np.random.default_rng(0).standard_normal((6, 6))
    found, _ = build(S, S, beta, 2)
    with mpmath.workdps(40):
        E = [[mpmath.exp(mpmath.mpf(beta) * mpmath.mpf(x)) for x in row] for row in S]
        root, damping = mpmath.sqrt(6), mpmath.exp(-(mpmath.mpf(beta) ** 2) / 2)
        M1 = [[float(root * (x / sum(row) - mpmath.mpf(1) / 6)) for x in row] for row in E]
        M3 = [[float((x * damping - 1) / root) for x in row] for row in E]
    np.testing.assert_allclose(found["sqrt_d_A_perp"], M1, rtol=0, atol=4e-15 * np.abs(M1).max())
    np.testing.assert_allclose(found["Y_f"], M3, rtol=0, atol=4e-15 * np.abs(M3).max())


def test_large_beta_does_not_overflow():
    S = np.random.default_rng(0).standard_normal((50, 50))
    found, normalizer = build(S, S, 25.0, 2)
    A = found["sqrt_d_A"] / np.sqrt(50)
    np.testing.assert_allclose(A.sum(axis=1), 1, rtol=1e-13)
    assert A.max(axis=1).mean() > 0.9
    assert np.isfinite(normalizer).all()
    E = np.empty_like(S)
    bulk = np.empty_like(S)
    inplace.softmax_bulk(inplace.exponentials(S * 1e3, 25.0, out=E), out=bulk)
    assert np.isfinite(bulk).all()


def test_noise_variance_below_zero_counts_as_zero():
    S, out = np.eye(4), np.empty((4, 4))
    inplace.linear_model(S, S, variance=-1e-3, theta2=4.0, out=out)
    np.testing.assert_allclose(out, np.eye(4))


def test_single_precision_stays_single():
    S = np.random.default_rng(0).standard_normal((40, 40)).astype(np.float32)
    found, _ = build(S, S, 1.0, 6)
    expected = ladder(S.astype(float), S.astype(float), 1.0, 6, *theta_exact(1.0, 6))
    for name in MODELS:
        assert found[name].dtype == np.float32
        np.testing.assert_allclose(
            found[name], expected[name], rtol=0, atol=1e-6 * np.abs(expected[name]).max()
        )
