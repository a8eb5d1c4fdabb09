"""Thousands of steps of one range: a game of the last of them, and before it blocks that are all alike."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

import numpy as np

from privately.accounting.adaptive.chances import Table, table
from privately.accounting.adaptive.curves import Curve
from privately.accounting.adaptive.games import SPARE, step_of
from privately.accounting.adaptive.pairs import Above, above
from privately.accounting.adaptive.steps import play
from privately.accounting.elementary import ERROR, UNIT, Floats, Integers, exp, expm1
from privately.accounting.losses import FiniteLoss
from privately.accounting.roads import NotApplicable

MANY, FEWER = 3500, 100
"""From so many steps on; from fewer where there is no other way."""
_LONGEST, _MOST_SQUARES, _LEAST, _FEWEST = 400, (800, 150), 12, 3
"""A block is of so many steps, or fewer of larger ranges whose squares add up to this, or where that fails to less."""
_SPARED, _MOST_SPARED = 0.03, 1e-9
"""This part of a value that counts may be missing, but no more in a block, where values next to 1 are all rounding."""
_PLACES, _HALVINGS = 1000, 6
_NOWHERE = 1 << 60


@dataclass(frozen=True)
class Pairs:
    """Pairs of finitely many losses, so often each, and a probability of infinite loss, that cost at least as much.

    But for the rest, by which a delta may be more.
    """

    parts: tuple[tuple[FiniteLoss, int], ...]
    infinite: Fraction
    rest: Fraction = Fraction(0)


@lru_cache(maxsize=8)
def in_runs(size: Fraction, times: int, rare: float, work: float) -> Pairs:
    """So many steps of range `size`; the infinite loss is far rarer than `rare`.

    Theorem: let F be at least the value of n steps, and m steps before F at most r more than F beside D. Then n + j m
        steps are worth at most j r more than F beside j times D.
    Reference: Dong-Durfee-Rogers 2020, section 5; a chord of a mean is the mean of chords
    Proof: docs/theory/accounting/adaptive.md#runs
    Checked-by: tests/accounting/adaptive/test_runs.py::test_a_run_costs_at_least_as_much_as_its_game,
        tests/accounting/adaptive/test_runs.py::test_less_than_is_asked_for_would_be_noticed
    """
    lengths = {min(_LONGEST, int(most / size**2), times // _FEWEST) for most in _MOST_SQUARES}
    for length in sorted(lengths, reverse=True):
        if length >= _LEAST:
            with suppress(NotApplicable):
                return _in_blocks(size, times, length, rare, work)
    raise NotApplicable("too few steps, or of too large ranges")


def _in_blocks(size: Fraction, times: int, length: int, rare: float, work: float) -> Pairs:
    last = length + times % length
    count = (times - last) // length
    each = rare / (count + 1)
    step = step_of(((size, last + length),), each, work)
    chances, cut = table(size, step), SPARE * each / (last + length)
    shorter = _played(Curve.start(float(step)), length - 1, chances, cut)
    block = _played(shorter, 1, chances, cut)
    end = above(_played(block, last - length, chances, cut), most=_PLACES)
    before = _played(_started(end, float(step)), length, chances, cut)
    rest = 0.0 if is_enough(_mean(shorter, block, 1.0), end, before) else min(_SPARED * each, _MOST_SPARED)
    more = _least(shorter, block, before, end, rest)
    beyond = end.infinite + count * (more.infinite + Fraction(float(before.upper[-1])))
    return Pairs(((end.law, 1), (more.law, count)), min(beyond, Fraction(1)), count * Fraction(rest))


def _played(curve: Curve, times: int, chances: Table, cut: float) -> Curve:
    for _ in range(times):
        curve = play(curve, chances).trimmed(cut)
    return curve


def _least(shorter: Curve, block: Curve, before: Curve, end: Above, rest: float) -> Above:
    """The pair of nearly the least mean of both curves that, beside the end, costs as much as `before`, or nearly."""
    low, high = 0.0, 1.0
    found = _mean(shorter, block, high)
    if not is_enough(found, end, before, rest):
        raise NotApplicable("values that are next to 1")
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        tried = _mean(shorter, block, middle)
        if is_enough(tried, end, before, rest):
            found, high = tried, middle
        else:
            low = middle
    return found


def _mean(one: Curve, other: Curve, share: float) -> Above:
    one = one.widened(0, max(other.last - one.last, 0))
    upper = np.append(other.upper, np.full(one.upper.size - other.upper.size, other.upper[-1]))
    return above(replace(one, top=other.top, upper=(1 - share) * one.upper + share * upper), most=_PLACES)


def _started(end: Above, step: float) -> Curve:
    """Values that are not below the profile of a pair."""
    masses = Masses.of(end, step)
    values = masses.profile(-1, int(masses.places[-1]))
    upper = np.minimum((values[1:] + masses.off * values[:-1]) * (1 + masses.slack), 1.0)
    nothing = np.zeros(upper.size)
    return Curve(step, 0, _NOWHERE, upper, nothing, nothing)


@dataclass(frozen=True)
class Masses:
    """A pair whose losses are next to places of a lattice, no further than by rounding."""

    step: float
    places: Integers
    first: Floats
    second: Floats
    infinite: float

    @classmethod
    def of(cls, pair: Above, step: float) -> Masses:
        masses = [(one, other) for (one, _), (other, _) in pair.law.outcomes][::-1]
        first, second = (np.array([float(one) for one in part]) for part in zip(*masses, strict=True))
        places = np.array([round(math.log(one / other) / step) for one, other in masses])
        return cls(step, places, first, second, float(pair.infinite))

    @property
    def off(self) -> float:
        """How far losses are from places, over how far places are from each other."""
        reach = self.step * float(np.abs(self.places).max())
        return (4 * ERROR + 20 * UNIT * (1 + reach)) / -math.expm1(-self.step)

    @property
    def slack(self) -> float:
        """The relative error of sums over all places."""
        wide = int(self.places[-1] - self.places[0])
        return 8 * ERROR + UNIT * (4 * wide + 64 * (1 + self.step * wide))

    def profile(self, first: int, last: int) -> Floats:
        """V(y) at these places, if all losses were at theirs."""
        top = int(self.places[-1])
        masses = np.zeros(top - first + 1)
        inside = self.places > first
        np.add.at(masses, self.places[inside] - first, self.second[inside])
        further = np.cumsum(masses[:0:-1])[::-1]  # beyond each place
        wide = float(expm1(np.array([self.step]))[0])
        falls = exp(np.arange(float(first), top) * self.step) * (wide * further)
        values = np.concatenate([np.cumsum(falls[::-1])[::-1], np.zeros(max(last - top, 0) + 1)])
        return np.asarray(values[: last - first + 1] + self.infinite)


def is_enough(block: Above, end: Above, before: Curve, rest: float = 0.0) -> bool:
    """Whether block and end together certainly cost at least as much as the curve less the rest.

    Theorem: a profile at a place is the mean of that of the end, at as many places less as the block's loss has. If
        losses are a little off their places, it is less by at most `off` times what it is at the place before; and the
        same makes good that it is linear only almost from place to place. Both pairs are the same if their laws are
        exchanged, so y >= 1 is enough.
    Reference: none
    Proof: docs/theory/accounting/adaptive.md#runs
    Checked-by: tests/accounting/adaptive/test_runs.py::test_two_pairs_together,
        tests/accounting/adaptive/test_runs.py::test_less_than_is_asked_for_would_be_noticed
    """
    one, other = (Masses.of(pair, before.step) for pair in (block, end))
    beyond = float(before.upper[-1])
    together = beyond + (1 - beyond) * least_together(one, other, before.last)
    return bool((before.upper[:-1] <= (together[:-1] + rest) * (1 - 8 * UNIT)).all())


def least_together(one: Masses, other: Masses, last: int) -> Floats:
    """The profile of both composed, at places from 0 to the last, rounded down."""
    lowest, highest = int(one.places[0]), int(one.places[-1])
    values = other.profile(-1 - highest, last - lowest)
    total = np.zeros(last + 2)  # from the place before 0 on
    for place, mass in zip(one.places.tolist(), one.first.tolist(), strict=True):
        begin = highest - place
        total += mass * values[begin : begin + last + 2]
    total += one.infinite
    slack = one.slack + other.slack + 4 * one.places.size * UNIT
    off = 2 * (one.off + other.off)
    return np.asarray(total[1:] * (1 - slack) - off * (1 + slack) * total[:-1])
