"""The embedded engine in this process, over all neighbours of a table at once.

The text is the engine's own, with one change: it reads the rows of one table out of many, and stands behind LATERAL, so
that DuckDB answers it for each table apart. The tests hold this against the engine as it is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import cache
from typing import Any, Self, TypeAlias

import pyarrow as pa

from privately.engines.duckdb import preparing
from privately.engines.duckdb.binning import grouped
from privately.engines.duckdb.connection import Setup, connect
from privately.engines.duckdb.counting import count
from privately.engines.duckdb.emission import program
from privately.engines.duckdb.literals import literal, name, whole
from privately.engines.duckdb.ranking import keyed
from privately.engines.duckdb.stored import Stored
from privately.engines.protocol import Bins
from privately.plans import Aggregation, Table, Type, Value
from tests.query.generated import odd_types
from tests.query.generated.tables import Cell, Declared, Rows

Numbers: TypeAlias = dict[tuple[Value, ...], tuple[Any, ...]]
"""For every group that has rows, what each tally counts; bins as dictionaries."""

KEY = bytes(range(32))
ALL = "tables"
_ARROW = {"BIGINT": pa.int64(), "DOUBLE": pa.float64(), "VARCHAR": pa.string(), "BOOLEAN": pa.bool_()}
_DAY_ZERO, _TIME_ZERO = date(1970, 1, 1), datetime(1970, 1, 1)


@cache
def connection() -> Any:
    """One connection for all cases of this process, with the settings of the engine."""
    return connect(Setup(memory=2**30, threads=1, written=(":memory:", preparing.ALIAS)))


def load(declared: Declared, tables: Sequence[Rows]) -> None:
    """All tables as one, with the number of each."""
    numbers = [at for at, rows in enumerate(tables) for _ in rows]
    rows = [row for rows in tables for row in rows]
    arrays = [pa.array(numbers, pa.int32())]
    arrays += [array([row[at] for row in rows], found) for at, found in enumerate(declared.found)]
    names = ["variant", *(f"f{at}" for at in range(len(declared.found)))]
    connection().register("given", pa.table(arrays, names=names))
    cast = [f"CAST(f{at} AS {found}) AS f{at}" for at, found in enumerate(declared.found)]
    connection().execute(f"CREATE OR REPLACE TEMP TABLE {ALL} AS SELECT {', '.join(['variant', *cast])} FROM given")
    connection().unregister("given")


def array(cells: Sequence[Cell], found: str) -> Any:
    if odd_types.is_odd(found):
        return odd_types.array(cells, found)
    if found == "DATE":
        return pa.array([one if one is None or isinstance(one, int) else _days(one) for one in cells], pa.int32()).cast(
            pa.date32()
        )
    if found == "TIMESTAMP":
        return pa.array(
            [one if one is None or isinstance(one, int) else _ticks(one) for one in cells], pa.int64()
        ).cast(pa.timestamp("us"))
    return pa.array(cells, _ARROW[found])


def _days(day: date) -> int:
    return (day - _DAY_ZERO).days


def _ticks(moment: datetime) -> int:
    passed = moment - _TIME_ZERO
    return (passed.days * 86_400 + passed.seconds) * 10**6 + passed.microseconds


def stored(table: Table, found: Sequence[str], number: str) -> Stored:
    """One of the tables, by its number."""
    listed = ", ".join(f"f{at} AS {name(column.name)}" for at, column in enumerate(table.columns))
    relation = f"(SELECT {listed} FROM {ALL} WHERE {ALL}.variant = {number})"
    return Stored(table=table, relation=relation, names=tuple(one.name for one in table.columns), found=tuple(found))


@dataclass(frozen=True)
class Texts:
    """What is asked of the engine for all tables: rows in groups, the groups of these, and each tally in bins."""

    first: str
    groups: str
    bins: tuple[tuple[Any, str], ...]


def texts(source: Stored, aggregation: Aggregation) -> Texts:
    """The texts of the engine, for every table apart."""
    made = program(aggregation, source, KEY)
    begun = "SELECT * FROM (SELECT "
    assert made.groups.startswith(begun), "the engine writes something new: its groups need the number of the table"
    return Texts(
        first=f"SELECT every.variant, q.* FROM every, LATERAL ({made.first}) q",
        groups=f"{begun}variant, {made.groups.removeprefix(begun)}",
        bins=tuple((one, f"SELECT every.variant, q.* FROM every, LATERAL ({one.grouped}) q") for one in made.bins),
    )


def counted(declared: Declared, aggregation: Aggregation, tables: Sequence[Rows]) -> list[Numbers]:
    """The whole numbers of every table."""
    load(declared, tables)
    return counted_in(stored(declared.table, declared.found, "every.variant"), aggregation, len(tables))


def every(tables: int) -> str:
    """The beginning of a text that is about so many tables."""
    return f"WITH every(variant) AS (VALUES {', '.join(f'({at})' for at in range(tables))})"


def counted_in(source: Stored, aggregation: Aggregation, tables: int) -> list[Numbers]:
    """The same of tables that are loaded."""
    asked = texts(source, aggregation)
    answer = connection().execute(f"{every(tables)}, grouped AS MATERIALIZED ({asked.first}) {asked.groups}")
    names = [one[0] for one in answer.description]
    found: list[Numbers] = [{} for _ in range(tables)]
    raws: list[dict[Any, Any]] = [{} for _ in range(tables)]
    nothing: list[Any] = [0 if f"t{at}" in names else {} for at in range(len(aggregation.tallies))]
    for row in answer.fetchall():
        cells = dict(zip(names, row, strict=True))
        raw, group = (tuple(cells[f"{word}{at}"] for at in range(len(aggregation.keys))) for word in "gk")
        raws[cells["variant"]][raw] = group
        before = found[cells["variant"]].get(group, nothing)
        found[cells["variant"]][group] = tuple(
            one + cells[f"t{at}"] if f"t{at}" in names else one for at, one in enumerate(before)
        )
    for one, text in asked.bins:
        rows = connection().execute(f"{every(tables)} {text}").fetchall()
        for number, numbers in enumerate(found):
            mine = Answered([tuple(row[1:]) for row in rows if row[0] == number])
            bins = grouped(mine, one, raws[number])
            for group, before in numbers.items():
                numbers[group] = (*before[: one.place], dict(bins.get(group, {})), *before[one.place + 1 :])
    return found


@dataclass(frozen=True)
class Answered:
    """What the engine's own reader of bins takes for a connection: one that has the rows already."""

    rows: list[tuple[Any, ...]]

    def execute(self, _: str) -> Self:
        return self

    def fetchmany(self, most: int) -> list[tuple[Any, ...]]:
        found = self.rows[:most]
        del self.rows[:most]
        return found


def counted_by_engine(declared: Declared, aggregation: Aggregation, number: int) -> Numbers:
    """The same of one of the loaded tables, by the engine as it is."""
    made = program(aggregation, stored(declared.table, declared.found, str(number)), KEY)
    return {
        group: tuple(dict(one) if isinstance(one, Bins) else one for one in numbers)
        for group, numbers in count(connection(), made).items()
    }


def _constant(value: Value, kind: Type) -> str:
    """As text; the number of a person may be longer than others."""
    return whole(value) if isinstance(value, int) and value >= 2**63 else literal(value, kind)


class Hashes:
    """DuckDB's keyed hash of one row's values, asked for many rows at once and remembered."""

    def __init__(self) -> None:
        self.known: dict[str, int] = {}
        self.wanted: dict[str, None] = {}

    def __call__(self, values: Sequence[tuple[Value, Type]]) -> int:
        text = keyed(KEY, [_constant(value, kind) for value, kind in values])
        if text not in self.known:
            self.wanted[text] = None
        return self.known.get(text, 0)

    def ask(self) -> bool:
        """Finds out what was wanted and not known; whether there was anything."""
        listed = list(self.wanted)
        if listed:
            (found,) = connection().execute(f"SELECT {', '.join(listed)}").fetchall()
            self.known.update(zip(listed, found, strict=True))
        self.wanted.clear()
        return bool(listed)
