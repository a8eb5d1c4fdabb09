"""Golden sections end next to the only valley, and among several places next to the highest."""

import math
from fractions import Fraction

import pytest

from privately.accounting.golden import highest, valley


@pytest.mark.parametrize("lowest", [0.0, 0.1, 3.7, 9.999, 10.0])
def test_the_valley_is_inside(lowest: float) -> None:
    found = valley(lambda x: abs(x - lowest), 0, 10, 1e-6)
    assert found.low <= lowest <= found.high
    assert found.high - found.low <= 1e-6
    assert found.low <= found.middle <= found.high


def test_beyond_an_edge_nothing_is_known() -> None:
    """A function that is infinite from somewhere on has its valley before."""
    found = valley(lambda x: math.inf if x > 2 else -x, 0, 10, 1e-6)
    assert found.low <= 2 <= found.high


def test_each_turn_asks_once() -> None:
    asked: list[float] = []

    def value(place: float) -> Fraction:
        asked.append(place)
        return -(Fraction(place) ** 2)

    assert highest(value, [-1.0, 0.5, 2.0], 0) == Fraction(-1, 4)
    assert len(asked) == 3
    assert highest(value, [-1.0, 0.5, 2.0], 20) > Fraction(-1, 10**6)
    assert len(asked) <= 3 + 3 + 2 + 21


def test_the_largest_of_all_counts() -> None:
    """Also where what was looked at last is lower."""
    peaks = {0.0: 1.0, 1.0: 5.0, 2.0: 0.0}
    assert highest(lambda place: peaks.get(place, -1.0), list(peaks), 8) == 5.0
