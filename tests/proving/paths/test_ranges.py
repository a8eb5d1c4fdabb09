"""Numbers of which only two ends are known."""

from __future__ import annotations

import math
from fractions import Fraction
from random import Random
from typing import Any

import pytest

from privately.errors import NotSupported
from privately.proving.language.meaning import FUNCTIONS, truth
from privately.proving.paths.ranges import ANYTHING, RANGED, Range, Vague, every, hull, is_vague, ranged, widened

OPERATORS = ["+", "-", "*", "/", "//", "%", "least", "largest", "<", "<=", ">", ">=", "==", "!="]


def _drawn(random: Random) -> tuple[Any, Fraction]:
    """A range, or a number, and a value that it may be."""
    whole = random.random() < 0.5
    low, high = sorted(Fraction(random.randint(-12, 12), 1 if whole else 4) for _ in range(2))
    kind = random.randrange(5)
    if kind == 0 or low == high:
        return low, low
    inside = (
        Fraction(random.randint(int(low), int(high)))
        if whole
        else low + (high - low) * Fraction(random.randint(1, 9), 10)
    )
    if kind == 1:
        return Range(low, math.inf, open=False, whole=whole), inside + random.randint(0, 100)
    if kind == 2:
        return Range(-math.inf, high, open=False, whole=whole), inside - random.randint(0, 100)
    if kind == 3 and not whole:
        return Range(low, high, open=True, whole=False), inside
    return Range(low, high, open=False, whole=whole), random.choice([low, high, inside])


def _may_be(found: Any, value: Any) -> bool:
    return found.has(value) if isinstance(found, Range) else bool(found == value)


@pytest.mark.parametrize("operator", OPERATORS)
def test_no_value_is_left_out(operator: str) -> None:
    random = Random(operator)
    for _ in range(400):
        (left, a), (right, b) = _drawn(random), _drawn(random)
        try:
            ways = every(lambda: RANGED[operator](left, right))  # noqa: B023 - called at once
        except Vague:
            continue
        except NotSupported:
            assert b == 0
            continue
        if b != 0 or operator not in {"/", "//", "%"}:
            assert any(_may_be(one, FUNCTIONS[operator](a, b)) for one in ways), (left, a, right, b, ways)


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, -1, -2])
def test_powers_and_sizes_leave_no_value_out(exponent: int) -> None:
    random = Random(exponent)
    for _ in range(300):
        found, value = _drawn(random)
        assert _may_be(RANGED["absolute"](found), abs(value))
        try:
            power = RANGED["**"](found, exponent)
        except NotSupported:
            continue
        assert _may_be(power, value**exponent)


def test_comparisons_that_the_ends_decide_have_one_answer() -> None:
    cell = Range(0, 1, open=True, whole=False)
    assert every(lambda: RANGED[">"](cell, 0)) == [True]
    assert every(lambda: RANGED["<"](cell, 1)) == [True]
    assert every(lambda: RANGED["=="](cell, 1)) == [False]
    assert every(lambda: RANGED[">="](Range(1, 2, open=False, whole=False), 1)) == [True]
    assert sorted(every(lambda: RANGED[">"](cell, Fraction(1, 2)))) == [False, True]
    assert every(lambda: RANGED["//"](cell, 1)) == [0]


def test_places_are_tried_one_after_the_other() -> None:
    where = Range(0, 2, open=False, whole=True)
    assert sorted(every(lambda: RANGED["item"]((5, 6, 7), where))) == [5, 6, 7]
    with pytest.raises(Vague):
        every(lambda: RANGED["item"]((5, 6, 7), Range(0, math.inf, open=False, whole=True)))


def test_conditions_of_zero_or_one_are_tried_both_ways() -> None:
    flag = Range(0, 1, open=False, whole=True)
    assert sorted(every(lambda: truth(flag))) == [False, True]
    with pytest.raises(Vague):
        every(lambda: truth(Range(0, 2, open=False, whole=True)))


def test_too_many_open_questions_are_refused() -> None:
    flag = Range(0, 1, open=False, whole=True)
    with pytest.raises(Vague):
        every(lambda: [truth(flag) for _ in range(10)])
    with pytest.raises(Vague):
        truth(flag)


def test_divisions_by_what_may_be_zero_are_refused() -> None:
    for divisor in (Range(-1, 1, open=True, whole=False), Range(0, 1, open=False, whole=False)):
        with pytest.raises(Vague):
            RANGED["/"](1, divisor)
    assert RANGED["/"](1, Range(0, 2, open=True, whole=False)) == Range(
        Fraction(1, 2), math.inf, open=True, whole=False
    )


def test_hulls_stand_for_all_their_members() -> None:
    assert hull([1, 3, 2]) == Range(1, 3, open=False, whole=True)
    assert hull([(1, 2), (1, 5)]) == (1, Range(2, 5, open=False, whole=True))
    assert hull([(1,), (1, 2)]) is ANYTHING
    assert hull([1, (1,)]) is ANYTHING
    assert ranged(2, 2, open=False, whole=False) == 2


def test_widening_ends() -> None:
    value: Any = 0
    for step in range(5):
        value = widened(value, step)
    assert value == Range(0, math.inf, open=False, whole=True)
    assert widened(value, 7) == value
    assert widened((0, value), (1, 3)) == (Range(0, math.inf, open=False, whole=True), value)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("power", [5, 300, 700, 1500, 40_000])
def test_long_ends_are_rounded_outwards(power: int, whole: bool, sign: int) -> None:
    low, high = sorted(sign * one for one in (Fraction(3**power), Fraction(5**power)))
    if not whole:
        low, high = low / 7**power, high / 7**power
    found = ranged(low, high, open=False, whole=whole)
    assert found.low <= low < high <= found.high
    for end in (found.low, found.high):
        if abs(end) < math.inf:
            assert end.numerator.bit_length() + Fraction(end).denominator.bit_length() <= 2600
            assert not whole or Fraction(end).denominator == 1
    if power == 5:
        assert (found.low, found.high) == (low, high)
    if power == 300 and not whole:
        assert abs(found.low - low) <= abs(low) / 2**250


def test_squares_again_and_again_stay_short() -> None:
    for start in (Range(Fraction(1, 3), Fraction(7, 3), open=True, whole=False), Range(2, 3, open=False, whole=True)):
        value = start
        for _ in range(60):
            value = value * value
        assert value.low >= 0
        assert value.high == math.inf


def test_numbers_too_long_for_floats_are_added_to_infinite_ends() -> None:
    long, far = 10**400, Range(0, math.inf, open=False, whole=True)
    assert 2**1000 <= (far + long).low <= long
    assert (far + long).high == math.inf
    assert (Fraction(long, 7) - far).low == -math.inf
    with pytest.raises(Vague):
        every(Range(-long, math.inf, open=False, whole=True).pinned)


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 6, 7])
def test_powers_by_squares_are_those_by_products(exponent: int) -> None:
    for low, high in ((Fraction(1, 2), Fraction(3)), (Fraction(-3), Fraction(-1, 2))):
        found = Range(low, high, open=True, whole=False) ** exponent
        ends = sorted((low**exponent, high**exponent))
        assert ([found.low, found.high] if exponent else [found, found]) == ends


def test_what_nothing_is_known_of_cannot_be_used() -> None:
    assert is_vague((1, (ANYTHING,)))
    assert not is_vague((1, (2,)))
    for operator in ("<", "==", "largest", "+", "-", "*", "/", "//", "%", "**", "item"):
        for operands in ((ANYTHING, 1), (1, ANYTHING)):
            with pytest.raises(NotSupported):
                RANGED[operator](*operands)
    with pytest.raises(NotSupported):
        truth(ANYTHING)
