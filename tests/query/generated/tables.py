"""Random declarations and small tables of hostile values.

All that is random comes from one `Random`, which may be Hypothesis's own (it finds smaller cases) or one with a seed.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction
from random import Random
from typing import Any, TypeAlias, TypeVar

from privately.errors import InvalidParameter
from privately.guarantees.neighbors import Change
from privately.plans import Column, Table, Type, Unit, Value
from tests.query.generated.odd_types import ODD, ODD_PEOPLE, STRANGERS, name_of, plain

Cell: TypeAlias = Any
"""A value as it is stored: days and microseconds that Python's dates do not reach are whole numbers."""

Row: TypeAlias = tuple[Cell, ...]
Rows: TypeAlias = tuple[Row, ...]
_One = TypeVar("_One")

NAN, INF = math.nan, math.inf

_WHOLE = [0, 1, 1, 2, 3, -1, 7, 120, 2**53 + 1, 2**62 - 1, 2**62, -(2**62), 2**63 - 1, -(2**63)]
_REAL = [NAN, INF, -INF, 0.0, -0.0, 0.5, 1.0, 1.5, 2.5, 99.99, 0.1, 1e308, -1e308, 5e-324, 2.0**62, -1e19]
_WORDS = ["a", "a", "b", "A", "ab", "abc", "abcd", "", " ", "a ", "é", "e\u0301", "ß", "İ", "\0", "a\0", "it's", "\\"]
_WORDS += ["%", "_", "12", "-007", "1e3", "nan", "2024-02-29", "true", "👨‍👩‍👧", "z" * 40]
_WHOLE_WORDS = ["1", "01", "+1", "2", "-1", "0", "1.5", " 1", "", "x", "9" * 18, "9" * 30, "１", "0x1", "1_0", "nan"]
_REAL_WORDS = ["1", "1.5", "-.5", "5.", "1e3", "1e400", "-1e400", "nan", "inf", "-0.0", "", "x", "0,5", "1e-400"]
_TRUTH_WORDS = ["true", "FALSE", "t", "0", "1", "yes", "", "tRue ", "ｔ"]
_DAY_WORDS = ["2024-02-29", "2023-02-29", "0000-01-01", "0001-01-01", "9999-12-31", "10000-01-01", "2024-1-1", "", "x"]
_TIME_WORDS = [*_DAY_WORDS, "2024-02-29 12:30:00", "2024-02-29T23:59:59.999999", "2024-02-29 24:00:00", "12:00"]
_DAYS = [date(1, 1, 1), date(9999, 12, 31), date(2024, 2, 29), date(2024, 2, 29), date(1969, 12, 31)]
_DAYS += [-800_000, 3_000_000, 2**31 - 1, -(2**31) + 1]  # type: ignore[list-item]  # years -221, 10183, infinities
_TIMES = [datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999999), datetime(2024, 2, 29, 12, 30)]
_TIMES += [datetime(1969, 12, 31, 23, 59, 59), 3_000_000 * 86_400 * 10**6, 2**63 - 1]  # type: ignore[list-item]

CELLS: dict[tuple[Type, str], Sequence[Cell]] = {
    (Type.INTEGER, "BIGINT"): _WHOLE,
    (Type.INTEGER, "DOUBLE"): [*_REAL, 2.0**53, 4.611686018427387e18],
    (Type.INTEGER, "VARCHAR"): _WHOLE_WORDS,
    (Type.REAL, "DOUBLE"): _REAL,
    (Type.REAL, "BIGINT"): _WHOLE,
    (Type.REAL, "VARCHAR"): _REAL_WORDS,
    (Type.TEXT, "VARCHAR"): _WORDS,
    (Type.BOOLEAN, "BOOLEAN"): [True, False],
    (Type.BOOLEAN, "VARCHAR"): _TRUTH_WORDS,
    (Type.DATE, "DATE"): _DAYS,
    (Type.DATE, "VARCHAR"): _DAY_WORDS,
    (Type.TIMESTAMP, "TIMESTAMP"): _TIMES,
    (Type.TIMESTAMP, "VARCHAR"): _TIME_WORDS,
}
"""What may be stored in a column, by what it is declared as and by its DuckDB type."""

_PEOPLE: dict[tuple[Type, str], Sequence[Cell]] = {
    (Type.INTEGER, "BIGINT"): [1, 1, 1, 2, 2**62, 2**63 - 1],
    (Type.INTEGER, "VARCHAR"): ["1", "01", "+1", "2", "x", ""],
    (Type.TEXT, "VARCHAR"): ["abcd", "abcd", "abce", "ABCD", "abcd ", ""],
}
"""Names of people: some alike in their first letters, some of one person in several ways."""

_BOUNDS: dict[Type, Sequence[tuple[Any, Any]]] = {
    Type.INTEGER: [(0, 1), (-5, 120), (1, 5), (-(10**6), 10**6), (1000, 1001), (-7, -2), (-(2**40), 2**61)],
    Type.REAL: [(0, 1), ("-0.1", 100), (-1, 1), (1000, 1001), (-7, "-2.5"), ("1e-9", "2e-9"), (-(2**61), 2**61)],
}
_STEPS = [None, "0.5", "1/3", "0.01"]
_CATEGORIES: dict[Type, Sequence[Value]] = {
    Type.TEXT: ["a", "b", "ab", "abc", "it's", "", "é"],
    Type.INTEGER: [0, 1, 2, 7],
    Type.DATE: [date(2024, 2, 29), date(1969, 12, 31)],
    Type.BOOLEAN: [True, False],
    Type.TIMESTAMP: [datetime(2024, 2, 29, 12, 30)],
}
_MADE_OF: dict[str, Callable[[Fraction], Cell]] = {
    "BIGINT": round,
    "DOUBLE": float,
    "VARCHAR": lambda value: str(round(value) if value.denominator == 1 else float(value)),
}
_ODD_SHARE = 0.25
_NAMES = ["x", "y", "cost", "Ward", "a b", "select", "é", 'q"t', "n0", "v"]


@dataclass(frozen=True)
class Declared:
    """A table, the DuckDB types that it is found with, and rows of it."""

    table: Table
    found: tuple[str, ...]
    rows: Rows
    bundles: tuple[Rows, ...]
    """What a unit may bring along: rows of one unit that is in the table, or of a new one."""


def some(random: Random, values: Sequence[_One]) -> _One:
    return values[random.randrange(len(values))]


def declared(random: Random) -> Declared:
    """A declaration with some rows."""
    people = ODD_PEOPLE if random.random() < _ODD_SHARE else _PEOPLE
    unit_kind = some(random, [*people]) if random.random() < 0.7 else None
    kinds = [some(random, [*(ODD if random.random() < _ODD_SHARE else CELLS)]) for _ in range(random.randint(3, 5))]
    names = [*_NAMES]
    columns = [_column(random, names.pop(random.randrange(len(names))), *kind) for kind in kinds]
    pools = [_pool(random, kind, column) for kind, column in zip(kinds, columns, strict=True)]
    if unit_kind is not None:
        kinds.insert(0, unit_kind)
        columns.insert(0, Column(name="who", type=unit_kind[0], length=3))
        pools.insert(0, [*people[unit_kind], *([None] if random.random() < 0.3 else [])])
    table = Table(name="t", columns=tuple(columns), unit=_unit(random, named=unit_kind is not None))
    rows = tuple(tuple(some(random, pool) for pool in pools) for _ in range(random.randint(1, 6)))
    stranger = None if unit_kind is None else STRANGERS.get(unit_kind[1], 17)
    bundles = tuple(_bundle(random, pools, stranger) for _ in range(3))
    return Declared(table, tuple(found for _, found in kinds), rows, bundles)


def _unit(random: Random, *, named: bool) -> Unit:
    changes: list[Change] = ["add_remove", "replace"]
    change = some(random, changes)
    if not named:
        return Unit(change=change)
    rows = random.randint(1, 4)
    if random.random() < 0.4:
        return Unit(column="who", rows=rows, change=change)
    groups, per_group = random.randint(1, rows), random.randint(1, rows)
    return Unit(column="who", rows=rows, groups=groups, rows_per_group=per_group, change=change)


def _column(random: Random, name: str, kind: Type, found: str) -> Column:
    given: dict[str, Any] = {"nullable": random.random() < 0.65, "length": random.randint(1, 4)}
    if kind in _BOUNDS and random.random() < 0.8:
        given["bounds"] = some(random, _BOUNDS[kind])
        given["resolution"] = _resolution(*given["bounds"], drawn=given["length"])
        if kind is Type.REAL:
            given["step"] = some(random, _STEPS)
    elif kind in _CATEGORIES and random.random() < 0.5:
        listed = _CATEGORIES[kind]
        given["categories"] = listed[: random.randint(1, len(listed))]
    try:
        return Column(name=name, type=kind, **given)
    except InvalidParameter:  # a step that is wider than the bounds
        return Column(name=name, type=kind, **given | {"step": None})


def _resolution(lower: Any, upper: Any, *, drawn: int) -> Fraction | None:
    """Three bins, or a thousand, or as many as there are: by what was drawn for the length, which numbers have not."""
    parts = {1: 3, 2: 1000}.get(drawn)
    return None if parts is None else (Fraction(upper) - Fraction(lower)) / parts


def _pool(random: Random, kind: tuple[Type, str], column: Column) -> Sequence[Cell]:
    """Few values in most tables, so that rows are often alike in some of them; or the bounds and what is between."""
    values = (CELLS | ODD)[kind]
    if column.bounds is not None and kind[1] in _MADE_OF and random.random() < 0.4:
        low, high = column.bounds.lower, column.bounds.upper
        values = [_MADE_OF[kind[1]](one) for one in (low, high, (low + high) / 2, (low + 2 * high) / 3)]
    if random.random() < 0.3:
        return [*values, None]
    few = [some(random, values) for _ in range(3)]
    return [*few, None] if random.random() < 0.5 else few


def _bundle(random: Random, pools: Sequence[Sequence[Cell]], stranger: Cell) -> Rows:
    """Rows of one unit: of one that may be in the table, or of a stranger; one row, if there is no stranger."""
    named = stranger is not None
    rows = [tuple(some(random, pool) for pool in pools) for _ in range(random.randint(1, 4) if named else 1)]
    if not named:
        return tuple(rows)
    who = stranger if random.random() < 0.5 else rows[0][0]
    return tuple((who, *row[1:]) for row in rows)


def plain_cells(declared: Declared, rows: Rows) -> list[tuple[Value, ...]]:
    """Rows for Python's meaning: days and moments beyond its calendar are no values."""
    unit = declared.table.unit.column
    kinds = [
        (name_of if column.name == unit else _plain, column.type, found)
        for column, found in zip(declared.table.columns, declared.found, strict=True)
    ]
    return [
        tuple(read(kind, found, cell) for (read, kind, found), cell in zip(kinds, row, strict=True)) for row in rows
    ]


def _plain(kind: Type, found: str, cell: Cell) -> Value:
    beyond = kind in (Type.DATE, Type.TIMESTAMP) and isinstance(cell, int)
    return None if beyond else plain(kind, found, cell)
