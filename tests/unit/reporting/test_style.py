"""The seven rungs are told apart without colour, nothing global changes, and the tidiness check can fail."""

from pathlib import Path

import matplotlib
import numpy as np
import pytest
from matplotlib.colors import to_rgb

from scalestudy import reporting
from scalestudy.reporting import figures, points
from scalestudy.reporting.figures import scales
from scalestudy.reporting.figures.style import LOOKS, panels
from scalestudy.reporting.means import mean_and_error
from scalestudy.reporting.wording import percent, short, signed


def test_rungs_differ_without_colour():
    assert len({look.marker for look in LOOKS.values()}) == 7
    assert len({str(look.line) for look in LOOKS.values()}) == 7
    assert len({look.color for look in LOOKS.values()}) == 7


def test_colours_stand_out_from_white():
    # Relative luminance of WCAG: 3:1 against paper is asked of graphics; sky blue and orange are just below,
    # and carry open markers with strong edges.
    for look in LOOKS.values():
        linear = [c / 12.92 if c <= 0.04 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(look.color)]
        luminance = float(np.dot(linear, [0.2126, 0.7152, 0.0722]))
        assert 1.05 / (luminance + 0.05) > 2.0


def test_no_pyplot():
    for path in Path(reporting.__file__).parent.rglob("*.py"):
        assert "pyplot" not in path.read_text().replace("No pyplot", "")


def test_nothing_global_changes(measured, fitted):
    before = dict(matplotlib.rcParams)
    figures.convergence(measured, fitted)
    figures.heat_map(measured)
    assert dict(matplotlib.rcParams) == before


def test_overlapping_labels_are_found(tidy):
    figure, (axis,) = panels(1, 1, width=2.0, height=1.5)
    axis.set_xlim(0, 1)
    axis.set_xticks([0.5, 0.52], ["a long label", "another label"])
    with pytest.raises(AssertionError, match="overlap"):
        tidy(figure)


def test_a_legend_over_data_is_found(tidy):
    figure, (axis,) = panels(1, 1, width=2.0, height=1.5)
    axis.plot([0, 1], label="a curve")
    axis.legend(loc="center")
    with pytest.raises(AssertionError, match="covers data"):
        tidy(figure)


def test_means_and_student_intervals():
    mean, error = mean_and_error(
        np.array([[1.0, 2.0, 3.0, np.nan], [5.0, np.nan, np.nan, np.nan], [np.nan] * 4])
    )
    np.testing.assert_allclose(mean, [2.0, 5.0, np.nan])
    # t(0.975, 2) = 4.302653
    np.testing.assert_allclose(error, [4.302653 / np.sqrt(3), np.nan, np.nan], rtol=1e-6)


def test_spread_keeps_both_ends():
    assert points.spread(list(range(10)), 4) == [0, 3, 6, 9]
    assert points.spread([1, 2], 4) == [1, 2]
    assert points.spread([1, 2], 1) == [1]


def test_labels_that_fit():
    near = [1000, 1024, 1100]
    assert scales.labelled(near, inches=2.0, log_range=np.log(1.3)) == [1024, 1100]
    assert scales.labelled(near, inches=20.0, log_range=np.log(1.3)) == near


@pytest.mark.parametrize("ratio", [2.1, 3.0, 5.0, 12.0, 40.0, 79.0, 150.0, 1e8])
@pytest.mark.parametrize("low", np.geomspace(0.011, 0.107, 9))
def test_values_can_be_read_off_a_logarithmic_axis(low, ratio):
    _, (axis,) = panels(1, 1, width=2.0, height=1.5)
    scales.logarithmic_distance(axis, low, low * ratio)
    seen = [place for place in axis.get_yticks() if low <= place <= low * ratio]
    assert 2 <= len(seen) <= 10


def test_numbers_as_text():
    assert [percent(value) for value in (0.984, 2.0, 9.96, 95.2)] == ["0.98", "2.0", "10", "95"]
    assert [short(value) for value in (1002.21, 9.0095, 122634.0)] == ["1002", "9.01", r"$1.2\times 10^{5}$"]
    assert [signed(value) for value in (0.187, -0.001, -0.187)] == ["0.19", "0.00", "\N{MINUS SIGN}0.19"]
    assert [scales.decimal(value) for value in (0.02, 1e-5, 5e-5, 1e4, 200.0)] == [
        "0.02",
        "$10^{-5}$",
        r"$5\!\times\!10^{-5}$",
        "$10^{4}$",
        "200",
    ]
