"""HAVING, ORDER BY, LIMIT and arithmetic on estimates, and intervals that stay honest through all of it."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from privately import mechanisms as m
from privately.plans import (
    Column,
    Expression,
    Field,
    Known,
    Order,
    Output,
    Question,
    Table,
    Type,
    Unit,
    Value,
    call,
    constant,
)
from privately.query import showing
from privately.query.binding import bind
from privately.query.binding.expressions import null_like
from privately.query.drawing import NoisyNumber
from privately.query.estimates import Cell, Estimated, estimated
from privately.query.showing import Shown, shown
from privately.rounding import Interval
from tests.mechanisms.enumeration import probability
from tests.plans.small import GROUP
from tests.query.small_questions import NAMED, ROWS, question
from tests.query.small_questions import shown as column

CELLS: dict[str, Sequence[Fraction | None]] = {
    "rows": [Fraction(7), Fraction(2), Fraction(9), Fraction(2)],
    "mean": [Fraction(1, 2), None, Fraction(-3), Fraction(4)],
}
GROUPS = [("a",), ("b",), ("c",), ("d",)]
PART = Field(GROUP, Known(type=Type.TEXT))
WIDTH = Fraction(1)


def at(confidence: Fraction) -> Estimated:
    """The more confidence, the wider: 1 at 95 %."""
    width = WIDTH * Fraction(1, 20) / (1 - confidence)

    def cell(value: Fraction | None) -> Cell:
        return value, None if value is None else Interval(value - width, value + width)

    return Estimated(cells={NAMED[name]: tuple(map(cell, values)) for name, values in CELLS.items()})


def asked(*outputs: Expression, **more: Any) -> Question:
    whole = question("rows", "mean", values=("a", "b", "c", "d"))
    named = tuple(Output(name=f"c{at}", expression=one) for at, one in enumerate(outputs))
    return Question(aggregation=whole.aggregation, estimates=whole.estimates, outputs=named, **more)


def table(*outputs: Expression, **more: Any) -> Shown:
    return shown(asked(*outputs, **more), GROUPS, at, Fraction(95, 100))


def test_all_groups_in_their_order() -> None:
    found = table(PART, column("rows"), column("mean"))
    assert found.columns == ("c0", "c1", "c2")
    assert found.rows == (("a", 7, 0.5), ("b", 2, None), ("c", 9, -3.0), ("d", 2, 4.0))
    assert [type(row[1]) for row in found.rows] == [int] * 4
    assert found.intervals[0] == (None, Interval(6, 8), Interval(Fraction(-1, 2), Fraction(3, 2)))
    assert found.intervals[1] == (None, Interval(1, 3), None)


def test_having_keeps_what_is_true() -> None:
    found = table(PART, having=call("greater", column("mean"), constant(0.0)))
    assert found.rows == (("a",), ("d",))


def test_orders_and_limits() -> None:
    falling = Order(expression=column("rows"), direction="descending")
    found = table(PART, order=(falling, Order(expression=PART, direction="descending")))
    assert [row[0] for row in found.rows] == ["c", "a", "d", "b"]
    assert [row[0] for row in table(PART, order=(falling,), limit=3).rows] == ["c", "a", "b"]
    assert table(PART, limit=0).rows == ()
    assert len(table(PART, limit=9).rows) == 4


@pytest.mark.parametrize("direction", ["ascending", "descending"])
def test_nulls_come_last(direction: Any) -> None:
    found = table(PART, order=(Order(expression=column("mean"), direction=direction),))
    assert found.rows[-1] == ("b",)
    assert [row[0] for row in found.rows[:3]] == (["c", "a", "d"] if direction == "ascending" else ["d", "a", "c"])


def test_arithmetic_and_its_intervals() -> None:
    rows, mean = column("rows"), column("mean")
    twice = call("add", call("to_real", rows), mean)
    found = table(twice, call("add", call("to_real", rows), constant(1)), constant(1), call("length", PART))
    assert [row[0] for row in found.rows] == [7.5, None, 6.0, 6.0]
    assert found.intervals[0][0] == Interval(Fraction(7, 2), Fraction(23, 2))  # half the doubt each: twice as wide
    assert found.intervals[1][0] is None
    assert found.intervals[0][1] == Interval(7, 9)
    assert found.intervals[0][2:] == (None, None)


def test_conditions_take_no_part_of_the_doubt() -> None:
    """Of CASE WHEN rows > 1 THEN mean END the interval is that of the mean."""
    found = table(
        call("case", call("greater", column("rows"), constant(1)), column("mean"), null_like(Known(type=Type.REAL)))
    )
    assert found.intervals[0] == (Interval(Fraction(-1, 2), Fraction(3, 2)),)
    assert found.intervals[1] == (None,)


def test_where_an_average_may_be_missing_what_stands_for_it_is_possible() -> None:
    filled = call("coalesce", column("mean"), constant(9.0))

    def missing(confidence: Fraction) -> Estimated:
        return Estimated(cells=at(confidence).cells, absent={NAMED["mean"]: frozenset({2})})

    found = shown(asked(filled), GROUPS, missing, Fraction(95, 100))
    assert found.intervals[0] == (Interval(Fraction(-1, 2), Fraction(3, 2)),)
    assert found.intervals[2] == (Interval(-4, 9),)


# --- rows that are chosen by their noise ------------------------------------------------------------------------------

LAW = m.Laplace(scale="0.6")
EXACT = (3, 3, 2)
CONFIDENCE = Fraction(93, 100)


def chosen_coverage(more: dict[str, Any]) -> float:
    """How often all intervals of the shown rows hold, over all noise on three counts."""
    whole = question("rows", values=("a", "b", "c"), more=more)
    noises = [(k, float(probability(LAW.law, k))) for k in range(-9, 10)]
    within = 0.0
    for drawn in product(noises, repeat=3):
        numbers = tuple(exact + k for exact, (k, _) in zip(EXACT, drawn, strict=True))
        noise = NoisyNumber(tally=ROWS, mechanism=LAW, numbers=numbers)
        found = shown(whole, GROUPS[:3], lambda c, n=noise: estimated(whole, (n,), 3, c), CONFIDENCE)  # type: ignore[misc]
        truths = dict(zip(("a", "b", "c"), EXACT, strict=True))
        pairs = zip(found.rows, found.intervals, strict=True)
        if all(interval is not None and truths[str(row[0])] in interval for row, (_, interval) in pairs):
            within += drawn[0][1] * drawn[1][1] * drawn[2][1]
    return within


FIRST = {"order": (Order(expression=column("rows"), direction="descending"),), "limit": 1}
HIGH = {"having": call("greater", column("rows"), constant(4))}


@pytest.mark.parametrize("more", [FIRST, HIGH])
def test_intervals_of_chosen_rows_hold(more: dict[str, Any]) -> None:
    assert chosen_coverage(more) >= CONFIDENCE - 1e-6


@pytest.mark.parametrize(
    ("more", "wider"),
    [
        ({}, False),
        ({"limit": 2}, False),
        ({"limit": 2, "order": (Order(expression=PART),)}, False),
        ({"limit": 4, "order": FIRST["order"]}, False),
        ({"having": call("equal", PART, constant("a"))}, False),
        ({"limit": 2, "order": FIRST["order"]}, True),
        (HIGH, True),
        ({"having": call("and", call("equal", PART, constant("a")), HIGH["having"])}, True),
    ],
)
def test_only_choices_by_noise_make_intervals_wider(more: dict[str, Any], wider: bool) -> None:
    widths = {row[0].width for row in table(column("rows"), **more).intervals if row[0] is not None}
    assert widths == {8 * WIDTH if wider else 2 * WIDTH}


def test_intervals_for_each_group_alone_would_not_hold_for_the_first() -> None:
    """What is planted: the width that is right for a group that was not chosen."""
    width = LAW.law.interval(CONFIDENCE)
    noises = [(k, float(probability(LAW.law, k))) for k in range(-9, 10)]
    lucky = sum(
        p * q * r
        for (a, p), (b, q), (c, r) in product(noises, repeat=3)
        if abs(max((EXACT[0] + a, a), (EXACT[1] + b, b), (EXACT[2] + c, c))[1]) <= width
    )
    assert lucky < CONFIDENCE - 0.01


def test_keys_that_no_column_computes_with_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """With thousands of groups by many keys they would take most of the time."""
    columns = (Column(name="k", type="integer", bounds=(0, 9)), Column(name="j", type="integer", bounds=(0, 9)))
    asked = bind(
        "SELECT k, j, COUNT(*) AS n, COUNT(*) + j AS m FROM t GROUP BY k, j",
        {"t": Table(name="t", columns=columns, unit=Unit())},
        keys={"k": [1, 2], "j": [5, 6]},
    )
    seen, exact = list[Value](), showing._exact

    def noticed(value: Value) -> Interval | None:
        seen.append(value)
        return exact(value)

    monkeypatch.setattr(showing, "_exact", noticed)
    (count,) = (one.identity for one in asked.estimates)
    groups = [(1, 5), (1, 6), (2, 5), (2, 6)]
    cells = {count: tuple((Fraction(3), Interval(1, 5)) for _ in groups)}
    found = shown(asked, groups, lambda _: Estimated(cells=cells), Fraction(1, 2))
    assert seen == [5, 6, 5, 6]
    assert found.intervals[1] == (None, None, Interval(1, 5), Interval(7, 11))
