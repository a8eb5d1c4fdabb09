"""Where a column of the answer lies, if the estimates that it is made of lie where they do."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias

from privately.plans import Call, Constant, Expression, Field, Identity
from privately.rounding import Enclosure, Interval

_LARGEST_EXPONENT = 700

Found: TypeAlias = tuple[Interval, bool]
"""Where a value lies, if there is one; and whether there is."""


def interval_of(
    expression: Expression, intervals: Mapping[Identity, Interval | None], absent: Collection[Identity] = ()
) -> Interval | None:
    """Where an expression lies if the estimates in it lie in their intervals; None if that cannot be said.

    Those that are `absent` may have no value at all (the average of nothing), and then it is NULL or something else.
    Of a CASE it is not known which of its results would be the exact one.

    Theorem: the result of an operation on numbers in intervals lies in the interval of its extreme results.
    Reference: Moore 1966
    Proof: docs/theory/stability.md#derived-columns
    Checked-by: tests/query/test_intervals.py::test_intervals_hold_all_results
    """
    found = _found(expression, intervals, absent)
    return None if found is None else found[0]


def values_in(expression: Expression) -> list[Expression]:
    """The parts whose values an expression takes: not the conditions of a CASE, nor what NULLIF compares with."""
    if not isinstance(expression, Call):
        return []
    match expression.function:
        case "case":
            return [*expression.arguments[1:-1:2], expression.arguments[-1]]
        case "null_if":
            return [expression.arguments[0]]
    return list(expression.arguments)


def fields_taken(expression: Expression) -> Iterator[Identity]:
    """What an expression takes its value from."""
    if isinstance(expression, Field):
        yield expression.identity
    for part in values_in(expression):
        yield from fields_taken(part)


def _found(
    expression: Expression, intervals: Mapping[Identity, Interval | None], absent: Collection[Identity]
) -> Found | None:
    def inner(one: Expression) -> Found | None:
        return _found(one, intervals, absent)

    match expression:
        case Field(identity=identity):
            known = intervals.get(identity)
            return None if known is None else (known, identity not in absent)
        case Constant(value=bool()):
            return None
        case Constant(value=int() | float() as value):
            return Interval(Fraction(value), Fraction(value)), True
        case Call(function="case"):
            return _one_of([inner(one) for one in values_in(expression) if not _is_null(one)], sure=False)
        case Call(function="coalesce", arguments=arguments):
            return _first_of([inner(one) for one in arguments if not _is_null(one)])
        case Call(function="null_if", arguments=arguments):
            return _one_of([inner(arguments[0])], sure=False)
        case Call(function=name, arguments=arguments) if name in _OPERATIONS:
            return _computed(_OPERATIONS[name], [inner(one) for one in arguments])
    return None


def _computed(operation: Callable[..., Interval | None], parts: Sequence[Found | None]) -> Found | None:
    found = [one for one in parts if one is not None]
    result = operation(*(interval for interval, _ in found)) if len(found) == len(parts) else None
    return None if result is None else (result, all(sure for _, sure in found))


def _is_null(expression: Expression) -> bool:
    return isinstance(expression, Constant) and expression.value is None


def _one_of(found: Sequence[Found | None], *, sure: bool) -> Found | None:
    """The interval of all of them."""
    known = [one[0] for one in found if one is not None]
    if not known or len(known) < len(found):
        return None
    return Interval(min(one.lower for one in known), max(one.upper for one in known)), sure


def _first_of(found: Sequence[Found | None]) -> Found | None:
    """Of the first that has a value: of those up to one that has one for sure."""
    for place, one in enumerate(found, start=1):
        if one is not None and one[1]:
            return _one_of(found[:place], sure=True)
    return _one_of(found, sure=False)


# --- operations: each is monotone in each argument, or has its extremes at the ends or at 0 ---------------------------


def _add(one: Interval, other: Interval) -> Interval:
    return Interval(one.lower + other.lower, one.upper + other.upper)


def _subtract(one: Interval, other: Interval) -> Interval:
    return Interval(one.lower - other.upper, one.upper - other.lower)


def _multiply(one: Interval, other: Interval) -> Interval:
    ends = [Fraction(a) * Fraction(b) for a in one for b in other]
    return Interval(min(ends), max(ends))


def _divide(one: Interval, other: Interval) -> Interval | None:
    if other.lower <= 0 <= other.upper:
        return None
    ends = [Fraction(a) / Fraction(b) for a in one for b in other]
    return Interval(min(ends), max(ends))


def _negate(one: Interval) -> Interval:
    return Interval(-one.upper, -one.lower)


def _absolute(one: Interval) -> Interval:
    ends = [abs(Fraction(end)) for end in one]
    return Interval(Fraction(0) if one.lower <= 0 <= one.upper else min(ends), max(ends))


def _extreme(choose: Callable[..., Fraction]) -> Callable[..., Interval]:
    def of(*given: Interval) -> Interval:
        return Interval(choose(one.lower for one in given), choose(one.upper for one in given))

    return of


def _clamp(one: Interval, low: Interval, high: Interval) -> Interval:
    return _extreme(min)(_extreme(max)(one, low), high)


def _rounded(to_whole: Callable[[Fraction], int]) -> Callable[[Interval], Interval]:
    return lambda one: Interval(*(Fraction(to_whole(Fraction(end))) for end in one))


def _nearest(value: Fraction) -> int:
    """The nearest whole number, halves away from 0."""
    size = math.floor(abs(value) + Fraction(1, 2))
    return -size if value < 0 else size


def _square_root(one: Interval) -> Interval | None:
    if one.lower < 0:
        return None
    low, high = (Enclosure.of(Fraction(end)).sqrt() for end in one)
    return Interval(Fraction(low.lower), Fraction(high.upper))


def _logarithm(one: Interval) -> Interval | None:
    if one.lower <= 0:
        return None
    low, high = (Enclosure.of(Fraction(end)).log() for end in one)
    return Interval(Fraction(low.lower), Fraction(high.upper))


def _exponential(one: Interval) -> Interval | None:
    if max(abs(Fraction(end)) for end in one) > _LARGEST_EXPONENT:
        return None
    low, high = (Enclosure.of(Fraction(end)).exp() for end in one)
    return Interval(Fraction(low.lower), Fraction(high.upper))


_OPERATIONS: dict[str, Callable[..., Interval | None]] = {
    "add": _add,
    "subtract": _subtract,
    "multiply": _multiply,
    "divide": _divide,
    "negate": _negate,
    "absolute": _absolute,
    "greatest": _extreme(max),
    "least": _extreme(min),
    "clamp": _clamp,
    "round": _rounded(_nearest),
    "floor": _rounded(math.floor),
    "ceiling": _rounded(math.ceil),
    "square_root": _square_root,
    "logarithm": _logarithm,
    "exponential": _exponential,
    "to_integer": _rounded(_nearest),
    "to_real": lambda one: one,
}
