"""Columns as they are declared, of columns as they are found: converted, cut, clamped; what does not fit is NULL.

`converted` makes a value of the declared type; `scanned` brings it within the declaration. Who a row belongs to is
decided on the cell itself, in `people`: rounding, cutting or clamping must not make one unit of two people.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from fractions import Fraction

from privately.engines.duckdb.functions import DATE, REAL, TIMESTAMP, WHOLE, finite, nearest_whole, once, read
from privately.engines.duckdb.literals import literal
from privately.plans import Column, Range, Type
from privately.plans.types import LARGEST_INTEGER

_NARROW = frozenset({"TINYINT", "SMALLINT", "INTEGER", "UTINYINT", "USMALLINT", "UINTEGER"})
_WIDE = frozenset({"BIGINT", "UBIGINT", "HUGEINT", "UHUGEINT"})
_FLOATING = frozenset({"FLOAT", "DOUBLE"})
WORDS = frozenset({"VARCHAR", "ENUM", "UUID"})
"""Kinds that are read as texts; each value of them has one text of its own."""

_STAMPS = frozenset({"TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"})
_ZONED, _FINER_ZONED = "TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ_NS"


NOTHING = '"NULL"'
"""The DuckDB type of a column that was never given one, as it has no value: it can be declared as anything."""

_OF_NOTHING = {
    Type.INTEGER: "BIGINT",
    Type.REAL: "DOUBLE",
    Type.TEXT: "VARCHAR",
    Type.BOOLEAN: "BOOLEAN",
    Type.DATE: "DATE",
    Type.TIMESTAMP: "TIMESTAMP",
}


def base_of(found: str) -> str:
    """The kind of a DuckDB type, without its parameters."""
    return re.sub(r"\(.*\)$", "", found, flags=re.DOTALL)


def is_whole(found: str) -> bool:
    """Whether a DuckDB type holds nothing but whole numbers."""
    return _storage(found) in _NARROW | _WIDE


def rounds(column: Column, found: str) -> bool:
    """Whether a floating type may hold other whole numbers than were meant, within what is declared.

    One missing cell makes floating numbers of all whole ones in some frames, and rounds those that are large.
    """
    exact = {"FLOAT": 2**24, "DOUBLE": 2**53}.get(base_of(found))
    if exact is None or column.type is not Type.INTEGER:
        return False
    return column.categories is None and (column.bounds is None or column.bounds.magnitude >= exact)


def _storage(found: str) -> str:
    """The kind of a DuckDB type; decimals without a fraction are whole numbers, of up to 38 digits."""
    return "HUGEINT" if re.fullmatch(r"DECIMAL\([0-9]+,\s*0\)", found) else base_of(found)


def fitting(found: str) -> Type | None:
    """The type of a plan that a DuckDB type is naturally declared as; None if there is none."""
    base = base_of(found)
    if is_whole(found):
        return Type.INTEGER
    if base in _FLOATING or base == "DECIMAL":
        return Type.REAL
    if base in _STAMPS or base in (_ZONED, _FINER_ZONED):
        return Type.TIMESTAMP
    return Type.TEXT if base in WORDS else {"BOOLEAN": Type.BOOLEAN, "DATE": Type.DATE}.get(base)


def fits(column: Column, found: str) -> bool:
    """Whether values of a DuckDB type can be read as the column is declared."""
    kind = fitting(found)
    if found == NOTHING or kind is column.type:
        return True
    if kind is None:
        return False
    numbers = kind.is_number and column.type.is_number
    instants = {kind, column.type} == {Type.DATE, Type.TIMESTAMP}
    return numbers or instants or kind is Type.TEXT or (column.type is Type.TEXT and kind is Type.INTEGER)


def converted(kind: Type, found: str, value: str) -> str:
    """A value of a type, whatever it was before; NULL if it cannot be one. Whole numbers may have 128 bits here."""
    base = _storage(found)
    if found == NOTHING:
        return f"CAST({value} AS {_OF_NOTHING[kind]})"
    if base in WORDS and base != "VARCHAR":
        value, base = f"CAST({value} AS VARCHAR)", "VARCHAR"
    return _CONVERSIONS[kind](base, value)


def _to_integer(base: str, value: str) -> str:
    if base in _NARROW or base == "BIGINT":
        return value
    if base in _WIDE:
        return f"TRY_CAST({value} AS HUGEINT)"
    return read(value, WHOLE, Type.INTEGER) if base == "VARCHAR" else finite(f"CAST({value} AS DOUBLE)")


def _to_real(base: str, value: str) -> str:
    if base == "VARCHAR":
        value = read(value, REAL, Type.REAL)
    return value if base == "DOUBLE" else f"CAST({value} AS DOUBLE)"


def _to_text(_: str, value: str) -> str:
    return f"CAST({value} AS VARCHAR)"


def _to_boolean(base: str, value: str) -> str:
    if base == "BOOLEAN":
        return value
    yes, no = "('true', 't', '1')", "('false', 'f', '0')"
    return f"CASE WHEN lower({value}) IN {yes} THEN true WHEN lower({value}) IN {no} THEN false END"


def _to_date(base: str, value: str) -> str:
    if base == "VARCHAR":
        return read(value, DATE, Type.DATE)
    return value if base == "DATE" else f"TRY_CAST({_to_timestamp(base, value)} AS DATE)"


def _to_timestamp(base: str, value: str) -> str:
    if base == "VARCHAR":
        return read(value, TIMESTAMP, Type.TIMESTAMP)
    if base == _FINER_ZONED:
        return _to_timestamp(_ZONED, f"TRY_CAST({value} AS {_ZONED})")
    if base == _ZONED:
        return f"CASE WHEN isfinite({value}) THEN make_timestamp(epoch_us({value})) END"
    return value if base == "TIMESTAMP" else f"TRY_CAST({value} AS TIMESTAMP)"


_CONVERSIONS: dict[Type, Callable[[str, str], str]] = {
    Type.INTEGER: _to_integer,
    Type.REAL: _to_real,
    Type.TEXT: _to_text,
    Type.BOOLEAN: _to_boolean,
    Type.DATE: _to_date,
    Type.TIMESTAMP: _to_timestamp,
}


def scanned(column: Column, found: str, value: str) -> str:
    """A value as the column declares it.

    Theorem: it is a function of that value alone, never an error, of the declared type and within the declared bounds,
        length and categories, or NULL.
    Reference: elementary
    Proof: docs/theory/engines.md#scanning
    Checked-by: tests/engines/duckdb/test_scanning.py::test_values_are_brought_within_the_declaration
    """
    inner = converted(column.type, found, value)
    match column.type:
        case Type.INTEGER:
            inner = _bounded_whole(column.bounds, _storage(found), inner)
        case Type.REAL:
            inner = _bounded_real(column.bounds, inner)
        case Type.TEXT if column.categories is None or may_be_cut(column):
            inner = f"left({inner}, {column.length})"
        case Type.DATE:
            inner = _between(inner, "DATE '0001-01-01'", "DATE '9999-12-31'")
        case Type.TIMESTAMP:
            inner = _between(inner, "TIMESTAMP '0001-01-01'", "TIMESTAMP '9999-12-31 23:59:59.999999'")
    return inner if column.categories is None else listed(column, inner)


def listed(column: Column, value: str) -> str:
    """A value that is one of the column's categories, or NULL."""
    categories = ", ".join(literal(one, column.type) for one in column.categories or ())
    return once(value, lambda v: f"CASE WHEN {v} IN ({categories}) THEN {v} END")


def may_be_cut(column: Column) -> bool:
    """Whether a longer text could become a category by cutting."""
    return any(len(str(one)) >= column.length for one in column.categories or ())


def _bounded_whole(bounds: Range | None, base: str, value: str) -> str:
    fractional = base in _FLOATING or base == "DECIMAL"
    if bounds is None:
        if fractional:
            return nearest_whole(value)
        if base in _NARROW:
            return f"CAST({value} AS BIGINT)"
        low, high = (literal(end, Type.INTEGER) for end in (1 - LARGEST_INTEGER, LARGEST_INTEGER - 1))
        return once(value, lambda v: f"CASE WHEN {v} BETWEEN {low} AND {high} THEN CAST({v} AS BIGINT) END")
    if fractional:  # the bounds are whole, so what is within them stays so when it is rounded
        return f"TRY_CAST(round({_bounded_real(bounds, value)}) AS BIGINT)"
    low, high = (literal(int(end), Type.INTEGER) for end in (bounds.lower, bounds.upper))
    rest = "WHEN {v} < {low} THEN {low} WHEN {v} > {high} THEN {high}"
    return once(
        value,
        lambda v: (
            f"CASE WHEN {v} BETWEEN {low} AND {high} THEN CAST({v} AS BIGINT)"
            f" {rest.format(v=v, low=low, high=high)} END"
        ),
    )


def inward(bounds: Range) -> tuple[float, float]:
    """The doubles nearest to two bounds that lie between them; if there is none, the double nearest to the lower."""
    low, high = float(bounds.lower), float(bounds.upper)
    if Fraction(low) < bounds.lower:
        low = math.nextafter(low, math.inf)
    if Fraction(high) > bounds.upper:
        high = math.nextafter(high, -math.inf)
    return (low, high) if low <= high else (low, low)


def _bounded_real(bounds: Range | None, value: str) -> str:
    if bounds is None:
        return finite(value)
    low, high = (literal(end, Type.REAL) for end in inward(bounds))
    rest = "WHEN {v} < {low} AND {v} > '-inf'::DOUBLE THEN {low} WHEN {v} > {high} AND {v} < 'inf'::DOUBLE THEN {high}"
    return once(
        value,
        lambda v: f"CASE WHEN {v} BETWEEN {low} AND {high} THEN {v} {rest.format(v=v, low=low, high=high)} END",
    )


def unbranched(column: Column, found: str, cell: str) -> str | None:
    """The value of a bounded real column, made without a CASE; None for columns that need one.

    Theorem: where the cell is a number, it is the value that `scanned` gives (or 0 for -0); where it is NaN or
        infinite, it is NaN; where it is NULL, NULL.
    Reference: elementary
    Proof: docs/theory/engines.md#scanning
    Checked-by: tests/engines/duckdb/test_scanning.py::test_values_without_branches
    """
    if column.type is not Type.REAL or column.bounds is None or column.categories is not None:
        return None
    if base_of(found) not in _FLOATING:
        return None
    value = converted(column.type, found, cell)
    low, high = inward(column.bounds)
    inside = f"{value} BETWEEN {literal(low, Type.REAL)} AND {literal(high, Type.REAL)}"
    terms = [f"{value} * CAST({inside} AS DOUBLE)"]
    for sign, end in (("<", low), (">", high)):
        if end != 0:
            text = literal(end, Type.REAL)
            terms.append(f"{text} * CAST({value} {sign} {text} AS DOUBLE)")
    return f"({' + '.join(terms)})"


def _between(value: str, low: str, high: str) -> str:
    return once(value, lambda v: f"CASE WHEN {v} BETWEEN {low} AND {high} THEN {v} END")
