"""Partial sums of a stream that is still to come: one answer after every item."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Any, Generic, NoReturn, TypeVar

import numpy as np

from privately.errors import BudgetExhausted
from privately.laws import Law
from privately.mechanisms.grids import FARTHEST, Grid
from privately.mechanisms.randomness import Randomness
from privately.mechanisms.refinement import refine

LOWEST, HIGHEST = -(2**63), 2**63 - 1
Answer = TypeVar("Answer")
Advance = Callable[[int, int], Answer]
"""From the number of an item, from 1 on, and the item to an answer."""


class StreamSession(Generic[Answer]):
    """One run over a stream: `add` an item, get the noisy sum of all items so far. Items may depend on earlier answers.

    It keeps exact sums and noise inside. A copy could go on with other items and the same noise: there are no copies.
    """

    def __init__(self, *, length: int, advance: Advance[Answer]) -> None:
        self._length, self._advance = length, advance
        self._done = 0
        self._lock = Lock()

    @property
    def left(self) -> int:
        """How many items may still come."""
        return self._length - self._done

    def add(self, item: Any) -> Answer:
        """The sum so far, with noise."""
        farthest = FARTHEST // self._length
        moved = int(np.clip(Grid(None).snap(item, 1), -farthest, farthest)[0])
        with self._lock:  # two threads must not both be the t-th
            if not self.left:
                raise BudgetExhausted(
                    asked="one more item",
                    left=f"0 of {self._length} items",
                    hint="Start a session with a greater length.",
                )
            self._done += 1
            return self._advance(self._done, moved)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a session can be neither copied nor saved: the copy would use the same noise again")


def with_noise(law: Law, randomness: Randomness) -> Callable[[int], int]:
    """Adds fresh noise to whatever it is given."""

    def noisy(total: int) -> int:
        return total + int(randomness.draw(law, size=1)[0])

    return noisy


def over_blocks(levels: int, noisy: Callable[[int], int]) -> Advance[int]:
    """Answers from noisy sums of blocks, where `noisy` adds noise to a sum."""
    exact, sums = [0] * levels, [0] * levels

    def advance(t: int, item: int) -> int:
        level, total = 0, item
        while level < levels - 1 and not t >> level & 1:
            total += exact[level]
            exact[level] = sums[level] = 0
            level += 1
        exact[level] = total
        sums[level] += noisy(total)
        return min(max(sum(sums), LOWEST), HIGHEST)

    return advance


def over_refined_blocks(levels: int, noisy: Callable[[int], int]) -> Advance[float]:
    """The same from estimates that use the blocks inside each block."""
    exact, estimates = [0] * levels, [0.0] * levels

    def advance(t: int, item: int) -> float:
        level, total, estimate = 0, item, float(noisy(item))
        while level < levels - 1 and not t >> level & 1:
            total, halves = total + exact[level], estimates[level] + estimate
            exact[level], estimates[level] = 0, 0.0
            level += 1
            estimate = refine(float(noisy(total)), halves, level)
        exact[level] = total
        estimates[level] += estimate
        return sum(reversed(estimates))

    return advance
