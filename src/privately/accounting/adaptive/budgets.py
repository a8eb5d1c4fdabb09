"""Steps of many ranges: how much of a budget is left counts, in place of which steps are."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from privately.accounting.adaptive.chances import table
from privately.accounting.adaptive.curves import Curve
from privately.accounting.adaptive.games import SPARE, Ranges, reach_of, step_for
from privately.accounting.adaptive.raising import raised
from privately.accounting.elementary import ERROR, UNIT, Floats, expm1_one
from privately.accounting.roads import NotApplicable

MOST_TICKS, _LEAST_TICKS = 14, 6
_PER_STEP = 5e3
"""Work for one step of a game, about, where it is decided how fine a clock may be."""
_SEARCHED, _HALVINGS = 200, 40
_NOWHERE = 1 << 60


@dataclass(frozen=True)
class Clock:
    """`sizes[k]` is the range of a step that takes k ticks; they begin with 0 and rise."""

    sizes: tuple[Fraction, ...]

    @classmethod
    def of(cls, largest: Fraction, ticks: int, order: float) -> Clock:
        """So that all ranges are worth their ticks where profiles fall like y^-order."""
        whole = _growth(float(largest), order)
        found = [Fraction(0)]
        for k in range(1, ticks):
            low, high = float(found[-1]), float(largest)
            for _ in range(_HALVINGS):
                middle = (low + high) / 2
                low, high = (middle, high) if _growth(middle, order) * ticks < k * whole else (low, middle)
            found.append(Fraction(high))
        return cls((*found, largest))

    def shared(self, size: Fraction) -> tuple[int, float]:
        """k and a probability: a step of this range costs at most as much as one of k ticks or, so likely, k + 1.

        Theorem: for a < c < b, a step of range c is worth at most 1 - theta of one of range a and theta of one of range
            b, theta = (1 - e^(a - c))/(1 - e^(a - b)).
        Reference: the value of two outcomes with fixed probabilities is convex in their distance
        Proof: docs/theory/accounting/adaptive.md#budgets
        Checked-by: tests/accounting/adaptive/test_budgets.py::test_a_range_between_two
        """
        k = bisect_right(self.sizes, size) - 1
        if k + 1 == len(self.sizes):
            return k, 0.0
        part, whole = (-expm1_one(-float(end - self.sizes[k])) for end in (size, self.sizes[k + 1]))
        return k, min(part / whole * (1 + 8 * ERROR), 1.0) if part else 0.0


def _growth(size: float, order: float) -> float:
    """The logarithm of what a step of this range makes of y^-order, roughly."""
    rise = np.linspace(0, size, _SEARCHED) if size else np.zeros(1)
    up = np.expm1(rise - size) / math.expm1(-size) if size else np.ones(1)
    return float(np.log1p(up * np.expm1(order * rise) + (1 - up) * np.expm1(order * (rise - size))).max())


@dataclass(frozen=True)
class Ticks:
    """How many ticks all steps take: a probability for every number from `first` on, and `beyond` for still more."""

    first: int
    chances: Floats
    beyond: float

    @classmethod
    def of(cls, clock: Clock, ranges: Iterable[tuple[Fraction, int]], rare: float) -> Ticks:
        first, chances, count, beyond = 0, np.ones(1), 0, 0.0
        for size, times in ranges:
            k, share = clock.shared(size)
            first, count = first + k * times, count + times
            for _ in range(times if share else 0):
                more = np.append(chances, 0.0) * (1 - share)
                more[1:] += chances * share
                chances = more
                if chances[-1] < rare * SPARE / 1e6:
                    beyond += float(chances[-1])
                    chances = chances[:-1]
        return cls(first, chances * (1 + 8 * (count + 1) * UNIT), beyond * (1 + 8 * (count + 1) * UNIT))

    @property
    def last(self) -> int:
        return self.first + self.chances.size - 1

    @classmethod
    def larger(cls, all_of: Sequence[Ticks]) -> Ticks:
        """Not less likely above any number than each of these."""
        first, last = min(one.first for one in all_of), max(one.last for one in all_of)
        above = np.zeros(last - first + 2)
        for one in all_of:
            tail = np.full(above.size, one.beyond)
            sums = np.cumsum(one.chances[::-1])[::-1] + one.beyond
            tail[: one.first - first + 1] = sums[0]
            tail[one.first - first : one.last - first + 1] = sums
            above = np.maximum(above, tail)
        off = 1 + 8 * above.size * UNIT
        return cls(first, np.maximum(above[:-1] - above[1:] * (1 - 8 * UNIT), 0.0) * off, float(above[-1]) * off)


@lru_cache(maxsize=4)
def within_budget(ranges: Ranges, rare: float, work: float, blocks: int = 1) -> Curve:
    """Upper values for all steps in any order, however chosen, or for each of so many blocks of them.

    Theorem: let W_n be at least W_(n-1) and, for every k, at least a step of k ticks before W_(n-k). If every range is
        worth at most a mean of steps of some ticks, all steps in any order are worth at most the mean of W_n, n the sum
        of independent ticks.
    Reference: Bellman 1957; Dong-Durfee-Rogers 2020, section 5
    Proof: docs/theory/accounting/adaptive.md#budgets
    Checked-by: tests/accounting/adaptive/test_budgets.py::test_every_order_is_within_the_budget,
        tests/accounting/adaptive/test_budgets.py::test_a_smaller_budget_would_be_noticed
    """
    largest = max(size for size, _ in ranges)
    dealt = _dealt(ranges, blocks)
    squares = sum(times * float(size) ** 2 for size, times in dealt[0]) / 4
    long = squares * 4 / float(largest) ** 2
    ticks = int(ticks_for(long, work))
    if ticks < _LEAST_TICKS:
        raise NotApplicable("too many steps of games")
    order = math.sqrt(-1.7 * math.log(rare) / squares / blocks)
    clock = Clock.of(largest, ticks, order)
    spent = Ticks.larger([Ticks.of(clock, some, rare) for some in dealt])
    kinds = _kinds(clock, ranges)
    sizes = clock.sizes[kinds[0]], largest
    step = step_for(sizes, reach_of(dealt[0], rare), work, spent.last * len(kinds), kept=ticks)
    total = np.full(1, spent.beyond)
    for n, upper in enumerate(_played(clock, kinds, spent.last, step, SPARE * rare / spent.last)):
        if n >= spent.first:
            one, other = _alike(total, upper)
            total = one + other * float(spent.chances[n - spent.first])
    total = np.minimum(total * (1 + 8 * (spent.chances.size + 1) * UNIT), 1.0)
    none = np.zeros(total.size)
    top = max(math.ceil(sum(times * size for size, times in some) / step) for some in dealt)
    return Curve(float(step), 0, top, total, none, none)


def ticks_for(long: float, work: float) -> float:
    """Of a step of the largest range, where all cost about as much as so many of these."""
    return min(MOST_TICKS, math.sqrt(work / long / _PER_STEP))


def _kinds(clock: Clock, ranges: Ranges) -> list[int]:
    """The numbers of ticks that any step may take, but 0."""
    found = set[int]()
    for size, _ in ranges:
        k, share = clock.shared(size)
        found |= {k, k + 1} if share else {k}
    return sorted(found - {0})


def _dealt(ranges: Ranges, blocks: int) -> list[Ranges]:
    """All steps in so many blocks that are nearly alike: to and fro, from the largest range on."""
    if blocks == 1:
        return [ranges]
    hands: list[Counter[Fraction]] = [Counter() for _ in range(blocks)]
    turn = 0
    for size, times in sorted(ranges, reverse=True):
        each, rest = divmod(times, 2 * blocks)
        for hand in hands:
            if each:
                hand[size] += 2 * each
        for _ in range(rest):
            hands[turn if turn < blocks else 2 * blocks - 1 - turn][size] += 1
            turn = (turn + 1) % (2 * blocks)
    return [tuple(hand.items()) for hand in hands]


def _played(clock: Clock, kinds: Sequence[int], last: int, step: Fraction, cut: float) -> Iterator[Floats]:
    """W_0 to W_last, at places from 0 on; beyond the last place values are as there."""
    tables = {k: table(clock.sizes[k], step) for k in kinds}
    reach = max(chances.reach for chances in tables.values())
    current, waiting = np.zeros(1), dict[int, Floats]()
    for n in range(last + 1):
        if n in waiting:
            one, other = _alike(current, waiting.pop(n))
            current = np.maximum(one, other)
            current = current[: max(int(np.argmax(current <= current[-1] + cut)), 1) + 1]
        yield current
        wide = Curve(float(step), 0, _NOWHERE, current, current, current).upper_around(reach, 2 * reach)
        for k, chances in tables.items():
            if n + k <= last:
                less = reach - chances.reach
                values = raised(wide[less : wide.size - 2 * less], chances).values
                waiting[n + k] = np.maximum(*_alike(waiting[n + k], values)) if n + k in waiting else values


def _alike(one: Floats, other: Floats) -> tuple[Floats, Floats]:
    """Both as long as the longer."""
    size = max(one.size, other.size)
    return _longer(one, size), _longer(other, size)


def _longer(values: Floats, size: int) -> Floats:
    return np.concatenate([values, np.full(size - values.size, values[-1])]) if size > values.size else values
