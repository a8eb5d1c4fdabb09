"""Small tables, all their neighbours, and a plain evaluation of plans to compare the theory with.

Rows of a unit are chosen as an engine chooses them: by a fixed hash of the unit and of the values, never by position.
"""

import hashlib
import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import Any, TypeAlias

from privately.plans import (
    Aggregation,
    BinCounts,
    Column,
    Field,
    Filter,
    Identity,
    Project,
    Relation,
    RowCount,
    Scan,
    StepSum,
    Table,
    Tally,
    Type,
    Unit,
    UnitCount,
    Value,
    scan_of,
)
from privately.plans.meaning import evaluate

Row: TypeAlias = tuple[Value, ...]
Values: TypeAlias = dict[Identity, Value]
Pair: TypeAlias = tuple[list[Row], list[Row]]
Exact: TypeAlias = dict[tuple[Value, ...], Any]

PERSON, GROUP, AMOUNT = (Identity(number=at, name=name) for at, name in enumerate(("person", "part", "amount"), 1))
COLUMNS = (
    Column(name="person", type=Type.INTEGER),
    Column(name="part", type=Type.TEXT, categories=["a", "b"]),
    Column(name="amount", type=Type.INTEGER, bounds=(-10, 10)),
)


def scan(unit: Unit, columns: Sequence[Column] = COLUMNS) -> Scan:
    """The rows (person, part, amount) of a table."""
    return Scan(table=Table(name="t", columns=tuple(columns), unit=unit), identities=(PERSON, GROUP, AMOUNT))


def field(relation: Relation, identity: Identity) -> Field:
    """A value of its rows."""
    return next(one for one in relation.fields if one.identity == identity)


def bundles(rows: int, kinds: Sequence[tuple[Value, ...]]) -> list[list[Row]]:
    """All that person 1 can have: at most so many rows of these kinds."""
    sizes = range(rows + 1)
    return [[(1, *kind) for kind in one] for size in sizes for one in combinations_with_replacement(kinds, size)]


def pairs(change: str, rows: int, kinds: Sequence[tuple[Value, ...]], others: list[Row]) -> Iterator[Pair]:
    """All neighbours among tables with these rows of others: person 1 is there or not, or has other rows."""
    listed = bundles(rows, kinds)
    second = [[]] if change == "add_remove" else listed
    yield from (([*others, *one], [*other, *others]) for one, other in product(listed, second))


def row_pairs(change: str, kinds: Sequence[tuple[Value, ...]], others: list[Row]) -> Iterator[Pair]:
    """The same if a row is protected alone."""
    second: list[list[Row]] = [[]] if change == "add_remove" else [[(7, *kind)] for kind in kinds]
    yield from (([*others, (1, *kind)], [*other, *others]) for kind, other in product(kinds, second))


def exact(aggregation: Aggregation, table: list[Row]) -> list[Exact]:
    """The numbers of each tally, for every group that somebody is in."""
    unit = scan_of(aggregation.source).table.unit
    placed = _limited(unit, aggregation, list(_rows(aggregation.source, table)))
    groups: dict[tuple[Value, ...], list[Values]] = defaultdict(list)
    for key, row in placed:
        if all(one.values is None or value in one.values for one, value in zip(aggregation.keys, key, strict=True)):
            groups[key].append(row)
    return [
        {key: _tally(tally, rows, apart=unit.column is not None) for key, rows in groups.items()}
        for _, tally in aggregation.tallies
    ]


def entries(numbers: Exact) -> Counter[Any]:
    """All of them side by side; bins as entries of their own."""
    found: Counter[Any] = Counter()
    for key, number in numbers.items():
        if isinstance(number, dict):
            found.update({(key, place): count for place, count in number.items()})
        else:
            found[key] = number
    return found


def distances(one: Counter[Any], other: Counter[Any]) -> tuple[int, int, int]:
    """L1, L2 squared, Linf."""
    moved = [abs(one[key] - other[key]) for key in one.keys() | other.keys()]
    return sum(moved), sum(by**2 for by in moved), max(moved, default=0)


def _rows(relation: Relation, table: list[Row]) -> Iterator[Values]:
    """Rows as a relation has them; every value that there was on the way stays, the unit among them."""
    match relation:
        case Scan():
            yield from _scanned(relation, table)
        case Filter():
            yield from (row for row in _rows(relation.source, table) if evaluate(relation.condition, row) is True)
        case Project():
            for row in _rows(relation.source, table):
                yield row | {identity: evaluate(expression, row) for identity, expression in relation.outputs}


def _scanned(relation: Scan, table: list[Row]) -> Iterator[Values]:
    unit = relation.table.unit
    rows = [dict(zip(relation.identities, row, strict=True)) for row in table]
    if unit.column is None:
        yield from rows
        return
    people = defaultdict(list)
    for row in rows:
        if row[PERSON] is not None:
            people[row[PERSON]].append(row)
    for person in people.values():
        yield from sorted(person, key=_rank)[: unit.rows]


def _limited(unit: Unit, aggregation: Aggregation, rows: list[Values]) -> list[tuple[tuple[Value, ...], Values]]:
    """With their groups, and in each unit no more groups, and no more rows in each, than may count."""
    placed = [(tuple(evaluate(key.expression, row) for key in aggregation.keys), row) for row in rows]
    if unit.column is None:
        return placed
    people: dict[Value, dict[Any, list[Values]]] = defaultdict(lambda: defaultdict(list))
    for group, row in placed:
        people[row[PERSON]][group].append(row)
    found = []
    for person, groups in people.items():
        for group in sorted(groups, key=lambda one: _hash((person, one)))[: unit.groups]:
            found += [(group, row) for row in sorted(groups[group], key=_rank)[: unit.rows_per_group]]
    return found


def _rank(row: Values) -> tuple[str, str]:
    values = [row[identity] for identity in sorted(row, key=lambda one: one.number)]
    return _hash(values), repr(values)


def _hash(value: object) -> str:
    return hashlib.sha256(b"a fixed key" + repr(value).encode()).hexdigest()


def _tally(tally: Tally, rows: list[Values], *, apart: bool) -> Any:
    match tally:
        case UnitCount():
            return len({row[PERSON] for row in rows}) if apart else len(rows)
        case RowCount(argument=None):
            return len(rows)
        case RowCount(argument=argument) if argument is not None:
            return sum(evaluate(argument, row) is not None for row in rows)
        case StepSum():
            return sum(_step(tally, evaluate(tally.argument, row)) for row in rows)
        case BinCounts():
            values = [evaluate(tally.argument, row) for row in rows]
            return dict(Counter(_bin(tally, value) for value in values if value is not None))


def _step(tally: StepSum, value: Any) -> int:
    return 0 if value is None else min(max(round(Fraction(value) / tally.step), tally.low), tally.high)


def _bin(tally: BinCounts, value: Any) -> int:
    return min(max(math.floor((Fraction(value) - tally.lower) / tally.width), 0), tally.bins - 1)
