"""The headline figure shows the data, the fits, the floor and the contrast, and says what it leaves out."""

import numpy as np
import pytest
import xarray as xr
from matplotlib.backends.backend_agg import FigureCanvasAgg

import scalestudy
from scalestudy.errors import AnalysisError
from scalestudy.reporting import figures
from scalestudy.reporting.means import mean_and_error


def legend_texts(axis):
    return [text.get_text() for text in axis.get_legend().get_texts()]


def test_one_panel_for_each_point(measured, fitted, panels, tidy, width):
    figure = figures.convergence(measured, fitted, width=width)
    assert len(panels(figure)) == 4
    assert figure.get_figwidth() == width
    tidy(figure)


def test_data_drawn_are_data_given(measured, fitted, panels, drawn):
    axis = panels(figures.convergence(measured, fitted))[0]
    here = measured.sel(beta=0.5, gamma=0.5, psi=1)
    series = drawn(axis)
    assert len(series) == 8  # seven rungs and the contrast
    for (d, mean, error), model in zip(series, measured.model.values, strict=False):
        np.testing.assert_array_equal(d, [16, 32, 128])
        values = here.w1.sel(model=model).values
        np.testing.assert_allclose(mean, np.nanmean(values, axis=1))
        np.testing.assert_allclose(error, mean_and_error(values)[1])
    np.testing.assert_allclose(series[7][1], here.w1_mp.sel(model="sqrt_d_A_perp").mean("trial"))


def test_fits_floor_and_constant(measured, fitted, panels):
    axis = panels(figures.convergence(measured, fitted))[3]
    here, fit = (each.sel(beta=1, gamma=1, psi=1) for each in (measured, fitted))
    lines = [np.asarray(line.get_ydata(), dtype=float) for line in axis.lines if len(line.get_xdata()) == 3]

    def is_drawn(values):
        return any(np.allclose(line, values, equal_nan=True) for line in lines)

    for model in ("sqrt_d_A_perp", "Y_f_lin"):
        one = fit.sel(model=model)
        assert is_drawn(float(one.prefactor) * measured.d.values ** -float(one.exponent))
        assert any(f"{float(one.exponent):.2f}" in text for text in legend_texts(axis))
    assert is_drawn(here.floor.values)
    assert is_drawn(here.w1_nu_mp.values)
    assert any(f"{float(here.w1_nu_mp[-1]):.3g}" in text for text in legend_texts(axis))


def test_rungs_in_steps_are_not_fitted(measured, fitted, panels):
    assert fitted.stepped.sel(model="Y_Q")
    axis = panels(figures.convergence(measured, fitted))[0]
    assert sum("steps with" in text for text in legend_texts(axis)) == 2
    fit = fitted.sel(beta=0.5, gamma=0.5, psi=1, model="Y_Q")
    power = float(fit.prefactor) * measured.d.values ** -float(fit.exponent)
    assert not any(len(line.get_ydata()) == 3 and np.allclose(line.get_ydata(), power) for line in axis.lines)


def test_a_bent_curve_is_marked(measured, fitted, note):
    bent = fitted.copy(deep=True)
    bent["p_value"][...] = 0.9
    assert "power law" not in note(figures.convergence(measured, bent))
    bent["p_value"].loc[{"model": "Y_f", "beta": 1.0}] = 1e-9
    assert "not one power law" in note(figures.convergence(measured, bent))


def test_many_points_are_capped_and_said(many, panels, tidy, note, width):
    figure = figures.convergence(many, scalestudy.rates(many, samples=20), width=width)
    assert len(panels(figure)) == 6
    assert note(figure).startswith("6 of 12 points")
    tidy(figure)
    assert len(panels(figures.convergence(many, most=2, width=width))) == 2


def test_a_single_d_shows_rungs_beside_each_other(measured, panels, drawn, tidy, width):
    one = measured.isel(d=[2]).sel(beta=[1.0], gamma=[1.0])
    figure = figures.convergence(one, width=width)
    (axis,) = panels(figure)
    series = drawn(axis)
    assert [float(x[0]) for x, _, _ in series[:7]] == list(range(7))
    np.testing.assert_allclose([float(y[0]) for _, y, _ in series[:7]], one.w1.mean("trial").squeeze())
    assert len(axis.get_xticklabels()) == 7
    tidy(figure)


def test_a_selection_without_axes_is_taken(measured, panels):
    assert len(panels(figures.convergence(measured.sel(beta=1, gamma=1, psi=1)))) == 1
    assert len(panels(figures.convergence(measured.sel(d=128)))) == 4


def test_a_single_trial_has_no_error_bars(measured, panels, drawn):
    one = measured.isel(trial=[0])
    for _, mean, error in drawn(panels(figures.convergence(one))[0]):
        assert np.isfinite(mean).all()
        assert np.isnan(error).all()


def test_unfinished(unfinished, panels, drawn, tidy, width):
    figure = figures.convergence(unfinished, scalestudy.rates(unfinished, samples=20), width=width)
    assert [len(drawn(axis)[0][0]) for axis in panels(figure)] == [3, 3, 2, 2]
    tidy(figure)


def test_nothing_done_is_an_empty_figure(measured, panels):
    empty = measured.where(False).assign(trials_used=0 * measured.trials_used)
    assert panels(figures.convergence(empty)) == []


def test_where_there_is_no_law_it_says_so(measured, panels, drawn):
    names = [name for name in measured.data_vars if name not in ("trials_used", "w1_mp")]
    without = measured.assign({name: measured[name].where(False) for name in names})
    figure = figures.convergence(without)
    axis = panels(figure)[0]
    # What is said does not cover the distances to Marchenko-Pastur, which are there.
    said = axis.texts[0].get_window_extent(FigureCanvasAgg(figure).get_renderer())
    for d, mean, _ in drawn(axis):
        assert said.y0 > axis.transData.transform(np.c_[d, mean])[:, 1].max()
    assert [text.get_text() for text in axis.texts] == ["no limit law here"]
    assert len(legend_texts(axis)) == 1


def test_no_panel_beyond_the_law(beyond, panels, tidy, width):
    figure = figures.convergence(beyond, width=width)
    assert [axis.get_title().count("25") for axis in panels(figure)] == [0, 0]
    tidy(figure)


def test_the_only_d_done_is_a_single_d(one_of_three, panels, drawn, tidy, width):
    figure = figures.convergence(one_of_three.isel(beta=[1], gamma=[1]), width=width)
    (axis,) = panels(figure)
    assert [float(x[0]) for x, _, _ in drawn(axis)[:7]] == list(range(7))
    tidy(figure)


def test_the_floor_of_a_single_d_in_a_panel_can_be_seen(unfinished, panels):
    alone = unfinished.copy(deep=True)
    alone["trials_used"][1, 1] = 0
    axis = panels(figures.convergence(alone))[3]
    (floor,) = [line for line in axis.lines if line.get_label() == "$n$-point floor"]
    assert np.ptp(floor.get_xdata()) > 0


def test_a_contrast_out_of_view_is_not_listed(measured, panels):
    assert any("to MP:" in text for text in legend_texts(panels(figures.convergence(measured))[0]))
    low = measured.assign(w1_nu_mp=1e-9 * measured.w1_nu_mp, w1_mp=1e-9 * measured.w1_mp)
    assert not any("MP" in text for text in legend_texts(panels(figures.convergence(low))[0]))


def test_not_distances():
    with pytest.raises(AnalysisError, match=r"what distances\(\) returns"):
        figures.convergence(xr.Dataset({"a": 1}))
