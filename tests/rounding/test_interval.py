"""Intervals are checked when made and never look narrower than they are."""

import math
from dataclasses import FrozenInstanceError
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately.errors import InvalidParameter
from privately.rounding import Interval

ENDS = st.fractions(max_denominator=10**30)


@given(ENDS, ENDS)
def test_ends_are_exact_and_in_order(first: Fraction, second: Fraction) -> None:
    lower, upper = sorted((first, second))
    interval = Interval(lower, upper)
    assert tuple(interval) == (lower, upper)
    assert interval.width == upper - lower
    assert lower in interval
    assert upper in interval
    assert (lower + upper) / 2 in interval
    assert upper + 1 not in interval
    assert lower - 1 not in interval
    if lower < upper:
        with pytest.raises(InvalidParameter, match="lower"):
            Interval(upper, lower)


@given(ENDS, ENDS, st.integers(1, 28))
def test_formatting_rounds_outward(first: Fraction, second: Fraction, digits: int) -> None:
    lower, upper = sorted((first, second))
    low, high = f"{Interval(lower, upper):{digits}}".split(", ")
    assert Fraction(low) <= lower
    assert Fraction(high) >= upper
    for shown, end in ((low, lower), (high, upper)):
        assert abs(Fraction(shown) - end) <= abs(end) / Fraction(10) ** (digits - 1) * Fraction(10, 9)


def test_text() -> None:
    interval = Interval(Fraction(1, 3), 2)
    assert repr(interval) == "Interval(0.333333333333, 2)"
    assert str(interval) == "[0.3333333, 2]"
    assert f"{interval}" == "[0.3333333, 2]"
    assert f"{interval:3}" == "0.333, 2"
    assert str(Interval(1, math.inf)) == "[1, inf]"


def test_infinite_ends() -> None:
    assert Interval(0, math.inf).width == math.inf
    assert Interval(math.inf, math.inf).width == 0
    assert 10**400 in Interval(0, math.inf)
    assert math.inf in Interval(0, math.inf)


def test_floats_are_taken_exactly_and_nothing_else_is_inside() -> None:
    assert Interval(0.1, 0.1).lower == Fraction(0.1)
    assert 0.5 in Interval(0, 1)
    not_a_number = math.nan
    assert not_a_number not in Interval(0, 1)
    assert "0.5" not in Interval(0, 1)
    assert None not in Interval(0, 1)


@pytest.mark.parametrize("bad", [math.nan, None, "1", True, 1j, [1]], ids=repr)
@pytest.mark.parametrize("name", ["lower", "upper"])
def test_bad_ends_are_named(bad: Any, name: str) -> None:
    ends: dict[str, Any] = {"lower": 0, "upper": 1, name: bad}
    with pytest.raises(InvalidParameter) as caught:
        Interval(**ends)
    assert caught.value.field == name


def test_the_method_is_told_but_not_compared() -> None:
    assert Interval(0, 1, method="guessed") == Interval(0, 1, method="proved")
    assert Interval(0, 1, method="proved").method == "proved"
    assert hash(Interval(0, 1, method="guessed")) == hash(Interval(0, 1))


def test_intervals_are_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        Interval(0, 1).lower = Fraction(1)  # type: ignore[misc]


def test_formatting_rounds_outward_to_many_digits() -> None:
    low, high = f"{Interval(Fraction(2, 3), Fraction(4, 3)):40}".split(", ")
    assert Fraction(low) <= Fraction(2, 3)
    assert Fraction(high) >= Fraction(4, 3)


def test_formatting_does_not_depend_on_the_callers_context() -> None:
    from decimal import Context, localcontext

    with localcontext(Context(prec=3)):
        assert str(Interval(Fraction(2, 3), Fraction(4, 3))) == "[0.6666666, 1.333334]"


def test_very_long_ends_out_of_order_are_a_typed_error() -> None:
    try:
        Interval(Fraction(10**5000), Fraction(1))
    except InvalidParameter:
        return
    except ValueError as other:
        pytest.fail(str(other))


def test_width_above_the_range_of_floats() -> None:
    assert Interval(10**400, math.inf).width == math.inf


def test_one_number_is_told_once_and_two_as_two() -> None:
    third = Interval(Fraction(1, 3), Fraction(1, 3))
    assert Interval(1, 1).in_words() == "1"
    assert Interval(0, 1).in_words() == "between 0 and 1"
    assert third.in_words(2) == "between 0.33 and 0.34"
    assert Interval(0, math.inf).in_words() == "between 0 and inf"
