"""Ticks are round, within the ends, and few."""

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately.views.ticks import decades, linear_ticks


@given(st.floats(-1e9, 1e9), st.floats(1e-6, 1e9), st.integers(2, 12))
def test_linear_ticks(low: float, length: float, most: int) -> None:
    high = low + max(length, abs(low) * 1e-6)
    ticks = linear_ticks(low, high, most)
    assert 1 <= len(ticks) <= most
    slack = (high - low) * 1e-9
    assert all(low - slack <= tick <= high + slack for tick in ticks)
    steps = [after - before for before, after in pairwise(ticks)]
    if steps:
        digits = f"{steps[0]:.0e}"
        assert digits[0] in "125"
        assert all(math.isclose(step, steps[0], rel_tol=1e-3) for step in steps)


def test_a_point_has_one_tick() -> None:
    assert linear_ticks(3, 3) == [3]


@given(st.integers(-300, 200), st.integers(0, 100), st.integers(2, 12))
def test_decades(first: int, length: int, most: int) -> None:
    powers = decades(float(f"1e{first}"), float(f"1e{first + length}"), most)
    assert powers[0] == first
    assert len(powers) <= most
    assert powers[-1] <= first + length


@pytest.mark.parametrize(("low", "high", "expected"), [(2e-6, 5e-3, [-5, -4, -3]), (2.0, 5.0, [])])
def test_decades_between(low: float, high: float, expected: list[int]) -> None:
    assert decades(low, high) == expected
