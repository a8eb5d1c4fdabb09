"""Tallies are bounded, keys are listed once, and nothing else can be asked for."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest

from privately.engines.duckdb.tallies import bin_text, step_text
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


REAL = Field(AMOUNT, Known(type=Type.REAL))
ODD = [Fraction(2) ** 1000, Fraction(1, 2**1000), Fraction(2) ** 5000, Fraction(1, 10**400)]


@pytest.mark.parametrize("odd", ODD)
def test_steps_that_no_engine_could_count_in(odd: Fraction) -> None:
    """They are refused here, before anything is charged; an engine that meets one can only fail."""
    for argument in (REAL, X):
        with pytest.raises(InvalidParameter, match="counted in steps"):
            StepSum(argument=argument, step=odd, low=0, high=1)
        with pytest.raises(InvalidParameter, match="counted in steps"):
            BinCounts(argument=argument, lower=ONE, width=odd, bins=2)
    with pytest.raises(InvalidParameter, match="counted in steps"):
        BinCounts(argument=REAL, lower=Fraction(2) ** 1000, width=ONE, bins=2)


@pytest.mark.parametrize("step", [Fraction(2) ** 999, Fraction(1, 2**999), Fraction(1, 3), Fraction(2**58, 3), ONE])
@pytest.mark.parametrize("argument", [REAL, X])
def test_steps_that_pass_are_counted_by_the_engine(argument: Field, step: Fraction) -> None:
    try:
        total = StepSum(argument=argument, step=step, low=0, high=1)
        bins = BinCounts(argument=argument, lower=-step / 2, width=step, bins=2)
    except InvalidParameter:
        assert argument is X
        assert max(step.numerator, step.denominator) >= 2**58
    else:
        assert step_text(total, "x")
        assert bin_text(bins, "x")


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        ((("a",), ("a",)), "none twice"),
        ((), "none twice"),
        ((("c",),), "no combination"),
        ((("a", "b"),), "no combination"),
    ],
)
def test_listed_groups_are_combinations_of_values(groups: tuple[tuple[str, ...], ...], words: str) -> None:
    aggregation = Aggregation(source=WHOLE, keys=(key("a", "b"),), tallies=((COUNT, RowCount()),))
    assert replace(aggregation, combinations=(("a",),)).listed_groups == 1
    with pytest.raises(InvalidParameter, match=words):
        replace(aggregation, combinations=groups)
