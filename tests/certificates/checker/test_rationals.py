from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately.certificates.checker.rationals import ONE, ZERO, Rational
from tests.certificates.checker.building import rational

numbers = st.fractions()


def same(value: Rational, expected: Fraction) -> bool:
    return value.denominator > 0 and Fraction(value.numerator, value.denominator) == expected


@given(numbers, numbers)
def test_arithmetic_is_that_of_fractions(a: Fraction, b: Fraction) -> None:
    x, y = rational(a), rational(b)
    assert same(x + y, a + b)
    assert same(x - y, a - b)
    assert same(x * y, a * b)
    assert same(-x, -a)
    if b:
        assert same(x / y, a / b)


@given(numbers, numbers)
def test_order_is_that_of_fractions(a: Fraction, b: Fraction) -> None:
    x, y = rational(a), rational(b)
    assert (x < y, x <= y, x == y) == (a < b, a <= b, a == b)
    assert max(x, y) == rational(max(a, b))


def test_equality_does_not_need_lowest_terms() -> None:
    assert Rational(2, 4) == Rational(1, 2)
    assert Rational(1, 2) != Rational(1, 3)
    assert Rational(1, 2) != "1/2"


def test_division_by_zero_is_an_error() -> None:
    with pytest.raises(ZeroDivisionError):
        ONE / ZERO


def test_there_is_no_hash_to_be_wrong_about() -> None:
    with pytest.raises(TypeError):
        {ONE}  # noqa: B018
    assert Rational(1, 3).key() == (1, 3)


@pytest.mark.parametrize(
    ("number", "text", "exact"),
    [
        (Rational(3), "3", "3"),
        (Rational(1, 2), "0.5", "1/2"),
        (Rational(-1, 3), "-0.3333333334", "-1/3"),
        (Rational(1, 10**6), "1e-6", f"1/{10**6}"),
        (Rational(1, 10**400), "1e-400", f"1/{10**400}"),
        (Rational(10**400), "1e+400", str(10**400)),
        (Rational(2, 3), "0.6666666667", "2/3"),
        (Rational(1, 3), "0.3333333334", "1/3"),
        (Rational(10**12 - 1, 10**13), "0.1", f"{10**12 - 1}/{10**13}"),
        (Rational(100001, 2), "50000.5", "100001/2"),
        (ZERO, "0", "0"),
    ],
)
def test_texts(number: Rational, text: str, exact: str) -> None:
    assert number.text() == text
    assert number.exact() == exact


def test_repr_and_size() -> None:
    assert repr(Rational(3, 4)) == "Rational(3, 4)"
    assert Rational(3, 4).bit_size() == 5
    assert ZERO.is_zero()
    assert not ONE.is_zero()
