"""Quotients of polynomials."""

from fractions import Fraction

import pytest

from privately.proving.exact.weights import ONE, UNKNOWN, Quotient, fraction, quotient, weight


def test_arithmetic_stays_in_lowest_terms() -> None:
    t = UNKNOWN
    assert (t * t - 1) / (t - 1) == t + 1
    assert (t - t) == quotient(0)
    assert not (t - t)
    assert 1 / (1 / t) == t
    assert 1 - t == -(t - 1)
    assert t**-2 == 1 / (t * t)
    assert Quotient.power(3) * Quotient.power(-3) == ONE
    assert hash(t + 1) == hash((t * t + t) / t)


@pytest.mark.parametrize("value", [Fraction(3, 7), Fraction(-2), Fraction(0)])
def test_rationals_go_there_and_back(value: Fraction) -> None:
    assert fraction(weight(value)) == value
    assert quotient(weight(value)) == value


def test_signs_below_the_line_are_positive() -> None:
    assert repr(ONE / (0 - UNKNOWN)) == "-1/t"
    assert (UNKNOWN == "t") is False


def test_quotients_are_written_so_that_they_can_be_read_back() -> None:
    p = UNKNOWN
    written = {
        (2 - p) / (1 - p): "(2 - p)/(1 - p)",
        2 * p / (3 * p**2 + 3): "2*p/(3 + 3*p^2)",
        quotient(ONE) / (3 * p): "1/(3*p)",
        0 - p**3: "-p^3",
        quotient(weight(0)): "0",
    }
    for value, text in written.items():
        assert value.written("p") == text
        assert eval(text.replace("^", "**"), {"p": p}) == value
