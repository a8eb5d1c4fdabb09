"""Simulated processes: each has its own store and ledger on the one file, and its turns are taken without threads."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any
from unittest.mock import patch

import apsw

from privately.ledger import Charge, Ledger, ledger
from privately.ledger.acts import MakeCharge
from privately.ledger.desks import Answerable
from privately.ledger.rounds import Act
from privately.ledger.stores import SQLiteStore
from privately.ledger.writer import Result, Writer
from tests.ledger.simulation.disk import Disk, Fate, Killed, Machine, Operation

_MACHINES = count()


class Violation(AssertionError):
    """What must never happen."""


class InlineWriter(Writer):
    """Takes a turn at once, for each act alone: there is no thread."""

    def perform(self, act: Act[Result]) -> Result:
        future: Future[Result] = Future()
        self.take_turn([(act, future)])
        return future.result()


class Process:
    """One that can be killed and started again."""

    def __init__(
        self,
        disk: Disk,
        path: Path,
        clock: Callable[[], datetime],
        *,
        store: type[SQLiteStore] = SQLiteStore,
        writer: type[Writer] = InlineWriter,
    ) -> None:
        self._disk, self._path, self._clock = disk, path, clock
        self._kinds = store, writer
        self._connections: list[apsw.Connection] = []
        self._store: SQLiteStore | None = None
        self._machine: Machine | None = None
        self.ledger: Ledger | None = None
        self.late = timedelta(0)
        self.meanwhile: Callable[[Operation], None] | None = None
        self.fault: Violation | None = None
        self.busy = False

    @property
    def machine(self) -> Machine:
        if self._machine is None:
            raise AssertionError("the process was not started")
        return self._machine

    @property
    def opened(self) -> Ledger:
        if self.ledger is None:
            raise AssertionError("the process was not started")
        return self.ledger

    def start(self, fate: Fate | None = None) -> None:
        """Opens the ledger. The process may die on the way."""
        self._machine = Machine(f"machine {next(_MACHINES)}", self._disk, self._watch)
        self._machine.fate = fate or Fate()
        store, writer = self._kinds
        with self._living():
            self._store = store(self._path, vfs=self.machine.name, patience=0)
            with patch.object(ledger, "Writer", writer):
                self.ledger = Ledger(self._store, clock=lambda: self._clock() - self.late)

    def turn(self, acts: Sequence[tuple[Act[Any], Answerable]]) -> None:
        """One turn of the writer for all these acts."""
        with self._living():
            self.opened._writer.take_turn(acts)

    def charging(self, charge: Charge, *, again: bool) -> MakeCharge:
        """A charge with what is known of it before its turn, by the state after the last one."""
        return self.opened.charging(charge, again=again)

    def kill(self) -> None:
        """Dies between two operations."""
        if not self.machine.dead:
            self.machine.die()
        self._take_apart()

    def close(self) -> None:
        """Ends as a process should."""
        if self._store is not None:
            with self._living():
                self._store.close()
            self._store = None
        self._take_apart()

    @contextmanager
    def _living(self) -> Iterator[None]:
        apsw.connection_hooks.append(self._connections.append)
        self.busy = True
        try:
            yield
        except Killed:
            self._take_apart()
            raise
        finally:
            self.busy = False
            apsw.connection_hooks.remove(self._connections.append)
            if self.fault is not None:
                raise self.fault

    def _take_apart(self) -> None:
        """The operating system frees the locks of a dead process."""
        for connection in self._connections:
            connection.close(True)
        self._connections.clear()
        if self.ledger is not None and self._store is not None and self._store._lock is not None:
            self._store._lock.close()  # a ledger that could not be opened has closed it
        self._store = self.ledger = None
        self.machine.bury()
        self.machine.unregister()

    def _watch(self, operation: Operation) -> None:
        what, name, _, _ = operation
        if what != "sync" and _is_free(Path(f"{self._path}.lock")):
            self.fault = Violation(f"{what} of {Path(name).name} without the lock.")
        if self.meanwhile is not None:
            self.meanwhile(operation)


def _is_free(lock: Path) -> bool:
    probe = os.open(lock, os.O_RDWR)
    try:
        fcntl.flock(probe, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(probe)
    return True
