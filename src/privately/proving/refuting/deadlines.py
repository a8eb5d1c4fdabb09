"""Shares of CPU time."""

from __future__ import annotations

from os import cpu_count
from time import monotonic, process_time

THREADS = cpu_count() or 1


class Deadline:
    """A point in the CPU time of this process."""

    def __init__(self, seconds: float) -> None:
        self.end = process_time() + seconds
        self.next_look = monotonic() + seconds / THREADS

    def part(self, share: float) -> Deadline:
        """That share of what is left of it."""
        return Deadline(share * self.left)

    @property
    def left(self) -> float:
        """Seconds that are left."""
        return max(0.0, self.end - process_time())

    def passed(self) -> bool:
        """Whether it is used up. CPU time may take long to read, and goes at most so many times as fast as the clock on
        the wall: it is looked at only where it can have passed."""
        now = monotonic()
        if now < self.next_look:
            return False
        left = self.end - process_time()
        self.next_look = now + left / THREADS
        return left < 0
