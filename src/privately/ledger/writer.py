"""The one writer of a process: whatever was asked meanwhile is written together and synced once. And the one reader."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from copy import copy
from typing import Any, TypeAlias, TypeVar

from privately.errors import LedgerCorrupt, LedgerUnavailable
from privately.ledger.acts import StoreAnswer
from privately.ledger.book import Book, Clock
from privately.ledger.desks import Answerable, Desk, own, serving, tell, tell_all
from privately.ledger.following import follow
from privately.ledger.interrupts import uninterrupted
from privately.ledger.rounds import Act, Asked, perform
from privately.ledger.state import State
from privately.ledger.stores import NotNow, Session, Store

Result = TypeVar("Result")
Look: TypeAlias = Callable[[Session], Result]
Outcomes: TypeAlias = Sequence[tuple[Any, Any, BaseException | None]]
"""Who is told, the result, or what went wrong."""

LONG = 0.002
"""A turn that waits so many seconds, for the disk or for others, is taken in a thread of its own."""

_MOST_HERE = 1_000
_LONGEST_HERE = 2**20


class Writer:
    """Takes turns at the store, each for all acts that wait. A result is given only after it is durable."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store, self._clock = store, clock
        self._state: State | None = None
        self._fault: LedgerCorrupt | None = None
        self._desk: Desk[Act[Any]] | None = None
        self._turns = threading.Lock()
        self._waited = 0.0

    @property
    def state(self) -> State | None:
        """What all records amounted to after the last turn; nobody changes it any more. None if that is not known."""
        return self._state

    def start(self) -> None:
        """Begins to take turns, in a thread of its own."""
        self._desk = Desk(self.take_turn, "writer", gathers=True)

    def perform(self, act: Act[Result]) -> Result:
        """Has an act done in the next turn, and waits until it is durable."""
        result: Result = self._writing().perform(act)
        return result

    def submit(self, act: Act[Any], answerable: Answerable) -> None:
        """Has an act done in the next turn. Its result is given when it is durable, in the thread of the writer."""
        self._writing().submit(act, answerable)

    def submit_all(self, asked: Sequence[Asked]) -> None:
        """The same for several acts, which are done in one turn as far as possible."""
        self._writing().submit_all(asked)

    def stop(self, fault: LedgerCorrupt) -> None:
        """Writes nothing any more, whoever noticed that the ledger is corrupt: each act is told so."""
        self._fault = copy(fault)

    def _writing(self) -> Desk[Act[Any]]:
        if self._desk is None:
            raise LedgerUnavailable("the ledger was opened for reading only.", hint="Open it with Ledger.open.")
        return self._desk

    def take_turn(self, acts: Sequence[Asked]) -> None:
        """One transaction for all acts, and for those that came until it began; each future then holds its outcome."""
        if not acts:
            return
        with self._turns:
            outcomes, end = self._turn(acts, waits=True)
        tell_all(outcomes)
        if end is not None:
            raise end

    def take_turn_here(self, acts: Sequence[tuple[Act[Any], Any]], give: Callable[[Outcomes], None]) -> bool:
        """A turn in the thread that asks, which is given all outcomes; False, and nothing done, where it would wait.

        That is where others write or wait for their turn, where the last turns waited long for the disk, or where
        there is much to do.
        """
        desk = self._desk
        if desk is None or len(acts) > _MOST_HERE or not desk.is_idle or self._waited > LONG or self._turns.locked():
            return False
        if sum(len(act.answer) for act, _ in acts if type(act) is StoreAnswer) > _LONGEST_HERE:
            return False
        try:
            with uninterrupted(), serving(), self._turns:
                outcomes, end = self._turn(acts, waits=False)
                give(outcomes)
        except NotNow:
            return False
        try:
            if end is not None:
                raise end
        finally:
            del outcomes, end  # so that what was raised is forgotten with whoever catches it
        return True

    def _turn(self, acts: Sequence[Asked], *, waits: bool) -> tuple[Outcomes, BaseException | None]:
        """The outcome of each act; and what ends the thread, if something does."""
        if self._fault is not None:
            return _failed(acts, self._fault), None
        start, used = time.monotonic(), time.thread_time()
        try:
            with self._store.writing(waits=waits) as session:
                if waits and self._desk is not None:
                    acts = [*acts, *self._desk.more()]
                book = Book(session, follow(session, self._state), self._clock)
                outcomes = perform(book, acts)
                book.finish()
        except NotNow:
            raise
        except BaseException as fault:  # noqa: BLE001 - raised again by whoever told all acts
            self._state = None
            if isinstance(fault, LedgerCorrupt):
                self.stop(fault)
            return _failed(acts, fault), None if isinstance(fault, Exception) else fault
        self._state = book.state
        self._waited = max(time.monotonic() - start - (time.thread_time() - used), self._waited / 2)
        return outcomes, None

    def close(self) -> None:
        """Ends after what waits is done."""
        if self._desk is not None:
            self._desk.close()


class Reader:
    """Looks at what is committed, in a thread of its own. If it is corrupt, `noticed` is told before anybody else."""

    def __init__(self, store: Store, noticed: Callable[[LedgerCorrupt], None] | None = None) -> None:
        self._store, self._noticed = store, noticed
        self._desk: Desk[Look[Any]] = Desk(self._serve, "reader")

    def look(self, look: Look[Result]) -> Result:
        """What a look finds. Everything it sees is of one moment."""
        result: Result = self._desk.perform(look)
        return result

    def submit(self, look: Look[Any], answerable: Answerable) -> None:
        """The same, for whoever does not wait in a thread."""
        self._desk.submit(look, answerable)

    def close(self) -> None:
        """Ends after what waits is done."""
        self._desk.close()

    def _serve(self, looks: Sequence[tuple[Look[Any], Answerable]]) -> None:
        for look, future in looks:
            try:
                with self._store.reading() as session:
                    found = look(session)
            except BaseException as fault:
                if isinstance(fault, LedgerCorrupt) and self._noticed is not None:
                    self._noticed(fault)
                tell(future, None, fault)
                if not isinstance(fault, Exception):
                    raise
            else:
                tell(future, found, None)


def _failed(acts: Sequence[Asked], fault: BaseException) -> Outcomes:
    return [(future, None, own(fault)) for _, future in acts]
