"""Tallies are bounded, keys are listed once, and nothing else can be asked for."""

from collections.abc import Callable
from fractions import Fraction

import pytest

from privately.errors import InvalidParameter
from privately.plans import (
    Aggregation,
    BinCounts,
    Field,
    Identity,
    Key,
    Known,
    RowCount,
    StepSum,
    Type,
    Unit,
    UnitCount,
    Value,
)
from tests.plans.small import AMOUNT, GROUP, PERSON, field, scan

WHOLE = scan(Unit(column="person", rows=2))
X, PART = field(WHOLE, AMOUNT), field(WHOLE, GROUP)
COUNT = Identity(number=9, name="count")
ONE = Fraction(1)


def key(*values: Value) -> Key:
    return Key(identity=GROUP, expression=PART, values=values)


def test_reaches() -> None:
    assert StepSum(argument=X, step=ONE, low=-7, high=3).reach == 7
    assert StepSum(argument=X, step=ONE, low=2, high=3).reach == 3
    assert StepSum(argument=X, step=ONE, low=0, high=0).reach == 1
    assert {RowCount().reach, RowCount(argument=X).reach, UnitCount().reach} == {1}
    assert BinCounts(argument=X, lower=ONE, width=ONE, bins=5).reach == 1


def test_public_groups_are_counted() -> None:
    tallies = ((COUNT, RowCount()),)
    person = Key(identity=PERSON, expression=field(WHOLE, PERSON), values=(1, 2, None))
    both = Aggregation(source=WHOLE, keys=(key("a", "b"), person), tallies=tallies)
    assert both.keys_are_public
    assert both.listed_groups == 6
    assert Aggregation(source=WHOLE, keys=(), tallies=tallies).listed_groups == 1
    unknown = Aggregation(source=WHOLE, keys=(Key(identity=GROUP, expression=PART),), tallies=tallies)
    assert not unknown.keys_are_public
    assert unknown.listed_groups is None


@pytest.mark.parametrize(
    "make",
    [
        lambda: StepSum(argument=PART, step=ONE, low=0, high=1),
        lambda: StepSum(argument=X, step=Fraction(0), low=0, high=1),
        lambda: StepSum(argument=X, step=ONE, low=2, high=1),
        lambda: StepSum(argument=X, step=ONE, low=0, high=2**62),
        lambda: BinCounts(argument=PART, lower=ONE, width=ONE, bins=5),
        lambda: BinCounts(argument=X, lower=ONE, width=Fraction(0), bins=5),
        lambda: BinCounts(argument=X, lower=ONE, width=ONE, bins=0),
        lambda: BinCounts(argument=X, lower=ONE, width=ONE, bins=2**21),
        lambda: Key(identity=GROUP, expression=Field(GROUP, Known(type=Type.REAL))),
        key,
        lambda: key("a", "a"),
        lambda: key(None, None),
        lambda: key("a", 1),
        lambda: key("a", float("nan")),
        lambda: Key(identity=PERSON, expression=field(WHOLE, PERSON), values=(1, True)),
        lambda: Key(identity=PERSON, expression=field(WHOLE, PERSON), values=(1.0,)),
        lambda: Aggregation(source=WHOLE, keys=(), tallies=()),
        lambda: Aggregation(source=WHOLE, keys=(), tallies=((COUNT, RowCount()), (COUNT, UnitCount()))),
        lambda: Aggregation(source=WHOLE, keys=(key("a"),), tallies=((GROUP, RowCount()),)),
        lambda: Aggregation(source=WHOLE, keys=(), tallies=((COUNT, RowCount(argument=Field(COUNT, X.known))),)),
        lambda: Aggregation(
            source=WHOLE, keys=(Key(identity=COUNT, expression=Field(COUNT, X.known)),), tallies=((PERSON, RowCount()),)
        ),
    ],
)
def test_what_makes_no_sense(make: Callable[[], object]) -> None:
    with pytest.raises(InvalidParameter):
        make()
