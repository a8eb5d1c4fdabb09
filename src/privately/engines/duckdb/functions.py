"""The text of every function of a plan in DuckDB: it never fails, and means what `plans.meaning` says.

DuckDB raises where a plan must not (a division by 0, a cast, a pattern that ends in a backslash), gives infinities and
NaN where a plan has NULL, orders NaN above all numbers, and skips NULL in GREATEST: each text guards against its own.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from privately.engines.duckdb.literals import NAMES, literal, text
from privately.plans import Call, Constant, Type
from privately.plans.types import LARGEST_INTEGER

WHOLE = "^[+-]?[0-9]{1,18}$"
REAL = r"^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?$"
_YEAR = "(?:000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})"
DATE = f"^{_YEAR}-[0-9]{{2}}-[0-9]{{2}}$"
TIMESTAMP = f"^{_YEAR}-[0-9]{{2}}-[0-9]{{2}}(?:[ T](?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]{{1,6}})?)?$"
_LONE_BACKSLASH = r"(?s)^((?:[^\\]|\\.)*)\\$"
_FAR = 1_000_000
_SHORT = 80

Texts: TypeAlias = Sequence[str]
Writer: TypeAlias = Callable[[Call, Texts], str]

_LARGEST_DOUBLE = int(sys.float_info.max)


def write(call: Call, arguments: Texts) -> str:
    """The text of a call, given those of its arguments."""
    return WRITERS[call.function](call, arguments)


def once(value: str, use: Callable[[str], str]) -> str:
    """A text that uses a value several times, and does not grow each time that it is used within another.

    Long texts are computed once, as the parameter of a function; short ones are cheaper to repeat, since DuckDB finds
    common parts itself.
    """
    if len(value) <= _SHORT:
        return use(value)
    parameter = f"v{zlib.crc32(value.encode()):x}"
    return f"list_transform([{value}], lambda {parameter}: {use(parameter)})[1]"


def finite(value: str) -> str:
    """A double, or NULL where it is NaN or infinite."""
    return once(value, lambda v: f"CASE WHEN isfinite({v}) THEN {v} END")


def _real(call: Call, value: str) -> str:
    """A real result of arithmetic; where its range says that it is a number, it need not be looked at."""
    known = call.known.range
    return value if known is not None and known.magnitude < _LARGEST_DOUBLE else finite(value)


def _cast(value: str, found: Type, wanted: Type) -> str:
    return value if found is wanted else f"CAST({value} AS {NAMES[wanted]})"


def _kinds(call: Call) -> list[Type]:
    return [argument.known.type for argument in call.arguments]


def _alike(kinds: Sequence[Type], values: Texts) -> list[str]:
    """Whole numbers among real ones become real, dates among timestamps become timestamps."""
    wanted = next((kind for kind in (Type.REAL, Type.TIMESTAMP) if kind in kinds), kinds[0])
    return [_cast(value, kind, wanted) for value, kind in zip(values, kinds, strict=True)]


# --- numbers --------------------------------------------------------------------------------------------------------


def _arithmetic(sign: str) -> Writer:
    def writer(call: Call, arguments: Texts) -> str:
        one, other = _alike(_kinds(call), arguments)
        result = f"({one} {sign} {other})"
        return result if call.known.type is Type.INTEGER else _real(call, result)

    return writer


def _divide(call: Call, arguments: Texts) -> str:
    one, other = (_cast(value, kind, Type.REAL) for value, kind in zip(arguments, _kinds(call), strict=True))
    return _real(call, f"({one} / {other})")


def _modulo(_: Call, arguments: Texts) -> str:
    one, other = arguments
    divisor = once(other, lambda v: f"CASE WHEN {v} <> 0 THEN {v} END")
    return f"({one} % {divisor})"


def _to_whole(function: str) -> Writer:
    def writer(call: Call, arguments: Texts) -> str:
        if _kinds(call) == [Type.INTEGER]:
            return arguments[0]
        return f"TRY_CAST({function}({arguments[0]}) AS BIGINT)"

    return writer


def _of_real(function: str) -> Writer:
    def writer(call: Call, arguments: Texts) -> str:
        return finite(f"{function}({_cast(arguments[0], _kinds(call)[0], Type.REAL)})")

    return writer


def _by_twos(function: str, values: Texts) -> str:
    """DuckDB cannot copy a call of three operands if two of them are the same column, so no call has three."""
    if len(values) == 1:
        return values[0]
    half = len(values) // 2
    return f"{function}({_by_twos(function, values[:half])}, {_by_twos(function, values[half:])})"


def _extreme(function: str) -> Writer:
    def writer(call: Call, arguments: Texts) -> str:
        values = _alike(_kinds(call), arguments)

        def use(row: str) -> str:
            places = [f"{row}[{place}]" for place in range(1, len(values) + 1)] if row else values
            missing = " OR ".join(f"{place} IS NULL" for place in places)
            return f"CASE WHEN {missing} THEN NULL ELSE {_by_twos(function, places)} END"

        if all(len(value) <= _SHORT for value in values):
            return use("")
        return once(f"[{', '.join(values)}]", use)

    return writer


def _clamp(call: Call, arguments: Texts) -> str:
    value, low, high = _alike(_kinds(call), arguments)
    return once(value, lambda v: f"CASE WHEN {v} < {low} THEN {low} WHEN {v} > {high} THEN {high} ELSE {v} END")


# --- comparison and logic -------------------------------------------------------------------------------------------


def _comparison(sign: str) -> Writer:
    def writer(call: Call, arguments: Texts) -> str:
        one, other = _alike(_kinds(call), arguments)
        return f"({one} {sign} {other})"

    return writer


def _logical(word: str) -> Writer:
    return lambda _, arguments: f"({f' {word} '.join(arguments)})"


def _in(call: Call, arguments: Texts) -> str:
    kinds = _kinds(call)
    lists: dict[Type, list[str]] = {}
    for kind, value in zip(kinds[1:], arguments[1:], strict=True):
        one, other = _alike([kinds[0], kind], [arguments[0], value])
        wanted = kinds[0] if one == arguments[0] else kind
        lists.setdefault(wanted, []).append(other)

    def use(value: str) -> str:
        tests = [f"{_cast(value, kinds[0], kind)} IN ({', '.join(others)})" for kind, others in lists.items()]
        return f"({' OR '.join(tests)})"

    return once(arguments[0], use) if len(lists) > 1 else use(arguments[0])


def _case(call: Call, arguments: Texts) -> str:
    results = [_cast(value, kind, call.known.type) for value, kind in zip(arguments, _kinds(call), strict=True)]
    pairs = zip(arguments[:-1:2], results[1:-1:2], strict=True)
    return f"CASE {' '.join(f'WHEN {condition} THEN {result}' for condition, result in pairs)} ELSE {results[-1]} END"


def _coalesce(call: Call, arguments: Texts) -> str:
    values = [_cast(value, kind, call.known.type) for value, kind in zip(arguments, _kinds(call), strict=True)]
    return f"coalesce({', '.join(values)})"


def _null_if(call: Call, arguments: Texts) -> str:
    def use(value: str) -> str:
        one, other = _alike(_kinds(call), [value, arguments[1]])
        return f"CASE WHEN {one} = {other} THEN NULL ELSE {value} END"

    return once(arguments[0], use)


# --- conversions ----------------------------------------------------------------------------------------------------


def read(value: str, pattern: str, kind: Type) -> str:
    """A text as another type, NULL unless it has the form; what does not match becomes '', which nothing can be."""
    return f"TRY_CAST(regexp_extract({value}, {text(pattern)}) AS {NAMES[kind]})"


def nearest_whole(value: str) -> str:
    """The whole number nearest to a finite double, halves away from 0; NULL from 2^62 on."""
    limit = f"'{float(LARGEST_INTEGER)!r}'::DOUBLE"
    return once(value, lambda v: f"CASE WHEN {v} > -{limit} AND {v} < {limit} THEN TRY_CAST(round({v}) AS BIGINT) END")


def _to_integer(call: Call, arguments: Texts) -> str:
    match _kinds(call)[0]:
        case Type.TEXT:
            return read(arguments[0], WHOLE, Type.INTEGER)
        case Type.REAL:
            return nearest_whole(arguments[0])
    return f"CAST({arguments[0]} AS BIGINT)"


def _to_real(call: Call, arguments: Texts) -> str:
    kind = _kinds(call)[0]
    if kind is Type.TEXT:
        return finite(read(arguments[0], REAL, Type.REAL))
    return f"CAST({arguments[0]} AS DOUBLE)"


def _to_date(call: Call, arguments: Texts) -> str:
    if _kinds(call) == [Type.TEXT]:
        return read(arguments[0], DATE, Type.DATE)
    return f"CAST({arguments[0]} AS DATE)"


def _to_timestamp(call: Call, arguments: Texts) -> str:
    if _kinds(call) == [Type.TEXT]:
        return read(arguments[0], TIMESTAMP, Type.TIMESTAMP)
    return f"CAST({arguments[0]} AS TIMESTAMP)"


# --- texts ----------------------------------------------------------------------------------------------------------


def _function(function: str) -> Writer:
    return lambda _, arguments: f"{function}({', '.join(arguments)})"


def _substring(_: Call, arguments: Texts) -> str:
    value, *places = arguments
    near = [once(place, lambda v: f"CASE WHEN {v} > {_FAR} THEN {_FAR} ELSE {v} END") for place in places]
    return f"substring({value}, {near[0]}, {near[1]})"


def _like(call: Call, arguments: Texts) -> str:
    value, pattern = arguments
    written = call.arguments[1]
    if isinstance(written, Constant) and isinstance(written.value, str):
        if "\\" not in written.value:
            return f"({value} LIKE {pattern})"
        return f"({value} LIKE {literal(_without_lone_backslash(written.value), Type.TEXT)} ESCAPE {text(chr(92))})"
    whole = f"regexp_replace({pattern}, {text(_LONE_BACKSLASH)}, {text(chr(92) + '1' + chr(92) * 4)})"
    return f"({value} LIKE {whole} ESCAPE {text(chr(92))})"


def _without_lone_backslash(pattern: str) -> str:
    """A backslash at the end that takes nothing stands for itself."""
    tail = len(pattern) - len(pattern.rstrip("\\"))
    return pattern + "\\" if tail % 2 else pattern


def _part(function: str) -> Writer:
    return lambda _, arguments: f"CAST({function}({arguments[0]}) AS BIGINT)"


WRITERS: Mapping[str, Writer] = {
    "add": _arithmetic("+"),
    "subtract": _arithmetic("-"),
    "multiply": _arithmetic("*"),
    "divide": _divide,
    "modulo": _modulo,
    "negate": lambda _, arguments: f"(- {arguments[0]})",
    "absolute": _function("abs"),
    "floor": _to_whole("floor"),
    "ceiling": _to_whole("ceil"),
    "round": _to_whole("round"),
    "square_root": _of_real("sqrt"),
    "logarithm": _of_real("ln"),
    "exponential": _of_real("exp"),
    "greatest": _extreme("greatest"),
    "least": _extreme("least"),
    "clamp": _clamp,
    "equal": _comparison("="),
    "not_equal": _comparison("<>"),
    "less": _comparison("<"),
    "less_or_equal": _comparison("<="),
    "greater": _comparison(">"),
    "greater_or_equal": _comparison(">="),
    "and": _logical("AND"),
    "or": _logical("OR"),
    "not": lambda _, arguments: f"(NOT {arguments[0]})",
    "is_null": lambda _, arguments: f"({arguments[0]} IS NULL)",
    "in": _in,
    "case": _case,
    "coalesce": _coalesce,
    "null_if": _null_if,
    "to_integer": _to_integer,
    "to_real": _to_real,
    "to_text": lambda _, arguments: f"CAST({arguments[0]} AS VARCHAR)",
    "to_date": _to_date,
    "to_timestamp": _to_timestamp,
    "year": _part("year"),
    "quarter": _part("quarter"),
    "month": _part("month"),
    "day": _part("day"),
    "weekday": _part("dayofweek"),
    "day_of_year": _part("dayofyear"),
    "hour": _part("hour"),
    "minute": _part("minute"),
    "days_between": lambda _, arguments: f"date_diff('day', {arguments[0]}, {arguments[1]})",
    "trim": lambda _, arguments: f"trim({arguments[0]}, ' ')",
    "lower": _function("lower"),
    "upper": _function("upper"),
    "length": _part("length"),
    "substring": _substring,
    "concatenate": lambda _, arguments: f"({' || '.join(arguments)})",
    "like": _like,
    "starts_with": _function("starts_with"),
    "ends_with": _function("ends_with"),
    "contains": _function("contains"),
}
"""What is written for each function."""
