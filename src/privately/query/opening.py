"""Opening a table: the owner says whose data it is, what its columns can hold, and what may be spent."""

from __future__ import annotations

import os
import secrets
import warnings
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from privately.engines.duckdb.engine import Embedded, Reader
from privately.engines.duckdb.sources import Source, source_of
from privately.engines.protocol import Limits, TableReport
from privately.errors import InvalidParameter
from privately.guarantees import Guarantee, Neighbors
from privately.ledger import Ledger, OwnerKey
from privately.plans import Column, Table, Type, Unit
from privately.query.declaring import Declaration, columns_of, read_declaration, unit_of
from privately.query.sessions import Session

_SKETCHED = 8192
"""Units of a table that are looked at to recognise copies of it."""

_DELIMITED = ("delimiter", "quote", "header", "names")
_OPTIONS = {".csv": _DELIMITED, ".tsv": _DELIMITED, ".txt": _DELIMITED, ".duckdb": ("table",), ".db": ("table",)}
_MEMORY = ":memory:"
_OWNER = "owner"
_NEEDED = ("ledger", "path", "analyst")


class OwnerWarning(UserWarning):
    """What the owner of a table should know of its data, exactly: nobody who only sees answers may see it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """All that is settled before a session begins."""

    table: Table
    source: Source
    lineage: str
    reader: Reader

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.reader.close()


def open(  # noqa: A001 - the word for it
    data: Any,
    *,
    budget: Guarantee,
    ledger: str | os.PathLike[str],
    unit: str | None = None,
    max_rows_per_unit: int | None = None,
    max_groups_per_unit: int | None = None,
    max_rows_per_unit_and_group: int | None = None,
    change: str | None = None,
    columns: Mapping[str, Column | str | Declaration] | None = None,
    declaration: str | os.PathLike[str] | None = None,
    name: str | None = None,
    lineage: str | None = None,
    analyst: str = _OWNER,
    snapshot: str | None = None,
    prepare: str | os.PathLike[str] | None = None,
    by: type[Guarantee] | None = None,
    reuse: str = "everyone",
    limits: Limits | None = None,
    **options: Any,
) -> Session:
    """A session for questions about one table: a Parquet, CSV or DuckDB file, or a frame of pyarrow, pandas or polars.

    `budget` caps all answers together; `ledger` is the file that remembers what was spent (":memory:" forgets it).
    What the columns can hold is declared in `columns`, or in a TOML file beside the data (`visits.toml` beside
    `visits.parquet`, or `declaration`); it is never measured. `prepare` names a copy of a file that is quicker to ask,
    which is made if it is not there. `lineage` names the people whose budget it is: the name
    of the table unless told. How much time and memory a question may take follows from its plan, far more than it can
    need, so that failing is no answer; `limits` set them for all instead. A file's `snapshot` is known by its path,
    size and time unless told; frames have none. The owner is warned (`OwnerWarning`) of an empty table, of columns of
    NULL and of rows that name nobody; an `analyst` is not.
    """
    given = {
        "name": name,
        "lineage": lineage,
        "unit": unit,
        "max_rows_per_unit": max_rows_per_unit,
        "max_groups_per_unit": max_groups_per_unit,
        "max_rows_per_unit_and_group": max_rows_per_unit_and_group,
        "change": change,
    }
    _check_kinds(ledger=ledger, declaration=declaration, prepare=prepare)
    _check_kinds(str, name=name, lineage=lineage, analyst=analyst, snapshot=snapshot)
    if limits is not None and not isinstance(limits, Limits):
        raise InvalidParameter("limits", "must be Limits(seconds=..., memory=..., threads=...).")
    copy = None if prepare is None else _copy_path(data, prepare, ledger)
    if copy is not None and not copy.exists():
        with _settle(data, given, columns=columns, declaration=declaration, options=options) as original:
            _, notes = _prepared(original, copy, ledger)
            _warn(original.table, analyst, notes)
    settled = _settle(data, given, columns=columns, declaration=declaration, options=options, copy=copy)
    try:
        key = _key(ledger)
        engine = Embedded(
            table=settled.table,
            source=settled.source,
            key=key.digest(b"rank"),
            prepared=copy,
            reader=settled.reader,
        )
        engine.check_size()
    except BaseException:
        settled.reader.close()
        raise
    try:
        book = Ledger.open(ledger)
    except BaseException:
        engine.close()
        raise
    try:
        cap = about(budget, settled.table.unit.neighbors)
        lineages = _registered(book, settled, engine, key if book.durable else None)
        book.account(settled.lineage, cap=cap, by=by, reuse=reuse)  # type: ignore[arg-type]  # checked there
        _warn(settled.table, analyst, engine.notes)
    except BaseException:
        book.close()
        engine.close()
        raise
    taken = _snapshot(data, settled.source, key) if snapshot is None else snapshot
    return Session(
        settled.table,
        engine,
        book,
        lineage=settled.lineage,
        also=lineages,
        snapshot=taken,
        analyst=analyst,
        limits=limits,
    )


def prepare(
    data: Any,
    copy: str | os.PathLike[str],
    *,
    ledger: str | os.PathLike[str],
    unit: str | None = None,
    max_rows_per_unit: int | None = None,
    max_groups_per_unit: int | None = None,
    max_rows_per_unit_and_group: int | None = None,
    change: str | None = None,
    columns: Mapping[str, Column | str | Declaration] | None = None,
    declaration: str | os.PathLike[str] | None = None,
    name: str | None = None,
    **options: Any,
) -> TableReport:
    """Writes a copy of a file that is quicker to ask: `open` the file with `prepare=copy` and the same declaration.

    The report is exact, so it is for the owner alone. The rows that count are chosen with the key beside the ledger.
    """
    given = {
        "name": name,
        "unit": unit,
        "max_rows_per_unit": max_rows_per_unit,
        "max_groups_per_unit": max_groups_per_unit,
        "max_rows_per_unit_and_group": max_rows_per_unit_and_group,
        "change": change,
    }
    _check_kinds(ledger=ledger, declaration=declaration, path=copy)
    _check_kinds(str, name=name)
    target = _copy_path(data, copy, ledger)
    with _settle(data, given, columns=columns, declaration=declaration, options=options) as settled:
        report, _ = _prepared(settled, target, ledger)
        return report


def table_of(
    data: Any,
    *,
    columns: Mapping[str, Column | str | Declaration] | None = None,
    declaration: str | os.PathLike[str] | None = None,
    options: Mapping[str, Any] | None = None,
    **given: Any,
) -> Table:
    """The table as `open` would take it. Of a file only the names and types of columns are read.

    Without the file it is the table as it is declared: enough to explain questions about what is declared.
    """
    settled = {name: value for name, value in given.items() if value is not None}
    if not isinstance(data, (str, os.PathLike)) or Path(data).is_file():
        with _settle(data, settled, columns=columns, declaration=declaration, options=dict(options or {})) as found:
            return found.table
    told, declared = _declared(data, declaration)
    declared = declared if columns is None else columns_of(columns)
    if not declared:
        hint = "Without it, declare the columns in a TOML file of that name, or in one that you name."
        raise InvalidParameter("source", f"there is no file {os.fspath(data)!r}.", hint=hint)
    told = dict(told) | settled
    return Table(name=told.get("name") or _name(data), columns=declared, unit=_unit_of(told))


def _unit_of(told: Declaration) -> Unit:
    return unit_of(
        told.get("unit"),
        rows=told.get("max_rows_per_unit"),
        groups=told.get("max_groups_per_unit"),
        rows_per_group=told.get("max_rows_per_unit_and_group"),
        change=told.get("change", "add_remove"),
    )


def _warn(table: Table, analyst: str, notes: tuple[str, ...]) -> None:
    if notes and analyst == _OWNER:
        told = f"{table.name}: {' '.join(notes)} This is exact, and for the owner alone; session.check() tells more."
        warnings.warn(OwnerWarning(told), stacklevel=3)


def _check_kinds(*kinds: type, **given: object) -> None:
    """Passes if what is given are texts, or else names of files."""
    for field, value in given.items():
        absent = value is None and field not in _NEEDED
        if not absent and not isinstance(value, kinds or (str, os.PathLike)):
            raise InvalidParameter(field, "must be a text." if kinds else "must be the name of a file.")


def _copy_path(data: Any, copy: str | os.PathLike[str], ledger: str | os.PathLike[str]) -> Path:
    """Where the copy is to be: a copy is known by the file that it was made of, and a frame has none.

    Its rows were chosen by the key beside the ledger, so without a file for that it would be of no use.
    """
    if os.fspath(ledger) == _MEMORY:
        hint = 'Name a file instead of ":memory:", or ask the table as it is.'
        raise InvalidParameter("ledger", "a prepared copy belongs to the key beside a ledger file.", hint=hint)
    if not isinstance(data, (str, os.PathLike)):
        hint = "Write the frame to a Parquet file first, and open that."
        raise InvalidParameter("prepare", "a frame has no file that a copy could belong to.", hint=hint)
    return Path(copy)


def _prepared(settled: Opening, target: Path, ledger: str | os.PathLike[str]) -> tuple[TableReport, tuple[str, ...]]:
    """The report of a copy that was made, and what of it the owner should hear unasked."""
    if not target.absolute().parent.is_dir():
        raise InvalidParameter("path", f"there is no folder {str(target.parent)!r}.")
    kept = (settled.source.path, Path(ledger), Path(f"{os.fspath(ledger)}.key"))
    if target.exists() and any(one.exists() and target.samefile(one) for one in kept):
        raise InvalidParameter("path", "must be neither the table nor its ledger.")
    key = _key(ledger).digest(b"rank")
    with Embedded(table=settled.table, source=settled.source, key=key, reader=settled.reader) as engine:
        return engine.prepare(settled.table.name, target), engine.notes


def _settle(
    data: Any,
    given: dict[str, Any],
    *,
    columns: Mapping[str, Column | str | Declaration] | None,
    declaration: str | os.PathLike[str] | None,
    options: dict[str, Any],
    copy: Path | None = None,
) -> Opening:
    """What is given here counts before what is declared beside the data."""
    _check_options(data, options)
    source = source_of(data, **options)
    told, declared = _declared(data, declaration)
    if columns is not None:
        declared = columns_of(columns)
    given = dict(told) | {field: value for field, value in given.items() if value is not None}
    called = given.get("name") or _name(data)
    found = _unit_of(given)
    reader = Reader(source, prepared=copy)
    try:
        schema = {name: _settled_type(kind) for name, kind in reader.schema().items()}
        table = Table(name=called, columns=_complete(declared, schema, reader.empty), unit=found)
    except BaseException:
        reader.close()
        raise
    return Opening(table=table, source=source, lineage=given.get("lineage") or called, reader=reader)


def _check_options(data: Any, options: Mapping[str, Any]) -> None:
    """Passes if all of them are known for this kind of source: a misspelt one must not be ignored."""
    suffix = Path(data).suffix.lower() if isinstance(data, (str, os.PathLike)) else ""
    known = _OPTIONS.get(suffix, ())
    for option in options:
        if option not in known:
            about = f"a {suffix} file" if suffix else "a frame"
            listed = ", ".join(known)
            hint = f"There are {listed}." if known else "Look at the spelling."
            raise InvalidParameter(option, f"is no option for {about}.", hint=hint)


def _declared(data: Any, declaration: str | os.PathLike[str] | None) -> tuple[Declaration, tuple[Column, ...]]:
    if declaration is not None:
        return read_declaration(Path(declaration))
    if isinstance(data, (str, os.PathLike)):
        beside = Path(data).with_suffix(".toml")
        if beside.is_file():
            return read_declaration(beside)
    return {}, ()


def _complete(
    declared: tuple[Column, ...], found: Mapping[str, Type | None], empty: Collection[str]
) -> tuple[Column, ...]:
    """Columns that nobody declared can be asked for as they are, but have no bounds: their type is no secret.

    Those that are `empty` have none until somebody has a value, so they must be declared.
    """
    known = {column.name.casefold() for column in declared}
    for name in empty:
        if name.casefold() not in known:
            hint = f'Declare what it would hold: columns={{"{name}": "text", ...}}.'
            raise InvalidParameter("columns", f"{name!r} has no value, and so no type.", hint=hint)
    missing = [column.name for column in declared if column.name not in found]
    if missing:
        raise InvalidParameter("columns", f"there is no column {missing[0]!r}.", hint=f"There are {', '.join(found)}.")
    rest = ((name, kind) for name, kind in found.items() if name.casefold() not in known and kind is not None)
    return (*declared, *(Column(name=name, type=kind) for name, kind in rest))


def _settled_type(kind: Type | None) -> Type | None:
    """The type of an undeclared column must not follow from its values.

    A missing one makes pandas' integers real, also in the files that are written from them.
    """
    return Type.REAL if kind is Type.INTEGER else kind


def _name(data: Any) -> str:
    if not isinstance(data, (str, os.PathLike)):
        raise InvalidParameter("name", "say what questions call this table: name='visits'.")
    return Path(data).stem


def about(budget: Guarantee, neighbors: Neighbors) -> Guarantee:
    """The same promise, to the units of the table."""
    if not isinstance(budget, Guarantee):
        raise InvalidParameter("budget", "give a guarantee, such as PureDP(epsilon=3).")
    if budget.neighbors not in (Neighbors.ADD_REMOVE, neighbors):
        raise InvalidParameter("budget", f"is about {budget.neighbors}, but the table's unit is {neighbors}.")
    return type(budget)(**budget.parameters, neighbors=neighbors)  # type: ignore[call-arg]  # each kind takes its own


def _registered(book: Ledger, settled: Opening, engine: Embedded, key: OwnerKey | None) -> tuple[str, ...]:
    """The lineages that are charged besides the one that was named: those the table had, and those of known copies.

    Copies are recognised by the people in them, where a column names people, and if the ledger outlives the session.
    """
    table, lineage = settled.table.name, settled.lineage
    units = None if key is None or settled.table.unit.column is None else engine.units(table, _SKETCHED)
    found = book.register(table, lineage=lineage, units=units, key=None if units is None else key)
    if found.warning:
        warnings.warn(found.warning, stacklevel=4)
    return tuple(one for one in found.lineages if one != lineage)


def _key(ledger: str | os.PathLike[str]) -> OwnerKey:
    """The owner's secret, beside the ledger; for a ledger in memory one that is forgotten with it."""
    if os.fspath(ledger) == _MEMORY:
        return OwnerKey(secrets.token_bytes(32))
    return OwnerKey.at(f"{os.fspath(ledger)}.key")


def _snapshot(data: Any, source: Source, key: OwnerKey) -> str:
    """Which state of the data, under the owner's key; a frame is never known to be the same again."""
    if not isinstance(data, (str, os.PathLike)):
        return secrets.token_hex(16)
    return key.digest(repr(source.state()).encode())[:16].hex()
