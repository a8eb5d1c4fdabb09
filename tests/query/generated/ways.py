"""The engine's other ways to count: rows chosen or counted in arrays, and a prepared copy. All neighbours at once.

Each way chooses in its own order which rows of a unit count; so its numbers are compared with those of the others only
where a unit has no more rows than it may. What is claimed of them is claimed whatever the order.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, TypeVar

import pyarrow as pa

from privately.engines.duckdb import preparing
from privately.engines.duckdb.binning import histogram_counts
from privately.engines.duckdb.choices import choice_of
from privately.engines.duckdb.choosing import chosen_counts
from privately.engines.duckdb.counting import direct_counts
from privately.engines.duckdb.direct import direct_of
from privately.engines.duckdb.histograms import histogram_of
from privately.engines.duckdb.programs import Choice, Histogram
from privately.engines.protocol import Bins
from privately.plans import Aggregation
from tests.query.generated.counting import KEY, Answered, Numbers, connection, counted_in, every, load, stored
from tests.query.generated.neighbours import units_of
from tests.query.generated.tables import Declared, Rows


def chosen(declared: Declared, aggregation: Aggregation, tables: Sequence[Rows]) -> list[Numbers] | None:
    """The numbers of every table if rows are chosen in arrays; None if this question cannot be asked so."""
    choice = choice_of(aggregation, stored(declared.table, declared.found, "every.variant"), KEY)
    return None if choice is None else _in_arrays(declared, tables, choice, chosen_counts)


def in_one_pass(declared: Declared, aggregation: Aggregation, tables: Sequence[Rows]) -> list[Numbers] | None:
    """The numbers of every table if bins are counted in one pass; None if this question cannot be asked so."""
    histogram = histogram_of(aggregation, stored(declared.table, declared.found, "every.variant"), KEY)
    return None if histogram is None else _in_arrays(declared, tables, histogram, histogram_counts)


def at_once(declared: Declared, aggregation: Aggregation, tables: Sequence[Rows]) -> list[Numbers | None] | None:
    """The numbers of every table if groups are counted at once; None if this question, or this table, cannot be."""
    direct = direct_of(aggregation, stored(declared.table, declared.found, "every.variant"), KEY)
    if direct is None:
        return None
    load(declared, tables)
    text = f"{every(len(tables))} SELECT every.variant, q.* FROM every, LATERAL ({direct.text}) q"
    rows = connection().execute(text).fetchall()
    mine = [Answered([row[1:] for row in rows if row[0] == at]) for at in range(len(tables))]
    counts = [direct_counts(one, direct) for one in mine]
    return [None if one is None else _plain(one) for one in counts]


Way = TypeVar("Way", Choice, Histogram)


def _in_arrays(declared: Declared, tables: Sequence[Rows], way: Way, count: Callable[[Any, Way], Any]) -> list[Numbers]:
    load(declared, tables)
    for statement in way.before:
        connection().execute(statement)
    text = f"{every(len(tables))} SELECT every.variant, q.* FROM every, LATERAL ({way.rows}) q"
    rows: Any = connection().sql(text).to_arrow_table()
    numbers = rows.column("variant").to_pylist()
    found = []
    for at in range(len(tables)):
        mine = rows.filter(pa.array([number == at for number in numbers], pa.bool_())).drop_columns(["variant"])
        found.append(_plain(count(_Given(mine), way)))
    return found


def _plain(counts: Any) -> Numbers:
    return {
        group: tuple(dict(one) if isinstance(one, Bins) else one for one in numbers)
        for group, numbers in counts.items()
    }


@dataclass(frozen=True)
class _Given:
    """What the engine takes for a connection: one that has the rows already."""

    rows: Any

    def execute(self, _: str) -> None: ...

    def sql(self, _: str) -> Self:
        return self

    def to_arrow_reader(self, most: int) -> Any:
        return self.rows.combine_chunks().to_batches(max_chunksize=most)


class _NoFile:
    """A source of which nothing matters."""

    def state(self) -> tuple[str, int, int]:
        return "", 0, 0


def prepared(declared: Declared, aggregation: Aggregation, tables: Sequence[Rows]) -> list[Numbers]:
    """The numbers of every table if they are asked of prepared copies."""
    load(declared, tables)
    source: Any = _NoFile()
    plain = stored(declared.table, declared.found, "every.variant")
    begun = f"CREATE TABLE {preparing.ALIAS}.data AS "
    for statement in preparing.statements(plain, source, KEY):
        text = statement
        if statement.startswith(begun):
            inner = f"SELECT every.variant, q.* FROM every, LATERAL ({statement.removeprefix(begun)}) q"
            text = f"{begun}{every(len(tables))} {inner}"
        connection().execute(text)
    described = connection().execute(f"DESCRIBE {preparing.ALIAS}.data").fetchall()
    copy = preparing.stored_copy(plain, {str(row[0]): str(row[1]) for row in described})
    relation = f"(SELECT * FROM {preparing.ALIAS}.data WHERE data.variant = every.variant)"
    return counted_in(replace(copy, relation=relation), aggregation, len(tables))


def within_limits(declared: Declared, rows: Rows) -> bool:
    """Whether no unit has more rows than it may, so that all of them count."""
    unit = declared.table.unit
    if unit.column is None:
        return True
    counts = Counter(one for one in units_of(declared, rows) if one is not None)
    return max(counts.values(), default=0) <= unit.rows
