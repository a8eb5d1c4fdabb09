"""Many steps of small ranges, in any order: each before normal noise is at most a response and a little more noise."""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

import numpy as np

from privately.accounting.adaptive.curves import Curve
from privately.accounting.adaptive.games import Ranges
from privately.accounting.adaptive.noise import normal, spared, spread, with_step
from privately.accounting.elementary import ERROR, UNIT, exp_one, expm1_one, normal_tail, normal_tail_one
from privately.accounting.roads import NotApplicable

_THIN = 0.577
"""What part of a step's variance its response has: its tails are then as thin as those of the step."""
_CELLS, _COARSE = 200, 2.5
"""Of the lattice, in the largest range; how many squares of its step a step costs more."""
SMALLEST = Fraction(2, 25)
"""Of the largest range."""
_MOST_LOOKED_AT = 700
"""With more noise, in steps of the largest range, a step costs as there."""
_RATIOS, _MORE, _MOST_PULL = (2.0, 1.7, 1.5, 1.35, 1.25, 1.15, 1.1, 1.05), 1.02, 0.2
_SPARE = 1e-3
"""What part of a value that counts may be neglected, in all."""
_MOST_STEPS, _MOST_LONG, _LONG, _MOST_MARKS = 100_000, 50_000, 2500, 66
_FARTHEST = 36.0
_UP, _DOWN = 1 + 8 * UNIT, 1 - 8 * UNIT


@dataclass(frozen=True)
class Thin:
    """Responses, each so often, normal noise and a rest that together are at least as much as all steps."""

    responses: tuple[tuple[Fraction, int], ...]
    variance: Fraction
    rest: Fraction


@dataclass(frozen=True)
class Fineness:
    """How closely it is looked: ranges up to e times as large ones, noise to begin with, and what pulls at first.

    Noise is in steps of the largest range. Where there is less of it, so many times as many ranges are looked at.
    """

    marks: int
    finer: tuple[tuple[float, int], ...]
    start: float
    bend: float
    pull: float


_FINE = Fineness(80, ((1.5, 3), (6.0, 2)), 0.5, 30, 0.124)
_OF_LONG = Fineness(40, ((6.0, 3), (60.0, 2)), 3.0, 10, 0.14)


@dataclass(frozen=True)
class Costs:
    """A step of cost c stands for a response, and before noise of variance v for c - y + h(v) b more noise.

    The response and its y, and b, the square of the largest cost up to the next mark, are those of the mark before it.
    h is pull/v up to a bend, falls more slowly from there on, and is constant in the end.
    """

    marks: tuple[Fraction, ...]
    known: tuple[float, ...]
    """The costs of the marks."""
    pull: float
    bend: float
    most: float
    finer: tuple[tuple[float, int], ...]
    are_between: bool
    """Whether there are ranges between these."""

    @classmethod
    def of_ranges(cls, sizes: tuple[Fraction, ...], fine: Fineness, step: Fraction, looked_at: float) -> Costs:
        marks = spread(sizes, fine.marks)
        known = tuple((_center(float(size) / 2) + _COARSE / 4 * float(step) ** 2) * _UP for size in marks)
        bend, most = fine.bend * known[-1], looked_at * known[-1]
        return cls(marks, known, fine.pull, bend, most, fine.finer, marks != sizes)

    def place(self, size: Fraction) -> int:
        return bisect_right(self.marks, size) - 1

    def loss(self, place: int) -> Fraction:
        """Of the response of all steps from one mark to the next."""
        return Fraction(math.sqrt(_THIN) / 2 * float(self.marks[place]))

    def response(self, place: int) -> float:
        return _center(float(self.loss(place)))

    def square(self, place: int) -> float:
        """Of the largest cost from one mark to the next, or more."""
        apart = max(other / one for one, other in pairwise(self.known)) if self.are_between else 1.0
        return (self.known[place] * apart) ** 2 * (1 + 1e-9)

    def of(self, size: Fraction) -> float:
        """Between two marks, the mean of theirs that a step costs at most."""
        k = self.place(size)
        if self.marks[k] == size:
            return self.known[k]
        part, whole = (-expm1_one(-float(end - self.marks[k])) for end in (size, self.marks[k + 1]))
        share = min(part / whole * (1 + 8 * ERROR), 1.0)
        return ((1 - share) * self.known[k] + share * self.known[k + 1]) * _UP

    def pulled(self, place: int, v: float) -> float:
        v = min(v, self.most)
        return self.pull * self.square(place) * (1 / v if v <= self.bend else 2 / (v + self.bend))

    def between(self, place: int, v: float) -> tuple[Fraction, ...]:
        """The ranges that are looked at from this mark to the next: more of them where there is little noise."""
        if not self.are_between or place + 1 == len(self.marks):
            return (self.marks[place],)
        finer = next((times for less, times in self.finer if v < less * self.known[-1]), 1)
        one, other = self.marks[place : place + 2]
        return tuple(one + (other - one) * k / finer for k in range(finer + 1))

    def total(self, ranges: Ranges, start: float) -> float:
        """The variance that all steps lead to from the first one, the largest of them last.

        Theorem: a sum of h(t) b over all steps, h convex and falling and t the sum of the a of those before, is largest
            with the largest step first if a and b/a are larger for larger steps.
        Reference: none
        Proof: docs/theory/accounting/adaptive.md#responses-and-noise
        Checked-by: tests/accounting/adaptive/test_thin_noise.py::test_the_largest_step_last_costs_most
        """
        least = [(known - self.response(k)) * _DOWN for k, known in enumerate(self.known)]
        ratios = [self.square(k) / one for k, one in enumerate(least)]
        if min(least) <= 0 or any(a >= b for one in (least, ratios) for a, b in pairwise(one)):
            raise NotApplicable("costs that are not in order")
        v = before = start
        for size, times in sorted(ranges, reverse=True):
            k = self.place(size)
            more = (self.of(size) - self.response(k)) * _UP
            for _ in range(times):
                v = (v + more + self.pulled(k, before) * _UP) * _UP
                before = (before + least[k]) * _DOWN
        return v


def _center(loss: float) -> float:
    """About the variance of noise that is as much as a response of this loss where no loss is known yet."""
    return 8 * math.log(math.cosh(loss / 2))


@lru_cache(maxsize=8)
def as_thin_noise(ranges: Ranges, rare: float) -> Thin:
    """Responses, noise and a rest that together are at least as much as all steps in any order.

    Theorem: if every step before G_v is at most its response beside G_(v + a + h(v) b) and a rest, all steps are at
        most all responses beside G_v and as many rests, v reached from the first variance with the largest step last.
    Reference: none
    Proof: docs/theory/accounting/adaptive.md#responses-and-noise
    Checked-by: tests/accounting/adaptive/test_thin_noise.py::test_no_order_is_above,
        tests/accounting/adaptive/test_thin_noise.py::test_the_largest_step_last_costs_most
    """
    steps = sum(times for _, times in ranges)
    largest = max(size for size, _ in ranges)
    long = sum(times * float(size / largest) ** 2 for size, times in ranges)
    if steps > _MOST_STEPS or long > _MOST_LONG or min(ranges)[0] < SMALLEST * largest:
        raise NotApplicable("too many steps, or of too different ranges")
    farthest = math.sqrt(-2 * math.log(rare * _SPARE / steps))
    step, fine = largest / _CELLS, _fineness(math.log(largest / min(ranges)[0]), long)
    looked_at = min((1 - _THIN) * long + 4, _MOST_LOOKED_AT)
    costs = Costs.of_ranges(tuple(sorted({size for size, _ in ranges})), fine, step, looked_at)
    start = fine.start * costs.known[-1]
    costs, rest = _checked(costs, start, step, farthest)
    counted: dict[int, int] = {}
    for size, times in ranges:
        counted[costs.place(size)] = counted.get(costs.place(size), 0) + times
    responses = tuple((costs.loss(k), times) for k, times in sorted(counted.items()))
    return Thin(responses, Fraction(costs.total(ranges, start)), min(Fraction(rest) * steps, Fraction(1)))


def _fineness(spread: float, long: float) -> Fineness:
    if long >= _LONG:
        return _OF_LONG
    if spread * _FINE.marks > _MOST_MARKS:
        raise NotApplicable("too many ranges to look at")
    return _FINE


def _checked(costs: Costs, start: float, step: Fraction, farthest: float) -> tuple[Costs, float]:
    """Costs that are enough for all variances from the start on, and the rest of a step."""
    rest, v = 0.0, start
    while v < costs.most:
        level = Level.of(v, costs, step, farthest)
        costs, v = _until(level, costs)
        rest = max(rest, level.rest)
        del level  # large, and the next one is made before it is let go
    return costs, rest


def _until(level: Level, costs: Costs) -> tuple[Costs, float]:
    """Up to which variance the costs, or if they must be somewhat larger ones, are enough."""
    while costs.pull <= _MOST_PULL:
        for ratio in _RATIOS:
            if level.is_enough(costs, level.v * ratio):
                return costs, level.v * ratio
        costs = replace(costs, pull=costs.pull * _MORE)
    raise NotApplicable("steps unlike a response and noise")


@dataclass(frozen=True)
class Looked:
    """A step of one range before normal noise, and the noise that is enough but for what is pulled."""

    place: int
    curve: Curve
    more: float


@dataclass(frozen=True)
class Level:
    """Normal noise of variance v, with a step of each range before it."""

    v: float
    looked: tuple[Looked, ...]
    rest: float

    @classmethod
    def of(cls, v: float, costs: Costs, step: Fraction, farthest: float) -> Level:
        wide = v + costs.known[-1] * (1 + costs.known[-1] / v)
        edge = wide / 2 + farthest * math.sqrt(wide)
        curve, looked, known = normal(v, step, edge), list[Looked](), dict[Fraction, Curve]()
        for place in range(len(costs.marks)):
            sizes, response = costs.between(place, v), costs.response(place) * _UP
            adds = [costs.of(size) - response for size in sizes]
            less = max((spared(one, other, v, edge) for one, other in pairwise(adds)), default=0.0)
            for size, add in zip(sizes, adds, strict=True):
                if size not in known:
                    known = {size: with_step(curve, size, step)}  # the next one begins where this one ends
                looked.append(Looked(place, known[size], (add - less) * _DOWN))
        rest = max(float(one.curve.upper[-1]) for one in looked)
        rest += normal_tail_one(farthest * (1 - 1e-9)) * (1 + 1e-9)
        return cls(v, tuple(looked), rest * _UP)

    def is_enough(self, costs: Costs, until: float) -> bool:
        """Whether, from this variance until there, no step needs more than it costs.

        Theorem: what is enough before G_v is before G_w, w >= v, and what a step costs falls with w.
        Reference: a step of a mean is at most the mean of steps
        Proof: docs/theory/accounting/adaptive.md#responses-and-noise
        Checked-by: tests/accounting/adaptive/test_thin_noise.py::test_less_than_a_step_needs_is_noticed
        """
        for one in self.looked[::-1]:
            more = (one.more + costs.pulled(one.place, until)) * _DOWN
            mu = math.sqrt(max(self.v + more, 0.0)) * (1 - 4 * UNIT)
            if not more > 0 or not is_below(one.curve, mu, float(costs.loss(one.place))):
                return False
        return True


def is_below(curve: Curve, mu: float, loss: float) -> bool:
    """Whether the curve is certainly below r + (1 - r) R, r its last value and R a response beside normal noise.

    Theorem: with p = 1/(1 + e^-loss), a test that asks for more than w + mu of the noise after one outcome and for more
        than w' + mu after the other has the power p P(N > w) + (1-p) P(N > w') and the price (1-p) P(N > w + mu) + p
        P(N > w' + mu). A chord is below a line if its ends are, and y >= 1 is enough.
    Reference: Neyman-Pearson
    Proof: docs/theory/accounting/adaptive.md#responses-and-noise
    Checked-by: tests/accounting/adaptive/test_thin_noise.py::test_a_response_beside_noise
    """
    values, y = curve.upper, curve.values(upward=True)
    middle = curve.losses[:-1] + curve.step / 2
    likely, rare = 1 / (1 + exp_one(-loss)), 1 / (1 + exp_one(loss))
    power, price = np.zeros(middle.size), np.zeros(middle.size)
    for side, first, second in ((-loss, likely, rare), (loss, rare, likely)):
        threshold = np.minimum((middle + side) / mu + mu / 2, _FARTHEST)
        before = threshold - mu
        power += first * normal_tail(before) * (1 - 8 * ERROR - 32 * UNIT * (before * before + 1))
        price += second * normal_tail(threshold) * (1 + 8 * ERROR)
    rest = values[-1] * (1 - 8 * UNIT)
    for value, at in ((values[:-1], y[:-1]), (values[1:], y[1:])):
        line = power * (1 - 4 * UNIT) - at * price * (1 + 8 * UNIT)
        if (value > rest + line * (1 - rest) * (1 - 8 * UNIT)).any():
            return False
    return True
