"""Looking at a ledger file without touching it: nothing is created, changed or locked, nothing need be writable."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import NoReturn
from urllib.parse import quote

import apsw

from privately.errors import LedgerCorrupt, LedgerUnavailable
from privately.ledger.stores import forks, inspected
from privately.ledger.stores.checks import CheckAside
from privately.ledger.stores.faults import explained, real
from privately.ledger.stores.protocol import Session
from privately.ledger.stores.schema import check_kind
from privately.ledger.stores.sqlite import PATIENCE, SAFE, SQLiteSession, transaction

_SHARED = "readonly_shm=1"
_ALONE = "immutable=1"


class SQLiteReader:
    """A ledger file that is only read.

    Beside a ledger in use lie its log and the index of the log; SQLite reads both as they are. Where the log is empty
    or gone the file alone is the ledger, and is read without looking beside it; nobody may write it meanwhile.
    """

    durable, writable = True, False

    def __init__(self, path: str | Path, *, patience: float = PATIENCE) -> None:
        self.path = real(path)
        self._guard = threading.RLock()
        forks.remember(self)
        try:
            self._open(patience)
        except BaseException:
            forks.forget(self)
            raise

    def _open(self, patience: float) -> None:
        with explained(self.path):
            if not self.path.is_file():
                raise LedgerUnavailable(f"{self.path} is no file.", hint="Give the path of a ledger.")
            self._way = self._found_way()
            self._before = self._seen()
            self._connection = self._connected(patience)
            try:
                check_kind(self._connection, self.path)
            except BaseException:
                self._connection.close()
                raise
            self._place = inspected.place_of(self.path)
            if self._way == _SHARED:
                inspected.begin(self._place)
            self._closed = False

    def _connected(self, patience: float) -> apsw.Connection:
        name = f"file:{quote(os.fsencode(self.path))}?mode=ro&{self._way}"
        connection = apsw.Connection(name, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
        connection.set_busy_timeout(int(patience * 1000))
        for option in (apsw.SQLITE_DBCONFIG_DEFENSIVE, apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE):
            connection.config(option, 1)
        for setting in SAFE:
            connection.execute(f"PRAGMA {setting}").fetchall()
        return connection

    def checking(self) -> CheckAside:
        """Begins to look for damage, while others read."""
        with self._guard, explained(self.path):
            if inspected.place_of(self.path) != self._place:
                raise LedgerUnavailable(f"{self.path} was replaced while it was read.", hint="Look again.")
            return CheckAside(self._connected(PATIENCE), self.path)

    @property
    def elsewhere(self) -> str:
        """The path."""
        return str(self.path)

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """Looks at all that was committed."""
        with self._guard, explained(self.path):
            try:
                with transaction(self._connection, "BEGIN"):
                    yield SQLiteSession(self._connection)
            finally:
                if self._way == _ALONE and self._seen() != self._before:
                    raise LedgerUnavailable(f"{self.path} was written while it was read.", hint="Look again.")

    def writing(self, *, waits: bool = True) -> AbstractContextManager[Session]:  # noqa: ARG002 - as all stores
        """Never."""
        return _refused(self.path)

    def close(self) -> None:
        """Leaves everything as it was."""
        with self._guard:
            if not self._closed:
                self._closed = True
                self._connection.close()
                if self._way == _SHARED:
                    inspected.end(self._place)
                forks.forget(self)

    def let_go(self) -> None:
        """In a forked child: there is nothing to let go of."""

    def _found_way(self) -> str:
        log, index = (self.path.with_name(self.path.name + suffix) for suffix in ("-wal", "-shm"))
        if self.path.stat().st_size == 0:
            raise LedgerCorrupt(f"{self.path} is empty.")
        if log.exists() and index.exists():
            return _SHARED
        if log.exists() and log.stat().st_size > 0:
            hint = "Open it once where it can be written, which carries the log over."
            raise LedgerUnavailable(f"the newest records are in {log.name}, which cannot be read alone.", hint=hint)
        return _ALONE

    def _seen(self) -> tuple[int, ...]:
        """What changes if anybody writes."""
        found = self.path.stat()
        log = self.path.with_name(self.path.name + "-wal")
        return found.st_ino, found.st_size, found.st_mtime_ns, log.stat().st_size if log.exists() else 0


@contextmanager
def _refused(path: Path) -> Iterator[NoReturn]:
    raise LedgerUnavailable(f"{path} was opened for reading only.", hint="Open it with Ledger.open.")
    yield
