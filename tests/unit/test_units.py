import pytest

from scalestudy.units import counted, duration, size


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.0, "0.0 s"),
        (0.44, "0.4 s"),
        (9.96, "10 s"),
        (59.6, "1 min 00 s"),
        (200.0, "3 min 20 s"),
        (3599.7, "1 h 00 min"),
        (7500.0, "2 h 05 min"),
        (86399.9, "1 d 0 h"),
        (273600.0, "3 d 4 h"),
    ],
)
def test_duration(seconds, words):
    assert duration(seconds) == words


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (0, "0 B"),
        (340, "340 B"),
        (1234567, "1.23 MB"),
        (999_600, "1 MB"),
        (5.6e9, "5.6 GB"),
        (1e15, "1000 TB"),
    ],
)
def test_size(count, words):
    assert size(count) == words


def test_counted():
    assert [counted(number, "block") for number in (0, 1, 2)] == ["0 blocks", "1 block", "2 blocks"]
