"""Shares of CPU time."""

from __future__ import annotations

from time import process_time


class Deadline:
    """A point in the CPU time of this process."""

    def __init__(self, seconds: float) -> None:
        self.end = process_time() + seconds

    def part(self, share: float) -> Deadline:
        """That share of what is left of it."""
        return Deadline(share * self.left)

    @property
    def left(self) -> float:
        """Seconds that are left."""
        return max(0.0, self.end - process_time())

    def passed(self) -> bool:
        """Whether it is used up."""
        return process_time() > self.end
