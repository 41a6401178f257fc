"""Heat maps show the numbers they are given, and where nothing is done."""

import numpy as np
import pytest

from scalestudy.errors import AnalysisError
from scalestudy.reporting import figures


def colours(axis):
    return np.ma.filled(axis.collections[0].get_array(), np.nan)


@pytest.mark.parametrize(("x", "y"), [("d", "beta"), ("psi", "gamma"), ("gamma", "d")])
def test_values_are_percent_of_theta1(many, panels, tidy, width, x, y):
    figure = figures.heat_map(many, x, y, width=width)
    assert len(panels(figure)) == 2
    fixed = {"d": 128, "beta": 1.0, "gamma": 1.0, "psi": 1.0}
    here = many.w1_relative.sel({name: value for name, value in fixed.items() if name not in (x, y)})
    for axis, model in zip(panels(figure), ("sqrt_d_A_perp", "Y_f_lin"), strict=True):
        expected = 100 * here.sel(model=model).mean("trial").transpose(y, x)
        np.testing.assert_allclose(colours(axis), expected)
        assert len(axis.texts) == expected.size
    tidy(figure)


def test_curves_of_concentration(measured, panels):
    wide = measured.sel(beta=[0.5, 1.0]).assign_coords(beta=[0.5, 4.0])
    axis = panels(figures.heat_map(wide))[0]
    solid, dashed = (line for line in axis.lines if line.get_label().startswith("$"))
    # Rows 0 and 1 are beta = 0.5 and 4, log-interpolated between.
    for line, beta in ((solid, np.sqrt(np.log(128) / 2)), (dashed, np.sqrt(2 * np.log(128)))):
        assert line.get_ydata()[-1] == pytest.approx(np.log(beta / 0.5) / np.log(8.0))


def test_curves_out_of_view_are_not_listed(measured, panels):
    def listed(low, high):
        figure = figures.heat_map(measured.assign_coords(beta=[low, high]))
        return [text.get_text() for legend in figure.legends for text in legend.get_texts()]

    assert [len(listed(*ends)) for ends in ((0.1, 0.2), (0.5, 2.0), (0.5, 4.0))] == [0, 1, 2]


def test_no_curve_strikes_through_a_number(measured, panels):
    axis = panels(figures.heat_map(measured.assign_coords(beta=[0.5, 1.3])))[0]
    assert axis.lines
    for text in axis.texts:
        assert text.get_zorder() > max(line.get_zorder() for line in axis.lines)
        assert text.get_bbox_patch().get_facecolor()[3] == 1.0


def test_nothing_beyond_the_law(beyond, panels):
    axis = panels(figures.heat_map(beyond, "gamma", "beta"))[0]
    assert [label.get_text() for label in axis.get_yticklabels()] == ["1"]
    with pytest.raises(AnalysisError, match="nothing to draw"):
        figures.heat_map(beyond.sel(beta=[25.0]))


def test_nothing_done_is_crossed(unfinished, panels, note):
    figure = figures.heat_map(unfinished)
    assert np.isnan(colours(panels(figure)[0])).sum() == 1
    assert "cross" in note(figure)
    assert len(panels(figure)[0].texts) == 5


def test_rungs_that_are_not_there(measured, panels):
    assert len(panels(figures.heat_map(measured, models=["Y_f_lin"]))) == 1
    few = measured.sel(model=["Y", "Y_f"])
    assert panels(figures.heat_map(few))[0].get_title() == "$Y_f$"


def test_a_single_cell(measured, panels, tidy, width):
    tidy(figures.heat_map(measured.isel(d=[0], beta=[0]), width=width))


@pytest.mark.parametrize(("x", "y"), [("d", "d"), ("d", "model")])
def test_axes_must_be_two_of_four(measured, x, y):
    with pytest.raises(AnalysisError, match="Must be two of d, beta, gamma, psi"):
        figures.heat_map(measured, x, y)
