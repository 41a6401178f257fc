"""Where softmax condenses, Y is tiny beside Y_f: it must not be found as a difference of the two."""

import numpy as np
import pytest

from scalestudy.ensembles import Sizes, degree, draw_noise, draw_scores, ladder, streams, theta_exact
from scalestudy.execution.trial import TrialRequest, run_trial

N = 48


def request(beta, solver="auto", models=None):
    n_d = degree(N)
    theta1, theta2 = theta_exact(beta, n_d)
    names = {"models": models} if models else {}
    return TrialRequest(
        seed=5,
        sizes=Sizes(N, N, N),
        beta=beta,
        degree=n_d,
        theta1_Q=theta1,
        theta2_Q=theta2,
        solver=solver,
        **names,
    )


def reference(beta):
    """Squared singular values of the literal definitions, each from its own SVD."""
    asked = request(beta)
    rngs = streams(asked.seed, asked.sizes, 0)
    S, W, spare = np.empty((3, N, N))
    draw_scores(rngs, asked.sizes, "orthonormal", out=S, scratch=(W, spare))
    draw_noise(rngs.W, out=W)
    matrices = ladder(S, W, beta, asked.degree, asked.theta1_Q, asked.theta2_Q)
    return np.stack([np.linalg.svd(matrix, compute_uv=False) ** 2 for matrix in matrices.values()])


@pytest.mark.parametrize("solver", ["svd", "gram", "two_stage"])
@pytest.mark.parametrize("beta", [1.0, 3.0, 5.0, 8.0, 12.0, 20.0, 25.0])
def test_every_rung_agrees_with_its_own_svd(beta, solver):
    expected = reference(beta)
    found = run_trial(request(beta, solver), 0).squared_singular_values
    assert np.all(expected[:, 0] > 0)
    np.testing.assert_allclose(found / expected[:, :1], expected / expected[:, :1], rtol=0, atol=1e-12)


@pytest.mark.parametrize("beta", [0.01, 1.0, 12.0])
def test_y_alone_is_what_it_is_in_company(beta):
    alone = run_trial(request(beta, models=("Y",)), 0).squared_singular_values[0]
    together = run_trial(request(beta), 0).squared_singular_values[2]
    np.testing.assert_allclose(alone, together, rtol=0, atol=1e-12 * together[0])
