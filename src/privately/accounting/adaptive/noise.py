"""Many steps of small ranges, in any order: each before normal noise is at most as much as a little more noise."""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

import numpy as np

from privately.accounting.adaptive.blocks import is_below
from privately.accounting.adaptive.chances import table
from privately.accounting.adaptive.curves import Curve
from privately.accounting.adaptive.games import Ranges
from privately.accounting.adaptive.raising import raised
from privately.accounting.elementary import ERROR, UNIT, Floats, expm1_one, normal_tail, normal_tail_one
from privately.accounting.roads import NotApplicable

_CELLS, _MARKS, _LEAST_CELLS = 200, 50, 16
"""Of the lattice, in the largest range; ranges that are looked at, up to e times as large ones; cells in the least."""
_START, _SHIFT, _RATIOS = 0.7, 0.1, (2.0, 1.5, 1.25, 1.15, 1.08, 1.05)
"""In steps of the largest range; and how much more v may be where the same is enough, at most."""
_LEAST_PULL, _MORE, _MOST_PULL, _MOST_SPARED = 0.165, 1.01, 0.25, 0.1
_FINER = (1.0, 8), (3.0, 4), (12.0, 2)
"""Where there is less noise than so many steps have, so many times as many ranges are looked at."""
_COARSE = 2.5
"""How many squares of the lattice's step a step costs more."""
_SPARE = 1e-3
"""What part of a value that counts may be neglected, in all."""
_MOST_STEPS, _MOST_LONG = 20_000, 2500
_NOWHERE, _ROUNDED = 1 << 60, 1e-9
_UP = 1 + 8 * UNIT


@dataclass(frozen=True)
class Costs:
    """What a step adds to the variance v of normal noise: c + pull c^2/(v + shift), c the cost of its range."""

    marks: tuple[Fraction, ...]
    known: tuple[float, ...]
    shift: float
    pull: float
    are_between: bool
    """Whether there are ranges between these."""

    def of(self, size: Fraction) -> float:
        """Between two ranges, the mean of theirs that a step costs at most."""
        k = bisect_left(self.marks, size)
        if self.marks[k] == size:
            return self.known[k]
        below, above = self.marks[k - 1], self.marks[k]
        part, whole = (-expm1_one(-float(end - below)) for end in (size, above))
        share = min(part / whole * (1 + 8 * ERROR), 1.0)
        return ((1 - share) * self.known[k - 1] + share * self.known[k]) * _UP

    def looked_at(self, v: float) -> tuple[Fraction, ...]:
        """The marks, and some between them where there is little noise."""
        finer = next((times for less, times in _FINER if v < less * self.known[-1]), 1)
        if finer == 1 or not self.are_between:
            return self.marks
        more = [one + (other - one) * k / finer for one, other in pairwise(self.marks) for k in range(finer)]
        return (*more, self.marks[-1])

    def more(self, v: float, cost: float) -> float:
        return cost + self.pull * cost * cost / (v + self.shift)


@lru_cache(maxsize=8)
def as_noise(ranges: Ranges, rare: float) -> tuple[Fraction, Fraction]:
    """mu^2 of normal noise, and a rest, that together are at least as much as all steps in any order.

    Theorem: if every step of cost c before G_v is at most G_(v + c + h c^2) and a rest, h = pull/(v + shift), then all
        steps are at most G_v and as many rests, v reached from the first variance with the largest step last.
    Reference: none
    Proof: docs/theory/accounting/adaptive.md#like-normal-noise
    Checked-by: tests/accounting/adaptive/test_noise.py::test_no_order_is_above,
        tests/accounting/adaptive/test_noise.py::test_the_largest_step_last_costs_most
    """
    steps = sum(times for _, times in ranges)
    largest = max(size for size, _ in ranges)
    long = sum(times * float(size / largest) ** 2 for size, times in ranges)
    if steps > _MOST_STEPS or long > _MOST_LONG or min(ranges)[0] * _CELLS < _LEAST_CELLS * largest:
        raise NotApplicable("too many steps, or of too different ranges")
    farthest = math.sqrt(-2 * math.log(rare * _SPARE / steps))
    top = 1.02 * long + 4
    costs, rest = _checked(tuple(sorted({size for size, _ in ranges})), top, farthest)
    v = _START * costs.known[-1] * _UP
    for cost, times in sorted(((costs.of(size), times) for size, times in ranges), reverse=True):
        for _ in range(times):
            v = (v + costs.more(v, cost)) * _UP
    if v > top * costs.known[-1]:
        raise NotApplicable("more noise than was looked at")
    return Fraction(v), min(Fraction(rest) * steps, Fraction(1))


def _checked(sizes: tuple[Fraction, ...], top: float, farthest: float) -> tuple[Costs, float]:
    """Costs that are enough for all variances up to so many of the largest cost, and the rest of a step."""
    step, marks = sizes[-1] / _CELLS, spread(sizes, _MARKS)
    known = tuple((float(size) ** 2 + _COARSE * float(step) ** 2) / 4 * _UP for size in marks)
    largest = known[-1]
    costs, rest, v = Costs(marks, known, _SHIFT * largest, _LEAST_PULL, marks != sizes), 0.0, _START * largest
    while v < top * largest:
        level = Level.of(v, costs, step, farthest)
        costs, v = _until(level, costs)
        rest = max(rest, level.rest)
    return costs, rest


def _until(level: Level, costs: Costs) -> tuple[Costs, float]:
    """Up to which variance the costs, or if they must be somewhat larger ones, are enough."""
    while costs.pull <= _MOST_PULL:
        for ratio in _RATIOS:
            if level.is_enough(costs, level.v * ratio):
                return costs, level.v * ratio
        costs = replace(costs, pull=costs.pull * _MORE)
    raise NotApplicable("steps unlike normal noise")


def spread(sizes: tuple[Fraction, ...], times: int) -> tuple[Fraction, ...]:
    """All ranges, or where these are many some at even distances: so many up to e times as large ones."""
    least, largest = sizes[0], sizes[-1]
    count = math.ceil(times * math.log(largest / least))
    if len(sizes) <= count + 1:
        return sizes
    inner = (Fraction(float(largest) * float(least / largest) ** (k / count)) for k in range(count - 1, 0, -1))
    return (least, *inner, largest)


def normal(v: float, step: Fraction, edge: float) -> Curve:
    """Upper values of G_v, up to this loss.

    Theorem: G_v(y) = P(N > w - mu) - y P(N > w), w = epsilon/mu + mu/2.
    Reference: Neyman-Pearson
    Proof: docs/theory/accounting/adaptive.md#like-normal-noise
    Checked-by: tests/accounting/adaptive/test_noise.py::test_values_of_normal_noise
    """
    root = math.sqrt(v)
    count = math.ceil(edge / float(step)) + 2
    none = np.zeros(count)
    curve = Curve(float(step), 0, _NOWHERE, none, none, none)
    price = curve.losses / root + root / 2
    power = price - root
    most, least = normal_tail(power) * (1 + _off(power, root)), normal_tail(price) * (1 - _off(price, root))
    upper = np.maximum(most - curve.values(upward=False) * least * (1 - 4 * UNIT), 0.0) * (1 + 4 * UNIT)
    upper = np.minimum.accumulate(upper)
    return Curve(float(step), 0, _NOWHERE, upper, none, none)


def _off(at: Floats, root: float) -> Floats:
    """The relative error of a tail whose argument was rounded."""
    return np.asarray(4 * ERROR + 64 * UNIT * ((np.abs(at) + root) ** 2 + 1))


def with_step(curve: Curve, size: Fraction, step: Fraction) -> Curve:
    """With a step of this range before it."""
    chances = table(size, step)
    upper = raised(curve.upper_around(chances.reach, 2 * chances.reach), chances).values
    return Curve(curve.step, 0, _NOWHERE, upper, upper, upper)


@dataclass(frozen=True)
class Level:
    """Normal noise of variance v, with a step of each range before it."""

    v: float
    raises: tuple[Curve, ...]
    known: tuple[float, ...]
    spared: tuple[float, ...]
    """How much less each of them must need, for the sake of ranges between two."""
    rest: float

    @classmethod
    def of(cls, v: float, costs: Costs, step: Fraction, farthest: float) -> Level:
        wide = v + costs.known[-1] * (1 + _MOST_PULL * costs.known[-1] / v)
        edge = wide / 2 + farthest * math.sqrt(wide)
        curve, sizes = normal(v, step, edge), costs.looked_at(v)
        known, raises = tuple(map(costs.of, sizes)), tuple(with_step(curve, size, step) for size in sizes)
        rest = max(float(one.upper[-1]) for one in raises) + normal_tail_one(farthest * (1 - 1e-9)) * (1 + 1e-9)
        apart = [spared(one, other, v, edge) if costs.are_between else 0.0 for one, other in pairwise(known)]
        less = tuple(max(one, other) for one, other in zip([0.0, *apart], [*apart, 0.0], strict=True))
        return cls(v, raises, known, less, rest * (1 + 8 * UNIT))

    def is_enough(self, costs: Costs, until: float) -> bool:
        """Whether, from this variance until there, no step needs more than it costs.

        Theorem: what is enough before G_v is before G_w, w >= v, and what a step costs falls with w.
        Reference: a step of a mean is at most the mean of steps
        Proof: docs/theory/accounting/adaptive.md#like-normal-noise
        Checked-by: tests/accounting/adaptive/test_noise.py::test_less_than_a_step_needs_is_noticed
        """
        for one, cost, less in zip(self.raises[::-1], self.known[::-1], self.spared[::-1], strict=True):
            more = (costs.more(until, cost) - less) * (1 - 8 * UNIT)
            if more <= 0 or not is_below(one, math.sqrt(self.v + more) * (1 - 4 * UNIT)):
                return False
        return True


def spared(one: float, other: float, v: float, edge: float) -> float:
    """How much less two costs must be enough for, so that all means of them are enough for means of steps.

    Theorem: a mean of G_(v+a) and G_(v+b) is at most G at the mean of both and w, up to a loss of X, if w (1 - l w/2)
        is at least m (b-a)^2 e^(m (b-a))/8, m = X^2/(2 (v+a)^2) and l = 1/(2 (v+a)) + 1/8.
    Reference: none
    Proof: docs/theory/accounting/adaptive.md#like-normal-noise
    Checked-by: tests/accounting/adaptive/test_noise.py::test_a_mean_of_two_noises
    """
    least, pull = v + (1 - _MOST_SPARED) * one, _MOST_PULL / v
    apart = (other - one) * (1 + 2 * pull * other)
    bent = (edge / least) ** 2 / 2 * apart * (1 + 1e-9)
    gap = bent * apart / 8 * math.exp(min(bent, 30.0)) * (1 + 1e-9)
    less = (1 / (2 * least) + 1 / 8) * gap
    if bent > 30 or less > 0.4:
        return math.inf
    found = (gap / (1 - less) + pull * apart * apart / 4 + _ROUNDED * other) * (1 + 1e-9)
    return found if found <= _MOST_SPARED * one else math.inf
