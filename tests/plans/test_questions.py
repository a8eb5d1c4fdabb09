"""Estimates are made of tallies that fit together, and outputs of keys and estimates alone."""

from fractions import Fraction
from typing import Any

import pytest

from privately.errors import InvalidParameter
from privately.plans import (
    Aggregation,
    BinCounts,
    Field,
    Identity,
    Key,
    Known,
    Mean,
    Number,
    Order,
    Output,
    Quantile,
    Question,
    RowCount,
    Spread,
    StepSum,
    Type,
    Unit,
    constant,
)
from tests.plans.small import AMOUNT, GROUP, PERSON, field, scan

WHOLE = scan(Unit(column="person", rows=2))
X = field(WHOLE, AMOUNT)
COUNT, OTHERS, ROWS, SUM, SQUARES, BINS, FOUND = (Identity(number=at, name=f"i{at}") for at in range(20, 27))
SHOWN = Field(FOUND, Known(type=Type.REAL))
AGGREGATION = Aggregation(
    source=WHOLE,
    keys=(Key(identity=GROUP, expression=field(WHOLE, GROUP), values=("a", "b")),),
    tallies=(
        (COUNT, RowCount(argument=X)),
        (OTHERS, RowCount(argument=field(WHOLE, PERSON))),
        (ROWS, RowCount()),
        (SUM, StepSum(argument=X, step=Fraction(1), low=-10, high=10)),
        (SQUARES, StepSum(argument=X, step=Fraction(1), low=0, high=100)),
        (BINS, BinCounts(argument=X, lower=Fraction(-10), width=Fraction(1), bins=21)),
    ),
)


def question(**changes: Any) -> Question:
    members: dict[str, Any] = {
        "aggregation": AGGREGATION,
        "estimates": (Number(identity=FOUND, tally=COUNT),),
        "outputs": (Output(name="n", expression=SHOWN),),
    }
    return Question(**(members | changes))


@pytest.mark.parametrize(
    "estimate",
    [
        Number(identity=FOUND, tally=COUNT),
        Number(identity=FOUND, tally=SUM, step=Fraction(1, 2)),
        Mean(identity=FOUND, total=SUM, count=COUNT),
        Mean(identity=FOUND, total=SUM, count=ROWS),
        Spread(identity=FOUND, total=SUM, squares=SQUARES, count=COUNT, root=True),
        Quantile(identity=FOUND, bins=BINS, probability=Fraction(1, 2)),
    ],
)
def test_estimates_that_fit(estimate: Any) -> None:
    assert question(estimates=(estimate,)).estimates == (estimate,)


@pytest.mark.parametrize(
    "estimate",
    [
        Number(identity=FOUND, tally=BINS),
        Number(identity=FOUND, tally=PERSON),
        Number(identity=FOUND, tally=SUM, step=Fraction(0)),
        Mean(identity=FOUND, total=COUNT, count=SUM),
        Mean(identity=FOUND, total=SUM, count=OTHERS),
        Mean(identity=FOUND, total=SUM, count=PERSON),
        Spread(identity=FOUND, total=SUM, squares=COUNT, count=COUNT, root=True),
        Spread(identity=FOUND, total=SUM, squares=SQUARES, count=OTHERS, root=True),
        Quantile(identity=FOUND, bins=COUNT, probability=Fraction(1, 2)),
        Quantile(identity=FOUND, bins=BINS, probability=Fraction(3, 2)),
        Number(identity=GROUP, tally=COUNT),
    ],
)
def test_estimates_that_do_not(estimate: Any) -> None:
    with pytest.raises(InvalidParameter) as refused:
        question(estimates=(estimate,))
    assert refused.value.field == "estimates"


@pytest.mark.parametrize(
    ("field_", "changes"),
    [
        ("estimates", {"estimates": ()}),
        ("estimates", {"estimates": (Number(identity=FOUND, tally=COUNT), Number(identity=FOUND, tally=SUM))}),
        ("outputs", {"outputs": ()}),
        ("outputs", {"outputs": (Output(name="n", expression=SHOWN), Output(name="N", expression=SHOWN))}),
        ("outputs", {"outputs": (Output(name="n", expression=X),)}),
        ("outputs", {"order": (Order(expression=X),)}),
        ("outputs", {"having": Field(PERSON, Known(type=Type.BOOLEAN))}),
        ("having", {"having": SHOWN}),
        ("limit", {"limit": -1}),
    ],
)
def test_questions_that_make_no_sense(field_: str, changes: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter) as refused:
        question(**changes)
    assert refused.value.field == field_


def test_keys_and_constants_may_be_shown() -> None:
    part = Output(name="part", expression=field(WHOLE, GROUP))
    assert question(outputs=(part, Output(name="one", expression=constant(1)))).limit is None
