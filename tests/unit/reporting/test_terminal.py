"""The table at the end of a sweep stays a table, whatever the numbers are."""

from rich.console import Console

from scalestudy.reporting.terminal import summary_table


def lines_of(table):
    console = Console(width=200)
    with console.capture() as capture:
        console.print(table)
    return capture.get().splitlines()


def test_one_row_for_each_point_and_rung(measured):
    lines = lines_of(summary_table(measured.sel(beta=[1.0], gamma=[1.0])))
    assert len(lines) == 1 + 3 * 7
    assert lines[-1].split()[0] == "Y_f_lin"


def test_huge_numbers_are_short(measured):
    huge = measured.assign(curve=1e268 * measured.curve, largest=1e268 * measured.largest)
    assert max(map(len, lines_of(summary_table(huge)))) < 80
