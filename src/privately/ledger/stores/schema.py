"""The tables of a ledger file, and whether a file has exactly these: another trigger would be somebody's program."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import apsw

from privately.errors import InvalidParameter, LedgerCorrupt, LedgerUnavailable

APPLICATION, VERSION = 0x70724C67, 3
_SQLITE, _HEADER = b"SQLite format 3\0", 100

_STATEMENTS = (
    """CREATE TABLE record (
    number INTEGER PRIMARY KEY,
    hash BLOB NOT NULL,
    text BLOB NOT NULL,
    key TEXT,
    question TEXT,
    charge INTEGER,
    checkpoint INTEGER
) STRICT""",
    "CREATE INDEX by_key ON record (key) WHERE key IS NOT NULL",
    "CREATE INDEX by_question ON record (question) WHERE question IS NOT NULL",
    "CREATE UNIQUE INDEX by_charge ON record (charge) WHERE charge IS NOT NULL",
    "CREATE INDEX by_checkpoint ON record (checkpoint) WHERE checkpoint IS NOT NULL",
    "CREATE TABLE answer (number INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT",
)
TRIGGERS = (
    "CREATE TRIGGER record_is_kept BEFORE DELETE ON record BEGIN SELECT RAISE(ABORT, 'records are never removed'); END",
    "CREATE TRIGGER record_stays BEFORE UPDATE ON record BEGIN SELECT RAISE(ABORT, 'records are never changed'); END",
    "CREATE TRIGGER answer_is_kept BEFORE DELETE ON answer BEGIN SELECT RAISE(ABORT, 'answers are never removed'); END",
    "CREATE TRIGGER answer_stays BEFORE UPDATE ON answer BEGIN SELECT RAISE(ABORT, 'answers are never changed'); END",
)
_ALL = sorted((*_STATEMENTS, *TRIGGERS))


def found(connection: apsw.Connection) -> None:
    """Makes the tables of a new ledger."""
    with connection:
        for statement in (*_STATEMENTS, *TRIGGERS):
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {VERSION}")


def check_header(path: Path) -> None:
    """Passes if a file begins as a ledger does. Looks at nothing else, and leaves nothing beside another's file.

    SQLite reads it: whoever closes a file that it has open in the same process frees all locks that it holds on it.
    """
    file = apsw.VFSFile("", str(path), [apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READONLY, 0])
    try:
        header = file.xRead(_HEADER, 0)
    finally:
        file.xClose()
    if not header:
        raise LedgerCorrupt(f"{path} is empty.", hint="Remove it only if a new budget is meant.")
    if len(header) < _HEADER or not header.startswith(_SQLITE):
        raise LedgerCorrupt(f"{path} is damaged or no ledger.")
    if int.from_bytes(header[68:72], "big") != APPLICATION:
        raise _of_another(path)


def _of_another(path: Path) -> InvalidParameter:
    return InvalidParameter("path", f"{path} is a database of another program.", hint="Give another name.")


def check_kind(connection: apsw.Connection, path: Path) -> None:
    """Passes if the file is a ledger of this version."""
    application, version = (connection.pragma(name) for name in ("application_id", "user_version"))
    if application != APPLICATION:
        raise _of_another(path)
    if version != VERSION:
        hint = "Use the version of privately that wrote it; for a larger number, a newer one."
        raise LedgerUnavailable(f"{path} is a ledger of form {version}, not {VERSION}.", hint=hint)
    check_schema(connection)


def check_schema(connection: apsw.Connection) -> None:
    """Passes if the file has the tables, indexes and triggers of a ledger, and nothing besides."""
    rows: list[Any] = connection.execute("SELECT sql FROM sqlite_schema").fetchall()
    if sorted(str(sql) for (sql,) in rows) != _ALL:
        raise LedgerCorrupt("somebody changed the tables or triggers of this ledger.")
