"""Numbers in programs, beside Python's fractions."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately.certificates.checker.programs import exact
from privately.certificates.checker.programs.exact import Beyond, Fractional, Number

numbers = st.fractions(-50, 50, max_denominator=12)


def made(value: Fraction) -> Number:
    return exact.fraction(value.numerator, value.denominator)


@given(numbers, numbers)
def test_arithmetic_is_that_of_fractions(one: Fraction, other: Fraction) -> None:
    a, b = made(one), made(other)
    assert exact.plus(a, b) == made(one + other)
    assert exact.minus(a, b) == made(one - other)
    assert exact.times(a, b) == made(one * other)
    assert exact.less(a, b) is (one < other)
    assert exact.sign(a) == (one > 0) - (one < 0)
    assert exact.floor(a) == one.__floor__()
    if other:
        assert exact.over(a, b) == made(one / other)
    if other > 0:
        assert exact.remainder(a, b) == made(one % other)


def test_equal_numbers_look_alike() -> None:
    assert exact.fraction(-4, -2) == 2
    assert exact.fraction(2, -4) == Fractional(-1, 2)
    assert len({exact.fraction(1, 3), exact.fraction(2, 6)}) == 1
    assert repr(exact.negative(exact.fraction(1, 3))) == "-1/3"
    assert Fractional(1, 2) != 1


def test_what_has_no_value_or_too_long_a_one_is_refused() -> None:
    with pytest.raises(Beyond, match="zero"):
        exact.over(1, 0)
    long = 1 << exact.LONGEST - 1
    for function in (exact.times, exact.plus, exact.fraction):
        with pytest.raises(Beyond, match="grows"):
            function(long, 2 * long + 1)
