"""What every function of a plan means, in Python: for arithmetic on answers, and to hold engines against.

`evaluate` gives a value (perhaps NULL, which is None) for every row and never an error. Where the table of functions
leaves a choice, it is made here:
- a whole and a real number meet as doubles, in arithmetic, in comparisons and where one of several values is taken;
- texts are compared by code points, and letters change case one by one: a letter whose other form takes several stays;
- texts are read as numbers if they are digits with a sign, a point, an exponent and nothing else, not even spaces;
- texts are read as dates and timestamps in the two forms 2026-01-31 and 2026-01-31 12:00:00.123456 (or with a T);
- a whole number that is made of a text or of a real one, and is 2^62 or more, is NULL.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time
from typing import Any

from privately.plans.expressions import Call, Constant, Expression, Field, Identity
from privately.plans.types import LARGEST_INTEGER, Type, Value

_WHOLE = re.compile(r"[+-]?[0-9]{1,18}", re.ASCII)
_REAL = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?", re.ASCII)
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
_TIMESTAMP = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})([ T]([0-9]{2}:[0-9]{2}:[0-9]{2})(\.[0-9]{1,6})?)?", re.ASCII)

_ANY_TEXT = "any text"
_ANY_CHARACTER = "any character"

Strict = Callable[..., Value]


def evaluate(expression: Expression, values: Mapping[Identity, Value]) -> Value:
    """The value of an expression, given those of the fields in it.

    >>> from privately.plans import call, constant
    >>> evaluate(call("divide", constant(1), constant(0)), {}) is None
    True
    >>> evaluate(call("round", constant(-2.5)), {})
    -3
    """
    if isinstance(expression, Constant):
        return expression.value
    if isinstance(expression, Field):
        return values[expression.identity]
    lazy = _LAZY.get(expression.function)
    found = lazy(expression, values) if lazy else _strictly(expression, values)
    if expression.known.type is Type.REAL and isinstance(found, int):
        return _double(found)
    return found


def _strictly(expression: Call, values: Mapping[Identity, Value]) -> Value:
    """A function of which every NULL argument makes the result NULL."""
    arguments = [evaluate(argument, values) for argument in expression.arguments]
    if any(argument is None for argument in arguments):
        return None
    return STRICT[expression.function](*_alike(arguments))


def _alike(arguments: Sequence[Any]) -> Sequence[Any]:
    """Whole numbers among real ones become real, dates among timestamps become timestamps."""
    kinds = {type(argument) for argument in arguments}
    if kinds == {int, float}:
        return [_nearest_double(argument) for argument in arguments]
    if kinds == {date, datetime}:
        return [_to_timestamp(argument) for argument in arguments]
    return arguments


def _double(value: float) -> float | None:
    """As a double; None if it is beyond them."""
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if math.isfinite(found) else None


def _nearest_double(value: float) -> float:
    found = _double(value)
    return found if found is not None else math.inf if value > 0 else -math.inf


def _number(value: float) -> float | None:
    """A result of arithmetic: whole, or a double that is a number."""
    return value if isinstance(value, int) or math.isfinite(value) else None


# --- logic: NULL is unknown -----------------------------------------------------------------------------------------


def _and(expression: Call, values: Mapping[Identity, Value]) -> Value:
    found = [evaluate(argument, values) for argument in expression.arguments]
    return False if False in found else None if None in found else True


def _or(expression: Call, values: Mapping[Identity, Value]) -> Value:
    found = [evaluate(argument, values) for argument in expression.arguments]
    return True if True in found else None if None in found else False


def _is_null(expression: Call, values: Mapping[Identity, Value]) -> Value:
    return evaluate(expression.arguments[0], values) is None


def _case(expression: Call, values: Mapping[Identity, Value]) -> Value:
    *cases, otherwise = expression.arguments
    for condition, result in zip(cases[::2], cases[1::2], strict=True):
        if evaluate(condition, values) is True:
            return evaluate(result, values)
    return evaluate(otherwise, values)


def _coalesce(expression: Call, values: Mapping[Identity, Value]) -> Value:
    found = (evaluate(argument, values) for argument in expression.arguments)
    return next((value for value in found if value is not None), None)


def _null_if(expression: Call, values: Mapping[Identity, Value]) -> Value:
    one, other = (evaluate(argument, values) for argument in expression.arguments)
    if one is None or other is None:
        return one
    return None if operator.eq(*_alike([one, other])) else one


_LAZY: Mapping[str, Callable[[Call, Mapping[Identity, Value]], Value]] = {
    "and": _and,
    "or": _or,
    "is_null": _is_null,
    "case": _case,
    "coalesce": _coalesce,
    "null_if": _null_if,
}


# --- numbers --------------------------------------------------------------------------------------------------------


def _arithmetic(operation: Callable[[Any, Any], Any]) -> Strict:
    return lambda one, other: _number(operation(one, other))


def _divide(one: float, other: float) -> Value:
    dividend, divisor = _double(one), _double(other)
    if dividend is None or divisor is None or divisor == 0:
        return None
    return _number(dividend / divisor)


def _modulo(one: int, other: int) -> Value:
    if other == 0:
        return None
    rest = abs(one) % abs(other)
    return -rest if one < 0 else rest


def _nearest(value: float) -> int:
    """The nearest whole number, halves away from 0; a double's part behind the point is exact."""
    size = abs(value)
    below = math.floor(size)
    nearest = below + (size - below >= 0.5)
    return -nearest if value < 0 else nearest


def _square_root(value: float) -> Value:
    real = _double(value)
    return None if real is None or real < 0 else math.sqrt(real)


def _logarithm(value: float) -> Value:
    real = _double(value)
    return None if real is None or real <= 0 else math.log(real)


def _exponential(value: float) -> Value:
    real = _double(value)
    try:
        return None if real is None else math.exp(real)
    except OverflowError:
        return None


def _clamp(value: Any, low: Any, high: Any) -> Value:
    return _number(low if value < low else min(value, high))


def _extreme(choose: Callable[..., Any]) -> Strict:
    def extreme(*values: Any) -> Value:
        found = choose(values)
        return _number(found) if isinstance(found, (int, float)) else found

    return extreme


# --- conversions ----------------------------------------------------------------------------------------------------


def _to_integer(value: Any) -> Value:
    if isinstance(value, str):
        return int(value) if _WHOLE.fullmatch(value) else None
    found = _nearest(value) if isinstance(value, float) else int(value)
    return found if abs(found) < LARGEST_INTEGER else None


def _to_real(value: Any) -> Value:
    if isinstance(value, str) and not _REAL.fullmatch(value):
        return None
    return _double(value)


def _to_text(value: Any) -> Value:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.isoformat() if isinstance(value, date) else str(value)


def _to_date(value: Any) -> Value:
    if isinstance(value, str):
        return _read(date.fromisoformat, value) if _DATE.fullmatch(value) else None
    return value.date() if isinstance(value, datetime) else value


def _to_timestamp(value: Any) -> Value:
    if isinstance(value, str):
        return _read(datetime.fromisoformat, value) if _TIMESTAMP.fullmatch(value) else None
    return value if isinstance(value, datetime) else datetime.combine(value, time())


def _read(reader: Callable[[str], date], text: str) -> Value:
    whole, point, rest = text.partition(".")
    try:
        return reader(whole + point + (rest + "000000")[:6] if point else text)
    except ValueError:
        return None


def _hour(value: date) -> int:
    return value.hour if isinstance(value, datetime) else 0


def _minute(value: date) -> int:
    return value.minute if isinstance(value, datetime) else 0


# --- texts ----------------------------------------------------------------------------------------------------------


def _small(letter: str) -> str:
    lower = letter.lower()
    return "i" if letter == "İ" else lower if len(lower) == 1 else letter


def _capital(letter: str) -> str:
    if letter == "ß":
        return "ẞ"
    return next((one for one in (letter.upper(), letter.title()) if len(one) == 1), letter)


def _like(text: str, pattern: str) -> bool:
    """Whether a text matches; each % is tried to be as short as it can be, and only the last one ever grows."""
    wanted = _pattern(pattern)
    at = place = 0
    grown, begun = -1, 0
    while at < len(text):
        if place < len(wanted) and wanted[place] != _ANY_TEXT and wanted[place] in (_ANY_CHARACTER, text[at]):
            at, place = at + 1, place + 1
        elif place < len(wanted) and wanted[place] == _ANY_TEXT:
            grown, begun, place = place, at, place + 1
        elif grown >= 0:
            begun, at, place = begun + 1, begun + 1, grown + 1
        else:
            return False
    return all(one == _ANY_TEXT for one in wanted[place:])


def _pattern(pattern: str) -> list[str]:
    """The characters of a pattern in turn; a backslash at the end stands for itself."""
    found, taken = [], False
    for at, character in enumerate(pattern):
        if character == "\\" and not taken and at + 1 < len(pattern):
            taken = True
            continue
        special = {"%": _ANY_TEXT, "_": _ANY_CHARACTER}.get(character)
        found.append(character if taken or special is None else special)
        taken = False
    return found


STRICT: Mapping[str, Strict] = {
    "add": _arithmetic(operator.add),
    "subtract": _arithmetic(operator.sub),
    "multiply": _arithmetic(operator.mul),
    "divide": _divide,
    "modulo": _modulo,
    "negate": operator.neg,
    "absolute": operator.abs,
    "floor": math.floor,
    "ceiling": math.ceil,
    "round": _nearest,
    "square_root": _square_root,
    "logarithm": _logarithm,
    "exponential": _exponential,
    "greatest": _extreme(max),
    "least": _extreme(min),
    "clamp": _clamp,
    "equal": operator.eq,
    "not_equal": operator.ne,
    "less": operator.lt,
    "less_or_equal": operator.le,
    "greater": operator.gt,
    "greater_or_equal": operator.ge,
    "not": operator.not_,
    "in": lambda one, *others: any(operator.eq(*_alike([one, other])) for other in others),
    "to_integer": _to_integer,
    "to_real": _to_real,
    "to_text": _to_text,
    "to_date": _to_date,
    "to_timestamp": _to_timestamp,
    "year": operator.attrgetter("year"),
    "quarter": lambda day: (day.month + 2) // 3,
    "month": operator.attrgetter("month"),
    "day": operator.attrgetter("day"),
    "weekday": lambda day: day.isoweekday() % 7,
    "day_of_year": lambda day: day.timetuple().tm_yday,
    "hour": _hour,
    "minute": _minute,
    "days_between": lambda one, other: (other - one).days,
    "trim": lambda text: text.strip(" "),
    "lower": lambda text: "".join(map(_small, text)),
    "upper": lambda text: "".join(map(_capital, text)),
    "length": len,
    "substring": lambda text, start, count: text[start - 1 : start - 1 + count],
    "concatenate": lambda *texts: "".join(texts),
    "like": _like,
    "starts_with": str.startswith,
    "ends_with": str.endswith,
    "contains": lambda text, part: part in text,
}

MEANINGS = frozenset(STRICT) | frozenset(_LAZY)
"""The functions that have a meaning: all of them."""
