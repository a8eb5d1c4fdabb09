"""Expressions are worth what is known of them, and refer to values, not to names."""

from fractions import Fraction

import pytest

from privately.errors import NotSupported, Refused
from privately.plans import Constant, Field, Identity, Known, Range, Type, call, constant
from privately.plans.expressions import DEAREST, fields_of, parts

X = Identity(number=1, name="x")
Y = Identity(number=2, name="y")
NUMBER = Known(type=Type.INTEGER, range=Range(Fraction(0), Fraction(9)))


def test_identities_are_numbers_whatever_they_are_called() -> None:
    assert Identity(number=1, name="cost") == X
    assert Identity(number=2, name="x") != X


def test_constants_know_themselves() -> None:
    assert constant(3).known == Known(type=Type.INTEGER, nullable=False, range=Range(Fraction(3), Fraction(3)))
    assert constant("ab").known == Known(type=Type.TEXT, nullable=False, length=2)
    assert constant(None, Type.REAL) == Constant(None, Known(type=Type.REAL))
    assert constant(value=True) != constant(1)
    assert constant(1.0) != constant(1)


def test_a_null_needs_a_type() -> None:
    with pytest.raises(NotSupported, match="CAST"):
        constant(None)


def test_there_are_no_other_functions() -> None:
    with pytest.raises(NotSupported, match="there is no function read_csv"):
        call("read_csv", constant("/etc/passwd"))


def test_costs_add_up() -> None:
    one = call("add", Field(X, NUMBER), constant(1))
    assert one.known.cost == 3
    assert call("add", one, one).known.cost == 7


def test_what_is_too_dear_is_refused() -> None:
    long = Field(X, Known(type=Type.TEXT, length=10_000))
    with pytest.raises(NotSupported, match="too long"):
        call("contains", long, Field(Y, Known(type=Type.TEXT, length=200)))
    assert DEAREST < 10_001 * 201


def test_sums_that_do_not_fit_are_refused() -> None:
    found = call("add", Field(X, NUMBER), constant(2**61))
    assert found.known.range == Range(Fraction(2**61), Fraction(2**61 + 9))
    with pytest.raises(Refused, match="64 bits"):
        call("add", found, constant(2**61))


def test_parts_and_fields() -> None:
    inner = call("add", Field(X, NUMBER), constant(1))
    whole = call("multiply", inner, Field(Y, NUMBER))
    assert list(parts(whole)) == [whole, Field(Y, NUMBER), inner, constant(1), Field(X, NUMBER)]
    assert fields_of(whole) == {X, Y}
    assert fields_of(constant(1)) == set()
