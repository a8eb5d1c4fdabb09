"""The embedded engine: tables in files, counted by DuckDB in a process of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Self

from privately.engines.duckdb import checking, preparing
from privately.engines.duckdb.choices import choice_of, has_whole_units
from privately.engines.duckdb.connection import Setup
from privately.engines.duckdb.direct import direct_of
from privately.engines.duckdb.emission import program
from privately.engines.duckdb.histograms import histogram_of
from privately.engines.duckdb.lines import check_lines
from privately.engines.duckdb.literals import pattern, quoted
from privately.engines.duckdb.pool import Pool
from privately.engines.duckdb.programs import MOST_ROWS, Program
from privately.engines.duckdb.ranking import KEY_BYTES
from privately.engines.duckdb.scanning import NOTHING, fitting
from privately.engines.duckdb.sources import ALIAS, Source, check_names
from privately.engines.duckdb.stored import Stored
from privately.engines.limits import Size, limits_of, sorting_limits
from privately.engines.protocol import Counts, Limits, TableReport, failed, left_out_note
from privately.errors import EngineFailed, InvalidParameter
from privately.plans import Aggregation, Table, Type, scan_of

_OWNER = Limits(seconds=24 * 3600.0)


class Reader:
    """A source with the columns that it was found to have, and the worker that looked, which can go on to count.

    Only the owner sees what is wrong with it. `found` are the DuckDB types of the columns, `size` is known roughly.
    """

    def __init__(self, source: Source, *, prepared: Path | None = None, limits: Limits | None = None) -> None:
        attached = source.attachments
        if prepared is not None:
            if not prepared.is_file():
                raise InvalidParameter("prepare", f"there is no file {prepared}.")
            preparing.check_form(prepared)
            attached = (*attached, (str(prepared.absolute()), preparing.ALIAS))
        self.source, self.prepared = source, prepared
        self.copy_state = None if prepared is None else preparing.state_of(prepared)
        self.pool = Pool(Setup(paths=source.paths, attached=attached))
        try:
            self.found = _columns(self.pool, source, limits or Limits())
            self.size = Size(rows=_most_rows(self.pool, source, limits or Limits()), bytes=source.state()[1])
        except BaseException:
            self.close()
            raise

    def schema(self) -> dict[str, Type | None]:
        """The columns, with the type that fits each; a CSV file has nothing but texts."""
        return {name: fitting(found) for name, found in self.found.items()}

    @property
    def empty(self) -> tuple[str, ...]:
        """The columns that never had a value, nor a type."""
        return tuple(name for name, found in self.found.items() if found == NOTHING)

    def close(self) -> None:
        self.pool.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _columns(pool: Pool, source: Source, limits: Limits) -> dict[str, str]:
    described = f"SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM {source.relation})"
    statements = [described]
    if source.relation.startswith("read_parquet"):
        statements.append(f"SELECT name, num_children FROM parquet_schema({quoted(pattern(str(source.path)))})")
    if source.table is not None:
        statements += checking.kept_text(ALIAS, source.table)
    found, *inner = pool.tell(statements, limits)
    if source.table is not None:
        checking.check_kept(source.table, inner[0], inner[1])
    elif inner:
        check_names(_top_names([(str(name), children) for name, children in inner[0]]))
    return {str(name): str(kind) for name, kind in found}


def _most_rows(pool: Pool, source: Source, limits: Limits) -> int:
    """The most rows that it can have: a file says how many they are, and every cell of a text takes a byte."""
    if source.names is not None:
        return source.state()[1] // len(source.names) + 1
    ((rows,),) = pool.tell([f"SELECT count(*) FROM {source.relation}"], limits)[0]
    return int(rows)


def _top_names(nodes: Sequence[tuple[str, int | None]]) -> list[str]:
    """The names of columns, of a tree that is listed from the root on."""
    names, at = [], 1
    while at < len(nodes):
        names.append(nodes[at][0])
        waiting = 1
        while waiting and at < len(nodes):
            waiting += (nodes[at][1] or 0) - 1
            at += 1
    return names


class Embedded:
    """A table in a file, with the declaration of its owner and the key that chooses rows.

    With `prepared` the questions go to a copy that `prepare` made; a stale one is an error when the table is opened,
    and if another file is in its place later, nothing is answered any more. A `reader` of the same source and copy is
    taken over and closed in the end. Without `limits` those of a question follow from its plan.
    """

    def __init__(
        self,
        *,
        table: Table,
        source: Source,
        key: bytes,
        prepared: Path | None = None,
        limits: Limits | None = None,
        reader: Reader | None = None,
    ) -> None:
        if len(key) != KEY_BYTES:
            raise InvalidParameter("key", f"must be {KEY_BYTES} random bytes.")
        self._table, self._source, self._key = table, source, key
        self._given, self._limits = limits, limits or Limits()
        self._lines: int | None = None
        self._rows = 0
        self.notes: tuple[str, ...] = ()
        """What the owner should hear of the data unasked. Of a prepared copy it was told when that was made."""
        self._identity = source.identity()
        opened = Reader(source, prepared=prepared, limits=self._limits) if reader is None else reader
        if (opened.source, opened.prepared) != (source, prepared):
            raise InvalidParameter("reader", "is of another table.")
        self._pool, self._found, self._size = opened.pool, opened.found, opened.size
        self._prepared = None if prepared is None else prepared.absolute()
        self._copy_state = opened.copy_state
        try:
            self._stored = checking.stored_of(table, source.relation, self._found)
            if prepared is None:
                self._validate()
            self._read: Stored = self._stored if prepared is None else self._copy(prepared)
        except BaseException:
            self.close()
            raise

    def _validate(self) -> None:
        """Reads all that a question could read, for the owner: afterwards no single cell can make one fail."""
        if self._source.lines is not None:
            self._lines = check_lines(self._source.path, self._source.lines)
        self._check_cells()
        if self._changed():
            raise InvalidParameter("source", "was changed while it was opened.", hint="Open it again.")

    def _check_cells(self) -> None:
        """Passes if the engine can read every cell of every declared column; the owner is told which column it is."""
        try:
            ((counts,),) = self._pool.tell([checking.reading_text(self._stored)], self._owner_limits())
        except EngineFailed:
            for place, column in enumerate(self._table.columns):
                try:
                    self._pool.tell([checking.column_text(self._stored, place)], self._owner_limits())
                except EngineFailed:
                    told = f"{column.name} has a cell that cannot be read, such as a text that is no UTF-8."
                    hint = "Repair or drop such cells, and write the file again."
                    raise InvalidParameter("source", told, hint=hint) from None
            raise
        self._rows = int(counts[0])
        left_out = left_out_note(self._left_out(self._rows))
        self.notes = (*checking.notes_of(self._stored, counts), *left_out)
        endless = checking.endless_of(self._stored, counts)
        self._stored = replace(self._stored, most_rows=self._size.rows, endless=endless)

    def _copy(self, path: Path) -> Stored:
        described = f"SELECT column_name, column_type FROM (DESCRIBE {preparing.ALIAS}.data)"
        try:
            about, columns = self._pool.tell([f"SELECT about FROM {preparing.ALIAS}.about", described], self._limits)
        except EngineFailed:
            raise InvalidParameter("prepare", f"{path.name} is no prepared copy.", hint="Prepare it again.") from None
        preparing.check_about(about[0][0], self._table, self._source, self._key, path)
        if self._copy_changed():
            raise InvalidParameter("prepare", f"{path.name} was changed while it was opened.", hint="Open it again.")
        return preparing.stored_copy(self._stored, {str(name): str(kind) for name, kind in columns})

    def schema(self, table: str) -> Mapping[str, Type | None]:
        """The columns that the source has."""
        self._check_name(table)
        return {name: fitting(found) for name, found in self._found.items()}

    def ready(self) -> None:
        """Passes if the file is there as it was, and its copy; inode, size and times tell, not what they hold."""
        if self._prepared is not None and self._copy_changed():
            told = f"{self._prepared.name} was changed or removed since it was opened."
            raise InvalidParameter("prepare", told, hint="Open the table again.")
        if self._changed():
            name = self._source.path.name
            hint = "Open it again, as a new snapshot."
            raise InvalidParameter("data", f"{name} was changed or removed since it was opened.", hint=hint)

    def check_size(self) -> None:
        """Passes if questions about people can be answered; for the owner, as it depends on how many rows there are."""
        if has_whole_units(self._table) and self._rows > MOST_ROWS:
            hint = "Prepare a copy: pv.open(..., prepare=FILE)."
            raise InvalidParameter("source", f"has more than {MOST_ROWS:,} rows of people.", hint=hint)

    def run(self, aggregation: Aggregation, limits: Limits | None = None) -> Counts:
        """The tallies for every group that has rows; EngineFailed, always with the same text, if it cannot be done.

        A worker may be started anew for any question, and opens what is there by then. So the files are looked at
        before and after: if they are the same at both times, they are what was checked when the table was opened.
        """
        if scan_of(aggregation.source).table != self._table:
            raise InvalidParameter("aggregation", "is about another table.")
        within = limits or self._given or limits_of(aggregation, self._size)
        quick = quick_program(aggregation, self._read, self._key)
        self._check_unchanged()
        found = None if quick is None else self._pool.count(quick, within)
        if found is None:
            found = self._pool.count(program(aggregation, self._read, self._key), within)
        self._check_unchanged()
        if found is None:
            raise failed()
        return found

    def units(self, table: str, most: int) -> list[str]:
        """Some of the units, for the owner alone: the same ones in every copy of the table, whatever its order.

        They are those whose names have the least hashes, so that tables with people in common have some of these in
        common. Empty if rows are units.
        """
        self._check_name(table)
        if self._stored.unit is None:
            return []
        listed = f"SELECT DISTINCT CAST({self._stored.unit} AS VARCHAR) AS u FROM {self._source.relation}"
        text = f"SELECT u FROM ({listed}) WHERE u IS NOT NULL ORDER BY md5(u), u LIMIT {int(most)}"
        (rows,) = self._pool.tell([text], self._owner_limits())
        return [row[0] for row in rows]

    def check(self, table: str) -> TableReport:
        """What the owner should know of the data before anybody asks; nobody else may see it."""
        self._check_name(table)
        if self._lines is None and self._source.lines is not None:
            self._lines = check_lines(self._source.path, self._source.lines)
        statements = [checking.report_text(self._stored, self._source.relation)]
        if self._stored.unit is not None:
            statements.append(checking.unit_text(self._stored, self._source.relation))
        counts, *units = self._pool.tell(statements, self._owner_limits())
        report = checking.report_of(self._stored, counts[0], units[0][0] if units else None)
        return replace(report, left_out=self._left_out(report.rows))

    def _left_out(self, rows: int) -> int:
        """How many lines of a text are no rows."""
        return 0 if self._lines is None else max(self._lines - rows, 0)

    def prepare(self, table: str, path: Path) -> TableReport:
        """Writes a copy that is quicker to count, and tells the owner what became of the values."""
        if path.exists():
            _check_copy(path, self._owner_limits())
        report = self.check(table)
        fresh = path.with_name(f".{path.name}.new")
        for left in (fresh, Path(f"{fresh}.wal")):
            left.unlink(missing_ok=True)
        limits = self._owner_limits() if self._given is not None else sorting_limits(self._size)
        written = (str(fresh.absolute()), preparing.ALIAS)
        pool = Pool(Setup(paths=self._source.paths, attached=self._source.attachments, written=written))
        try:
            pool.tell(preparing.statements(self._stored, self._source, self._key), limits)
        finally:
            pool.close()
        fresh.chmod(0o600)
        fresh.replace(path)
        return report

    def _owner_limits(self) -> Limits:
        return Limits(seconds=_OWNER.seconds, memory=self._limits.memory, threads=self._limits.threads)

    def _check_unchanged(self) -> None:
        if self._changed() or self._copy_changed():
            self._pool.close()
            raise failed()

    def _copy_changed(self) -> bool:
        try:
            return self._prepared is not None and preparing.state_of(self._prepared) != self._copy_state
        except OSError:
            return True

    def _changed(self) -> bool:
        try:
            return self._source.identity() != self._identity
        except OSError:
            return True

    def _check_name(self, table: str) -> None:
        if table != self._table.name:
            raise InvalidParameter("table", f"there is no table {table}.")

    @property
    def worker_process(self) -> int | None:
        """The process that counts, for those who watch over it; None while there is none."""
        return self._pool.process_id

    def close(self) -> None:
        self._pool.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def quick_program(aggregation: Aggregation, stored: Stored, key: bytes) -> Program | None:
    """The quick way to count, if there is one."""
    types, tallies = tuple(one.expression.known.type for one in aggregation.keys), len(aggregation.tallies)
    choice = choice_of(aggregation, stored, key)
    if choice is not None:
        return Program(types=types, tallies=tallies, choice=choice)
    histogram = histogram_of(aggregation, stored, key)
    if histogram is not None:
        return Program(types=types, tallies=tallies, histogram=histogram)
    direct = direct_of(aggregation, stored, key)
    return None if direct is None else Program(types=types, tallies=tallies, direct=direct)


def _check_copy(path: Path, limits: Limits) -> None:
    """Passes if the file is a copy that was prepared, stale or not: nothing else is written over."""
    preparing.check_form(path)
    pool = Pool(Setup(paths=(), attached=((str(path.absolute()), preparing.ALIAS),)))
    try:
        pool.tell([f"SELECT about FROM {preparing.ALIAS}.about"], limits)
    except EngineFailed:
        hint = "Name another file, in which a copy is made."
        raise InvalidParameter("prepare", f"{path.name} is no prepared copy.", hint=hint) from None
    finally:
        pool.close()
