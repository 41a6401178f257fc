"""Figures of one point: bars, histograms, sorted curves and quantiles show the spectra they are given."""

import numpy as np
import pytest

import scalestudy
from scalestudy.errors import AnalysisError
from scalestudy.limit import mean_row_normalizer
from scalestudy.reporting import figures

ALL = (
    figures.top_values,
    figures.row_normalizers,
    figures.bulk_histograms,
    figures.sorted_curves,
    figures.quantile_quantile,
)


@pytest.fixture(scope="module")
def squares(point):
    return point.squared_singular_values.isel(trial=slice(0, 3), rank=slice(0, 128))


@pytest.fixture(scope="module")
def law():
    return scalestudy.GaussianEquivalentLaw(1.0)


@pytest.mark.parametrize("draw", ALL)
def test_tidy(point, draw, tidy, note, width):
    figure = draw(point, width=width)
    assert "3 trials" in note(figure)
    tidy(figure)


@pytest.mark.parametrize("draw", ALL)
def test_a_single_trial_few_rungs_and_no_law(point, as_tokens, draw, tidy):
    one = as_tokens(point.isel(trial=[0]).sel(model=["sqrt_d_A", "Y_f_lin"]), "matrix of no known law")
    tidy(draw(one))


@pytest.mark.parametrize("draw", ALL)
def test_one_point_only(study, draw):
    with pytest.raises(AnalysisError, match=r"shows one point; .* study\.sel"):
        draw(study.sel(d=128))


def test_no_complete_trial(point):
    with pytest.raises(AnalysisError, match="No trial is complete at d = 128, beta = 1"):
        figures.top_values(point.assign(squared_singular_values=point.squared_singular_values.where(False)))


def test_bars_are_means_and_spikes_are_cut(point, squares, panels):
    (axis,) = panels(figures.top_values(point))
    heights = np.array([bar.get_height() for bar in axis.patches]).reshape(7, 5)
    means = squares.mean("trial").isel(rank=slice(0, 5)).values
    top = axis.get_ylim()[1]
    np.testing.assert_allclose(heights, np.minimum(means, top))
    cut = np.argwhere(means > top)
    assert cut.tolist() == [[0, 0], [2, 0]]
    assert [text.get_text() for text in axis.texts] == [f"{means[0, 0]:.4g}", f"{means[2, 0]:.4g}"]


def stairs(axis):
    patch = axis.patches[0]
    return patch.get_data().values, patch.get_data().edges


def test_normalizers(point, panels):
    (axis,) = panels(figures.row_normalizers(point))
    values = point.row_normalizer.isel(trial=slice(0, 3), token=slice(0, 128)).values.ravel()
    density, edges = stairs(axis)
    np.testing.assert_allclose(density, np.histogram(values, edges, density=True)[0])
    places = [line.get_xdata()[0] for line in axis.lines]
    assert places[0] == pytest.approx(mean_row_normalizer(1.0, 128))
    assert places[2] - places[0] == pytest.approx(places[0] - places[1])
    assert f"mean {values.mean():.5f}" in axis.get_legend().get_texts()[0].get_text()


def test_huge_normalizers_do_not_hide_the_others(point, panels, note):
    far = point.copy(deep=True)
    far.row_normalizer[0, 0] = 1e4
    figure = figures.row_normalizers(far)
    assert panels(figure)[0].get_xlim()[1] < 10
    assert "values lie further right" in note(figure)


def test_other_tokens_have_no_exact_normalizers(point, as_tokens, panels):
    (axis,) = panels(figures.row_normalizers(as_tokens(point, "spherical")))
    assert axis.lines[:] == []


def test_histograms_have_the_mass_of_the_bulk_and_the_density_of_the_law(point, squares, law, panels):
    axes = panels(figures.bulk_histograms(point, drop=3))
    assert len(axes) == 7
    for axis, model in zip(axes, squares.model.values, strict=True):
        bulk = np.sqrt(squares.sel(model=model).isel(rank=slice(3, None)).values).ravel()
        density, edges = stairs(axis)
        shown = np.mean((bulk >= edges[0]) & (bulk <= edges[-1]))
        assert np.sum(density * np.diff(edges)) == pytest.approx(shown * 125 / 128)
        x, y = axis.lines[1].get_data()
        np.testing.assert_allclose(y, 2 * x * law.pdf(x * x))
        assert y[0] == pytest.approx(2 * law.hard_edge_coefficient(), rel=1e-3)


def test_sorted_curves(point, squares, law, panels):
    curves, rest = panels(figures.sorted_curves(point, drop=2))
    rank = (np.arange(2, 128) + 0.5) / 128
    for k in range(7):
        mean = squares.isel(model=k, rank=slice(2, None)).mean("trial")
        np.testing.assert_allclose(curves.lines[k].get_data(), [rank, mean])
        np.testing.assert_allclose(rest.lines[k].get_ydata(), mean - law.ppf(1 - rank))


def test_quantiles(point, squares, law, panels):
    curves, rest = panels(figures.quantile_quantile(point, drop=3))
    quantiles = np.sqrt(law.ppf(1 - (np.arange(3, 128) + 0.5) / 128))
    for k in range(7):
        mean = np.sqrt(squares.isel(model=k, rank=slice(3, None))).mean("trial")
        np.testing.assert_allclose(curves.lines[k + 1].get_data(), [quantiles, mean])
        np.testing.assert_allclose(rest.lines[k].get_ydata(), mean - quantiles)
