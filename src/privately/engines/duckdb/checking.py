"""What the owner is told of a table: whether it can be read as declared, and exactly how many values do not fit."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from privately.engines.duckdb.literals import literal, name, text
from privately.engines.duckdb.people import keeps_apart
from privately.engines.duckdb.scanning import converted, fits, fitting, inward, rounds
from privately.engines.duckdb.stored import Stored
from privately.engines.protocol import ColumnReport, TableReport
from privately.errors import InvalidParameter
from privately.plans import Column, Table, Type

_QUOTED = re.compile(r"\"(?:[^\"]|\"\")*\"|'(?:[^']|'')*'")
_COLLATION = re.compile(r"\bCOLLATE\b", re.IGNORECASE)


def stored_of(table: Table, relation: str, found: Mapping[str, str]) -> Stored:
    """A table in a source that has these columns of these DuckDB types; an error says what is missing or unfit."""
    by_name = {one.casefold(): one for one in found}
    names, types = [], []
    for column in table.columns:
        actual = by_name.get(column.name.casefold())
        if actual is None:
            listed = ", ".join(list(found)[:20])
            raise InvalidParameter("columns", f"there is no column {column.name}.", hint=f"There are: {listed}.")
        if not fits(column, found[actual]):
            kind, natural = found[actual].partition("(")[0], fitting(found[actual])
            hint = "Leave it out: nothing can be asked of it." if natural is None else f"Declare it as {natural.value}."
            told = f"{column.name} holds {kind}, which is not {column.type.value}."
            raise InvalidParameter("columns", told, hint=hint)
        if column.name != table.unit.column and rounds(column, found[actual]):
            told = f"{column.name} holds {found[actual]}, which rounds large whole numbers."
            hint = 'Declare bounds below 2^53 (2^24 for FLOAT), or keep whole numbers: in pandas, .astype("Int64").'
            raise InvalidParameter("columns", told, hint=hint)
        if column.name == table.unit.column and not keeps_apart(column.type, found[actual]):
            told = f"{column.name} holds {found[actual].partition('(')[0]}, declared as {column.type.value}:"
            hint = "Name people by whole numbers, texts or dates, declared as what they are (pandas: .astype('Int64'))."
            raise InvalidParameter("unit", f"{told} several people could become one.", hint=hint)
        names.append(actual)
        types.append(found[actual])
    return Stored(table=table, relation=relation, names=tuple(names), found=tuple(types))


def kept_text(database: str, table: str) -> list[str]:
    """Looks up how a table of a database was made, and those of its columns that are computed when they are read."""
    tables = f"database_name = {text(database)} AND schema_name = 'main' AND lower(table_name) = lower({text(table)})"
    columns = f"table_catalog = {text(database)} AND table_schema = 'main' AND lower(table_name) = lower({text(table)})"
    return [
        f"SELECT sql FROM duckdb_tables() WHERE {tables}",
        f"SELECT column_name FROM information_schema.columns WHERE {columns} AND is_generated <> 'NEVER'",
    ]


def check_kept(table: str, tables: Sequence[Any], computed: Sequence[Any]) -> None:
    """Passes if what is read is kept, and texts are equal only if they are the same.

    Rows of a view may depend on all others, and computing a column may fail. Under a collation 'a' and 'A' can be one
    group and one person, called whatever the engine met first: a row could rename the rows of others.
    """
    hint = "Make a table of it first: CREATE TABLE ... AS SELECT ..."
    if not tables:
        raise InvalidParameter("table", f"{table} is a view, no table.", hint=hint)
    if computed:
        raise InvalidParameter("table", f"{table} computes its column {computed[0][0]} when it is read.", hint=hint)
    if any(_COLLATION.search(_QUOTED.sub("", str(made))) for (made,) in tables):
        plain = "CREATE TABLE plain AS SELECT * REPLACE (decode(encode(ward)) AS ward) FROM visits."
        raise InvalidParameter(
            "table",
            f"{table} has a column with a collation, by which different texts are equal.",
            hint=f"Drop it: {plain}",
        )


def reading_text(stored: Stored) -> str:
    """Reads every cell of every declared column, so that whatever a reader stumbles over shows.

    What is counted on the way are rows, cells, values of texts that are declared as something else, doubles that are no
    numbers, and named units.
    """
    counted = [f"count({name(one)})" for one in stored.names]
    counted += [f"count(({stored.value(place)}))" for place in _converted(stored)]
    counted += [f"count(*) FILTER (NOT isfinite({cell}))" for cell in _doubles(stored).values()]
    counted += [] if stored.unit is None else [f"count(({stored.unit}))"]
    return f"SELECT count(*), {', '.join(counted)} FROM {stored.relation}"


def column_text(stored: Stored, place: int) -> str:
    """Reads every cell of one column."""
    return f"SELECT count({name(stored.names[place])}) FROM {stored.relation}"


def notes_of(stored: Stored, counts: Sequence[Any]) -> tuple[str, ...]:
    """What the owner should hear unasked, of what was counted: an empty table, columns of NULL, rows of nobody."""
    rows, *found = (int(one) for one in counts)
    if not rows:
        return ("the table is empty.",)
    columns = stored.table.columns
    empty = [column.name for column, cells in zip(columns, found, strict=False) if not cells]
    lost = [
        columns[place].name
        for place, values in zip(_converted(stored), found[len(columns) :], strict=False)
        if not values
    ]
    notes = [f"{one} is NULL in every row." for one in empty]
    notes += [f"{one} has no value that is as declared: it is NULL in every row." for one in lost if one not in empty]
    nobody = 0 if stored.unit is None else rows - found[-1]
    return (*notes, *([f"{nobody:,} rows name no {stored.table.unit.column}; they will not count."] if nobody else []))


def endless_of(stored: Stored, counts: Sequence[Any]) -> frozenset[int]:
    """The columns of doubles, of what was counted, in which a cell is NaN or infinite."""
    begun = 1 + len(stored.names) + len(_converted(stored))
    return frozenset(place for place, found in zip(_doubles(stored), counts[begun:], strict=False) if int(found))


def _doubles(stored: Stored) -> dict[int, str]:
    """The cells of columns of which doubles are added up."""
    cells = {place: stored.double(place) for place in range(len(stored.names))}
    return {place: cell for place, cell in cells.items() if cell is not None}


def _converted(stored: Stored) -> list[int]:
    """The columns that are texts in the source and something else by declaration."""
    pairs = enumerate(zip(stored.table.columns, stored.found, strict=True))
    return [place for place, (column, found) in pairs if found == "VARCHAR" and column.type is not Type.TEXT]


def report_text(stored: Stored, relation: str) -> str:
    """Counts all there is to report, in one row."""
    counts = ["count(*)"]
    for place, column in enumerate(stored.table.columns):
        cell = name(stored.names[place])
        value = stored.value(place)
        changed = _changed(column, stored.found[place], cell)
        counts += [
            f"count(*) FILTER ({cell} IS NULL)",
            f"count(*) FILTER ({cell} IS NOT NULL AND ({value}) IS NULL)",
            f"count(*) FILTER ({changed})",
        ]
    return f"SELECT {', '.join(counts)} FROM {relation}"


def unit_text(stored: Stored, relation: str) -> str:
    """Counts units, the rows of nobody, and the rows that count."""
    most = stored.table.unit.rows
    units = f"SELECT u, count(*) AS n FROM (SELECT {stored.unit} AS u FROM {relation}) GROUP BY u"
    named = "u IS NOT NULL"
    return (
        f"SELECT count(*) FILTER ({named}), coalesce(sum(n) FILTER (u IS NULL), 0), "
        f"coalesce(sum(least(n, {most})) FILTER ({named}), 0) FROM ({units})"
    )


def report_of(stored: Stored, counts: Sequence[Any], units: Sequence[Any] | None) -> TableReport:
    """The report, of the two rows of counts."""
    rows = int(counts[0])
    columns = tuple(
        ColumnReport(
            name=column.name,
            null=int(counts[3 * place + 1]),
            unfit=int(counts[3 * place + 2]),
            clamped=int(counts[3 * place + 3]),
        )
        for place, column in enumerate(stored.table.columns)
    )
    if units is None:
        return TableReport(rows=rows, counted=rows, units=rows, without_unit=0, columns=columns)
    people, nobody, counted = (int(one) for one in units)
    return TableReport(rows=rows, counted=counted, units=people, without_unit=nobody, columns=columns)


def _changed(column: Column, found: str, cell: str) -> str:
    """The condition that a value is brought to a bound, or cut."""
    value = converted(column.type, found, cell)
    if column.type is Type.TEXT:
        return f"length({value}) > {column.length}"
    if column.bounds is None:
        return "false"
    if column.type is Type.REAL:
        low, high = (literal(end, Type.REAL) for end in inward(column.bounds))
        return f"isfinite({value}) AND ({value} < {low} OR {value} > {high})"
    low, high = (literal(int(end), Type.INTEGER) for end in (column.bounds.lower, column.bounds.upper))
    return f"{value} < {low} OR {value} > {high}"
