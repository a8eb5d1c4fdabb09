"""Asking one query after the other whether it reaches a noisy threshold."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from threading import Lock
from typing import Any, Generic, NoReturn, TypeVar

import numpy as np

from privately.errors import BudgetExhausted, InvalidParameter
from privately.laws import DiscreteLaplace
from privately.mechanisms.grids import Grid
from privately.mechanisms.randomness import Randomness

Answer = TypeVar("Answer")
Compare = Callable[[int, int, Randomness], tuple[Answer, Fraction]]
"""From a query and the noisy threshold, in steps, to an answer and what part of a yes it costs, at most one."""


class Session(Generic[Answer]):
    """One run: `ask` until it has `stopped`. It was paid for in full when it began, and starting another costs again.

    The noisy threshold stays in here. A copy would answer as often again, so a session can be neither copied nor saved.
    """

    def __init__(self, *, compare: Compare[Answer], grid: Grid, threshold: int, count: int, source: Randomness) -> None:
        self._compare, self._grid, self._source = compare, grid, source
        self._threshold = threshold
        self._count, self._left = count, Fraction(count)
        self._lock = Lock()

    @property
    def stopped(self) -> bool:
        """Whether one more yes might cost more than is left; which says no more than the answers do."""
        return self._left < 1

    def ask(self, value: Any) -> Answer:
        """The answer to one query, which may be chosen in the light of the answers before it."""
        return self.ask_in_steps(int(self._grid.snap(value, 1)[0]))

    def ask_in_steps(self, query: int) -> Answer:
        """The same for a query on the grid."""
        with self._lock:  # two threads must not both use the last yes
            if self.stopped:
                raise BudgetExhausted(
                    asked="one more answer",
                    left=f"{self._left} of {self._count} yes answers",
                    hint="Start a new session, and charge for it.",
                )
            answer, cost = self._compare(query, self._threshold, self._source)
            self._left -= cost
            return answer

    def __reduce__(self) -> NoReturn:
        raise TypeError("a session can be neither copied nor saved: the copy would answer without being paid for")


def begin(
    *, compare: Compare[Answer], grid: Grid, threshold: Fraction, scale: Fraction, count: int, source: Randomness
) -> Session[Answer]:
    """A session with fresh noise on the threshold; threshold and scale are in the units of the queries."""
    noise = int(source.draw(DiscreteLaplace(scale=scale / grid.unit), size=1)[0])
    return Session(compare=compare, grid=grid, threshold=int(threshold / grid.unit) + noise, count=count, source=source)


def answer_all(
    start: Callable[[Randomness], Session[Answer]], steps: list[int], randomness: Randomness
) -> list[Answer]:
    """The answers to a stream, until it ends or the session stops."""
    session, answers = start(randomness), list[Answer]()
    for query in steps:
        if session.stopped:
            break
        answers.append(session.ask_in_steps(query))
    return answers


def read_stream(values: Any, grid: Grid) -> list[int]:
    """The queries in steps of the grid, all checked before any noise is drawn."""
    try:
        length = len(values)
    except TypeError:  # a single query
        length = 1
    if isinstance(values, np.ndarray) and values.ndim > 1:
        raise InvalidParameter("value", "is a table; a list of queries is expected.")
    steps: list[int] = grid.snap(values, max(length, 1)).tolist()
    return steps
