from __future__ import annotations

import numpy as np
import pytest

from scalestudy.errors import LawError
from scalestudy.limit import GaussianEquivalentLaw
from scalestudy.limit.closed_form import ClosedFormLaw
from scalestudy.limit.parameters import statistics_from_beta


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"beta": 0.0}, r"Invalid beta 0.0. Must be positive and finite."),
        ({"beta": -1.0}, r"Invalid beta -1.0. Must be positive"),
        ({"beta": float("nan")}, r"Invalid beta nan. Must be positive and finite."),
        ({"beta": float("inf")}, r"Invalid beta inf."),
        ({"beta": "one"}, r"Invalid beta 'one'. Must be a number."),
        ({"beta": 1e-5}, r"Must be in \[0.0001, 6\]"),
        ({"beta": 6.5}, r"Must be in \[0.0001, 6\]"),
        ({"beta": 1.0, "gamma": -0.5}, r"Invalid gamma -0.5."),
        ({"beta": 1.0, "psi": 0.0}, r"Invalid psi 0.0."),
        ({"beta": 1.0, "psi": 1e-3}, r"Invalid ratio gamma / psi 1000.0. Must be in \[0.01, 100\]"),
        ({"beta": 1.0, "gamma": 1.5}, r"Invalid gamma 1.5 for orthonormal tokens. Must be at most 1."),
        ({"beta": 1.0, "gamma": 0.5, "tokens": "parseval"}, r"parseval tokens. Must be at least 1."),
        ({"beta": 1.0, "tokens": "spheric"}, r"Invalid tokens 'spheric'. Must be one of identity"),
        ({"beta": 1.0, "tokens": np.ones(3)}, r"Invalid tokens of shape \(3,\)."),
        ({"beta": 1.0, "tokens": np.zeros((2, 2))}, r"different from zero"),
        (
            {"beta": 1.0, "tokens": np.eye(2, 4)},
            r"Invalid gamma 1.0 for tokens of shape \(2, 4\). Must be 0.5.",
        ),
    ],
)
def test_bad_parameters_are_named(arguments, message):
    with pytest.raises(LawError, match=message):
        GaussianEquivalentLaw(**arguments)


@pytest.mark.parametrize(
    ("theta1", "theta2", "message"),
    [
        (1.0, 1.0, "must be at least"),
        (1.0, 2.0, "must be at least"),
        (1.0, 0.0, "theta2"),
        (np.nan, 1.0, "theta1"),
    ],
)
def test_bad_statistics_are_named(theta1, theta2, message):
    with pytest.raises(LawError, match=message):
        GaussianEquivalentLaw.from_statistics(theta1, theta2)


def test_statistics_of_a_polynomial_rung():
    law = GaussianEquivalentLaw.from_statistics(1.7052608069, 0.9964998231, 1.0)
    assert law.mean() == pytest.approx(1.7052608069, rel=1e-15)
    assert law.moment(2) == pytest.approx(2 * law.theta1**2 + law.theta2**2, rel=1e-14)
    same = GaussianEquivalentLaw.from_statistics(np.expm1(1.0), 1.0, 2.0, gamma=2.0, tokens="spherical")
    direct = GaussianEquivalentLaw(1.0, 2.0, 1.0, "spherical")
    p = np.linspace(0.0, 1.0, 51)
    np.testing.assert_allclose(same.ppf(p), direct.ppf(p), rtol=1e-9)
    with pytest.raises(LawError, match="Missing gamma"):
        GaussianEquivalentLaw.from_statistics(2.0, 1.0, tokens="spherical")


@pytest.fixture(scope="module", params=["orthonormal", "spherical"])
def law(request):
    return GaussianEquivalentLaw(1.0, 1.0, 1.0, request.param)


@pytest.mark.parametrize("method", ["pdf", "cdf", "ppf", "partial_mean", "stieltjes"])
def test_shapes_scalars_and_nan(law, method):
    function = getattr(law, method)
    points = np.array([[0.1, 0.2, np.nan], [0.4, 0.5, 0.6]])
    values = function(points)
    assert values.shape == (2, 3)
    assert np.isnan(values).tolist() == np.isnan(points).tolist()
    assert np.ndim(function(0.4)) == 0
    # Iterations stop together, so the last bit may depend on the company a point is in.
    assert function(0.4) == pytest.approx(values[1, 0], rel=1e-14)
    assert np.isnan(function(np.nan))
    assert function(np.zeros((0, 2))).shape == (0, 2)


def test_outside_the_support(law):
    right = law.support()[-1][1]
    assert law.pdf([-1.0, 0.0, right, right + 1, np.inf, -np.inf]).tolist() == [
        0.0,
        np.inf,
        0.0,
        0.0,
        0.0,
        0.0,
    ]
    assert law.cdf([-np.inf, -1.0, 0.0, right, np.inf]).tolist() == [0.0, 0.0, 0.0, 1.0, 1.0]
    assert law.ppf([0.0, 1.0]).tolist() == [0.0, right]
    assert np.isnan(law.ppf([-1e-9, 1.0 + 1e-9])).all()
    assert np.isnan(law.partial_mean([-1e-9, 1.0 + 1e-9])).all()


def test_moments_and_draws(law):
    assert law.moment(0) == pytest.approx(1.0, rel=1e-13)
    assert law.mean() == pytest.approx(np.e - 1, rel=1e-13)
    for k in (-1, 1.5):
        with pytest.raises(LawError, match="moment order"):
            law.moment(k)
    draws = law.rvs((200, 100), seed=3)
    assert draws.shape == (200, 100)
    assert np.ndim(law.rvs(seed=1)) == 0
    np.testing.assert_array_equal(draws, law.rvs((200, 100), seed=np.random.default_rng(3)))
    # Six standard errors: a false alarm has probability 2e-9.
    error = np.sqrt((law.moment(2) - law.mean() ** 2) / draws.size)
    assert abs(draws.mean() - law.mean()) < 6 * error
    assert abs(law.rvs(20_000, seed=4).mean() - 1.1 * law.mean()) > 6 * error


def test_quantiles_at_a_gap_are_its_lower_end():
    law = GaussianEquivalentLaw(0.3, 1.0, 0.25)
    (_, low), (high, _) = law.support()
    assert law.ppf(0.75) == low
    assert law.ppf(np.nextafter(0.75, 1.0)) >= high
    assert law.ppf(np.nextafter(0.75, 0.0)) <= low
    assert law.pdf([low, 0.5 * (low + high), high]).tolist() == [0.0, 0.0, 0.0]
    assert law.masses() == [0.75, 0.25]


def test_stieltjes_is_the_integral():
    for arguments in [(1.0,), (0.3, 1.0, 0.25), (1.0, 2.0, 1.0, "parseval")]:
        law = GaussianEquivalentLaw(*arguments)
        p = (np.arange(40_000) + 0.5) / 40_000
        x = law.ppf(p)
        z = np.array([1.0 + 1.0j, 2.0 - 0.5j, -0.5, 30.0]) * law.mean()
        np.testing.assert_allclose(law.stieltjes(z), np.mean(1.0 / (x[:, None] - z), axis=0), rtol=1e-5)
        inside = law.ppf(0.3)
        assert law.stieltjes(inside).imag / np.pi == pytest.approx(law.pdf(inside), rel=1e-6)


@pytest.mark.parametrize("offset", [1e-3, 1e-6, 1e-9, -1e-9, -1e-6])
def test_next_to_the_split(offset):
    critical = 5.0312
    law = ClosedFormLaw(statistics_from_beta(1.0, 1.0, 1.0 / critical * (1.0 + offset)))
    p = np.linspace(0.0, 1.0, 1001)
    np.testing.assert_allclose(law.cdf(law.ppf(p)), p, rtol=0.0, atol=1e-12)


def test_repr_names_the_law():
    assert "theta2=1.0, ratio=1.0, tokens=orthonormal" in repr(GaussianEquivalentLaw(1.0))
