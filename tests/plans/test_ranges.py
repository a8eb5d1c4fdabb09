"""Ranges hold all results, for all numbers in ranges with small ends."""

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations_with_replacement, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately.plans import ranges
from privately.plans.types import Range

ENDS = [Fraction(one) for one in (-3, -1, 0, Fraction(1, 2), 2)]
ALL = [Range(low, high) for low, high in product(ENDS, ENDS) if low <= high]


def points(one: Range) -> Iterator[Fraction]:
    """Its ends, its middle, and 0 if it is there."""
    yield from {one.lower, one.upper, (one.lower + one.upper) / 2, *([Fraction(0)] if 0 in one else [])}


@pytest.mark.parametrize(
    ("bound", "operation"),
    [
        (ranges.added, lambda a, b: a + b),
        (ranges.subtracted, lambda a, b: a - b),
        (ranges.multiplied, lambda a, b: a * b),
        (ranges.greatest, max),
        (ranges.least, min),
    ],
)
def test_of_two(bound: Callable[..., Range], operation: Callable[..., Fraction]) -> None:
    for one, other in product(ALL, ALL):
        found = bound(one, other)
        results = [operation(a, b) for a, b in product(points(one), points(other))]
        assert all(result in found for result in results)
        assert {min(results), max(results)} == {found.lower, found.upper}


@pytest.mark.parametrize(("bound", "operation"), [(ranges.negated, lambda a: -a), (ranges.absolute, abs)])
def test_of_one(bound: Callable[..., Range], operation: Callable[..., Fraction]) -> None:
    for one in ALL:
        results = [operation(a) for a in points(one)]
        assert bound(one) == Range(min(results), max(results))


def test_quotients() -> None:
    for one, other in product(ALL, ALL):
        found = ranges.divided(one, other)
        assert (found is None) == (0 in other)
        if found is not None:
            assert all(a / b in found for a, b in product(points(one), points(other)))


def test_roundings_and_remainders() -> None:
    for one in ALL:
        found = ranges.whole(one)
        assert all(math.floor(a) in found and math.ceil(a) in found and round(a) in found for a in points(one))
    for divisor in (-3, -1, 2, 3):
        found = ranges.remainder(Range(Fraction(divisor), Fraction(divisor)))
        assert all(math.fmod(a, divisor) in found for a in range(-9, 10))


@pytest.mark.parametrize("value", [1.0, 1e300, 5e-324, 0.1])
def test_doubles_have_room(value: float) -> None:
    for operation, exact in [
        (value + 1e-3, Fraction(value) + Fraction(1e-3)),
        (value * 0.3, Fraction(value) * Fraction(0.3)),
        (value / 3, Fraction(value) / 3),
    ]:
        assert operation in ranges.widened(Range(exact, exact))


@given(st.fractions(), st.fractions(), st.integers(-1100, 1000))
def test_widened_ranges_hold_what_they_should_in_few_digits(one: Fraction, other: Fraction, power: int) -> None:
    lower, upper = sorted((one * Fraction(2) ** power, other * Fraction(2) ** power))
    found = ranges.widened(Range(lower, upper))
    size, largest = max(abs(lower), abs(upper)), Fraction(2**1024)
    assert found.lower <= max(lower - size / 2**52, -largest)
    assert found.upper >= min(upper + size / 2**52, largest)
    if size < largest / 2:
        assert found.upper - upper <= size / 2**49 + Fraction(1, 2**998)
    assert max(found.upper.numerator.bit_length(), found.upper.denominator.bit_length()) <= 1_100


def test_many_products_stay_short() -> None:
    found = Range(Fraction(-1, 3), Fraction(1, 3))
    for _ in range(500):
        found = ranges.widened(ranges.multiplied(found, found))
    assert found.lower.denominator.bit_length() <= 1_100


def test_clamped_ends() -> None:
    bounds = Range(Fraction(-2), Fraction(3))
    assert ranges.clamped(Range(Fraction(-9), Fraction(1)), bounds) == Range(Fraction(-2), Fraction(1))
    assert ranges.clamped(Range(Fraction(7), Fraction(9)), bounds) == Range(Fraction(3), Fraction(3))


DOUBLES = sorted({*(float(one) for one in ENDS), 5e-324, 1e-300, 0.1, 1.0, 1 + 2**-52, 2.25, 10.0, 700.5, 1e9, 1e300})


@pytest.mark.parametrize(
    ("bound", "function"),
    [(ranges.square_root, math.sqrt), (ranges.logarithm, math.log), (ranges.exponential, math.exp)],
)
def test_monotone_functions_of_doubles(
    bound: Callable[[Range], Range | None], function: Callable[[float], float]
) -> None:
    """For all ranges between some doubles: what is in the range and has a value, and the doubles next to the ends."""
    near = {one for end in DOUBLES for one in (end, math.nextafter(end, math.inf), math.nextafter(end, -math.inf))}
    values = {one: value for one in sorted(near) if (value := _or_nothing(function, one)) is not None}
    for low, high in combinations_with_replacement(DOUBLES, 2):
        found = bound(Range(Fraction(low), Fraction(high)))
        inside = [each for one, each in values.items() if low <= one <= high]
        if found is None:
            assert _or_nothing(function, high + 1) is None
            continue
        assert all(each in found for each in inside)
        if inside:
            room = 2**-38 * max(map(abs, inside)) + 2**-900
            assert found.upper - Fraction(max(inside)) <= room
            assert low <= 0 or Fraction(min(inside)) - found.lower <= room


def _or_nothing(function: Callable[[float], float], one: float) -> float | None:
    try:
        return function(one)
    except (ValueError, OverflowError):
        return None


def test_roots_that_are_doubles_need_no_room() -> None:
    assert ranges.square_root(Range(Fraction(9, 4), Fraction(100))) == Range(Fraction(3, 2), Fraction(10))
    assert ranges.square_root(Range(Fraction(-9), Fraction(-4))) == Range(Fraction(0), Fraction(0))
    two = ranges.square_root(Range(Fraction(2), Fraction(2)))
    assert two.lower**2 < 2 < two.upper**2


def test_logarithms_of_anything_are_those_of_positive_doubles() -> None:
    for found in (ranges.logarithm(None), ranges.logarithm(Range(Fraction(-1), Fraction(2**1024)))):
        assert math.log(5e-324) in found
        assert math.log(1.7e308) in found
        assert -745 < found.lower < found.upper < 710
