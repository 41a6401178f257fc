import mpmath
import numpy as np
import pytest

from scalestudy.ensembles import coefficients, degree, noise_variance, theta_exact, theta_monte_carlo


@pytest.mark.parametrize(
    ("d", "c", "expected"), [(1000, 2.0, 8), (16, 2.0, 6), (1000, 1.0, 4), (10**6, 2, 11)]
)
def test_degree(d, c, expected):
    assert degree(d, c) == expected


def test_degree_refuses_small_d_and_bad_c():
    with pytest.raises(ValueError, match=r"Invalid d = 15 .*Must be at least 16"):
        degree(15)
    with pytest.raises(ValueError, match=r"Invalid c = 0\."):
        degree(100, 0.0)


def reference(beta, n):
    """theta1_Q, theta2_Q and the coefficients, from Gaussian moments at 40 digits."""
    with mpmath.workdps(40):
        beta = mpmath.mpf(beta)
        moment = [mpmath.fac2(k - 1) if k % 2 == 0 else mpmath.mpf(0) for k in range(2 * n + 1)]
        P = [beta**k / mpmath.factorial(k) for k in range(n + 1)]
        mean = sum(P[k] * moment[k] for k in range(n + 1))
        damping = mpmath.exp(-(beta**2) / 2)
        second = sum(P[i] * P[j] * moment[i + j] for i in range(n + 1) for j in range(n + 1))
        slope = sum(k * P[k] * moment[k - 1] for k in range(1, n + 1))
        Q = [damping * value for value in P]
        Q[0] -= damping * mean
        return damping**2 * (second - mean**2), (damping * slope) ** 2, [float(value) for value in Q]


@pytest.mark.parametrize("beta", [1e-4, 0.1, 1.0, 3.0])
@pytest.mark.parametrize("n", [1, 2, 7, 8])
def test_statistics_and_coefficients_against_moments(beta, n):
    theta1, theta2, Q = reference(beta, n)
    assert theta_exact(beta, n) == pytest.approx((float(theta1), float(theta2)), rel=1e-14)
    np.testing.assert_allclose(coefficients(beta, n), Q, rtol=1e-13)


def test_published_degree_is_inclusive():
    assert theta_exact(1.0, 8) == pytest.approx((1.7052608069, 0.9964998231), abs=1e-10)
    assert theta_exact(1.0, 7)[0] == pytest.approx(1.686091, abs=1e-6)


@pytest.mark.parametrize("beta", [1e-4, 1e-2, 1.0])
def test_noise_is_never_negative_and_vanishes_for_a_line(beta):
    theta1, theta2 = theta_exact(beta, 1)
    assert theta1 == theta2
    theta1, theta2 = theta_exact(beta, 2)
    assert theta1 > theta2


def test_monte_carlo_estimates_the_exact_values():
    # Standard errors over 200,000 samples are 0.013 and 0.005; five of them: false alarm below 1e-6.
    theta1, theta2 = theta_monte_carlo(1.0, 8, samples=200_000, seed=3)
    assert theta1 == pytest.approx(1.70526, abs=0.065)
    assert theta2 == pytest.approx(0.99650, abs=0.025)
    assert theta_monte_carlo(1.0, 8, samples=200_000, seed=3) == (theta1, theta2)
    with pytest.raises(ValueError, match="Invalid samples = 0"):
        theta_monte_carlo(1.0, 8, samples=0, seed=3)


@pytest.mark.parametrize("beta", [1e-4, 0.3, 0.999, 1.001, 4.0])
def test_noise_variance_does_not_cancel(beta):
    with mpmath.workdps(40):
        b = mpmath.mpf(beta) ** 2
        expected = float(mpmath.exp(b) - 1 - b)
    assert noise_variance(beta) == pytest.approx(expected, rel=2e-15)


def test_noise_variance_refuses_overflow():
    with pytest.raises(ValueError, match="Invalid beta = 27"):
        noise_variance(27)


def test_a_constant_is_not_a_polynomial_rung():
    for function in (coefficients, theta_exact):
        with pytest.raises(ValueError, match="Invalid degree = 0"):
            function(1.0, 0)
