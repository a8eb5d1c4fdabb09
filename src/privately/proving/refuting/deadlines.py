"""Shares of CPU time."""

from __future__ import annotations

from time import monotonic, thread_time


class Deadline:
    """A point in the CPU time of this thread: what other programs, and other threads of this one, do is not counted."""

    def __init__(self, seconds: float) -> None:
        self.end = thread_time() + seconds
        self.next_look = monotonic() + seconds

    def part(self, share: float) -> Deadline:
        """That share of what is left of it."""
        return Deadline(share * self.left)

    @property
    def left(self) -> float:
        """Seconds that are left."""
        return max(0.0, self.end - thread_time())

    def passed(self) -> bool:
        """Whether it is used up. CPU time may take long to read, and goes no faster than the clock on the wall: it is
        looked at only where it can have passed."""
        now = monotonic()
        if now < self.next_look:
            return False
        left = self.end - thread_time()
        self.next_look = now + left
        return left < 0
