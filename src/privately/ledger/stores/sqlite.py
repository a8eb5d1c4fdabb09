"""Records in a SQLite file: a write-ahead log, synced at every commit, and one writer at a time under a lock of ours.

The log is carried over into the file only by whoever holds the lock, never by SQLite on its own. `apsw` brings a
current SQLite with it; that of Python may be one that can damage a database whose log is carried over while it grows.
"""

from __future__ import annotations

import ctypes
import os
import threading
from array import array
from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any

import apsw

from privately.errors import LedgerCorrupt, LedgerUnavailable
from privately.ledger.stores import forks, inspected
from privately.ledger.stores.checks import CheckAside, check_database
from privately.ledger.stores.faults import explained, real
from privately.ledger.stores.locks import FileLock
from privately.ledger.stores.logs import Log
from privately.ledger.stores.mounts import check_mounts
from privately.ledger.stores.protocol import EMPTY, Head, NotNow, Page, Row, Whole
from privately.ledger.stores.schema import check_header, check_kind, check_schema, found

MEMORY = ":memory:"
OLDEST = 3_051_003
PATIENCE = 30.0
SAFE = ("trusted_schema = OFF", "cell_size_check = ON", "cache_size = -65536")
"""Settings of every connection: nothing of the file is run, damage shows, and up to 64 MB of it stay in memory."""

_WRITTEN = "PRAGMA cache_size = -8192"
"""Whoever appends needs the end of the file. Each page more is memory that is not in any cache of the processor."""

_AT_ONCE = 32
_INSERT = "INSERT INTO record VALUES (?, ?, ?, ?, ?, ?, ?)"
_INSERT_SEVERAL = _INSERT + ", (?, ?, ?, ?, ?, ?, ?)" * (_AT_ONCE - 1)
_HEAD = "SELECT number, hash FROM record ORDER BY number DESC LIMIT 1"
_ROW = "SELECT number, hash, text, key, question, charge FROM record"
_WHOLE = f"{_ROW.replace(' FROM', ', checkpoint FROM')} WHERE number > ? AND number <= ? ORDER BY number"
_ANSWERS = "SELECT number, bytes FROM answer WHERE number > ? AND number <= ?"
_ARRAYS = "ENABLE_CARRAY" in apsw.compile_options
_KNOWN_KEY = "SELECT key FROM record WHERE key = ? LIMIT 1"
_KNOWN_QUESTION = "SELECT question FROM record WHERE question = ? LIMIT 1"
_KNOWN_KEYS = "SELECT value FROM carray(?) WHERE EXISTS (SELECT 1 FROM record WHERE key = value)"
_KNOWN_QUESTIONS = "SELECT value FROM carray(?) WHERE EXISTS (SELECT 1 FROM record WHERE question = value)"
_ONE_ROW = f"{_ROW} WHERE number = ?"
_SEVERAL_ROWS = _ONE_ROW.replace("= ?", "IN (SELECT value FROM carray(?))")
_LAST_OF_KEY = "SELECT ?1, max(number) FROM record WHERE key = ?1"
_LAST_OF_KEYS = "SELECT value, (SELECT max(number) FROM record WHERE key = value) FROM carray(?)"
_ANSWERED = "SELECT charge FROM record WHERE charge = ?"
_ANSWERED_ALL = "SELECT charge FROM record WHERE charge IN (SELECT value FROM carray(?))"
_KEYED = f"""
{_ROW} WHERE number > ? AND number <= ? AND key IS NOT NULL AND substr(key, -length(?3)) = ?3 ORDER BY number
"""
_REPEATED = """
SELECT key, number FROM record
WHERE key IN (SELECT key FROM record WHERE key IS NOT NULL GROUP BY key HAVING count(*) > 1) AND number <= ?
ORDER BY key, number
"""


class SQLiteStore:
    """One ledger file, in one process. `vfs` names another file system of SQLite's, such as one that fails."""

    writable = True

    def __init__(self, path: str | Path, *, vfs: str | None = None, patience: float = PATIENCE) -> None:
        if apsw.sqlite_lib_version() < f"{OLDEST // 10**6}." or apsw.SQLITE_VERSION_NUMBER < OLDEST:
            raise LedgerUnavailable(f"SQLite {apsw.sqlite_lib_version()} is too old.", hint="Install a newer apsw.")
        self.durable = str(path) != MEMORY
        self.path = real(path) if self.durable else Path(MEMORY)
        self._name, *self._beside_it = (f"{self.path}{suffix}" for suffix in ("", "-wal", "-shm"))
        self._vfs, self._patience = vfs, patience
        self._log: Log | None = None
        self._process, self._closed = os.getpid(), False
        self._write_guard, self._read_guard = threading.RLock(), threading.RLock()
        self._lock: FileLock | None = None
        forks.remember(self)
        try:
            self._open()
        except BaseException:
            forks.forget(self)
            raise

    def _open(self) -> None:
        with explained(self.path):
            if self.durable:
                self._open_file()
            else:
                self._writer = self._reader = self._connected(MEMORY)
                self._read_guard = self._write_guard
                found(self._writer)

    @property
    def elsewhere(self) -> str | None:
        """The path. Neither memory nor a file system that fails on purpose is found by another process."""
        return str(self.path) if self.durable and self._vfs is None else None

    @contextmanager
    def reading(self) -> Iterator[SQLiteSession]:
        """Looks at all that was committed."""
        self._check_open()
        with self._read_guard, explained(self.path):
            self._check_places()
            with transaction(self._reader, "BEGIN"):
                yield SQLiteSession(self._reader)

    def checking(self) -> CheckAside | None:
        """Begins to look for damage, while others read. A file system that fails on purpose wants one reader."""
        self._check_open()
        if not self.durable or self._vfs is not None:
            return None
        with self._read_guard, explained(self.path):
            self._check_places()
            connection = self._connected(str(self.path))
            connection.execute("PRAGMA query_only = ON").fetchall()
            return CheckAside(connection, self.path)

    @contextmanager
    def writing(self, *, waits: bool = True) -> Iterator[SQLiteSession]:
        """Waits for its turn; commits durably on leaving, and forgets everything on an error."""
        self._check_open()
        if not waits and self._log is not None and self._log.is_due:
            raise NotNow  # carrying it over takes long
        with self._write_guard, explained(self.path), self._turn(waits=waits):
            self._check_places()
            with transaction(self._writer, "BEGIN IMMEDIATE"):
                self._check_schema()
                session = SQLiteSession(self._writer, together=True)
                yield session
                session.write()
                self._writer.execute("COMMIT")
            self._check_places()
            if self._lock is not None and session.appended:
                self._lock.note(session.appended)
            if self._log is not None and self._log.is_due and waits:
                self._log.carry_over()
                self._check_places()  # by now the file is longer

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
                        if self._log is not None:
                            self._log.carry_all_over()
                except LedgerUnavailable:
                    pass  # the log stays beside the file and is read at the next opening
                finally:
                    self._writer.close()
                    self._lock.close()
            forks.forget(self)

    def _open_file(self) -> None:
        if not self.path.parent.is_dir():
            raise LedgerUnavailable(f"there is no directory {self.path.parent}.", hint="Make it first.")
        if self.path.exists():
            if not self.path.is_file():
                raise LedgerUnavailable(f"{self.path} is no file.", hint="Give the path of a ledger, or a new name.")
            check_header(self.path)
        inspected.check(self.path)
        check_mounts(self.path)
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
        check_header(self.path)
        self.place, self._size = _place(self._name)
        self._writer = self._connected(str(self.path))
        self._writer.execute(_WRITTEN).fetchall()
        self._log = Log(self._writer, self._beside_it[0], self._patience)
        if self._lock is not None:
            self._lock.mark()
        self._reader = self._connected(str(self.path))
        self._reader.execute("PRAGMA query_only = ON").fetchall()
        with transaction(self._writer, "BEGIN IMMEDIATE"):
            pass  # now there is a log, and an index of it
        self._check_noted()
        self._places = self._log_places()
        self._schema_version = self._read_schema_version()

    def _check_noted(self) -> None:
        """The lock that stays beside a ledger knows how far it had come."""
        noted = 0 if self._lock is None else self._lock.noted
        if SQLiteSession(self._writer).head().number < noted:
            lock = self._beside(".lock").name
            hint = f"Put the newer file and its log back; remove {lock} only if nothing that was spent is missing."
            raise LedgerCorrupt(f"{self.path} has lost records: there were {noted} of them.", hint=hint)

    def let_go(self) -> None:
        """In a forked child: the lock is the parent's alone."""
        if self._lock is not None:
            self._lock.close()

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
            found(connection)
            connection.close()
            new.chmod(0o600)
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
        for setting in (*settings, *SAFE, "fullfsync = ON"):
            connection.execute(f"PRAGMA {setting}").fetchall()
        if self.durable:
            keep = ctypes.c_int(1)
            connection.file_control("main", apsw.SQLITE_FCNTL_PERSIST_WAL, ctypes.addressof(keep))
        return connection

    def _turn(self, *, waits: bool = True) -> AbstractContextManager[None]:
        return nullcontext() if self._lock is None else self._lock.held(waits=waits)

    def _beside(self, suffix: str) -> Path:
        return self.path.with_name(self.path.name + suffix)

    def _check_places(self) -> None:
        """Whoever replaces or removes the file or its log would leave us writing where nobody reads.

        The file never becomes shorter, unless an older copy is written over it.
        """
        if not self.durable:
            return
        least = self._size  # before it is looked at: another thread may find it longer meanwhile
        place, size = _place(self._name)
        if place != self.place or size < least or self._log_places() != self._places:
            raise LedgerCorrupt(f"{self.path} or its log was replaced or removed while it was open.")
        self._size = size

    def _log_places(self) -> list[tuple[int, int] | None]:
        return [_place_or_none(name) for name in self._beside_it]

    def _check_schema(self) -> None:
        if self.durable and (version := self._read_schema_version()) != self._schema_version:
            check_schema(self._writer)
            self._schema_version = version

    def _read_schema_version(self) -> Any:
        return self._writer.execute("PRAGMA schema_version").fetchall()

    def _check_open(self) -> None:
        if self._closed:
            raise LedgerUnavailable("the ledger was closed.")
        if self._process != os.getpid():
            hint = "Open ledgers after forking, or start processes with multiprocessing's 'spawn'."
            raise LedgerUnavailable("the ledger was opened before this process was forked.", hint=hint)


class SQLiteSession:
    """One transaction. What is appended waits to be written `together`, at the latest before anything is looked up."""

    def __init__(self, connection: apsw.Connection, *, together: bool = False) -> None:
        self._connection, self._together = connection, together
        self._rows: list[tuple[Any, ...]] = []
        self._answers: list[tuple[int, bytes]] = []
        self.appended = 0

    def head(self) -> Head:
        found: list[Any] = self._execute(_HEAD).fetchall()
        return Head._make(found[0]) if found else EMPTY

    def rows(self, after: int, upto: int | None = None) -> Iterator[Row]:
        limits = (after, 2**63 - 1 if upto is None else upto)
        return map(_row, self._execute(f"{_ROW} WHERE number > ? AND number <= ? ORDER BY number", limits))

    def row(self, number: int) -> Row | None:
        return self._one(f"{_ROW} WHERE number = ?", number)

    def latest(self, *, key: str | None = None, question: str | None = None, charge: int | None = None) -> Row | None:
        column, value = next(
            pair for pair in (("key", key), ("question", question), ("charge", charge)) if pair[1] is not None
        )
        return self._one(f"{_ROW} WHERE {column} = ? ORDER BY number DESC LIMIT 1", value)

    def known(self, *, keys: Sequence[str] = (), questions: Sequence[str] = ()) -> set[str]:
        self.write()
        return {*self._known(_KNOWN_KEY, _KNOWN_KEYS, keys), *self._known(_KNOWN_QUESTION, _KNOWN_QUESTIONS, questions)}

    def several(self, numbers: Collection[int]) -> dict[int, Row]:
        return {row.number: row for row in map(_row, self._listed(_ONE_ROW, _SEVERAL_ROWS, numbers))}

    def last_of(self, keys: Sequence[str]) -> dict[str, int]:
        return {key: number for key, number in self._listed(_LAST_OF_KEY, _LAST_OF_KEYS, keys) if number is not None}

    def answered(self, charges: Sequence[int]) -> set[int]:
        return {charge for (charge,) in self._listed(_ANSWERED, _ANSWERED_ALL, charges)}

    def _known(self, one: str, all_: str, names: Sequence[str]) -> Iterator[str]:
        return (name for (name,) in self._listed(one, all_, names))

    def _listed(self, one: str, all_: str, values: Collection[int] | Collection[str]) -> Iterator[Any]:
        """For all values at once, in a third of the time. But a text in an array ends where there is a null."""
        self.write()
        if not values:
            return iter(())
        texts = [value for value in values if isinstance(value, str)]
        if not _ARRAYS or "\0" in "".join(texts):
            return self._connection.executemany(one, [(value,) for value in values])
        listed = tuple(texts) if texts else array("q", [int(value) for value in values])
        return self._connection.execute(all_, (apsw.carray(listed),))

    def checkpoint(self, upto: int | None = None) -> int:
        query = "SELECT number FROM record WHERE checkpoint IS NOT NULL AND number <= ? ORDER BY number DESC LIMIT 1"
        found: list[Any] = self._execute(query, (2**63 - 1 if upto is None else upto,)).fetchall()
        return int(found[0][0]) if found else 0

    def answer(self, number: int) -> bytes | None:
        found: list[Any] = self._execute("SELECT bytes FROM answer WHERE number = ?", (number,)).fetchall()
        return found[0][0] if found and isinstance(found[0][0], bytes) else None

    def keyed(self, end: str, after: int, upto: int) -> Iterator[Row]:
        return map(_row, self._execute(_KEYED, (after, upto, end)))

    def repeated(self, upto: int) -> Iterator[tuple[str, int]]:
        rows: Any = self._execute(_REPEATED, (upto,))
        return iter(rows)

    def backup(self, path: str) -> None:
        copied(self._connection, real(path))

    def check(self) -> None:
        check_database(self._connection)

    def page(self, after: int, upto: int) -> Page:
        rows: Any = self._execute(_WHOLE, (after, upto)).fetchall()
        answers: Any = self._execute(_ANSWERS, (after, upto))
        return rows, {
            number: (len(answer), sha256(answer).hexdigest()) for number, answer in answers if type(answer) is bytes
        }

    def append(self, row: Row, *, answer: bytes | None = None, checkpoint: bool = False) -> None:
        self._rows.append((*row, 1 if checkpoint else None))
        self.appended = row.number
        if answer is not None:
            self._answers.append((row.number, answer))
        if not self._together:
            self.write()

    def extend(self, rows: Sequence[Whole], answers: Sequence[tuple[int, bytes]] = ()) -> None:
        self._rows.extend(rows)
        self._answers.extend(answers)
        self.appended = rows[-1][0]
        if not self._together:
            self.write()

    def write(self) -> None:
        """Gives the database what was appended, all at once."""
        if self._rows:
            rows, answers, self._rows, self._answers = self._rows, self._answers, [], []
            while len(rows) >= _AT_ONCE:
                self._connection.execute(_INSERT_SEVERAL, tuple(chain.from_iterable(rows[:_AT_ONCE])))
                rows = rows[_AT_ONCE:]
            self._connection.executemany(_INSERT, rows)
            if answers:
                self._connection.executemany("INSERT INTO answer VALUES (?, ?)", answers)

    def _execute(self, query: str, values: tuple[Any, ...] = ()) -> apsw.Cursor:
        self.write()
        return self._connection.execute(query, values)

    def _one(self, query: str, value: int | str | None) -> Row | None:
        found = self._execute(query, (value,)).fetchall()
        return _row(found[0]) if found else None


def _row(values: Any) -> Row:
    """SQLite does not notice every damage: where bytes should be it may find nothing."""
    row: Row = tuple.__new__(Row, values)  # as Row._make, in half the time
    if type(row[1]) is not bytes or type(row[2]) is not bytes:
        raise LedgerCorrupt(f"record {row.number} is damaged.")
    return row


def copied(connection: apsw.Connection, path: Path) -> None:
    """The database of a connection as a file that stands alone; what is there already is left as it is."""
    new = path.with_name(f".{path.name[:50]}.{os.urandom(8).hex()}")
    with explained(path):
        if any(path.with_name(path.name + suffix).exists() for suffix in ("", "-wal", "-shm", ".lock")):
            raise LedgerUnavailable(
                f"{path}, or something that belongs to it, is there already.", hint="Give a new name."
            )
        try:
            new.touch(mode=0o600)
            target = apsw.Connection(str(new))
            with target.backup("main", connection, "main") as pages:
                pages.step()
            target.execute("PRAGMA journal_mode = DELETE").fetchall()
            target.close()
            new.replace(path)
            _sync_directory(path.parent)
        finally:
            new.unlink(missing_ok=True)


class transaction:  # noqa: N801 - used as a function
    """Nothing is left of one that was interrupted, wherever that was: at the latest when the next one begins.

    No generator, which may be ended late, and undo what came after it.
    """

    __slots__ = ("_begin", "_connection")

    def __init__(self, connection: apsw.Connection, begin: str) -> None:
        self._connection, self._begin = connection, begin

    def __enter__(self) -> None:
        self.__exit__()
        try:
            self._connection.execute(self._begin)
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *_: object) -> None:
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")


def _place(path: str) -> tuple[tuple[int, int], int]:
    """Which file this is, whatever its name, and how long; a second name would have a log of its own."""
    found = os.stat(path)  # noqa: PTH116 - once for every commit
    if found.st_nlink != 1:
        raise LedgerUnavailable(f"{path} has {found.st_nlink} names.", hint="Leave the ledger one name only.")
    return (found.st_dev, found.st_ino), found.st_size


def _place_or_none(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)  # noqa: PTH116 - twice for every commit
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _sync_directory(path: Path) -> None:
    directory = os.open(path, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
