"""Columns of types beside the usual ones: small and unsigned numbers, decimals, UUIDs, categories, other instants."""

from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa

from privately.plans import Type, Value

CATEGORIES = "ENUM('a', 'b', 'it''s', '', 'é', '12', 'true', '2024-02-29', 'abcd', 'abce')"
_WORDS = ["a", "a", "b", "it's", "", "é", "12", "true", "2024-02-29", "abcd"]
_UUIDS = ["00000000-0000-0000-0000-000000000000", "12345678-9abc-def0-1234-56789abcdef0"]
_UUIDS += ["12345678-9abc-def0-1234-56789abcdef1", "ffffffff-ffff-ffff-ffff-ffffffffffff"]
_MONEY = [Decimal(one) for one in ("0.00", "0.01", "-0.01", "1.50", "2.50", "99.99", "-9999999.99", "9999999.99")]
_FLOATS = [0.0, -0.0, 0.5, 1.5, 2.5, 0.10000000149011612, 1e30, float("nan"), float("inf"), 16777216.0]
_MOMENTS = [datetime(1970, 1, 1), datetime(2024, 2, 29, 12, 30), datetime(2024, 2, 29, 23, 59, 59)]
_MOMENTS += [datetime(1969, 12, 31, 23, 59, 59), datetime(2200, 1, 1)]
_FAR = [datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59), 3_000_000 * 86_400 * 10**6, 2**63 - 1]

ODD: dict[tuple[Type, str], Sequence[Any]] = {
    (Type.INTEGER, "TINYINT"): [0, 1, 1, -1, 127, -128],
    (Type.INTEGER, "UTINYINT"): [0, 1, 1, 2, 255],
    (Type.INTEGER, "SMALLINT"): [0, 1, 7, 32767, -32768],
    (Type.INTEGER, "USMALLINT"): [0, 1, 7, 65535],
    (Type.INTEGER, "INTEGER"): [0, 1, 7, 2**31 - 1, -(2**31)],
    (Type.INTEGER, "UINTEGER"): [0, 1, 7, 2**32 - 1],
    (Type.INTEGER, "UBIGINT"): [0, 1, 7, 2**62 - 1, 2**62, 2**63, 2**64 - 1],
    (Type.INTEGER, "HUGEINT"): [0, 1, -7, 2**62, -(2**62), 2**100, 2**127 - 1, -(2**127) + 1],
    (Type.INTEGER, "UHUGEINT"): [0, 1, 7, 2**64, 2**128 - 1],
    (Type.INTEGER, "FLOAT"): _FLOATS,
    (Type.INTEGER, "DECIMAL(9,2)"): _MONEY,
    (Type.INTEGER, "DECIMAL(20,0)"): [0, 1, -7, 10**19, -(10**19), 2**62],
    (Type.INTEGER, CATEGORIES): _WORDS,
    (Type.REAL, "FLOAT"): _FLOATS,
    (Type.REAL, "DECIMAL(9,2)"): _MONEY,
    (Type.REAL, "UTINYINT"): [0, 1, 255],
    (Type.REAL, "UBIGINT"): [0, 1, 2**63, 2**53],
    (Type.REAL, "HUGEINT"): [0, 1, -(2**100), 2**126],
    (Type.TEXT, "UUID"): _UUIDS,
    (Type.TEXT, CATEGORIES): _WORDS,
    (Type.TEXT, "BIGINT"): [0, 1, -12, 2**63 - 1],
    (Type.TEXT, "UBIGINT"): [0, 12, 2**64 - 1],
    (Type.BOOLEAN, CATEGORIES): _WORDS,
    (Type.DATE, CATEGORIES): _WORDS,
    (Type.DATE, "TIMESTAMP"): [*_MOMENTS, *_FAR],
    (Type.DATE, "TIMESTAMP WITH TIME ZONE"): [*_MOMENTS, *_FAR],
    (Type.TIMESTAMP, "TIMESTAMP_S"): _MOMENTS,
    (Type.TIMESTAMP, "TIMESTAMP_MS"): _MOMENTS,
    (Type.TIMESTAMP, "TIMESTAMP_NS"): _MOMENTS,
    (Type.TIMESTAMP, "TIMESTAMP WITH TIME ZONE"): [*_MOMENTS, *_FAR],
    (Type.TIMESTAMP, "TIMESTAMPTZ_NS"): _MOMENTS,
}
"""What may be stored in a column, by what it is declared as and by its DuckDB type."""

ODD_PEOPLE: dict[tuple[Type, str], Sequence[Any]] = {
    (Type.INTEGER, "UTINYINT"): [1, 1, 2, 255],
    (Type.INTEGER, "UBIGINT"): [1, 1, 2, 2**63 + 1, 2**63 + 2],
    (Type.INTEGER, "HUGEINT"): [1, 1, 2**100, 2**100 + 1],
    (Type.INTEGER, "DECIMAL(20,0)"): [1, 1, 2**60, 2**60 + 1, 10**19],
    (Type.INTEGER, "UHUGEINT"): [1, 1, 2**62, 2**62 + 1, 2**127, 2**128 - 1],
    (Type.INTEGER, "SMALLINT"): [1, 1, -1, 32767, -32768],
    (Type.TEXT, "UUID"): [_UUIDS[1], _UUIDS[1], _UUIDS[2]],
    (Type.TEXT, CATEGORIES): ["abcd", "abcd", "abce", ""],
    (Type.TEXT, "BIGINT"): [1234, 1234, 1235, 12],
}
"""Names of people of such types, some alike in all but what rounding or cutting would leave."""

STRANGERS = {CATEGORIES: "b", "UUID": _UUIDS[3], "VARCHAR": "17"}
"""Somebody who is in no table, where it is not the number 17."""

_UNITS = {"TIMESTAMP_S": "s", "TIMESTAMP_MS": "ms", "TIMESTAMP_NS": "ns", "TIMESTAMPTZ_NS": "ns"}
_TICKS = {"s": 10**6, "ms": 10**3}


def plain(kind: Type, found: str, cell: Any) -> Value:
    """A cell for Python's meaning: decimals with a fraction are doubles, numbers that are declared as text are texts.

    What 128 bits do not hold with a sign is no number.
    """
    if found == "UHUGEINT" and cell is not None and cell >= 2**127:
        return None
    if isinstance(cell, Decimal):
        return float(cell)
    if kind is Type.TEXT and isinstance(cell, int):
        return str(cell)
    return cell  # type: ignore[no-any-return]


def name_of(kind: Type, found: str, cell: Any) -> Value:
    """A cell that names people, likewise: whole numbers that 64 bits do not hold are nobody.

    Of unsigned ones the upper half are taken for negative ones, which as values are as far out as themselves.
    """
    if kind is not Type.INTEGER or not isinstance(cell, int) or -(2**63) <= cell < 2**63:
        return plain(kind, found, cell)
    return cell - 2**64 if found == "UBIGINT" else None


def is_odd(found: str) -> bool:
    """Whether Arrow has no such type by itself, or another one."""
    return any(found == one for _, one in ODD) and found not in ("BIGINT", "DOUBLE", "TIMESTAMP")


def array(cells: Sequence[Any], found: str) -> Any:
    """The cells for DuckDB, which casts them to the type."""
    if found == "TIMESTAMP WITH TIME ZONE":
        return pa.array([_microseconds(one) for one in cells], pa.int64()).cast(pa.timestamp("us", tz="UTC"))
    if found in _UNITS:
        unit = _UNITS[found]
        ticks = [None if one is None else _in(unit, _microseconds(one)) for one in cells]
        return pa.array(ticks, pa.int64()).cast(pa.timestamp(unit))
    if found == "FLOAT":
        return pa.array(cells, pa.float32())
    return pa.array([None if one is None else str(one) for one in cells], pa.string())


def _microseconds(moment: Any) -> Any:
    if not isinstance(moment, datetime):
        return moment
    passed = moment.replace(tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)
    return (passed.days * 86_400 + passed.seconds) * 10**6 + passed.microseconds


def _in(unit: str, microseconds: int) -> int:
    return microseconds * 1000 if unit == "ns" else microseconds // _TICKS[unit]
