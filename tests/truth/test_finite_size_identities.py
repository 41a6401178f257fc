"""Exact finite-size facts of the orthonormal ensemble, against simulation.

Each is an expectation known in closed form at every ell and d_qk. With S_ij = sum_k g_k h_k / sqrt(d_qk) and
g, h standard Gaussian vectors, ``G(t) = E e^{t S_ij} = (1 - t^2/d_qk)^{-d_qk/2}``.
"""

import math

import numpy as np
import pytest

from scalestudy.ensembles import Sizes
from scalestudy.execution.trial import TrialRequest, run_trial
from scalestudy.execution.workspace import Workspace

MODELS = ("Y", "Y_f", "Y_f_lin")
TRIALS = 600


def expectations(beta, ell, d_qk):
    """Closed forms, keyed by the statistic of a trial that they are the mean of."""

    def G(t):
        return (1 - t * t / d_qk) ** (-d_qk / 2)

    def h(t):
        return (1 - 2 * t / d_qk) ** (-d_qk / 2)

    half, full = math.exp(-(beta**2) / 2), math.exp(-(beta**2))
    mean_D = half * G(beta)
    return {
        "Z / ell": G(beta),
        "D": mean_D,
        "(Z / ell)^2": (h(2 * beta**2) - h(beta**2)) / ell + h(beta**2),
        "Y": full * G(2 * beta),
        "Y_f": full * G(2 * beta) - 2 * half * G(beta) + 1,
        "Y_f_lin": math.expm1(beta**2),
    }


def statistics(beta, sizes, trials):
    """The same statistics, one number a trial."""
    request = TrialRequest(seed=99, sizes=sizes, beta=beta, models=MODELS)
    workspace = Workspace()
    results = [run_trial(request, trial, workspace=workspace) for trial in range(trials)]
    D = np.stack([result.row_normalizer for result in results])
    means = np.stack([result.squared_singular_values for result in results]).mean(axis=2)
    found = {
        "Z / ell": math.exp(beta**2 / 2) * D.mean(axis=1),
        "D": D.mean(axis=1),
        "(Z / ell)^2": math.exp(beta**2) * (D**2).mean(axis=1),
    }
    return found | {name: means[:, row] for row, name in enumerate(MODELS)}


def deviations(found, expected):
    """How many standard errors each mean is off."""
    return {
        name: (values.mean() - expected[name]) / (values.std(ddof=1) / math.sqrt(len(values)))
        for name, values in found.items()
    }


@pytest.mark.parametrize(
    ("beta", "sizes"), [(0.7, Sizes(48, 48, 40)), (0.4, Sizes(60, 30, 90)), (1.0, Sizes(64, 64, 64))]
)
def test_identities_hold_within_four_standard_errors(beta, sizes):
    # Six identities at three points: a right program fails with probability 18 x 6.3e-5 = 0.0012 over seeds.
    off = deviations(statistics(beta, sizes, TRIALS), expectations(beta, sizes.ell, sizes.d_qk))
    assert max(map(abs, off.values())) < 4, off


def test_the_check_can_fail():
    # D itself hardly depends on beta (its mean is 1 + beta^4 / (4 d_qk)); everything else must notice 5 %.
    sizes = Sizes(48, 48, 40)
    for wrong in (0.95 * 0.7, 1.05 * 0.7):
        off = deviations(statistics(wrong, sizes, TRIALS), expectations(0.7, sizes.ell, sizes.d_qk))
        off.pop("D")
        assert min(map(abs, off.values())) > 4, off


def test_row_normalizer_at_the_published_size():
    expected = expectations(1.0, 1000, 1000)
    assert expected["D"] == pytest.approx(1.00025, abs=1e-5)
    assert math.sqrt(expected["(Z / ell)^2"] / math.e - expected["D"] ** 2) == pytest.approx(0.0472, abs=1e-4)
    assert expected["Y_f"] == pytest.approx(1.7287, abs=1e-4)
