"""Numbers in steps: in range whatever comes, near the truth, and bad input refused."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately.errors import InvalidParameter
from privately.mechanisms.fixed_point import MAX_STEPS, FixedPoint

PERCENT = FixedPoint(lower=0, upper=100, step="0.01")
HUGE = [float("inf"), float("-inf"), 1e308, -1e308, 5e-324, 0.0, -0.0]


@st.composite
def ranges(draw: st.DrawFn) -> FixedPoint:
    """Of all sizes, at all distances from zero that are allowed."""
    step = draw(
        st.sampled_from([Fraction(1), Fraction(1, 3), Fraction(7, 1000), Fraction(2**900), Fraction(1, 2**1000)])
    )
    low = draw(st.integers(-MAX_STEPS, MAX_STEPS - 1) | st.integers(-20, 20))
    steps = draw(st.integers(1, 50) | st.integers(1, MAX_STEPS))
    high = min(low + steps, MAX_STEPS)
    part = draw(st.sampled_from([Fraction(0), Fraction(1, 3)])) if abs(low) < MAX_STEPS and high < MAX_STEPS else 0
    return FixedPoint(lower=(low + part) * step, upper=(high + part) * step, step=step)


@given(points=ranges(), values=st.lists(st.floats(allow_nan=False)), places=st.lists(st.floats(0, 1)))
def test_no_value_is_read_further_off_than_stated(points: FixedPoint, values: list[float], places: list[float]) -> None:
    inside = [float(points.lower + Fraction(place) * (points.upper - points.lower)) for place in places]
    read = points.read([*values, *inside, *HUGE])
    for value, steps in zip([*values, *inside, *HUGE], read.tolist(), strict=True):
        clamped = min(max(Fraction(value), points.lower), points.upper) if np.isfinite(value) else _end(points, value)
        assert 0 <= steps <= points.steps
        assert abs(points.back(steps) - clamped) < points.rounding


def _end(points: FixedPoint, value: float) -> Fraction:
    return points.upper if value > 0 else points.lower


def test_rounding_is_hardly_more_than_half_a_step() -> None:
    assert Fraction(1, 200) < PERCENT.rounding < Fraction(1, 200) * (1 + Fraction(1, 10**8))


def test_integers_in_range_are_read_exactly() -> None:
    points = FixedPoint(lower=-(2**51), upper=2**51, step=1)
    values = [-(2**51), 1 - 2**51, -1, 0, 1, 2**51 - 1, 2**51]
    assert points.read(values).tolist() == [value + 2**51 for value in values]
    assert [points.back(steps) for steps in points.read(values).tolist()] == values


@pytest.mark.parametrize("kind", ["i1", "i8", "u1", "u8", "f2", "f4", "f8", "g"])
def test_arrays_of_numbers_of_any_kind(kind: str) -> None:
    assert PERCENT.read(np.array([0, 1, 100, 120], kind)).tolist() == [0, 100, 10_000, 10_000]


def test_numbers_beyond_64_bits_are_clamped() -> None:
    assert PERCENT.read(np.array([2**64 - 1], np.uint64)).tolist() == [10_000]
    assert PERCENT.read(np.array(["1e4000", "-1e4000"], np.longdouble)).tolist() == [10_000, 0]


def test_the_caller_keeps_the_values() -> None:
    values = np.array([-5.0, 50.0, 500.0])
    PERCENT.read(values)
    assert values.tolist() == [-5.0, 50.0, 500.0]


def test_nobody_is_read_as_nothing() -> None:
    assert PERCENT.read([]).tolist() == []


@pytest.mark.parametrize(
    "values",
    [
        [float("nan")],
        [1.0, float("nan"), 2.0],
        np.array([np.nan], np.float16),
        5,
        None,
        "12",
        ["1"],
        [None],
        [True],
        [[1.0]],
        [[1.0], [1.0, 2.0]],
        [Fraction(1, 2)],
        [1 + 2j],
        {1.0: 2.0},
        np.array([1.0, None], object),
        np.array(["2020-01-01"], "M8[D]"),
    ],
)
def test_what_is_no_list_of_numbers_is_refused(values: Any) -> None:
    with pytest.raises(InvalidParameter) as refusal:
        PERCENT.read(values)
    assert refusal.value.field == "values"


@pytest.mark.parametrize(
    ("lower", "upper", "step", "field"),
    [
        (1, 1, 1, "upper"),
        (2, 1, 1, "upper"),
        (0, 1, 0, "step"),
        (0, 1, -1, "step"),
        (0, 1, "0.3", "step"),
        (0, 2**52 + 1, 1, "step"),
        (-(2**51) - 1, 2**51, 1, "step"),
        (10**18, 10**18 + 1000, 1, "step"),  # floats of that size are 128 apart
        (-(10**18) - 1000, -(10**18), 1, "step"),
        (0, "1e-390", "1e-400", "step"),  # as floats all of them are zero
        (0, "1e400", "1e398", "step"),
        (float("nan"), 1, 1, "lower"),
        (0, float("inf"), 1, "upper"),
        ("low", 1, 1, "lower"),
    ],
)
def test_bounds_that_floats_cannot_tell_apart_are_refused(lower: Any, upper: Any, step: Any, field: str) -> None:
    with pytest.raises(InvalidParameter) as refusal:
        FixedPoint(lower=lower, upper=upper, step=step)
    assert refusal.value.field == field


def test_the_largest_number_of_steps() -> None:
    assert FixedPoint(lower=0, upper=2**52, step=1).steps == MAX_STEPS
    assert FixedPoint(lower=0, upper=1, step=Fraction(1, 2**52)).read([1.0, 0.5]).tolist() == [2**52, 2**51]


@pytest.mark.parametrize(
    ("lower", "upper", "step"),
    [(-98926958906844, 9915754200481899, 3), ("-7573235992932109/7", "61163165953091032/7", "17/7")],
)
def test_floats_that_round_beyond_the_last_step_stay_on_it(lower: Any, upper: Any, step: Any) -> None:
    points = FixedPoint(lower=lower, upper=upper, step=step)
    assert np.rint((float(points.upper) - float(points.lower)) / float(points.step)) > points.steps
    assert points.read([1e300]).tolist() == [points.steps]


def test_integers_of_any_length_are_clamped_like_floats() -> None:
    """An error would tell that such a row is there."""
    points = FixedPoint(lower=0, upper=10, step=1)
    assert points.read([1, 10**20, -(10**400), 2**70, 3.0]).tolist() == [1, 10, 0, 10, 3]


def test_masks_are_not_dropped() -> None:
    with pytest.raises(InvalidParameter, match="mask"):
        FixedPoint(lower=0, upper=10, step=1).read(np.ma.array([1, 2], mask=[False, True]))
