"""Expressions: constants, fields, and calls of listed functions. Each is worth what is known of it when it is made.

A field refers to a value by its identity, never by its name: whatever is claimed of a column is claimed of that value,
and a new value under the old name is another one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TypeAlias

from privately.errors import NotSupported
from privately.plans.functions import FUNCTIONS, TIGHTENING
from privately.plans.types import Known, Range, Type, Value, type_of

MOST_NODES = 10_000
DEEPEST = 200
DEAREST = 1_000_000
"""The most elementary steps that one row may take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Which value of a row: no two values of a plan have the same number. The name is for people."""

    number: int
    name: str = field(compare=False)


@dataclass(frozen=True, slots=True)
class Constant:
    """A value that was written in the question; None is NULL of a type."""

    value: Value
    known: Known


@dataclass(frozen=True, slots=True)
class Field:
    """A value of the row."""

    identity: Identity
    known: Known = field(compare=False)


@dataclass(frozen=True, slots=True)
class Call:
    """A function of other expressions. Only functions of `plans.functions` can be called."""

    function: str
    arguments: tuple[Expression, ...]
    known: Known = field(compare=False)


Expression: TypeAlias = Constant | Field | Call


def call(function: str, *arguments: Expression) -> Call:
    """A call, with what follows of its value from what is known of its arguments; NotSupported if it cannot be made."""
    rule = FUNCTIONS.get(function)
    if rule is None:
        raise NotSupported(f"there is no function {function}.", hint=f"There are: {', '.join(sorted(FUNCTIONS))}.")
    known = rule.known(arguments)
    cost = known.cost + sum(argument.known.cost for argument in arguments)
    if cost > DEAREST:
        raise NotSupported("this would take too long for every row.", hint="Declare shorter texts, or ask for less.")
    loose = known.loose or (
        known.range is not None and function not in TIGHTENING and any(one.known.loose for one in arguments)
    )
    return Call(function, arguments, replace(known, cost=cost, loose=loose))


def constant(value: Value, type_: Type | None = None) -> Constant:
    """A constant of the plan; NULL needs to be told its type."""
    if value is None:
        if type_ is None:
            raise NotSupported("a NULL whose type nothing says.", hint="Write CAST(NULL AS ...).")
        return Constant(None, Known(type=type_, nullable=True))
    kind = type_of(value)
    exact = Fraction(value) if isinstance(value, (int, float)) and kind.is_number else None
    length = len(value) if isinstance(value, str) else None
    bounds = None if exact is None else Range(exact, exact)
    return Constant(value, Known(type=kind, nullable=False, range=bounds, length=length))


def parts(expression: Expression) -> Iterator[Expression]:
    """The expression and all in it."""
    waiting = [expression]
    while waiting:
        one = waiting.pop()
        yield one
        if isinstance(one, Call):
            waiting.extend(one.arguments)


def fields_of(expression: Expression) -> set[Identity]:
    """The values of the row that it depends on."""
    return {one.identity for one in parts(expression) if isinstance(one, Field)}
