"""The same rows as frames of several libraries, texts as dictionaries and categories: the same numbers come of them."""

from collections.abc import Callable
from random import Random
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from privately.engines.duckdb.counting import count
from privately.engines.duckdb.emission import program
from privately.engines.duckdb.sources import frame
from privately.engines.duckdb.stored import Stored
from privately.engines.protocol import Bins
from privately.plans import Aggregation
from tests.query.generated.cases import Case, drawn
from tests.query.generated.counting import KEY, Numbers, array, counted
from tests.query.generated.tables import Rows

SEEDS = range(24)
MOST_TABLES = 4


def _dictionaries(table: pa.Table) -> Any:
    columns = [one.dictionary_encode() if pa.types.is_string(one.type) else one for one in table.columns]
    return pa.table(columns, names=table.column_names)


def _pandas(table: pa.Table) -> Any:
    """Numbers as Arrow's own types, for NumPy has no missing ones."""
    made = table.to_pandas(types_mapper=pd.ArrowDtype)
    texts = [name for name, one in zip(table.column_names, table.columns, strict=True) if pa.types.is_string(one.type)]
    return made.astype(dict.fromkeys(texts, "category"))


def _polars(table: pa.Table) -> Any:
    return pl.DataFrame(table).with_columns(pl.col(pl.String).cast(pl.Categorical))


def _fixed_polars(table: pa.Table) -> Any:
    words = sorted({word for one in table.columns if pa.types.is_string(one.type) for word in one.to_pylist() if word})
    return pl.DataFrame(table).with_columns(pl.col(pl.String).cast(pl.Enum(["", *words])))


LIBRARIES: dict[str, Callable[[Any], Any]] = {
    "pyarrow": _dictionaries,
    "pandas": _pandas,
    "polars": _polars,
    "polars with a list": _fixed_polars,
}


def written(case: Case, rows: Rows) -> pa.Table:
    """The rows with the columns' own names."""
    names = [column.name for column in case.declared.table.columns]
    cells = [[row[at] for row in rows] for at in range(len(names))]
    return pa.table([array(one, found) for one, found in zip(cells, case.declared.found, strict=True)], names=names)


def counted_in_frame(case: Case, aggregation: Aggregation, data: Any) -> Numbers:
    """The numbers of a frame, read as the engine reads one."""
    source, table = frame(data), case.declared.table
    with duckdb.connect() as connection:
        described = connection.execute(f"DESCRIBE SELECT * FROM {source.relation}").fetchall()
        found = {name: kind for name, kind, *_ in described}
        names = tuple(column.name for column in table.columns)
        kinds = tuple(found[one] for one in names)
        stored = Stored(table=table, relation=source.relation, names=names, found=kinds)
        counts = count(connection, program(aggregation, stored, KEY))
    return {
        group: tuple(dict(one) if isinstance(one, Bins) else one for one in numbers)
        for group, numbers in counts.items()
    }


def usual(case: Case) -> bool:
    """Whether Arrow has all types of the table, and some column is a text."""
    here = {"VARCHAR", "BIGINT", "DOUBLE", "DATE", "BOOLEAN"}
    return case.question is not None and here.issuperset(case.declared.found) and "VARCHAR" in case.declared.found


@pytest.mark.parametrize("library", LIBRARIES)
def test_frames_of_all_libraries_are_the_same_table(library: str) -> None:
    tried = 0
    for seed in SEEDS:
        case = drawn(Random(seed))
        if case.question is None or not usual(case):
            continue
        tables, aggregation = case.tables[:MOST_TABLES], case.question.aggregation
        for rows, expected in zip(tables, counted(case.declared, aggregation, tables), strict=True):
            made = LIBRARIES[library](written(case, rows))
            assert counted_in_frame(case, aggregation, made) == expected, f"{case}\n{rows}"
            tried += 1
    assert tried >= 10
