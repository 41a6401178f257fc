from dataclasses import replace

import numpy as np
import pytest
import xarray as xr

from scalestudy.convergence import verdict
from scalestudy.errors import AnalysisError

D = np.array([64, 128, 256, 512])
RUNGS = {"sqrt_d_A_perp": (2.0, 0.5), "Y_Q": (4.0, 0.8), "Y_f_lin": (3.0, 1.0)}


def study(limit=0.0, scatter=0.05, bend=1.0, trials=30):
    rng = np.random.default_rng(0)
    shape = (len(D), trials)
    rungs = [
        (limit + factor * D[:, None] ** -alpha) * np.exp(scatter * rng.standard_normal(shape))
        for factor, alpha in RUNGS.values()
    ]
    values = np.stack(rungs, axis=-1)[:, None, None, None]
    values[0] *= bend
    return xr.Dataset(
        {
            "w1_relative": (("d", "beta", "gamma", "psi", "trial", "model"), values),
            "w1_nu_mp": (("d", "beta", "gamma", "psi"), np.full((4, 1, 1, 1), 0.2155)),
        },
        coords={
            "d": D,
            "beta": [1.0],
            "gamma": [1.0],
            "psi": [0.5],
            "model": list(RUNGS),
            "degree": ("d", [6, 7, 7, 8]),
        },
    )


def test_one_line_a_rung():
    lines = [str(one) for one in verdict(study())]
    assert [line.split(" (")[0] for line in lines] == list(RUNGS)
    assert all("\n" not in line and line.endswith(".") for line in lines)
    attention, polynomial, gaussian = lines
    assert "(beta 1, gamma 1, psi 0.5)" in attention
    assert "from the law at d = 512 (Marchenko-Pastur: 13 %)" in attention
    assert "beyond the data" in attention
    assert "in steps, because the degree n_d is an integer" in polynomial
    assert "within 1 % from d = " in gaussian
    assert "falls as d^-1.0" in gaussian


def test_numbers_are_those_of_the_study():
    one = verdict(study(scatter=0.01, trials=100))[2]
    assert one.model == "Y_f_lin"
    assert one.largest_d == 512
    assert one.distance == pytest.approx(3.0 / 512, rel=0.01)
    assert one.contrast == pytest.approx(0.2155 / np.expm1(1.0))
    assert one.d_needed == pytest.approx(300.0, rel=0.02)
    assert one.exponent_interval[0] < one.exponent < one.exponent_interval[1]
    assert one.last_exponent == pytest.approx(1.0, abs=0.02)
    assert not one.extrapolated


def test_a_limit_is_called_one():
    line = str(verdict(study(limit=0.05, scatter=0.01, trials=100))[0])
    assert "the data point to a limit of" in line
    assert "not to the law" in line


def test_no_pure_power_is_said_to_be_none():
    line = str(verdict(study(bend=1.5))[0])
    assert "is no pure power: exponent 0.5" in line


def test_what_needs_no_d():
    line = str(verdict(study(), target=0.5)[2])
    assert "within 50 % already at the smallest d, 64" in line


def test_what_does_not_fall():
    data = study()
    data["w1_relative"][:] = 0.1
    line = str(verdict(data)[0])
    assert "no clear fall with d, exponent 0.00 [0.00, 0.00]" in line
    assert "1 % is not in sight" in line


def test_too_little_to_say():
    data = study()
    data["w1_relative"][1:] = np.nan
    assert str(verdict(data)[0]).endswith("no verdict; it takes two d with two complete trials each.")


def test_no_law_is_said_to_be_the_reason():
    data = study()
    for name in ("w1_relative", "w1_nu_mp"):
        data[name][:] = np.nan
    assert str(verdict(data)[0]).endswith("no verdict; there is no limit law to measure from.")


def test_what_rises_is_said_to_rise():
    one = replace(verdict(study())[0], exponent=-0.14, exponent_interval=(-0.15, -0.13), p_value=0.5)
    assert "rises as d^0.14 [0.13, 0.15]" in str(one)
    assert "limit" not in str(one)


@pytest.mark.parametrize(
    ("interval", "words"),
    [
        ((0.15, 6.89), "a limit above 15 %, not to the law"),
        ((0.0100, 0.0101), "a limit of 1 %, not to the law"),
        ((0.010, 0.015), "a limit of 1 % to 1.5 %, not to the law"),
        ((np.nan, np.nan), "these d do not tell whether its limit is 0"),
        ((0.0, 1e-9), "no sign of a limit above 0"),
        ((0.0, 0.002), "a limit of 0 fits (upper bound 0.2 %)"),
    ],
)
def test_what_is_said_of_a_limit(interval, words):
    one = replace(verdict(study())[0], distance=0.05, limit_interval=interval)
    assert words in str(one)


def test_what_is_very_small_or_has_no_end():
    one = replace(
        verdict(study())[0], contrast=5.2e-7, d_needed=3000.0, d_needed_interval=(605.0, np.inf), target=0.01
    )
    assert "(Marchenko-Pastur: below 0.01 %)" in str(one)
    assert "3,000 [605, unbounded]" in str(one)


def test_a_bound_beyond_what_was_measured_is_no_bound():
    one = replace(verdict(study())[0], limit_interval=(0.0, 39.74))
    assert "the data bound no limit" in str(one)
    assert "upper bound" not in str(one)


def test_what_neither_falls_nor_is_a_power_is_one_sentence():
    one = replace(
        verdict(study())[0], exponent=0.01, exponent_interval=(-0.1, 0.1), p_value=1e-9, last_exponent=0.3
    )
    assert "no clear fall with d, exponent 0.01 [-0.10, 0.10]; exponent 0.30 between the two largest d" in (
        str(one)
    )


def test_a_selected_point_and_a_single_d():
    assert str(verdict(study().isel(beta=0, psi=0))[0]) == str(verdict(study())[0])
    with pytest.raises(AnalysisError, match="at least 2 values of d"):
        verdict(study().isel(d=[0]))


def test_a_d_that_nobody_will_reach_is_not_predicted():
    data = study()
    # Distances of several hundred per cent that hardly fall, as beyond the condensation of softmax.
    data["w1_relative"] = 300.0 * data["w1_relative"] ** 0.02
    for one in verdict(data):
        text = str(one)
        assert "is not in sight" in text
        assert "e+" not in text
        assert max(len(word) for word in text.split()) < 20
