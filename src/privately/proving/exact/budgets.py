"""What one answer about a program may take: work that is counted, and a limit of time behind it.

Work is counted in steps of about a microsecond, by the states, entries, bits and degrees that are handled, so that the
same question runs out of it at the same place on every machine. The time (of this thread, not of the clock on the wall)
only ends what the count misjudges.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import thread_time

from privately.errors import NotSupported

MOST_WORK = 4_000_000
GLANCE = 20_000
"""Steps between two looks at the clock."""

HINT = "Take smaller inputs, or keep less in variables."


class NotFinite(NotSupported):
    """The noise has outcomes without end, or following it takes too much; other methods take over."""


class Budget:
    """What is left of the work and of the time."""

    def __init__(self, work: int | None = None, *, seconds: float = math.inf, renewed: bool = False) -> None:
        self.work = self.left = MOST_WORK if work is None else work
        self.seconds = seconds
        self.renewed = renewed
        self.end = thread_time() + seconds
        self._next = self.left - GLANCE

    def spend(self, steps: int) -> None:
        """Refuses what takes more."""
        self.left -= steps
        if self.left < 0:
            raise NotFinite(f"more than {self.work} steps of work.", hint=HINT)
        if self.left < self._next:
            self._next = self.left - GLANCE
            if thread_time() > self.end:
                raise NotFinite(f"more than {self.seconds:g} seconds of work.", hint=HINT)

    @property
    def is_spent(self) -> bool:
        """Whether nothing is left."""
        return self.left < 0 or thread_time() > self.end

    @contextmanager
    def answering(self) -> Iterator[None]:
        """Whatever is done in the meantime spends from here; if it is renewed, every answer has all of it."""
        if _current.get() is self:
            yield
            return
        if self.renewed:
            self.left, self._next, self.end = self.work, self.work - GLANCE, thread_time() + self.seconds
        token = _current.set(self)
        try:
            yield
        finally:
            _current.reset(token)


_current: ContextVar[Budget | None] = ContextVar("budget", default=None)


def spend(steps: int) -> None:
    """Steps of whoever is answering; free where nobody is."""
    budget = _current.get()
    if budget is not None:
        budget.spend(steps)
