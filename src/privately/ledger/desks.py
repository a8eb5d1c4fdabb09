"""Threads that do what others ask for, one thing after the other.

Whoever asks holds no lock meanwhile. An interrupt (Ctrl-C comes to the main thread only) may end the asking at any
point; it never leaves anything half done or locked.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from functools import lru_cache
from queue import Empty, SimpleQueue
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from privately.errors import InvalidParameter, LedgerUnavailable, PrivatelyError

Result = TypeVar("Result")
Task = TypeVar("Task")

_MOST = 1_000
_PATIENCE = 1.0
_PAUSE = 0.0001
_AT_ONCE = 4


class Answerable(Protocol):
    """Where the outcome of a task goes: a Promise, or a Future."""

    def set_result(self, result: Any, /) -> None: ...

    def set_exception(self, fault: Any, /) -> None: ...

    def done(self) -> bool: ...


class Promise(Generic[Result]):
    """What a thread waits for. As a Future, but a tenth of its cost. The threads to be woken stand in `awake`."""

    __slots__ = ("_awake", "_done", "_fault", "_gate", "_result")

    def __init__(self, awake: deque[threading.Lock]) -> None:
        self._awake = awake
        self._gate = threading.Lock()
        self._gate.acquire()
        self._fault: BaseException | None = None
        self._done = False

    def set_result(self, result: Result) -> None:
        self._result = result
        self._settle()

    def set_exception(self, fault: BaseException) -> None:
        self._fault = fault
        self._settle()

    def _settle(self) -> None:
        self._done = True
        self._awake.append(self._gate)

    def done(self) -> bool:
        return self._done

    def wait(self, seconds: float) -> bool:
        """Whether there is a result, or an error, by then. Whoever was forgotten notices when the time is over."""
        return self._gate.acquire(timeout=seconds) or self._done

    def result(self) -> Result:
        """The result, or the error, once there is one."""
        if self._fault is not None:
            raise self._fault
        return self._result


def tell(answerable: Answerable, result: Any, fault: BaseException | None) -> None:
    """Gives an outcome to whoever waits. One who was cancelled, breaks or wants to end is nobody else's affair."""
    try:
        if fault is None:
            answerable.set_result(result)
        elif not answerable.done():
            answerable.set_exception(fault)
    except BaseException:  # noqa: BLE001, S110 - whatever a future of others does, sys.exit() included
        pass


def own(fault: BaseException) -> BaseException:
    """An error for one of several who are told it: each adds where it was raised. Only ours can surely be copied."""
    return copy(fault) if isinstance(fault, PrivatelyError) else fault


def tell_all(outcomes: Iterable[tuple[Answerable, Any, BaseException | None]]) -> None:
    """The same for many. Whoever must be called to look at them is called after the last, and once: `call_later`."""
    calls: list[Callable[[], None]] = []
    _here.calls = calls
    try:
        for answerable, result, fault in outcomes:
            tell(answerable, result, fault)
    finally:
        _here.calls = None
        for call in calls:
            call()


def call_later(call: Callable[[], None]) -> None:
    """Calls at once; or, while outcomes are told to many, after the last of them."""
    calls = getattr(_here, "calls", None)
    if calls is None:
        call()
    else:
        calls.append(call)


def check_answerable(outcome: object) -> None:
    """What can be told an outcome, from another thread; otherwise InvalidParameter."""
    kind: Any = type(outcome)
    if _is_told(kind):
        return
    methods = [getattr(outcome, name, None) for name in ("set_result", "set_exception", "done")]
    if isinstance(outcome, type) or not all(map(callable, methods)):
        raise InvalidParameter("outcome", "give what is told the outcome, such as a concurrent.futures.Future.")
    if hasattr(outcome, "get_loop"):
        hint = "Use privately.ledger.asynchronous.AsyncLedger."
        raise InvalidParameter("outcome", "a future of an event loop cannot be told anything by a thread.", hint=hint)


@lru_cache(maxsize=64)
def _is_told(kind: Any) -> bool:
    """Whether all values of a type can be told an outcome, from another thread; others are looked at one by one."""
    methods = [getattr(kind, name, None) for name in ("set_result", "set_exception", "done")]
    return not issubclass(kind, type) and all(map(callable, methods)) and not hasattr(kind, "get_loop")


Asked: TypeAlias = tuple[Task, Answerable]
_here = threading.local()  # whether this thread serves others, and whom it has to call
_process = os.getpid()  # asking the system takes longer than all else that is done to ask a desk


def _note_process() -> None:
    global _process  # noqa: PLW0603 - a process has one number
    _process = os.getpid()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_note_process)


def check_may_wait() -> None:
    """Whoever is called by a thread that serves others waits for nobody; otherwise LedgerUnavailable."""
    if getattr(_here, "serves", False):
        hint = "Use submit_charge, submit_answer or submit_budget there, or another thread."
        raise LedgerUnavailable("a callback that a ledger runs cannot wait for a ledger.", hint=hint)


@contextmanager
def serving() -> Iterator[None]:
    """In which a thread serves others itself, and so must not wait for them."""
    before = getattr(_here, "serves", False)
    _here.serves = True
    try:
        yield
    finally:
        _here.serves = before


class Desk(Generic[Task]):
    """A thread with a queue. `serve` settles every promise: of one task, or of all that wait if the desk `gathers`."""

    def __init__(self, serve: Callable[[Sequence[Asked[Task]]], None], name: str, *, gathers: bool = False) -> None:
        self._serve, self._gathers = serve, gathers
        self._last, self._seconds = 0, 0.0
        self._queue: SimpleQueue[Sequence[Asked[Task]] | None] = SimpleQueue()
        self._awake: deque[threading.Lock] = deque()
        self._closing = self._ended = self._busy = False
        self._process = _process
        self._thread = threading.Thread(target=self._run, name=f"privately ledger: {name}", daemon=True)
        self._thread.start()

    def submit(self, task: Task, answerable: Answerable) -> None:
        """Has a task done. Its outcome is given in another thread; also if there is nobody any more to do it."""
        self._check_open()
        self._queue.put(((task, answerable),))
        if self._ended:
            self._refuse()

    def submit_all(self, asked: Sequence[Asked[Task]]) -> None:
        """The same for several tasks, which stay together as far as possible."""
        self._check_open()
        for start in range(0, len(asked), _MOST):
            self._queue.put(asked[start : start + _MOST])
        if self._ended:
            self._refuse()

    @property
    def is_idle(self) -> bool:
        """Whether it would serve whoever comes now, at once. Soon after, it may not."""
        ends = self._closing or self._ended or self._process != _process
        return not (ends or self._busy) and self._queue.empty()

    def perform(self, task: Task) -> Any:
        """Has a task done, and waits for its outcome.

        A thread that serves others never waits so: not for itself, nor for one that may be waiting for it.
        """
        check_may_wait()
        promise: Promise[Any] = Promise(self._awake)
        self.submit(task, promise)
        self._wake()
        while not promise.wait(_PATIENCE):
            if not self._thread.is_alive() and not promise.done():
                raise LedgerUnavailable("the ledger was closed.")
        return promise.result()

    def more(self) -> list[Asked[Task]]:
        """Those who came since the last ones were given to `serve`, which serves them too."""
        found: list[Asked[Task]] = []
        while len(found) < _MOST:
            try:
                asked = self._queue.get_nowait()
            except Empty:
                break
            if asked is None:
                self._queue.put(None)  # the end comes after them
                break
            found.extend(asked)
        self._last += len(found)
        return found

    def _check_open(self) -> None:
        """A forked child has the memory of the parent, locks that are held included, but not its threads."""
        if self._process != _process:
            hint = "Open ledgers after forking, or start processes with multiprocessing's 'spawn'."
            raise LedgerUnavailable("the ledger was opened before this process was forked.", hint=hint)
        if self._closing:
            raise LedgerUnavailable("the ledger was closed.")

    def close(self) -> None:
        """Ends after what waits is done. After a fork, the thread is the parent's."""
        if self._process == _process:
            self._closing = True
            self._queue.put(None)
            if self._thread is not threading.current_thread():
                self._thread.join()

    def _run(self) -> None:
        _here.serves = True
        try:
            while self._serves_on():
                for _ in range(_AT_ONCE):
                    self._wake()
        finally:
            self._ended = True
            self._refuse()
            self._wake_all()

    def _refuse(self) -> None:
        """Nobody is served any more. Whoever came too late for the last one who looks looks for himself."""
        while True:
            try:
                asked = self._queue.get_nowait()
            except Empty:
                return
            tell_all((one, None, LedgerUnavailable("the ledger was closed.")) for _, one in asked or ())

    def _serves_on(self) -> bool:
        """Serves who is next, and tells whether to go on. No task is kept while nobody asks, nor what it belongs to."""
        tasks, ends = self._waiting()
        start = time.monotonic()
        self._last = len(tasks)
        try:
            self._busy = True
            if tasks:
                self._serve(tasks)
        except BaseException:
            self._closing = True
            raise
        finally:
            self._busy = False
        self._seconds = time.monotonic() - start
        return not ends

    def _wake(self) -> None:
        """Wakes one thread that was served. Whoever comes back wakes the next: all at once would hinder one another."""
        try:  # noqa: SIM105 - once for every charge
            self._awake.popleft().release()
        except IndexError:
            pass

    def _wake_all(self) -> None:
        while self._awake:
            self._wake()

    def _first(self) -> Sequence[Asked[Task]] | None:
        """Who comes first. If nobody comes at once, nobody else wakes those who still sleep."""
        if self._awake:
            try:
                return self._queue.get(timeout=_PAUSE)
            except Empty:
                self._wake_all()
        return self._queue.get()

    def _gather(self, first: int) -> None:
        """Those who were served together come back together: waits for them as long as they keep coming.

        Never longer than serving them took, so that nobody waits more than twice as long as without. So many came
        `first`.
        """
        end, waiting = time.monotonic() + self._seconds, self._queue.qsize()
        while first + waiting < self._last and time.monotonic() < end:
            time.sleep(_PAUSE)
            before, waiting = waiting, self._queue.qsize()
            if waiting == before:
                if not self._awake:
                    return
                self._wake_all()

    def _waiting(self) -> tuple[list[Asked[Task]], bool]:
        """Who is next, with all that wait, if the desk gathers; and whether this is the end."""
        asked = self._first()
        found: list[Asked[Task]] = []
        if self._gathers and asked is not None:
            self._gather(len(asked))
        self._wake_all()
        while asked is not None:
            found.extend(asked)
            if not self._gathers or len(found) >= _MOST:
                return found, False
            try:
                asked = self._queue.get_nowait()
            except Empty:
                return found, False
        return found, True
