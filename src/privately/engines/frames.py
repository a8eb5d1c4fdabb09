"""Answers as tables of other libraries, and small tables of theirs as plain values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from privately.plans import Value


def arrow_table(columns: Sequence[str], rows: Sequence[Sequence[Value]]) -> Any:
    """A pyarrow table; None is NULL, and the types are those of the values."""
    import pyarrow as pa

    return pa.table({name: pa.array([row[at] for row in rows]) for at, name in enumerate(columns)})


def plain_rows(data: Any) -> tuple[tuple[str, ...], tuple[tuple[Value, ...], ...]]:
    """The names and the rows of a table of any library that hands out Arrow streams, in values of Python."""
    import pyarrow as pa

    table = pa.table(data)
    columns = [column.to_pylist() for column in table.columns]
    return tuple(table.column_names), tuple(zip(*columns, strict=True))
