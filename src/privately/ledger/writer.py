"""The one writer of a process: whatever was asked meanwhile is written together and synced once."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from copy import copy
from queue import Empty, SimpleQueue
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from privately.errors import LedgerCorrupt, LedgerUnavailable, PrivatelyError
from privately.ledger.book import Book, Clock, follow
from privately.ledger.state import State
from privately.ledger.stores import Store

Result = TypeVar("Result")
Act: TypeAlias = Callable[[Book], Result]
"""Looks at the book, decides, and appends what it decided; an error means that it appended nothing."""

_MOST = 1_000
_PATIENCE = 1.0
_MISTAKES = (TypeError, ValueError, AttributeError, LookupError, ArithmeticError)


class Answerable(Protocol):
    """Where the outcome of an act goes: a Promise, or a Future."""

    def set_result(self, result: Any, /) -> None: ...

    def set_exception(self, fault: Any, /) -> None: ...

    def done(self) -> bool: ...


class Promise(Generic[Result]):
    """What a thread waits for. As a Future, but a tenth of its cost."""

    __slots__ = ("_fault", "_gate", "_result")

    def __init__(self) -> None:
        self._gate = threading.Lock()
        self._gate.acquire()
        self._fault: BaseException | None = None

    def set_result(self, result: Result) -> None:
        self._result = result
        self._gate.release()

    def set_exception(self, fault: BaseException) -> None:
        self._fault = fault
        self._gate.release()

    def done(self) -> bool:
        return not self._gate.locked()

    def wait(self, seconds: float) -> bool:
        """Whether there is a result, or an error, by then."""
        if not self._gate.acquire(timeout=seconds):
            return False
        self._gate.release()
        return True

    def result(self) -> Result:
        """The result, or the error, once there is one."""
        with self._gate:
            if self._fault is not None:
                raise self._fault
            return self._result


class Writer:
    """Takes turns at the store, each for all acts that wait. A result is given only after it is durable."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store, self._clock = store, clock
        self._queue: SimpleQueue[tuple[Act[Any], Answerable] | None] = SimpleQueue()
        self._state: State | None = None
        self._fault: LedgerCorrupt | None = None
        self._thread: threading.Thread | None = None
        self._closing = False
        self._process = os.getpid()

    def start(self) -> None:
        """Begins to take turns, in a thread of its own."""
        self._thread = threading.Thread(target=self._run, name="privately ledger", daemon=True)
        self._thread.start()

    def perform(self, act: Act[Result]) -> Result:
        """Has an act done in the next turn, and waits until it is durable.

        The caller holds no lock on the way: whatever interrupts it, nobody else waits for it.
        """
        self.check_process()
        if self._closing or self._thread is None:
            raise LedgerUnavailable("the ledger was closed.")
        promise: Promise[Result] = Promise()
        self._queue.put((act, promise))
        while not promise.wait(_PATIENCE):
            if not self._thread.is_alive() and not promise.done():
                raise LedgerUnavailable("the ledger was closed.")
        return promise.result()

    def check_process(self) -> None:
        """A forked child has the memory of the parent, locks that are held included, but not its threads."""
        if self._process != os.getpid():
            raise LedgerUnavailable("the ledger was opened before this process was forked.", hint="Open it again.")

    def take_turn(self, acts: Sequence[tuple[Act[Any], Answerable]]) -> None:
        """One transaction for all acts; each future then holds its result or its error."""
        if not acts:
            return
        if self._fault is not None:
            _fail(acts, self._fault)
            return
        outcomes: list[tuple[Answerable, Any, Exception | None]] = []
        try:
            with self._store.writing() as session:
                book = Book(session, follow(session, self._state), self._clock)
                for act, future in acts:
                    outcomes.append((future, *_outcome(act, book)))
                book.finish()
        except BaseException as fault:
            self._state = None
            self._fault = fault if isinstance(fault, LedgerCorrupt) else None
            _fail(acts, fault)
            if not isinstance(fault, Exception):
                raise
            return
        self._state = book.state
        for future, result, refusal in outcomes:
            if refusal is None:
                future.set_result(result)
            else:
                future.set_exception(refusal)

    def close(self) -> None:
        """Ends after what waits is done. After a fork, the thread is the parent's."""
        if self._process != os.getpid():
            return
        self._closing = True
        self._queue.put(None)
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        while True:
            acts = self._waiting()
            try:
                self.take_turn([one for one in acts if one is not None])
            except BaseException:
                self._closing = True
                raise
            if None in acts:
                return

    def _waiting(self) -> list[tuple[Act[Any], Answerable] | None]:
        """All that wait, as soon as one does; None is the end."""
        found = [self._queue.get()]
        while len(found) < _MOST:
            try:
                found.append(self._queue.get_nowait())
            except Empty:
                break
        return found


def _outcome(act: Act[Any], book: Book) -> tuple[Any, Exception | None]:
    """What an act comes to. Its own mistakes are its own, as long as it has written nothing."""
    before = book.state.head
    try:
        return act(book), None
    except LedgerCorrupt:
        raise
    except (PrivatelyError, *_MISTAKES) as refusal:
        if book.state.head != before:
            raise
        return None, refusal


def _fail(acts: Sequence[tuple[Act[Any], Answerable]], fault: BaseException) -> None:
    """Each with an error of its own, as threads add where they raised it."""
    for _, future in acts:
        if not future.done():
            future.set_exception(copy(fault) if isinstance(fault, PrivatelyError) else fault)
