"""Whose turn it is to write: a lock that the operating system frees when its holder dies."""

from __future__ import annotations

import os
import time
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from privately.errors import LedgerUnavailable
from privately.ledger.stores.protocol import NotNow

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows
    fcntl = None  # type: ignore[assignment]  # not on this system

_NOTE = 64  # where in the file
_SHORTEST_PAUSE, _LONGEST_PAUSE, _SHARE = 0.00002, 0.01, 1 / 8


class Lock(Protocol):
    """Held by one writer at a time."""

    def held(self, *, waits: bool = True) -> AbstractContextManager[None]:
        """A context in which the lock is held."""

    def close(self) -> None: ...


class _Held:
    """In which a lock is held. No generator, which may be ended late, when the lock is held again."""

    __slots__ = ("_lock", "_waits")

    def __init__(self, lock: FileLock, *, waits: bool) -> None:
        self._lock, self._waits = lock, waits

    def __enter__(self) -> None:
        try:
            self._lock.acquire(waits=self._waits)
        except BaseException:
            self._lock.release()
            raise

    def __exit__(self, *_: object) -> None:
        self._lock.release()


class FileLock:
    """A lock on a file beside the ledger. The file stays; only the lock on it counts, and it dies with its process."""

    def __init__(self, path: Path, *, patience: float) -> None:
        if fcntl is None:  # pragma: no cover - Windows
            raise LedgerUnavailable("this system has no file locks that die with their process.")
        self.path, self._name = path, str(path)
        self.patience = patience
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as fault:
            hint = (
                "A ledger that is charged must be writable, as must its directory; to look at one, use Ledger.inspect."
            )
            raise LedgerUnavailable(f"cannot open the lock {path}: {fault.strerror}.", hint=hint) from None
        opened = os.fstat(self._file)
        self._place = opened.st_dev, opened.st_ino

    def held(self, *, waits: bool = True) -> AbstractContextManager[None]:
        """Waits for its turn, at most as long as patience lasts; or is told NotNow."""
        return _Held(self, waits=waits)

    @property
    def marked(self) -> bool:
        """Whether what is locked existed once."""
        return os.fstat(self._file).st_size > 0

    def mark(self) -> None:
        """Remembers that what is locked exists."""
        if not self.marked:
            os.write(self._file, b"1")
            os.fsync(self._file)

    def note(self, number: int) -> None:
        """Remembers beside the ledger how far it has come. Never ahead of what is durable, so it needs no sync."""
        os.pwrite(self._file, b"%020d" % number, _NOTE)

    @property
    def noted(self) -> int:
        """How far the ledger had come; 0 if nothing says so."""
        found = os.pread(self._file, 20, _NOTE)
        return int(found) if found.isdigit() else 0

    def close(self) -> None:
        """Once is enough; later the number may be that of another file."""
        if self._file >= 0:
            file, self._file = self._file, -1
            os.close(file)

    def release(self) -> None:
        """Also if it is not held."""
        if self._file >= 0:
            fcntl.flock(self._file, fcntl.LOCK_UN)

    def acquire(self, *, waits: bool) -> None:
        """As `held`, until it is released."""
        if self._file < 0:
            raise LedgerUnavailable(f"{self.path} was closed.")
        start = time.monotonic()
        while True:
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if not waits:
                    raise NotNow from None
                waited = time.monotonic() - start
                if waited > self.patience:
                    hint = "Another process holds it; is one suspended?"
                    raise LedgerUnavailable(
                        f"waited {self.patience:g} s for {self.path}, nothing was written.", hint=hint
                    ) from None
                time.sleep(min(max(_SHORTEST_PAUSE, _SHARE * waited), _LONGEST_PAUSE))
            except OSError as fault:
                raise LedgerUnavailable(f"cannot lock {self.path}: {fault.strerror}.") from None
            else:
                self._check_place()
                return

    def _check_place(self) -> None:
        """A lock file that was replaced is held by several at once."""
        try:
            found = os.stat(self._name)  # noqa: PTH116 - once for every commit
        except OSError:
            found = None
        if found is None or (found.st_dev, found.st_ino) != self._place:
            fcntl.flock(self._file, fcntl.LOCK_UN)
            raise LedgerUnavailable(f"{self.path} was replaced or removed.", hint="Open the ledger again.")
