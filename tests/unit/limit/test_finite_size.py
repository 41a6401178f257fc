from __future__ import annotations

import numpy as np
import pytest

from scalestudy import limit
from scalestudy.errors import LawError


def test_published_values():
    assert limit.mean_row_normalizer(1.0, 1000) == pytest.approx(1.00025, abs=5e-6)
    assert np.sqrt(limit.var_row_normalizer(1.0, 1000, 1000)) == pytest.approx(0.0472, abs=5e-5)
    assert limit.mean_square_y_f(1.0, 1000) == pytest.approx(1.7287, abs=5e-5)
    assert limit.mean_square_y_f_lin(1.0) == pytest.approx(np.e - 1.0, rel=1e-15)


def test_leading_order():
    ell, d_qk, beta = 10**7, 10**7, 0.7
    leading = np.expm1(beta**2) / ell + beta**4 / (2 * d_qk)
    assert limit.var_row_normalizer(beta, ell, d_qk) == pytest.approx(leading, rel=1e-5)
    assert limit.mean_square_y(beta, d_qk) == pytest.approx(np.exp(beta**2), rel=1e-5)


def test_against_simulation():
    # Each row is one draw of a query: five standard errors, false alarm 6e-7 a statistic.
    rng, beta, ell, d_qk, rows = np.random.default_rng(7), 0.5, 40, 30, 100_000
    width = np.sqrt(rng.chisquare(d_qk, size=(rows, 1)) / d_qk)
    scores = width * rng.standard_normal((rows, ell))
    d = np.exp(beta * scores - beta**2 / 2).mean(axis=1)
    squares = (np.exp(beta * scores - beta**2 / 2) ** 2).mean(axis=1)
    centred = ((np.exp(beta * scores - beta**2 / 2) - 1.0) ** 2).mean(axis=1)
    spread = (d - d.mean()) ** 2
    for sample, exact in (
        (d, limit.mean_row_normalizer(beta, d_qk)),
        (spread, limit.var_row_normalizer(beta, ell, d_qk)),
        (squares, limit.mean_square_y(beta, d_qk)),
        (centred, limit.mean_square_y_f(beta, d_qk)),
    ):
        error = sample.std() / np.sqrt(rows)
        assert abs(sample.mean() - exact) < 5 * error
        assert abs(sample.mean() - 1.2 * exact) > 5 * error


@pytest.mark.parametrize(
    "call",
    [
        lambda: limit.score_mgf(4.0, 16),
        lambda: limit.mean_row_normalizer(4.0, 16),
        lambda: limit.var_row_normalizer(2.0, 100, 16),
        lambda: limit.mean_square_y(2.0, 16),
        lambda: limit.mean_square_y_f(float("nan"), 16),
    ],
)
def test_infinite_moments_are_refused(call):
    with pytest.raises(LawError, match="finite only for"):
        call()
