"""Run a mechanism with every possible draw, and add up how likely each answer is.

Draws from infinite laws are taken from a window; what lies outside of it is reported as `missing`, so that nobody
mistakes a truncated sum for the truth. Probabilities have 50 digits. Rounds that are repeated until one succeeds are
cut off when the second begins, and what the first one may answer is divided by its chance to succeed.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import factorial
from typing import Any

import mpmath
import numpy as np
from numpy.typing import NDArray

from privately.laws import DiscreteExponential, Geometric, Law
from privately.rounding import Interval, Number, rational

mpmath.mp.dps = 50
NEGLIGIBLE = mpmath.mpf(10) ** -30
ONE_SIDED = (DiscreteExponential, Geometric)


class Unlikely(Exception):
    """What happened has a probability that does not matter."""


class AnotherRound(Exception):
    """The first round did not succeed."""


class Untouchable:
    """Randomness for runs that must refuse their input before they draw."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"{name} was called before the input was refused")


@dataclass(frozen=True)
class Distribution:
    """How likely each answer is, as far as the window reaches."""

    chances: dict[Hashable, Any]
    missing: Any

    def excess(self, other: "Distribution", epsilon: Any) -> Any:
        """The sum of max(0, P - e^epsilon Q), without what is missing."""
        growth = mpmath.exp(epsilon)
        return sum(max(p - growth * other.chances.get(answer, 0), 0) for answer, p in self.chances.items())

    def farthest(self, other: "Distribution") -> Any:
        """The largest difference of two probabilities."""
        answers = self.chances.keys() | other.chances.keys()
        return max(abs(self.chances.get(answer, 0) - other.chances.get(answer, 0)) for answer in answers)

    def loss(self, other: "Distribution", *, above: Any = 0) -> Any:
        """The largest logarithm of a ratio, over answers with a probability above `above`."""
        ratios = [
            mpmath.inf if not other.chances.get(answer) else mpmath.log(p / other.chances[answer])
            for answer, p in self.chances.items()
            if p > above
        ]
        return max(ratios)


class Branching:
    """Randomness that follows a given path of choices, and then always takes the first one."""

    def __init__(
        self, path: Sequence[int], window: int, negligible: Any, again: str = "", *, lumped: bool = False
    ) -> None:
        self._path = list(path)
        self._window = window
        self._negligible = negligible
        self._again, self._rounds = again, 0
        self._lumped = lumped
        self.taken: list[int] = []
        self.widths: list[int] = []
        self.chance = mpmath.mpf(1)

    def draw(self, law: Law, *, size: int) -> NDArray[np.int64]:
        lowest = 0 if isinstance(law, ONE_SIDED) else -self._window
        values = []
        for _ in range(size):
            k = lowest + self._choose(self._window - lowest + 1)
            self._happens(tail(law, k) if self._lumped and abs(k) == self._window else probability(law, k))
            values.append(k)
        return np.array(values, np.int64)

    def uniform(self, *, upper: int, size: int) -> NDArray[np.int64]:
        self._begin("uniform")
        values = [self._choose(upper) for _ in range(size)]
        self.chance /= mpmath.mpf(upper) ** size
        return np.array(values, np.int64)

    def bernoulli(self, *, probability: Number, size: int) -> NDArray[np.bool_]:
        exact = rational(probability, "probability", minimum=0, maximum=1)
        return self._coins(mpmath.mpf(exact.numerator) / exact.denominator, size)

    def bernoulli_exp(self, *, exponent: Number, size: int) -> NDArray[np.bool_]:
        exact = rational(exponent, "exponent", minimum=0)
        return self._coins(mpmath.exp(-mpmath.mpf(exact.numerator) / exact.denominator), size)

    def weighted(self, *, counts: Sequence[int], exponents: Sequence[Number], size: int) -> NDArray[np.int64]:
        self._begin("weighted")
        exact = [rational(exponent, "exponents") for exponent in exponents]
        weights = [
            count * mpmath.exp(-mpmath.mpf(x.numerator) / x.denominator) for count, x in zip(counts, exact, strict=True)
        ]
        possible = [i for i, weight in enumerate(weights) if weight]
        values = []
        for _ in range(size):
            chosen = possible[self._choose(len(possible))]
            self._happens(weights[chosen] / sum(weights))
            values.append(chosen)
        return np.array(values, np.int64)

    def accepted(self, *, counts: Sequence[int], exponents: Sequence[Number]) -> Iterator[int]:
        self._begin("accepted")
        exact = tuple(rational(exponent, "exponents", minimum=0) for exponent in exponents)
        left, come, before = list(counts), 0, mpmath.mpf(1)
        while any(number and not exponent for number, exponent in zip(left, exact, strict=True)):
            possible = [i for i, number in enumerate(left) if number]
            chosen = possible[self._choose(len(possible))]
            number, left[chosen], come = left[chosen], left[chosen] - 1, come + 1
            after = _none_earlier(tuple(left), exact, come)
            self._happens(number * _heads(exact[chosen]) * after / before)
            before = after
            yield chosen

    def _begin(self, draw: str) -> None:
        self._rounds += draw == self._again
        if self._rounds > 1:
            raise AnotherRound

    def _happens(self, chance: Any) -> None:
        self.chance *= chance
        if self.chance < self._negligible:
            raise Unlikely

    def _coins(self, heads: Any, size: int) -> NDArray[np.bool_]:
        values = []
        for _ in range(size):
            head = heads == 1 or (heads != 0 and self._choose(2) == 1)
            self._happens(heads if head else 1 - heads)
            values.append(head)
        return np.array(values, np.bool_)

    def _choose(self, width: int) -> int:
        place = len(self.taken)
        choice = self._path[place] if place < len(self._path) else 0
        self.taken.append(choice)
        self.widths.append(width)
        return choice


def _heads(exponent: Fraction) -> Any:
    return mpmath.exp(-mpmath.mpf(exponent.numerator) / exponent.denominator)


@cache
def _none_earlier(left: tuple[int, ...], exponents: tuple[Fraction, ...], come: int) -> Any:
    """The integral of t^(r-1)/(r-1)! (1 - q_1 t)^n_1 (1 - q_2 t)^n_2 ... over times from 0 to 1: the r-th comes at t.

    All before it came earlier, in their order, and none of those who are left.
    """
    terms = [mpmath.mpf(1)]
    for number, exponent in zip(left, exponents, strict=True):
        for _ in range(number):
            terms = [a - _heads(exponent) * b for a, b in zip([*terms, 0], [0, *terms], strict=True)]
    return sum(term / (come + power) for power, term in enumerate(terms)) / factorial(come - 1)


def outcomes(
    run: Callable[[Any], Any],
    *,
    window: int,
    negligible: Any = NEGLIGIBLE,
    again: str = "",
    lumped: bool = False,
) -> Distribution:
    """The distribution of `run(randomness)`; answers are made hashable. Paths that are too unlikely are given up.

    `again` names the draw that begins each of several rounds, which must not know of one another. With `lumped` the
    ends of the window stand for all that lies beyond, which is exact where the mechanism takes all of it alike.
    """
    chances: dict[Hashable, Any] = defaultdict(mpmath.mpf)
    rejected = mpmath.mpf(0)
    path: list[int] | None = []
    while path is not None:
        branch = Branching(path, window, negligible, again, lumped=lumped)
        try:
            answer = hashable(run(branch))
            chances[answer] += branch.chance
        except Unlikely:
            pass
        except AnotherRound:
            rejected += branch.chance
        path = _next(branch)
    found = {answer: chance / (1 - rejected) for answer, chance in chances.items()}
    return Distribution(found, 1 - sum(found.values()))


def probability(law: Law, k: int) -> Any:
    """P(X = k), the middle of an enclosure of some 55 digits."""
    key = (law, k)
    if key not in _KNOWN:
        _KNOWN[key] = _middle(law.pmf(k))
    return _KNOWN[key]


def tail(law: Law, k: int) -> Any:
    """P(X >= k), or P(X <= k) below zero."""
    return _middle(law.cdf(k) if k < 0 else law.tail(k - 1))


def _middle(found: Interval) -> Any:
    exact = (Fraction(found.lower) + Fraction(found.upper)) / 2
    return mpmath.mpf(exact.numerator) / exact.denominator


_KNOWN: dict[tuple[Law, int], Any] = {}


def hashable(answer: Any) -> Hashable:
    """Lists and arrays as tuples."""
    if isinstance(answer, np.ndarray):
        return hashable(answer.tolist())
    if isinstance(answer, (list, tuple)):
        return tuple(map(hashable, answer))
    plain: Hashable = answer.item() if isinstance(answer, np.generic) else answer
    return plain


def _next(branch: Branching) -> list[int] | None:
    """The path after this one in lexicographic order."""
    taken = branch.taken
    while taken:
        if taken[-1] + 1 < branch.widths[len(taken) - 1]:
            return [*taken[:-1], taken[-1] + 1]
        taken = taken[:-1]
    return None
