from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from privately.certificates.checker.intervals import Interval, Undecided, enclose, whole
from tests.certificates.checker.building import rational

numbers = st.fractions(min_value=-(10**30), max_value=10**30, max_denominator=10**60)
bits = st.integers(16, 300)


def ends(interval: Interval) -> tuple[Fraction, Fraction]:
    scale = Fraction(2) ** interval.exponent
    return interval.low * scale, interval.high * scale


def holds(interval: Interval, value: Fraction, tight: int) -> bool:
    low, high = ends(interval)
    return low <= value <= high and high - low <= abs(value) / 2**tight


@given(numbers, bits)
def test_a_rational_is_enclosed_tightly(a: Fraction, precision: int) -> None:
    interval = enclose(rational(a), precision)
    assert holds(interval, a, precision - 2)
    assert max(interval.low.bit_length(), interval.high.bit_length()) <= precision + 1


@given(numbers, numbers, bits)
def test_products_and_quotients(a: Fraction, b: Fraction, precision: int) -> None:
    x, y = enclose(rational(a), precision), enclose(rational(b), precision)
    assert holds(x * y, a * b, precision - 5)
    if b > 0:
        assert holds(x / y, a / b, precision - 6)


@given(numbers, numbers, bits)
def test_sums_hold_the_sum_whatever_cancels(a: Fraction, b: Fraction, precision: int) -> None:
    x, y = enclose(rational(a), precision), enclose(rational(b), precision)
    for interval, value in ((x + y, a + b), (x - y, a - b), (-x, -a)):
        low, high = ends(interval)
        assert low <= value <= high
        assert high - low <= (abs(a) + abs(b)) / 2 ** (precision - 5)


@given(numbers, numbers, numbers, numbers, bits)
def test_operations_on_wide_intervals_hold_every_point(
    a: Fraction, b: Fraction, c: Fraction, d: Fraction, precision: int
) -> None:
    def wide(one: Fraction, other: Fraction) -> Interval:
        low, high = enclose(rational(min(one, other)), precision), enclose(rational(max(one, other)), precision)
        exponent = min(low.exponent, high.exponent)
        return Interval(low.low << (low.exponent - exponent), high.high << (high.exponent - exponent), exponent, 400)

    x, y = wide(a, b), wide(c, d)
    for one in (a, b):
        for other in (c, d):
            for interval, value in ((x + y, one + other), (x - y, one - other), (x * y, one * other)):
                low, high = ends(interval)
                assert low <= value <= high
            if y.low > 0:
                low, high = ends(x / y)
                assert low <= one / other <= high


@given(numbers, st.integers(-(10**9), 10**9), st.integers(-50, 50))
def test_scaling(a: Fraction, factor: int, power: int) -> None:
    x = enclose(rational(a), 100)
    assert holds(x.times(factor), a * factor, 95)
    assert holds(x.scaled(power), a * Fraction(2) ** power, 95)


@given(numbers, bits)
def test_square_root(a: Fraction, precision: int) -> None:
    assume(a > 0)
    low, high = ends(enclose(rational(a), precision).square_root())
    assert low >= 0
    assert low**2 <= a <= high**2
    assert high - low <= high / 2 ** (precision - 4)


@given(numbers, st.integers(0, 200))
def test_fixed_point_rounds_outward(a: Fraction, places: int) -> None:
    low, high = enclose(rational(a), 300).fixed(places)
    assert low <= a * 2**places <= high
    assert high - low <= 2


@given(numbers, numbers)
def test_comparisons_are_certain_or_false(a: Fraction, b: Fraction) -> None:
    x = enclose(rational(a), 64)
    if x.at_most(rational(b)):
        assert a <= b
    if x.above(rational(b)):
        assert a > b
    assert abs(a) < Fraction(2) ** x.magnitude() or a == 0


def test_exact_comparisons_are_decided() -> None:
    assert whole(3, 64).at_most(rational(3))
    assert not whole(3, 64).above(rational(3))
    assert whole(3, 64).above(rational("2.999999999999"))
    assert Interval(3, 3, 5, 64).at_most(rational(96))
    assert whole(3, 64).lower_end() == rational(3)
    assert Interval(3, 4, 2, 64).lower_end() == rational(12)
    assert Interval(3, 4, -2, 64).lower_end() == rational("3/4")


def test_narrow_is_relative() -> None:
    assert enclose(rational("1/3"), 300).is_narrow()
    assert not enclose(rational("1/3"), 100).is_narrow()
    assert not whole(0, 100).is_narrow()
    assert not Interval(-1, 1, -1000, 100).is_narrow()


def test_what_cannot_be_said_is_undecided() -> None:
    with pytest.raises(Undecided):
        whole(1, 64) / Interval(0, 1, 0, 64)
    with pytest.raises(Undecided):
        Interval(-1, 1, 0, 64).square_root()
