"""From estimates to the table that is shown: HAVING, ORDER BY, LIMIT and arithmetic, on what is private already."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial
from typing import Any, TypeAlias

from privately.engines.protocol import Group
from privately.plans import Expression, Field, Identity, Order, Question, Type
from privately.plans.expressions import fields_of, parts
from privately.plans.meaning import evaluate
from privately.plans.types import Value
from privately.query.estimates import Cell, Estimated
from privately.query.intervals import fields_taken, interval_of
from privately.rounding import Interval

Place: TypeAlias = tuple[int, dict[Identity, Value]]
"""A group's number, with the values of its keys and estimates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """The rows of the answer: one value and one interval (where there is one) for every column."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
    intervals: tuple[tuple[Interval | None, ...], ...]


def shown(
    question: Question, groups: Sequence[Group], at: Callable[[Fraction], Estimated], confidence: Fraction
) -> Shown:
    """What the question shows of its estimates. Groups come in the order of their keys unless it says otherwise.

    `at` gives the estimates with intervals of any confidence. Where a column is made of several estimates, the doubt is
    shared among them, so that its own interval holds with the confidence that was asked for. Where HAVING or LIMIT
    choose rows by their noise, it is shared among all groups, so that the intervals of the chosen ones hold too.

    Theorem: if each of n intervals fails with probability at most b/n, all of them hold with probability 1 - b, and
        then those of any rows that are chosen, in whatever way.
    Reference: Bonferroni
    Proof: docs/theory/stability.md#derived-columns
    Checked-by: tests/query/test_showing.py::test_intervals_of_chosen_rows_hold
    """
    find = cache(at)
    kept = _kept(question, groups, find(confidence))
    doubt = (1 - confidence) / (max(len(groups), 1) if chosen_by_noise(question, len(groups)) else 1)
    columns = [_column_intervals(output.expression, find, doubt, kept) for output in question.outputs]
    return Shown(
        columns=tuple(output.name for output in question.outputs),
        rows=tuple(tuple(evaluate(one.expression, values) for one in question.outputs) for _, values in kept),
        intervals=tuple(zip(*columns, strict=True)),
    )


def chosen_by_noise(question: Question, groups: int | None) -> bool:
    """Whether it depends on estimates, and not on keys alone, which of so many groups are shown; None for any."""
    estimates = {one.identity for one in question.estimates}
    if question.having is not None and fields_of(question.having) & estimates:
        return True
    ordered = any(fields_of(one.expression) & estimates for one in question.order)
    return ordered and question.limit is not None and (groups is None or question.limit < groups)


def _kept(question: Question, groups: Sequence[Group], found: Estimated) -> list[Place]:
    """Which groups are shown, in their order, with the values of their keys and estimates."""
    keys, types = [key.identity for key in question.aggregation.keys], _types(question)
    places = []
    for at, group in enumerate(groups):
        values: dict[Identity, Value] = dict(zip(keys, group, strict=True))
        values |= {name: _value(cells[at], types.get(name)) for name, cells in found.cells.items()}
        if question.having is None or evaluate(question.having, values) is True:
            places.append((at, values))
    for order in reversed(question.order):
        places.sort(key=partial(_sort_key, order))
    return places[: question.limit]


def _column_intervals(
    expression: Expression, at: Callable[[Fraction], Estimated], doubt: Fraction, places: Sequence[Place]
) -> list[Interval | None]:
    taken = frozenset(fields_taken(expression))
    wanted = taken & at(1 - doubt).cells.keys()
    if not wanted:
        return [None] * len(places)
    found, keys = at(1 - doubt / len(wanted)), taken - wanted
    return [
        interval_of(
            expression,
            {name: _exact(values[name]) for name in keys} | {name: found.cells[name][place][1] for name in wanted},
            [name for name in wanted if place in found.absent.get(name, ())],
        )
        for place, values in places
    ]


def _exact(value: Value) -> Interval | None:
    """Keys that are numbers are known exactly."""
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return Interval(Fraction(value), Fraction(value))


def _types(question: Question) -> dict[Identity, Type]:
    """The types that the outputs expect of the estimates in them."""
    expressions = [one.expression for one in question.outputs] + [one.expression for one in question.order]
    expressions += [] if question.having is None else [question.having]
    return {
        one.identity: one.known.type
        for expression in expressions
        for one in parts(expression)
        if isinstance(one, Field)
    }


def _value(cell: Cell, kind: Type | None) -> Value:
    found = cell[0]
    if found is None:
        return None
    return round(found) if kind is Type.INTEGER else float(found)


def _sort_key(order: Order, place: Place) -> tuple[int, Any]:
    """NULL last, whatever the direction."""
    value = evaluate(order.expression, place[1])
    if value is None:
        return (1, 0)
    return (0, _Reversed(value) if order.direction == "descending" else value)


class _Reversed:
    """Sorts the other way round."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __lt__(self, other: _Reversed) -> bool:
        return bool(other.value < self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Reversed) and self.value == other.value

    def __hash__(self) -> int:
        return hash(self.value)
