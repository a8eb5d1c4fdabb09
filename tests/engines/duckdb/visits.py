"""A small table of visits, declared, and questions about it."""

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import duckdb

from privately.plans import (
    Aggregation,
    BinCounts,
    Column,
    Field,
    Identity,
    Key,
    RowCount,
    Scan,
    StepSum,
    Table,
    Tally,
    Unit,
    UnitCount,
)

WARDS = ("a", "b", "c")
ROWS = (
    ("ann", "a", 10.0, 30),
    ("ann", "a", 20.0, 31),
    ("ann", "b", 2000.0, 32),
    ("bob", "b", float("nan"), 33),
    ("bob", "z", -5.0, 34),
    (None, "a", 7.0, 35),
    ("eve", None, None, 300),
)


def visits(unit: Unit | None = None) -> Table:
    columns = (
        Column(name="who", type="text", length=20),
        Column(name="ward", type="text", categories=WARDS),
        Column(name="cost", type="real", bounds=(0, 1000)),
        Column(name="age", type="integer", bounds=(0, 120)),
    )
    return Table(name="visits", columns=columns, unit=unit or Unit())


def written(path: Path, rows: Sequence[tuple[object, ...]] = ROWS) -> Path:
    """The rows as a Parquet file."""
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t (who VARCHAR, ward VARCHAR, cost DOUBLE, age INTEGER)")
        connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", [list(row) for row in rows])
        connection.execute(f"COPY t TO '{path}' (FORMAT parquet)")
    return path


def asking(table: Table, *tallies: Tally, by: str | None = "ward") -> Aggregation:
    scan = Scan(
        table=table, identities=tuple(Identity(number=n, name=column.name) for n, column in enumerate(table.columns))
    )
    keys = tuple(
        Key(identity=Identity(number=50, name=one.identity.name), expression=one)
        for one in scan.fields
        if one.identity.name == by
    )
    named = tuple((Identity(number=60 + place, name="n"), tally) for place, tally in enumerate(tallies))
    return Aggregation(source=scan, keys=keys, tallies=named)


def column(table: Table, name: str) -> Field:
    place = [one.name for one in table.columns].index(name)
    return Field(Identity(number=place, name=name), table.columns[place].known)


def everything(table: Table, by: str | None = "ward") -> Aggregation:
    """All tallies at once."""
    cost = column(table, "cost")
    step = table.columns[2].step
    assert step is not None
    return asking(
        table,
        RowCount(),
        RowCount(argument=cost),
        StepSum(argument=cost, step=step, low=0, high=int(1000 / step)),
        StepSum(argument=cost, step=step, low=5, high=int(100 / step)),
        StepSum(argument=cost, step=Fraction(1, 100), low=0, high=100_000),
        StepSum(argument=column(table, "age"), step=Fraction(1), low=0, high=120),
        UnitCount(),
        BinCounts(argument=cost, lower=Fraction(0), width=Fraction(1000, 2**16), bins=2**16),
        BinCounts(argument=column(table, "age"), lower=Fraction(0), width=Fraction(10), bins=12),
        by=by,
    )
