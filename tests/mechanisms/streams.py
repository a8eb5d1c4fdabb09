"""The exact laws of answers to streams of queries, one question at a time.

A session is its noisy threshold and what is left of its yes answers. So all ways to get to the same two numbers by the
same answers are added up before the next question, and long streams stay cheap. The sessions are those of the library,
asked with every possible draw. Sums of positive floats keep some twelve digits.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privately.laws import Law
from privately.mechanisms.threshold_sessions import Session
from tests.mechanisms.enumeration import probability

Start = Callable[[Any], Session[Any]]
State = tuple[int, Fraction]
Values = tuple[int, ...]
Chances = dict[tuple[Hashable, ...], float]

LIKELY = 1e-8
"""Losses are compared where the window leaves out next to nothing."""


class More(Exception):
    """One more draw is needed, from this law."""

    def __init__(self, law: Law) -> None:
        self.law = law


class Script:
    """Noise that was written down beforehand."""

    def __init__(self, draws: tuple[int, ...]) -> None:
        self._draws = iter(draws)

    def draw(self, law: Law, *, size: int) -> NDArray[np.int64]:
        assert size == 1
        for drawn in self._draws:
            return np.array([drawn])
        raise More(law)


class Untouched:
    """Noise that nobody may draw."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"{name} was drawn from")


class Streams:
    """What a mechanism answers, by its `start`."""

    def __init__(self, start: Start, window: int) -> None:
        self._session, self._window = start(Script((0, 0, 0))), window
        self._tables: dict[Law, list[float]] = {}
        self._laws: dict[Values, Chances] = {}
        self._answers: dict[tuple[State, int], dict[tuple[Hashable, State], float]] = {}
        self.starts: dict[State, float] = defaultdict(float)
        for session, chance in self._all(start, ()):
            self.starts[session._threshold, session._left] += chance

    def missing(self, queries: int) -> float:
        """No less than the chance that some noise lies outside of the window."""
        tails = [2 * float(law.tail(self._window).upper) for law in self._tables]
        return (1 + 2 * queries) * max(tails)

    def law(self, values: Values) -> Chances:
        """How likely each list of answers is."""
        if values not in self._laws:
            self._laws[values] = self._law(values)
        return self._laws[values]

    def _law(self, values: Values) -> Chances:
        now: dict[tuple[tuple[Hashable, ...], State], float] = {((), state): p for state, p in self.starts.items()}
        for value in values:
            then: dict[tuple[tuple[Hashable, ...], State], float] = defaultdict(float)
            for (answers, state), chance in now.items():
                if self._stopped(state):
                    then[answers, state] += chance
                    continue
                for (answer, after), part in self.ask(state, value).items():
                    then[(*answers, answer), after] += chance * part
            now = then
        total: Chances = defaultdict(float)
        for (answers, _), chance in now.items():
            total[answers] += chance
        return dict(total)

    def chance(self, values: Sequence[int], answers: Sequence[Hashable]) -> float:
        """How likely these answers are."""
        now = dict(self.starts)
        for value, expected in zip(values, answers, strict=True):
            then: dict[State, float] = defaultdict(float)
            for state, chance in now.items():
                for (answer, after), part in self.ask(state, value).items():
                    if answer == expected:
                        then[after] += chance * part
            now = then
        return sum(now.values())

    def ask(self, state: State, value: int) -> dict[tuple[Hashable, State], float]:
        """From one state, how likely each answer is, with the state after it."""
        if (state, value) not in self._answers:
            found: dict[tuple[Hashable, State], float] = defaultdict(float)
            for answered, chance in self._all(lambda script: self._ask(state, value, script), ()):
                found[answered] += chance
            self._answers[state, value] = dict(found)
        return self._answers[state, value]

    def _stopped(self, state: State) -> bool:
        self._session._threshold, self._session._left = state
        return self._session.stopped

    def _ask(self, state: State, value: int, script: Script) -> tuple[Hashable, State]:
        session = self._session
        session._threshold, session._left = state
        session._source = script  # type: ignore[assignment]  # draws are all that is needed
        answer = session.ask_in_steps(value)
        return answer, (session._threshold, session._left)

    def _all(self, run: Callable[[Any], Any], draws: tuple[int, ...]) -> Iterator[tuple[Any, float]]:
        try:
            yield run(Script(draws)), 1.0
        except More as more:
            for drawn, chance in enumerate(self._table(more.law), start=-self._window):
                for found, rest in self._all(run, (*draws, drawn)):
                    yield found, chance * rest

    def _table(self, law: Law) -> list[float]:
        if law not in self._tables:
            self._tables[law] = [float(probability(law, k)) for k in range(-self._window, self._window + 1)]
        return self._tables[law]


def losses(streams: Streams, before: Values, after: Values) -> tuple[float, float]:
    """Two numbers with the largest logarithm of a ratio between them, both directions and what is missing considered.

    The second is about likely answers alone.
    """
    laws = streams.law(before), streams.law(after)
    missing = streams.missing(len(before))
    least, most = 0.0, 0.0
    for one, other in (laws, laws[::-1]):
        for answers, p in one.items():
            q = other.get(answers, 0.0)
            least = max(least, p / (q + missing))
            if p > LIKELY:
                most = max(most, (p + missing) / q if q else math.inf)
    return math.log(least), math.log(most)


def worst_loss(streams: Streams, pairs: Iterable[tuple[Values, Values]]) -> float:
    """No less than the largest loss over all pairs, in both directions."""
    return max(losses(streams, before, after)[1] for before, after in pairs)


def neighbours(values: Sequence[int], length: int, *, monotone: bool, change: int = 1) -> list[tuple[Values, Values]]:
    """All streams of these values, with all that their queries may become; monotone ones upwards."""
    moves = range(0 if monotone else -change, change + 1)
    return [
        (before, tuple(value + by for value, by in zip(before, move, strict=True)))
        for before in product(values, repeat=length)
        for move in product(moves, repeat=length)
        if any(move)
    ]
