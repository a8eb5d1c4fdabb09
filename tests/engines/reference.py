"""The slowest engine: rows as lists, Python's meaning of every function, and nothing clever."""

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from privately.engines.duckdb.scanning import inward
from privately.plans import (
    Aggregation,
    BinCounts,
    Column,
    Filter,
    Identity,
    Relation,
    RowCount,
    Scan,
    StepSum,
    Tally,
    Type,
    UnitCount,
    Value,
    scan_of,
)
from privately.plans.expressions import fields_of
from privately.plans.meaning import STRICT, evaluate
from privately.plans.types import LARGEST_INTEGER

Hash = Callable[[Sequence[tuple[Value, Type]]], int]
"""A keyed hash of typed values, one row at a time."""

_LARGEST_PERSON = 2**53
"""From here on not every whole number has a double of its own."""

Row = tuple[Value, Mapping[Identity, Value]]
"""A unit, and the values of a row."""


def scanned(column: Column, value: Any) -> Value:
    """A value as the column declares it."""
    found = converted(column.type, value)
    if found is None:
        return None
    if column.type is Type.INTEGER:
        found = _whole(column, found)
    elif column.type is Type.REAL and column.bounds is not None:
        low, high = inward(column.bounds)
        found = min(max(found, low), high)
    elif column.type is Type.TEXT:
        found = found[: column.length]
    return found if column.categories is None or found in column.categories else None


def _whole(column: Column, found: Any) -> Value:
    if isinstance(found, float):
        if column.bounds is not None:
            low, high = inward(column.bounds)
            found = min(max(found, low), high)
        found = STRICT["to_integer"](found)
    elif column.bounds is not None:
        found = min(max(found, int(column.bounds.lower)), int(column.bounds.upper))
    return found if found is not None and abs(found) < LARGEST_INTEGER else None


def converted(kind: Type, value: Any) -> Any:
    """A value of a type, not yet brought within anything."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, str) and kind is not Type.TEXT:
        if kind is Type.BOOLEAN:
            return {"true": True, "t": True, "1": True, "false": False, "f": False, "0": False}.get(value.lower())
        return STRICT[f"to_{kind.value}"](value)
    if value is None or kind is Type.INTEGER:
        return value
    return STRICT[f"to_{kind.value}"](value) if kind in (Type.REAL, Type.DATE, Type.TIMESTAMP) else value


def person(kind: Type, value: Any) -> Any:
    """To whom a row belongs: a text that is declared as something else has one spelling, a double is a whole number."""
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) < _LARGEST_PERSON else None
    found = converted(kind, value)
    return found if not isinstance(value, str) or str(found) == value else None


def run(
    aggregation: Aggregation, rows: Sequence[Sequence[Any]], hashed: Hash
) -> dict[tuple[Value, ...], tuple[Any, ...]]:
    """What any engine must answer; bins as dictionaries."""
    unit = scan_of(aggregation.source).table.unit
    found = _relation(aggregation.source, rows, hashed, aggregation)
    keyed = [
        (one, tuple(evaluate(key.expression, values) for key in aggregation.keys), values) for one, values in found
    ]
    keyed = [
        (one, group, values)
        for one, group, values in keyed
        if all(key.values is None or value in key.values for key, value in zip(aggregation.keys, group, strict=True))
    ]
    if unit.column is not None:
        keyed = _limited(aggregation, keyed, hashed)
    groups: dict[tuple[Value, ...], list[Row]] = {}
    for one, group, values in keyed:
        groups.setdefault(group, []).append((one, values))
    return {
        group: tuple(_tally(tally, members, unit.column) for _, tally in aggregation.tallies)
        for group, members in groups.items()
    }


def _relation(relation: Relation, rows: Sequence[Sequence[Any]], hashed: Hash, aggregation: Aggregation) -> list[Row]:
    if isinstance(relation, Scan):
        return _scan(relation, rows, hashed, aggregation)
    source = _relation(relation.source, rows, hashed, aggregation)
    if isinstance(relation, Filter):
        return [(unit, values) for unit, values in source if evaluate(relation.condition, values) is True]
    return [
        (unit, {identity: evaluate(expression, values) for identity, expression in relation.outputs})
        for unit, values in source
    ]


def _scan(scan: Scan, rows: Sequence[Sequence[Any]], hashed: Hash, aggregation: Aggregation) -> list[Row]:
    table = scan.table
    found: list[Row] = []
    names = [column.name for column in table.columns]
    for row in rows:
        values = {
            identity: scanned(column, value)
            for identity, column, value in zip(scan.identities, table.columns, row, strict=True)
        }
        place = None if table.unit.column is None else names.index(table.unit.column)
        unit = None if place is None else person(table.columns[place].type, row[place])
        if place is None or unit is not None:
            found.append((unit, values))
    if table.unit.column is None:
        return found
    used = [identity for identity in scan.identities if identity in used_in(aggregation)]
    kinds = {identity: column.type for identity, column in zip(scan.identities, table.columns, strict=True)}
    kind = table.columns[names.index(table.unit.column)].type
    order = sorted(found, key=lambda row: hashed([(row[0], kind), *((row[1][one], kinds[one]) for one in used)]))
    return _in_a_circle(order, lambda row: [(row[0], kind)], table.unit.rows, hashed)


def _in_a_circle(rows: list[Any], owner: Callable[[Any], list[Any]], most: int, hashed: Hash) -> list[Any]:
    """So many rows of each owner that follow one another, from one on that a hash tells."""
    owned: dict[int, list[Any]] = {}
    for row in rows:
        owned.setdefault(hashed(owner(row)), []).append(row)
    return [
        row
        for first, own in owned.items()
        for place, row in enumerate(own)
        if (place + first % len(own)) % len(own) < most
    ]


def _first(rows: list[Any], owner: Callable[[Any], Any], most: int) -> list[Any]:
    seen: dict[Any, int] = {}
    kept = []
    for row in rows:
        seen[owner(row)] = seen.get(owner(row), 0) + 1
        if seen[owner(row)] <= most:
            kept.append(row)
    return kept


def _limited(aggregation: Aggregation, rows: list[Any], hashed: Hash) -> list[Any]:
    scan = scan_of(aggregation.source)
    unit = scan.table.unit
    kind = next(column.type for column in scan.table.columns if column.name == unit.column)
    kinds = [key.expression.known.type for key in aggregation.keys]

    def of_group(row: Any) -> int:
        return hashed([(row[0], kind), *zip(row[1], kinds, strict=True)])

    def of_row(row: Any) -> int:
        added = [
            (_added(tally, row[2]), _added_type(tally))
            for _, tally in aggregation.tallies
            if not isinstance(tally, UnitCount) and tally.argument is not None
        ]
        return hashed([(row[0], kind), *zip(row[1], kinds, strict=True), *added])

    def of_unit(row: Any) -> list[Any]:
        return [(row[0], kind), *zip(row[1], kinds, strict=True)]

    if aggregation.keys and unit.groups < unit.rows:
        pairs = sorted({(row[0], row[1]): of_group(row) for row in rows}.items(), key=lambda pair: pair[1])
        kept = set(_first([pair for pair, _ in pairs], lambda pair: pair[0], unit.groups))
        rows = [row for row in rows if (row[0], row[1]) in kept]
    if unit.rows_per_group < unit.rows:
        rows = _in_a_circle(sorted(rows, key=of_row), of_unit, unit.rows_per_group, hashed)
    return rows


def used_in(aggregation: Aggregation) -> set[Identity]:
    found: set[Identity] = set()
    relation = aggregation.source
    while not isinstance(relation, Scan):
        texts = [relation.condition] if isinstance(relation, Filter) else [one for _, one in relation.outputs]
        found = found.union(*(fields_of(one) for one in texts))
        relation = relation.source
    found = found.union(*(fields_of(key.expression) for key in aggregation.keys))
    for _, tally in aggregation.tallies:
        if not isinstance(tally, UnitCount) and tally.argument is not None:
            found |= fields_of(tally.argument)
    return found


def _added(tally: Tally, values: Mapping[Identity, Value]) -> Any:
    assert not isinstance(tally, UnitCount)
    assert tally.argument is not None
    value: Any = evaluate(tally.argument, values)
    if value is None or isinstance(tally, RowCount):
        return value
    return steps(tally, value) if isinstance(tally, StepSum) else bin_of(tally, value)


def _added_type(tally: Tally) -> Type:
    assert (isinstance(tally, RowCount) and tally.argument is not None) or isinstance(tally, (StepSum, BinCounts))
    return tally.argument.known.type if isinstance(tally, RowCount) and tally.argument else Type.INTEGER


def steps(tally: StepSum, value: float) -> int:
    """A number in steps, within the bounds."""
    if isinstance(value, float):
        product = value * float(1 / tally.step)
        number = round(product) if abs(product) < 2.0**62 else tally.high if product > 0 else tally.low
    else:
        number = math.floor(Fraction(value) / tally.step + Fraction(1, 2)) if tally.step != 1 else value
    return min(max(number, tally.low), tally.high)


def bin_of(tally: BinCounts, value: float) -> int:
    """The number of the bin that holds a number."""
    if isinstance(value, float):
        place = (value - float(tally.lower)) * float(1 / tally.width)
        if not 0 <= place < tally.bins:
            return 0 if place < 0 else tally.bins - 1
        return math.floor(place)
    return min(max(math.floor((value - tally.lower) / tally.width), 0), tally.bins - 1)


def _tally(tally: Tally, rows: list[Row], unit: str | None) -> Any:
    if isinstance(tally, UnitCount):
        return len(rows) if unit is None else len({one for one, _ in rows})
    if isinstance(tally, RowCount) and tally.argument is None:
        return len(rows)
    added = [one for one in (_added(tally, values) for _, values in rows) if one is not None]
    if isinstance(tally, RowCount):
        return len(added)
    return sum(added) if isinstance(tally, StepSum) else {place: added.count(place) for place in added}
