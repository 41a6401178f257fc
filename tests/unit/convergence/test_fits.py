import numpy as np
import pytest
from scipy import optimize

from scalestudy.convergence.fits import fitted_means, goodness, power_law, power_law_with_limit

X = np.array([64.0, 128.0, 256.0, 512.0, 1024.0])
ERROR = np.array([0.02, 0.03, 0.01, 0.05, 0.04])


def test_recovers_an_exact_power_law():
    fit = power_law(X, 3.0 * X**-0.7, ERROR)
    assert fit.exponent == pytest.approx(0.7, abs=1e-13)
    assert fit.prefactor == pytest.approx(3.0, rel=1e-12)
    np.testing.assert_allclose(fit.at(X), 3.0 * X**-0.7, rtol=1e-12)


def test_power_law_equals_weighted_polyfit():
    y = 3.0 * X**-0.7 * np.exp(0.1 * np.random.default_rng(0).standard_normal((4, 5)))
    fit = power_law(X, y, ERROR)
    for k in range(4):
        slope, constant = np.polyfit(np.log(X), np.log(y[k]), 1, w=1.0 / ERROR)
        assert fit.exponent[k] == pytest.approx(-slope, rel=1e-10)
        assert fit.prefactor[k] == pytest.approx(np.exp(constant), rel=1e-10)


@pytest.mark.parametrize(("alpha", "limit"), [(0.3, 0.2), (0.8, 0.05), (1.0, 0.0), (2.5, 0.01)])
def test_recovers_an_exact_limit(alpha, limit):
    y = limit + 3.0 * X**-alpha
    fit = power_law_with_limit(X, y, ERROR, y)
    assert fit.exponent == pytest.approx(alpha, abs=2e-4)
    assert fit.limit == pytest.approx(limit, abs=2e-5)
    assert fit.prefactor == pytest.approx(3.0, rel=2e-3)


def test_fit_with_limit_equals_a_nonlinear_solver():
    rng = np.random.default_rng(1)
    y = (0.1 + 3.0 * X**-0.7) * np.exp(ERROR * rng.standard_normal((6, 5)))
    typical = y.mean(axis=0)
    fit = power_law_with_limit(X, y, ERROR, typical, negative=True)
    for k in range(6):
        (limit, prefactor, exponent), _ = optimize.curve_fit(
            lambda x, w, c, a: w + c * x**-a,
            X,
            y[k],
            p0=(0.1, 3.0, 0.7),
            sigma=ERROR * typical,
            maxfev=20_000,
        )
        assert fit.exponent[k] == pytest.approx(exponent, abs=1e-4)
        assert fit.limit[k] == pytest.approx(limit, abs=1e-4)
        assert fit.prefactor[k] == pytest.approx(prefactor, rel=1e-3)


def test_a_negative_limit_only_where_it_is_allowed():
    y = -0.02 + 3.0 * X**-0.5
    assert power_law_with_limit(X, y, ERROR, y, negative=True).limit == pytest.approx(-0.02, abs=1e-4)
    fit = power_law_with_limit(X, y, ERROR, y)
    assert fit.limit == 0.0
    (prefactor, exponent), _ = optimize.curve_fit(
        lambda x, c, a: c * x**-a, X, y, p0=(3.0, 0.5), sigma=ERROR * y
    )
    assert fit.exponent == pytest.approx(exponent, abs=1e-4)
    assert fit.prefactor == pytest.approx(prefactor, rel=1e-3)


def test_rows_are_fitted_alone():
    y = np.stack([3.0 * X**-0.7, 0.2 + X**-1.0, -0.02 + 3.0 * X**-0.5])
    together = power_law_with_limit(X, y, ERROR, X**-0.7)
    for k in range(3):
        alone = power_law_with_limit(X, y[k], ERROR, X**-0.7)
        assert together.exponent[k] == pytest.approx(float(alone.exponent), rel=1e-12)
        assert together.limit[k] == pytest.approx(float(alone.limit), rel=1e-12, abs=1e-15)


def test_errors_follow_the_fit_and_not_the_scatter():
    y = (0.1 + 3.0 * X**-0.7) * np.array([1.0, 1.1, 0.9, 1.0, 1.0])
    typical = fitted_means(X, y, ERROR)
    np.testing.assert_allclose(power_law_with_limit(X, y, ERROR, typical).at(X), typical, rtol=1e-3)


def test_goodness():
    assert goodness(np.array([1.0, -1.0, 2.0]), np.ones(3), 2) == (6.0, pytest.approx(0.0143, abs=1e-4))
    assert np.isnan(goodness(np.ones(2), np.ones(2), 2)).all()
