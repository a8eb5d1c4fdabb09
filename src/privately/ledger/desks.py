"""Threads that do what others ask for, one thing after the other.

Whoever asks holds no lock meanwhile. An interrupt (Ctrl-C comes to the main thread only) may end the asking at any
point; it never leaves anything half done or locked.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from privately.errors import LedgerUnavailable

Result = TypeVar("Result")
Task = TypeVar("Task")

_MOST = 1_000
_PATIENCE = 1.0
_PAUSE = 0.0001


class Answerable(Protocol):
    """Where the outcome of a task goes: a Promise, or a Future."""

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


Asked: TypeAlias = tuple[Task, Answerable]


class Desk(Generic[Task]):
    """A thread with a queue. `serve` is given all that wait, and settles every promise."""

    def __init__(self, serve: Callable[[Sequence[Asked[Task]]], None], name: str, *, gathers: bool = False) -> None:
        self._serve, self._gathers = serve, gathers
        self._last, self._seconds = 0, 0.0
        self._queue: SimpleQueue[Asked[Task] | None] = SimpleQueue()
        self._closing = False
        self._process = os.getpid()
        self._thread = threading.Thread(target=self._run, name=f"privately ledger: {name}", daemon=True)
        self._thread.start()

    def perform(self, task: Task) -> Any:
        """Has a task done, and waits for its outcome."""
        self.check_process()
        if self._closing:
            raise LedgerUnavailable("the ledger was closed.")
        promise: Promise[Any] = Promise()
        self._queue.put((task, promise))
        while not promise.wait(_PATIENCE):
            if not self._thread.is_alive() and not promise.done():
                raise LedgerUnavailable("the ledger was closed.")
        return promise.result()

    def check_process(self) -> None:
        """A forked child has the memory of the parent, locks that are held included, but not its threads."""
        if self._process != os.getpid():
            raise LedgerUnavailable("the ledger was opened before this process was forked.", hint="Open it again.")

    def close(self) -> None:
        """Ends after what waits is done. After a fork, the thread is the parent's."""
        if self._process == os.getpid():
            self._closing = True
            self._queue.put(None)
            if self._thread is not threading.current_thread():
                self._thread.join()

    def _run(self) -> None:
        while True:
            asked = self._waiting()
            start = time.monotonic()
            try:
                self._serve([one for one in asked if one is not None])
            except BaseException:
                self._closing = True
                raise
            self._last, self._seconds = len(asked), time.monotonic() - start
            if None in asked:
                return

    def _gather(self) -> None:
        """Those who were served together come back together: waits for them as long as they keep coming.

        Never longer than serving them took, so that nobody waits more than twice as long as without.
        """
        end, came = time.monotonic() + self._seconds, -1
        while came < (waiting := self._queue.qsize()) < self._last - 1 and time.monotonic() < end:
            came = waiting
            time.sleep(_PAUSE)

    def _waiting(self) -> list[Asked[Task] | None]:
        """All that wait, as soon as one does; None is the end."""
        found = [self._queue.get()]
        if self._gathers and found[0] is not None:
            self._gather()
        while len(found) < _MOST:
            try:
                found.append(self._queue.get_nowait())
            except Empty:
                break
        return found
