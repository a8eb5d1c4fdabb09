"""Very many steps of many ranges, in blocks: small ones cost hardly more than normal noise, which adds up."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from privately.accounting.adaptive.budgets import within_budget
from privately.accounting.adaptive.curves import Curve
from privately.accounting.adaptive.games import Ranges
from privately.accounting.adaptive.pairs import above
from privately.accounting.adaptive.runs import Pairs
from privately.accounting.elementary import ERROR, UNIT, normal_tail
from privately.accounting.losses import GaussianLoss
from privately.accounting.roads import NotApplicable

_PLACES = 2000
LARGE = Fraction(2, 5)
"""Ranges from here on are unlike normal noise."""
_BLOCK_OF_MANY, _PER_BLOCK = 110, 2e5
"""Steps of the largest range that cost about as much as a block of many ranges: at most, and for so much work each."""
_FARTHEST = 36.0
_HALVINGS = 24


@dataclass(frozen=True)
class Normal:
    """Normal noise, and a probability of infinite loss, that together cost at least as much."""

    law: GaussianLoss
    infinite: Fraction


@lru_cache(maxsize=8)
def of_many_ranges(ranges: Ranges, rare: float, work: float) -> Normal | Pairs:
    """So many steps of different ranges, in blocks that are nearly alike: the game of a budget that is enough for each.

    Theorem: blocks as groups of steps, each within the same budget.
    Reference: as for groups of steps
    Proof: docs/theory/accounting/adaptive.md#budgets
    Checked-by: tests/accounting/adaptive/test_blocks.py::test_blocks_of_many_ranges
    """
    largest = max(size for size, _ in ranges)
    long = min(_BLOCK_OF_MANY, work / _PER_BLOCK)
    count = math.ceil(sum(times * float(size / largest) ** 2 for size, times in ranges) / long)
    curve = within_budget(ranges, rare / count, 2 * work, count)
    if largest >= LARGE:
        pair = above(curve, most=_PLACES)
        return Pairs(((pair.law, count),), min(count * pair.infinite, Fraction(1)))
    square, infinite = Fraction(distance(curve)) ** 2, Fraction(float(curve.upper[-1]))
    return Normal(GaussianLoss(mu_squared=count * square), min(count * infinite, Fraction(1)))


def distance(curve: Curve) -> float:
    """Of normal noise that costs at least as much, with the last value at infinite loss; nearly the least."""
    low, high = 0.0, curve.last * curve.step / 8
    while not is_below(curve, high):
        low, high = high, 2 * high
        if high > _FARTHEST:
            raise NotApplicable("no normal noise is known to cost more")
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if is_below(curve, middle) else (middle, high)
    return high


def is_below(curve: Curve, mu: float) -> bool:
    """Whether the curve is certainly below r + (1 - r) G, r its last value and G normal noise of this distance.

    Theorem: P(N > w - mu) - y P(N > w) is at most G(y) for every w and y; a chord is below a line if its ends are. What
        holds for y from 1 on holds for all y, as V(y) = 1 - y + y V(1/y), for V and for G.
    Reference: Neyman-Pearson
    Proof: docs/theory/accounting/adaptive.md#blocks
    Checked-by: tests/accounting/adaptive/test_blocks.py::test_the_distance_is_nearly_the_least
    """
    losses, values, y = curve.losses, curve.upper, curve.values(upward=True)
    threshold = np.minimum((losses[:-1] + curve.step / 2) / mu + mu / 2, _FARTHEST)
    before = threshold - mu
    power = normal_tail(before) * (1 - 4 * ERROR - 32 * UNIT * (before * before + 1))
    price = normal_tail(threshold) * (1 + 4 * ERROR)
    rest = values[-1] * (1 - 8 * UNIT)
    for value, at in ((values[:-1], y[:-1]), (values[1:], y[1:])):
        line = power - at * price * (1 + 4 * UNIT)
        if (value > rest + line * (1 - rest) * (1 - 8 * UNIT)).any():
            return False
    return True
