import pickle
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from scalestudy.ensembles import MODELS, Sizes, draw_noise, draw_scores, ladder, streams, theta_exact
from scalestudy.execution.trial import TrialRequest, peak_bytes, run_trial, trial_flops
from scalestudy.execution.workspace import Workspace
from scalestudy.spectra import SVD, two_stage

THETA1, THETA2 = theta_exact(1.0, 6)
REQUEST = TrialRequest(
    seed=11, sizes=Sizes(40, 30, 20), beta=1.0, degree=6, theta1_Q=THETA1, theta2_Q=THETA2, solver="svd"
)


def dense(request, trial):
    """Spectra and D by the literal ladder and numpy's SVD."""
    ell = request.sizes.ell
    S, W, *scratch = (np.empty((ell, ell)) for _ in range(4))
    rngs = streams(request.seed, request.sizes, trial)
    draw_scores(rngs, request.sizes, request.tokens, S, tuple(scratch))
    draw_noise(rngs.W, W)
    matrices = ladder(S, W, request.beta, request.degree, request.theta1_Q, request.theta2_Q)
    values = [np.linalg.svd(matrix, compute_uv=False) ** 2 for matrix in matrices.values()]
    return np.stack(values), np.exp(request.beta * S - request.beta**2 / 2).mean(axis=1)


@pytest.mark.parametrize("solver", ["svd", "gram", "auto"])
@pytest.mark.parametrize("tokens", ["orthonormal", "spherical", "gaussian"])
def test_a_trial_is_the_spectra_of_the_ladder(solver, tokens):
    request = replace(REQUEST, solver=solver, tokens=tokens)
    result = run_trial(request, 4)
    values, normalizer = dense(request, 4)
    assert result.squared_singular_values.shape == (7, 30)
    for found, expected in zip(result.squared_singular_values, values, strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * expected[0])
    np.testing.assert_allclose(result.row_normalizer, normalizer, rtol=1e-13)
    assert result.seconds > 0
    assert result.solver == solver or solver == "auto"


@pytest.mark.parametrize("models", [(name,) for name in MODELS] + [("sqrt_d_A", "Y_f"), ("Y", "Y_Q_lin")])
def test_a_part_of_the_ladder_is_a_part_of_the_whole(models):
    whole = run_trial(REQUEST, 0).squared_singular_values
    part = run_trial(replace(REQUEST, models=models), 0).squared_singular_values
    rows = [MODELS.index(name) for name in models]
    np.testing.assert_allclose(part, whole[rows], rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("solver", ["svd", "gram", "two_stage"])
def test_one_token(solver):
    request = replace(REQUEST, sizes=Sizes(3, 1, 2), solver=solver)
    result = run_trial(request, 0)
    assert result.squared_singular_values.shape == (7, 1)
    np.testing.assert_allclose(result.squared_singular_values[:2], [[1], [0]], atol=1e-15)
    np.testing.assert_allclose(result.squared_singular_values, dense(request, 0)[0], rtol=1e-12)


def test_models_that_need_no_polynomial_need_no_statistics():
    request = TrialRequest(seed=1, sizes=Sizes(5, 5, 5), beta=1.0, models=("sqrt_d_A", "Y_f_lin"))
    assert run_trial(request, 0).squared_singular_values.shape == (2, 5)


def test_reused_memory_and_order_change_nothing():
    workspace = Workspace()
    small = replace(REQUEST, sizes=Sizes(20, 10, 30))
    again = [
        run_trial(request, trial, workspace=workspace)
        for request, trial in [(REQUEST, 1), (small, 0), (REQUEST, 0), (REQUEST, 1)]
    ]
    fresh = run_trial(REQUEST, 1)
    for result in (again[0], again[3]):
        np.testing.assert_array_equal(result.squared_singular_values, fresh.squared_singular_values)
        np.testing.assert_array_equal(result.row_normalizer, fresh.row_normalizer)
    assert not np.array_equal(again[2].squared_singular_values, fresh.squared_singular_values)


def test_results_own_their_memory():
    workspace = Workspace()
    first = run_trial(REQUEST, 0, workspace=workspace)
    kept = first.squared_singular_values.copy()
    run_trial(REQUEST, 1, workspace=workspace)
    np.testing.assert_array_equal(first.squared_singular_values, kept)


def test_a_request_travels():
    request = replace(REQUEST, tokens=np.random.default_rng(0).standard_normal((30, 40)))
    copy = pickle.loads(pickle.dumps(request))
    np.testing.assert_array_equal(
        run_trial(copy, 0).squared_singular_values, run_trial(request, 0).squared_singular_values
    )


def test_single_precision_is_an_approximation_of_the_same_draw():
    single = run_trial(replace(REQUEST, dtype="float32"), 0)
    double = run_trial(REQUEST, 0)
    assert single.squared_singular_values.dtype == np.float64
    for found, expected in zip(single.squared_singular_values, double.squared_singular_values, strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5 * expected[0])


@pytest.mark.parametrize(
    ("ell", "largest"), [(200, 6e-6), pytest.param(1000, 2e-5, marks=pytest.mark.slow)], ids=str
)
@pytest.mark.parametrize("beta", [0.1, 1.0, 2.0])
def test_single_precision_errs_as_little_as_the_readme_says(ell, largest, beta):
    theta1, theta2 = theta_exact(beta, 8)
    change = {"sizes": Sizes(ell, ell, ell), "beta": beta, "degree": 8, "solver": "auto"}
    double = replace(REQUEST, **change, theta1_Q=theta1, theta2_Q=theta2)
    exact = run_trial(double, 0).squared_singular_values
    error = np.abs(run_trial(replace(double, dtype="float32"), 0).squared_singular_values - exact)
    assert (error.max(axis=1) < largest * exact[:, 0]).all()
    assert (error[:, 3:].max(axis=1) < 2 * largest * exact[:, 3]).all()


def test_beta_scan_shares_its_draws():
    weak, strong = (run_trial(replace(REQUEST, beta=beta, models=("Y_f_lin",)), 0) for beta in (1e-3, 2e-3))
    np.testing.assert_allclose(
        4 * weak.squared_singular_values, strong.squared_singular_values, rtol=1e-3, atol=1e-8
    )


def test_a_given_solver_is_used():
    assert run_trial(replace(REQUEST, solver="gram"), 0, solver=SVD()).solver == "svd"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"beta": 0.0}, r"Invalid beta = 0\.0"),
        ({"beta": np.nan}, "Invalid beta = nan"),
        ({"models": ("Y", "sqrt_d_A")}, "in that order"),
        ({"models": ()}, "Invalid models"),
        ({"models": ("A",)}, "Invalid models"),
        ({"degree": None}, "Invalid degree None"),
        ({"theta1_Q": None}, "Invalid theta1_Q or theta2_Q None"),
        ({"tokens": "parseval"}, "parseval tokens need gamma >= 1"),
        ({"tokens": "ortho"}, "unknown tokens 'ortho'"),
        ({"solver": "qr"}, "Invalid solver 'qr'"),
        ({"dtype": "float16"}, "Invalid dtype 'float16'"),
    ],
)
def test_impossible_requests_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        replace(REQUEST, **change)


def solvers_agree(ell, tokens, beta=1.0):
    gamma = 2.0 if tokens == "parseval" else 1.0
    sizes = Sizes(d=round(ell / gamma), ell=ell, d_qk=max(1, ell // 2))
    given = np.random.default_rng(0).standard_normal((sizes.ell, sizes.d)) if tokens == "matrix" else tokens
    theta1, theta2 = theta_exact(beta, 8)
    request = TrialRequest(
        seed=5, sizes=sizes, beta=beta, tokens=given, degree=8, theta1_Q=theta1, theta2_Q=theta2, solver="svd"
    )
    reference = run_trial(request, 0)
    for solver in ("gram", "two_stage"):
        result = run_trial(replace(request, solver=solver), 0)
        assert result.solver == ("gram" if ell < two_stage.SMALLEST else solver)
        np.testing.assert_array_equal(result.row_normalizer, reference.row_normalizer)
        for name, found, expected in zip(
            MODELS, result.squared_singular_values, reference.squared_singular_values, strict=True
        ):
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * expected[0], err_msg=name)


ENSEMBLES = ("identity", "orthonormal", "spherical", "gaussian", "parseval", "matrix")


@pytest.mark.parametrize("tokens", ENSEMBLES)
@pytest.mark.parametrize("ell", [16, 37, 150, 400])
def test_solvers_agree_on_every_rung(ell, tokens):
    solvers_agree(ell, tokens)


@pytest.mark.parametrize("beta", [1e-4, 1e-2, 0.3, 3.0, 8.0])
def test_solvers_agree_at_any_temperature(beta):
    solvers_agree(100, "orthonormal", beta)


@pytest.mark.slow
@pytest.mark.parametrize("tokens", ENSEMBLES)
@pytest.mark.parametrize("ell", [800, 1000, 1500])
def test_solvers_agree_on_every_rung_of_large_matrices(ell, tokens):
    solvers_agree(ell, tokens)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads the peak memory from Linux's /proc")
@pytest.mark.parametrize(("ell", "solver"), [(2000, "two_stage"), (1500, "gram")])
def test_peak_memory_is_predicted(ell, solver):
    program = f"""
        from scalestudy.ensembles import MODELS, Sizes
        from scalestudy.execution.trial import TrialRequest, peak_bytes, run_trial
        request = TrialRequest(seed=1, sizes=Sizes({ell}, {ell}, {ell}), beta=1.0, degree=8, theta1_Q=1.7,
                               theta2_Q=1.0, solver="{solver}")
        def peak():
            line = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
            return 1024 * int(line.split()[1])
        before = peak()
        run_trial(request, 0)
        used = peak() - before
        assert used <= 6 * 8 * {ell}**2 + 200e6, used
        assert abs(peak_bytes(request) / used - 1) < 0.2, (peak_bytes(request), used)
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=True)


def test_cost_counts_models_and_sizes():
    assert trial_flops(replace(REQUEST, models=("Y",))) < trial_flops(REQUEST)
    assert peak_bytes(REQUEST) > 4 * 8 * 30 * 30
