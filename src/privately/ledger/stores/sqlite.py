"""Records in a SQLite file: a write-ahead log, synced at every commit, and one writer at a time under a lock of ours.

The log is carried over into the file only by whoever holds the lock, never by SQLite on its own. `apsw` brings a
current SQLite with it; that of Python may be one that can damage a database whose log is carried over while it grows.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import apsw

from privately.errors import InvalidParameter, LedgerCorrupt, LedgerUnavailable
from privately.ledger.stores.faults import explained
from privately.ledger.stores.locks import FileLock
from privately.ledger.stores.protocol import EMPTY, Head, Row

MEMORY = ":memory:"
APPLICATION, SCHEMA = 0x70724C67, 1
OLDEST = 3_051_003
PATIENCE = 30.0

_LOG_BYTES, _PAUSE = 8 << 20, 20
_TABLES = """
CREATE TABLE record (
    number INTEGER PRIMARY KEY,
    hash BLOB NOT NULL,
    text BLOB NOT NULL,
    key TEXT,
    question TEXT,
    charge INTEGER,
    checkpoint INTEGER
) STRICT;
CREATE INDEX by_key ON record (key) WHERE key IS NOT NULL;
CREATE INDEX by_question ON record (question) WHERE question IS NOT NULL;
CREATE UNIQUE INDEX by_charge ON record (charge) WHERE charge IS NOT NULL;
CREATE INDEX by_checkpoint ON record (checkpoint) WHERE checkpoint IS NOT NULL;
CREATE TABLE answer (number INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT;
CREATE TRIGGER record_is_kept BEFORE DELETE ON record BEGIN SELECT RAISE(ABORT, 'records are never removed'); END;
CREATE TRIGGER record_stays BEFORE UPDATE ON record BEGIN SELECT RAISE(ABORT, 'records are never changed'); END;
CREATE TRIGGER answer_is_kept BEFORE DELETE ON answer BEGIN SELECT RAISE(ABORT, 'answers are never removed'); END;
CREATE TRIGGER answer_stays BEFORE UPDATE ON answer BEGIN SELECT RAISE(ABORT, 'answers are never changed'); END;
"""
_HEAD = "SELECT number, hash FROM record ORDER BY number DESC LIMIT 1"
_ROW = "SELECT number, hash, text, key, question, charge FROM record"
_EVERYTHING = """
SELECT number, hash, text, key, question, charge, bytes FROM record LEFT JOIN answer USING (number) ORDER BY number
"""


class SQLiteStore:
    """One ledger file, in one process. `vfs` names another file system of SQLite's, such as one that fails."""

    writable = True

    def __init__(self, path: str | Path, *, vfs: str | None = None, patience: float = PATIENCE) -> None:
        if apsw.sqlite_lib_version() < f"{OLDEST // 10**6}." or apsw.SQLITE_VERSION_NUMBER < OLDEST:
            raise LedgerUnavailable(f"SQLite {apsw.sqlite_lib_version()} is too old.", hint="Install a newer apsw.")
        self.durable = str(path) != MEMORY
        self.path = Path(os.path.realpath(path)) if self.durable else Path(MEMORY)
        self._vfs, self._patience = vfs, patience
        self._turns_to_wait = 0
        self._process, self._closed = os.getpid(), False
        self._write_guard, self._read_guard = threading.RLock(), threading.RLock()
        with explained(self.path):
            if self.durable:
                self._open_file()
            else:
                self._writer = self._reader = self._connected(MEMORY)
                self._read_guard = self._write_guard
                self._lock: FileLock | None = None
                _found(self._writer)

    @contextmanager
    def reading(self) -> Iterator[SQLiteSession]:
        """Looks at all that was committed."""
        self._check_open()
        with self._read_guard, explained(self.path):
            self._reader.execute("BEGIN")
            try:
                yield SQLiteSession(self._reader)
            finally:
                if self._reader.in_transaction:
                    self._reader.execute("ROLLBACK")

    @contextmanager
    def writing(self) -> Iterator[SQLiteSession]:
        """Waits for its turn; commits durably on leaving, and forgets everything on an error."""
        self._check_open()
        with self._write_guard, explained(self.path), self._turn():
            self._check_place()
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield SQLiteSession(self._writer)
                self._writer.execute("COMMIT")
            finally:
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")
            if self.durable and self._log_size() > _LOG_BYTES:
                self._carry_over_now_and_then()

    def close(self) -> None:
        """Carries the log over, so that the file alone is the whole ledger."""
        if self._process != os.getpid():
            return
        with self._write_guard, self._read_guard:
            if self._closed:
                return
            self._closed = True
            self._reader.close()
            if self._lock is not None:
                try:
                    with self._turn():
                        self._carry_over()
                except LedgerUnavailable:
                    pass  # the log stays beside the file and is read at the next opening
                finally:
                    self._writer.close()
                    self._lock.close()

    def _open_file(self) -> None:
        if self.path.is_dir() or not self.path.parent.is_dir():
            raise LedgerUnavailable(f"{self.path} is a directory, or in none.", hint="Give the path of a file.")
        self._lock = FileLock(self._beside(".lock"), patience=self._patience)
        try:
            with self._turn():
                self._connect()
        except BaseException:
            self._lock.close()
            raise

    def _connect(self) -> None:
        if not self.path.exists():
            self._check_left_behind()
            self._create()
        if self._lock is not None:
            self._lock.mark()
        if self.path.stat().st_size == 0:
            raise LedgerCorrupt(f"{self.path} is empty.", hint="Remove it only if a new budget is meant.")
        self._place = _place(self.path)
        self._writer = self._connected(str(self.path))
        self._reader = self._connected(str(self.path))
        self._reader.execute("PRAGMA query_only = ON").fetchall()

    def _check_left_behind(self) -> None:
        """Whoever died while creating a ledger leaves a lock without a mark."""
        log, lock = self._beside("-wal"), self._beside(".lock")
        marked = self._lock is not None and self._lock.marked
        if log.exists() or marked:
            hint = "Put it back; remove what is left of it only if a new budget is meant."
            left = log if log.exists() else lock
            raise LedgerCorrupt(f"{self.path} is gone, but not {left.name} that belongs to it.", hint=hint)

    def _create(self) -> None:
        """A ledger appears under its name whole, or not at all."""
        new = self.path.with_name(f".{self.path.name[:50]}.{os.urandom(8).hex()}")
        try:
            connection = apsw.Connection(str(new))
            _found(connection)
            connection.close()
            new.replace(self.path)
            _sync_directory(self.path.parent)
        finally:
            new.unlink(missing_ok=True)

    def _connected(self, name: str) -> apsw.Connection:
        connection = apsw.Connection(name, vfs=self._vfs)
        connection.set_busy_timeout(int(self._patience * 1000))
        for option in (apsw.SQLITE_DBCONFIG_DEFENSIVE, apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE):
            connection.config(option, 1)
        if self.durable:
            check_kind(connection, self.path)
        settings = ("journal_mode = WAL", "synchronous = FULL", "wal_autocheckpoint = 0")
        for setting in (*settings, "trusted_schema = OFF", "cell_size_check = ON", "fullfsync = ON"):
            connection.execute(f"PRAGMA {setting}").fetchall()
        return connection

    def _turn(self) -> AbstractContextManager[None]:
        return nullcontext() if self._lock is None else self._lock.held()

    def _carry_over_now_and_then(self) -> None:
        """While somebody reads for long, trying costs a sync and brings nothing."""
        if self._turns_to_wait:
            self._turns_to_wait -= 1
            return
        self._carry_over()
        if self._log_size() > _LOG_BYTES:
            self._turns_to_wait = _PAUSE

    def _carry_over(self) -> None:
        """Only if nobody is in the way: what is committed is durable in the log too, and there will be other times."""
        self._writer.set_busy_timeout(0)
        try:
            self._writer.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        except apsw.Error:
            pass  # somebody reads what would be overwritten, or the disk is full: the log stays
        finally:
            self._writer.set_busy_timeout(int(self._patience * 1000))

    def _beside(self, suffix: str) -> Path:
        return self.path.with_name(self.path.name + suffix)

    def _log_size(self) -> int:
        return os.stat(self._beside("-wal")).st_size  # noqa: PTH116 - once for every commit

    def _check_place(self) -> None:
        if self.durable and _place(self.path) != self._place:
            raise LedgerCorrupt(f"{self.path} was replaced by another file while it was open.")

    def _check_open(self) -> None:
        if self._closed:
            raise LedgerUnavailable("the ledger was closed.")
        if self._process != os.getpid():
            hint = "Open the ledger in the process that uses it."
            raise LedgerUnavailable("the ledger was opened before this process was forked.", hint=hint)


class SQLiteSession:
    """One transaction."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def head(self) -> Head:
        found: list[Any] = self._connection.execute(_HEAD).fetchall()
        return Head._make(found[0]) if found else EMPTY

    def rows(self, after: int, upto: int | None = None) -> Iterator[Row]:
        limits = (after, 2**63 - 1 if upto is None else upto)
        return map(_row, self._connection.execute(f"{_ROW} WHERE number > ? AND number <= ? ORDER BY number", limits))

    def row(self, number: int) -> Row | None:
        return self._one(f"{_ROW} WHERE number = ?", number)

    def latest(self, *, key: str | None = None, question: str | None = None, charge: int | None = None) -> Row | None:
        column, value = next(
            pair for pair in (("key", key), ("question", question), ("charge", charge)) if pair[1] is not None
        )
        return self._one(f"{_ROW} WHERE {column} = ? ORDER BY number DESC LIMIT 1", value)

    def checkpoint(self) -> int:
        query = "SELECT number FROM record WHERE checkpoint IS NOT NULL ORDER BY number DESC LIMIT 1"
        found: list[Any] = self._connection.execute(query).fetchall()
        return int(found[0][0]) if found else 0

    def answer(self, number: int) -> bytes | None:
        found: list[Any] = self._connection.execute("SELECT bytes FROM answer WHERE number = ?", (number,)).fetchall()
        return found[0][0] if found and isinstance(found[0][0], bytes) else None

    def check(self) -> None:
        found: list[Any] = self._connection.execute("PRAGMA integrity_check(1)").fetchall()
        if found != [("ok",)]:
            raise LedgerCorrupt(f"the database is damaged: {found[0][0]}.")

    def everything(self) -> Iterator[tuple[Row, bytes | None]]:
        found: Any
        for found in self._connection.execute(_EVERYTHING):
            yield _row(found[:6]), found[6]

    def append(self, row: Row, *, answer: bytes | None = None, checkpoint: bool = False) -> None:
        values = (*row, 1 if checkpoint else None)
        self._connection.execute("INSERT INTO record VALUES (?, ?, ?, ?, ?, ?, ?)", values)
        if answer is not None:
            self._connection.execute("INSERT INTO answer VALUES (?, ?)", (row.number, answer))

    def _one(self, query: str, value: int | str | None) -> Row | None:
        found = self._connection.execute(query, (value,)).fetchall()
        return _row(found[0]) if found else None


def _row(values: Any) -> Row:
    """SQLite does not notice every damage: where bytes should be it may find nothing."""
    row = Row(*values)
    if type(row[1]) is not bytes or type(row[2]) is not bytes:
        raise LedgerCorrupt(f"record {row.number} is damaged.")
    return row


def _found(connection: apsw.Connection) -> None:
    with connection:
        connection.execute(_TABLES)
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {SCHEMA}")


def check_kind(connection: apsw.Connection, path: Path) -> None:
    """Passes if the file is a ledger of this version."""
    application, version = (connection.pragma(name) for name in ("application_id", "user_version"))
    if application != APPLICATION:
        raise InvalidParameter("path", f"{path} is a database of another program.", hint="Give another name.")
    if version != SCHEMA:
        raise LedgerUnavailable(f"{path} was written by another version of ledgers ({version}, not {SCHEMA}).")


def _place(path: Path) -> tuple[int, int]:
    """Which file this is, whatever its name; a second name would have a log of its own."""
    found = os.stat(path)  # noqa: PTH116 - once for every commit
    if found.st_nlink != 1:
        raise LedgerUnavailable(f"{path} has {found.st_nlink} names.", hint="Leave the ledger one name only.")
    return found.st_dev, found.st_ino


def _sync_directory(path: Path) -> None:
    directory = os.open(path, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
