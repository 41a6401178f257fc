"""Where trial means are no pure power law, the cheap points must not decide the exponent alone."""

import numpy as np
import pytest

from scalestudy.convergence.fits import power_law, scatter

X = np.array([64.0, 128.0, 256.0, 512.0, 1024.0, 2048.0])


def test_a_power_law_has_none():
    y = 3.0 * X**-0.8
    assert scatter(X, y, np.full(6, 0.01)) == 0.0


def test_it_brings_chi2_to_its_expectation():
    bent = 3.0 * X**-0.8 * np.exp(-0.05 * np.log(X / 64.0) ** 2)
    error = np.array([0.001, 0.002, 0.004, 0.008, 0.016, 0.03])
    tau = scatter(X, bent, error)
    total = np.hypot(error, tau)
    residual = np.log(bent / power_law(X, bent, total).at(X))
    assert np.sum((residual / total) ** 2) == pytest.approx(4.0, rel=1e-9)


def test_the_exponent_no_longer_follows_the_weights():
    bent = 3.0 * X**-0.8 * np.exp(-0.05 * np.log(X / 64.0) ** 2)
    even = power_law(X, bent, np.ones(6)).exponent
    # Errors that fall or rise a thousandfold along d: the same curve, measured by other budgets of trials.
    for error in (np.geomspace(1e-4, 1e-1, 6), np.geomspace(1e-1, 1e-4, 6)):
        plain = power_law(X, bent, error).exponent
        mended = power_law(X, bent, np.hypot(error, scatter(X, bent, error))).exponent
        assert abs(mended - even) < 0.5 * abs(plain - even)


def test_two_points_have_none():
    assert scatter(X[:2], np.array([1.0, 0.3]), np.array([1e-9, 1e-9])) == 0.0
