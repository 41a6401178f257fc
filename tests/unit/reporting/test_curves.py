"""The error budget and the finite-size figure against d."""

import numpy as np
import pytest
from matplotlib.markers import CARETDOWN

from scalestudy.limit import mean_row_normalizer, var_row_normalizer
from scalestudy.reporting import figures


def test_budget_draws_every_step(measured, panels, drawn, tidy, width):
    figure = figures.error_budget(measured, width=width)
    assert len(panels(figure)) == 4
    tidy(figure)
    here = measured.sel(beta=1, gamma=1, psi=1)
    series = drawn(panels(figure)[3])
    expected = [here.w1_to_next.sel(pair=pair).mean("trial") for pair in measured.pair.values]
    expected += [here.w1.sel(model="Y_f_lin").mean("trial"), here.truncation_bias]
    expected += [here.w1.sel(model="sqrt_d_A_perp").mean("trial")]
    assert len(series) == len(expected)
    for (_, mean, _), values in zip(series, expected, strict=True):
        np.testing.assert_allclose(mean, values)


def test_budget_of_a_single_d(measured, panels, drawn, tidy, width):
    figure = figures.error_budget(measured.isel(d=[2], beta=[1], gamma=[1]), width=width)
    (axis,) = panels(figure)
    assert [float(x[0]) for x, _, _ in drawn(axis)] == list(range(9))
    tidy(figure)


def test_budget_without_some_rungs(measured, panels, drawn):
    few = measured.sel(model=["sqrt_d_A_perp", "Y_f_lin"]).isel(pair=[]).isel(beta=[1], gamma=[1])
    few["truncation_bias"][...] = np.nan
    (axis,) = panels(figures.error_budget(few))
    assert len(drawn(axis)) == 2


def test_finite_size_against_exact_values(measured, panels, drawn, tidy, width):
    figure = figures.finite_size(measured.sel(beta=[1.0], gamma=[1.0]), width=width)
    first, second = panels(figure)
    tidy(figure)
    here = measured.sel(beta=1, gamma=1, psi=1)
    center = np.array([mean_row_normalizer(1.0, d) for d in (16, 32, 128)])
    square = here.d_std**2 + (here.d_mean - center[:, None]) ** 2
    np.testing.assert_allclose(drawn(first)[0][1], np.sqrt(square.mean("trial")))
    np.testing.assert_allclose(drawn(second)[0][1], here.s1_A.mean("trial") - 1.0)
    exact = np.array([np.sqrt(var_row_normalizer(1.0, d, d)) for d in (16, 32, 128)])
    assert any(np.allclose(line.get_ydata(), exact) for line in first.lines if len(line.get_ydata()) == 3)
    # Three trials of 128 rows: the deviation is near the exact one, which says that it is the same quantity.
    assert drawn(first)[0][1][2] == pytest.approx(exact[2], rel=0.15)
    leading = np.expm1(1.0) / 256 + 1.0 / 512
    assert any(
        np.isclose(line.get_ydata()[-1], leading) for line in second.lines if len(line.get_ydata()) == 3
    )


def test_finite_size_of_other_tokens_has_no_curves(measured, panels):
    other = measured.assign_attrs(tokens="spherical")
    figure = figures.finite_size(other)
    assert "exact" not in panels(figure)[0].get_title()
    plain = [line for line in panels(figure)[0].lines if line.get_linestyle() != "None"]
    assert plain == []


def test_beyond_the_law_nothing_is_drawn(beyond, panels, tidy, width):
    assert len(panels(figures.error_budget(beyond, width=width))) == 2
    figure = figures.finite_size(beyond, width=width)
    assert all(axis.get_ylim()[1] < 10.0 for axis in panels(figure))
    tidy(figure)
    only = beyond.sel(beta=[25.0])
    assert panels(figures.error_budget(only)) == []
    assert all(not axis.lines for axis in panels(figures.finite_size(only)))


def test_the_only_d_done_has_the_only_tick(one_of_three, panels, drawn):
    for axis in panels(figures.finite_size(one_of_three)):
        assert axis.get_xticks().tolist() == [128.0]
    axis = panels(figures.error_budget(one_of_three))[3]
    assert [float(x[0]) for x, _, _ in drawn(axis)] == list(range(9))


def test_error_bars_that_leave_the_axis_end_in_a_tip(measured, panels):
    def tips(distances):
        first, _ = panels(figures.finite_size(distances))
        return [len(line.get_xdata()) for line in first.lines if line.get_marker() == CARETDOWN]

    one = measured.sel(beta=[1.0], gamma=[1.0]).copy(deep=True)
    one["d_std"][...], one["d_mean"][...] = 0.1, 1.0
    assert sum(tips(one)) == 0
    wild = one.copy(deep=True)
    wild["d_std"].loc[{"d": 128}] *= np.array([1.0, 1.0, 30.0, 1.0, 1.0, 1.0])
    assert sum(tips(wild)) == 1


def test_finite_size_of_many_points_and_of_unfinished(many, unfinished, note, tidy, width):
    figure = figures.finite_size(many, width=width)
    assert note(figure).startswith("6 of 12")
    tidy(figure)
    tidy(figures.finite_size(unfinished, width=width))
    tidy(figures.finite_size(many.isel(d=[1]), width=width))
