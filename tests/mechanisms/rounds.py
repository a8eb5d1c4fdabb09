"""Exact laws of mechanisms that try again until a coin accepts.

Whoever is rejected begins the same round anew, so a round has the law of its accepted outcomes, normalised. Following
rejections instead would never end.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from itertools import product
from typing import Any

import mpmath
import numpy as np
from numpy.typing import NDArray

from privately.rounding import Number, rational
from tests.mechanisms.enumeration import Branching, Distribution, _next, hashable

Run = Callable[[Any], Any]
Path = tuple[int, ...]


class Rounds(Branching):
    """Coins of bernoulli_exp always accept, at their price, and end a round. The first uniform draws may be given."""

    def __init__(self, path: Sequence[int], given: Sequence[int] = ()) -> None:
        super().__init__(path, window=0, negligible=0)
        self._given = list(given)
        self.rounds: list[tuple[Path, Any]] = []

    def uniform(self, *, upper: int, size: int) -> NDArray[np.int64]:
        if self._given:
            return np.array([self._given.pop(0) for _ in range(size)], np.int64)
        return super().uniform(upper=upper, size=size)

    def bernoulli_exp(self, *, exponent: Number, size: int) -> NDArray[np.bool_]:
        exact = rational(exponent, "exponent", minimum=0)
        self._happens(mpmath.exp(-mpmath.mpf(exact.numerator) / exact.denominator))
        self.rounds.append((tuple(self.taken), self.chance))
        return np.ones(size, np.bool_)


def in_one_round(run: Run) -> Distribution:
    """The law of a mechanism that begins from the start whenever it is rejected."""
    chances: dict[Hashable, Any] = defaultdict(mpmath.mpf)
    for answer, branch in _paths(run, ()):
        chances[answer] += branch.chance
    total = sum(chances.values())
    return Distribution({answer: chance / total for answer, chance in chances.items()}, mpmath.mpf(0))


def in_rounds(run: Run, given: Sequence[int] = ()) -> Distribution:
    """The law of a mechanism with one coin to each round, which begins that round again when it is rejected."""
    found = [(answer, branch.rounds) for answer, branch in _paths(run, given)]
    weights: dict[Path, dict[Path, Any]] = defaultdict(dict)
    for _, rounds in found:
        before: Path = ()
        chance = mpmath.mpf(1)
        for path, after in rounds:
            weights[before][path] = after / chance
            before, chance = path, after
    totals = {path: sum(choices.values()) for path, choices in weights.items()}
    chances: dict[Hashable, Any] = defaultdict(mpmath.mpf)
    for answer, rounds in found:
        part = mpmath.mpf(1)
        before = ()
        for path, _ in rounds:
            part *= weights[before][path] / totals[before]
            before = path
        chances[answer] += part
    return Distribution(dict(chances), mpmath.mpf(0))


def in_rounds_after(run: Run, *, upper: int, draws: int) -> Distribution:
    """The same if so many uniform draws come first, which are never drawn again."""
    chances: dict[Hashable, Any] = defaultdict(mpmath.mpf)
    for given in product(range(upper), repeat=draws):
        for answer, chance in in_rounds(run, given).chances.items():
            chances[answer] += chance / mpmath.mpf(upper) ** draws
    return Distribution(dict(chances), mpmath.mpf(0))


def _paths(run: Run, given: Sequence[int]) -> list[tuple[Hashable, Rounds]]:
    found = []
    path: list[int] | None = []
    while path is not None:
        branch = Rounds(path, given)
        found.append((hashable(run(branch)), branch))
        path = _next(branch)
    return found
