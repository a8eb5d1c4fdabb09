"""Where a table comes from: a Parquet, CSV or DuckDB file, or a frame in memory. Nothing is ever guessed from the data.

Of a CSV file the owner says what separates values; every line is a row, and every cell is read as text and converted
as declared. One thread reads it: several would guess from what they find where each of them begins. A frame is
anything that hands out Arrow streams (pyarrow, pandas, polars); it is written to a private directory once, because the
process that counts does not share memory with this one.
"""

from __future__ import annotations

import csv
import os
import shutil
import tempfile
import weakref
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from privately.engines.duckdb.lines import LineForm
from privately.engines.duckdb.literals import WILD, name, pattern, quoted
from privately.errors import InvalidParameter

ALIAS = "source"
_LONGEST_LINE = 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What to read: a relation for the engine, and the file behind it."""

    path: Path
    relation: str
    table: str | None = None
    names: tuple[str, ...] | None = None
    lines: LineForm | None = None
    held: Any = field(default=None, compare=False, repr=False)

    @property
    def paths(self) -> tuple[str, ...]:
        """What may be opened: the file, and the pattern that matches nothing else, by which it is looked for."""
        return () if self.table is not None else tuple(dict.fromkeys((str(self.path), pattern(str(self.path)))))

    @property
    def attachments(self) -> tuple[tuple[str, str], ...]:
        return () if self.table is None else ((str(self.path), ALIAS),)

    def state(self) -> tuple[str, int, int]:
        """Which data, as they are now: the path, the size, and when they were written last."""
        found = self._found()
        return str(self.path), sum(one.st_size for one in found), max(one.st_mtime_ns for one in found)

    def identity(self) -> tuple[tuple[int, ...], ...]:
        """Which file, as it is now: another one in its place shows, and any change, though its times were set back."""
        return tuple((one.st_dev, one.st_ino, one.st_size, one.st_mtime_ns, one.st_ctime_ns) for one in self._found())

    def _found(self) -> list[os.stat_result]:
        """What a DuckDB file has not taken up yet lies in a file beside it (.wal), and is read with it."""
        found = [self.path.stat()]
        if self.table is not None:
            with suppress(FileNotFoundError):
                found.append(Path(f"{self.path}.wal").stat())
        return found


class _Held:
    """A private directory that is gone when nobody needs it, or when the process ends."""

    def __init__(self) -> None:
        self.directory = Path(tempfile.mkdtemp(prefix="privately-"))
        self.remove = weakref.finalize(self, shutil.rmtree, self.directory, ignore_errors=True)


def parquet(path: str | Path) -> Source:
    """A Parquet file."""
    found = _looked_for(_file(path))
    relation = f"read_parquet({quoted(pattern(str(found)))})"
    return Source(path=found, relation=relation)


def delimited(
    path: str | Path, *, delimiter: str = ",", quote: str = '"', header: bool = True, names: tuple[str, ...] = ()
) -> Source:
    """A CSV file; without a header, `names` tells the columns."""
    for one, word in ((delimiter, "delimiter"), (quote, "quote")):
        if not isinstance(one, str) or len(one) != 1 or not one.isascii() or one in "\r\n\0":
            raise InvalidParameter(word, "must be one character.")
    if not isinstance(header, bool):
        raise InvalidParameter("header", "must be True or False.")
    if not isinstance(names, (tuple, list)) or not all(isinstance(one, str) for one in names):
        raise InvalidParameter("names", 'list the columns: names=["patient", "cost"].')
    if quote.isspace():  # DuckDB skips blanks before a cell, and would look for the end of it in other lines
        raise InvalidParameter("quote", "must be no blank.")
    if delimiter == quote:
        raise InvalidParameter("quote", "must be another character than the delimiter.")
    found = _looked_for(_file(path))
    first = _first_line(found)
    columns = _header(first, delimiter, quote) if header else names
    check_names(columns)
    lines = LineForm(
        delimiter=delimiter,
        quote=quote,
        returns=first.endswith(b"\r\n"),
        header=header,
        one_cell=len(columns) == 1,
    )
    listed = ", ".join(f"{quoted(one)}: 'VARCHAR'" for one in columns)
    options = (
        f"auto_detect = false, header = {str(header).lower()}, delim = {quoted(delimiter)}, quote = {quoted(quote)}, "
        f"escape = {quoted(quote)}, columns = {{{listed}}}, null_padding = false, allow_quoted_nulls = false, "
        f"new_line = '{lines.new_line}', parallel = false"
    )
    relation = f"read_csv({quoted(pattern(str(found)))}, {options}, ignore_errors = true)"
    return Source(path=found, relation=relation, names=tuple(columns), lines=lines)


def database(path: str | Path, table: str | None = None) -> Source:
    """A table of a DuckDB file; no view, whose rows may each depend on all."""
    if not isinstance(table, str) or not table:
        raise InvalidParameter("table", "say which table of the DuckDB file it is: table='visits'.")
    found = _file(path)
    relation = f"{ALIAS}.{name(table)}"
    return Source(path=found, relation=relation, table=table)


def frame(data: Any) -> Source:
    """A table in memory: pyarrow, pandas, polars, or whatever else hands out an Arrow stream."""
    if not hasattr(data, "__arrow_c_stream__"):
        raise InvalidParameter("source", "is no table.", hint="Give a file, or a pyarrow, pandas or polars table.")
    import pyarrow as pa
    import pyarrow.parquet as files

    of_pandas = type(data).__module__.partition(".")[0] == "pandas"
    if of_pandas:
        check_names(data.columns)
    try:
        table = _spelt_out(pa.table(data))
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        told = "a column holds values of several types, or of one that tables in files have not."
        raise InvalidParameter("source", told, hint="Make every column of one usual type first.") from None
    check_names(table.column_names)
    if not table.num_rows and of_pandas:
        table = pa.table([pa.nulls(0)] * table.num_columns, names=table.column_names)  # pandas makes them up
    try:
        table.validate(full=True)
    except pa.ArrowException:
        hint = "Texts must be UTF-8, and dates whole days; make the column anew."
        raise InvalidParameter("source", "a column holds values that are not of its type.", hint=hint) from None
    held = _Held()
    path = held.directory / "frame.parquet"
    try:
        files.write_table(table, path)
    except pa.ArrowException:
        raise InvalidParameter("source", "has a column of a type that no file can hold.") from None
    relation = f"read_parquet({quoted(pattern(str(path)))})"
    return Source(path=path, relation=relation, held=held)


def _spelt_out(table: Any) -> Any:
    """The table with texts in place of their numbers in a dictionary: Arrow cannot write those of polars."""
    import pyarrow as pa

    def spelt_out(column: Any) -> Any:
        kind = column.type
        if not pa.types.is_dictionary(kind) or not pa.types.is_string_view(kind.value_type):
            return column
        chunks = [one.dictionary.cast(pa.large_string()).take(one.indices) for one in column.chunks]
        return pa.chunked_array(chunks, type=pa.large_string())

    return pa.table([spelt_out(column) for column in table.columns], names=table.column_names)


def source_of(data: Any, **options: Any) -> Source:
    """A source by the look of it: a frame, or a file by the end of its name (.parquet, .csv, .tsv, .duckdb)."""
    if not isinstance(data, (str, Path)):
        return frame(data)
    suffix = Path(data).suffix.lower()
    match suffix:
        case ".parquet" | ".pq":
            return parquet(data)
        case ".csv" | ".tsv" | ".txt":
            return delimited(data, **({"delimiter": "\t"} if suffix == ".tsv" else {}) | options)
        case ".duckdb" | ".db":
            return database(data, **options)
    raise InvalidParameter("source", f"the name ends in {suffix or 'nothing'}.", hint="Give a .parquet or a .csv file.")


def check_names(names: Any) -> None:
    """Columns are told apart by their names, whatever their case."""
    folded = [str(one).casefold() for one in names]
    twice = sorted({one for one in folded if folded.count(one) > 1})
    if twice:
        raise InvalidParameter("source", f"has two columns called {twice[0]}.", hint="Rename one of them in the file.")
    if not folded or "" in folded:
        raise InvalidParameter("source", "has a column without a name.", hint="Name the columns in the first line.")


def _file(path: str | Path) -> Path:
    try:
        found = Path(path).expanduser().absolute()
        there = found.is_file()
    except (OSError, RuntimeError):
        raise InvalidParameter("source", f"no file can be called {str(path)[:60]!r}.") from None
    if not there:
        raise InvalidParameter("source", f"there is no file {found}.")
    if "\0" in str(found):
        raise InvalidParameter("source", "has a name that is no name.")
    return found


def _looked_for(path: Path) -> Path:
    """The path, if a pattern matches it alone; behind a backslash DuckDB finds no file by a pattern."""
    if "\\" in str(path) and WILD & set(str(path)):
        hint = "Rename it, or make a link to it that has a plainer name."
        raise InvalidParameter("source", "the path has a backslash beside one of [ * ?.", hint=hint)
    return path


def _first_line(path: Path) -> bytes:
    with path.open("rb") as stream:
        return stream.readline(_LONGEST_LINE)


def _header(first: bytes, delimiter: str, quote: str) -> tuple[str, ...]:
    """The names in the first line."""
    try:
        line = first.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidParameter("source", "is no text in UTF-8.", hint="Convert the file to UTF-8.") from None
    try:
        rows = list(csv.reader([line], delimiter=delimiter, quotechar=quote))
    except csv.Error:
        hint = "Lines must end in LF, or in CR and LF; write the file again."
        raise InvalidParameter("source", "has a first line that cannot be read.", hint=hint) from None
    if not rows or not rows[0]:
        raise InvalidParameter("source", "is empty.", hint="The first line of a CSV file names its columns.")
    return tuple(rows[0])
