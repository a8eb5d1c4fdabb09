"""The embedded engine within this process, for many small tables."""

from collections.abc import Sequence
from typing import Any

import duckdb

from privately.engines.duckdb.counting import count
from privately.engines.duckdb.emission import program
from privately.engines.duckdb.literals import literal, name
from privately.engines.duckdb.ranking import keyed
from privately.engines.duckdb.stored import Stored
from privately.engines.protocol import Bins
from privately.plans import Aggregation, Table, Type, Value, scan_of

KEY = bytes(range(32))
_AT_ONCE = 250


def connection_with(columns: Sequence[tuple[str, str]], rows: Sequence[Sequence[Any]]) -> Any:
    """A connection with a table `t` of DuckDB types."""
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE t ({', '.join(f'{name(one)} {kind}' for one, kind in columns)})")
    marks = f"({', '.join('?' for _ in columns)})"
    for first in range(0, len(rows), _AT_ONCE):  # one statement for each row takes most of a test's time
        some = rows[first : first + _AT_ONCE]
        connection.execute(
            f"INSERT INTO t VALUES {', '.join([marks] * len(some))}", [one for row in some for one in row]
        )
    return connection


def stored(table: Table, found: Sequence[str]) -> Stored:
    return Stored(table=table, relation="t", names=tuple(column.name for column in table.columns), found=tuple(found))


def hashed(connection: Any) -> Any:
    """DuckDB's keyed hash of one row's values."""

    def one(values: Sequence[tuple[Value, Type]]) -> int:
        texts = [literal(value, kind) for value, kind in values]
        found = connection.execute(f"SELECT {keyed(KEY, texts)}").fetchone()
        return int(found[0])

    return one


def answer(
    aggregation: Aggregation, found: Sequence[str], rows: Sequence[Sequence[Any]]
) -> dict[tuple[Value, ...], tuple[Any, ...]]:
    """The engine's counts, bins as dictionaries."""
    table = scan_of(aggregation.source).table
    with connection_with([(c.name, kind) for c, kind in zip(table.columns, found, strict=True)], rows) as connection:
        counts = count(connection, program(aggregation, stored(table, found), KEY))
    return {
        group: tuple(dict(one) if isinstance(one, Bins) else one for one in numbers)
        for group, numbers in counts.items()
    }
