"""epsilon and delta of a composition between two lists of losses."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from privately.accounting.compositions import Composition
from privately.accounting.roads import NotApplicable, nearly_log
from privately.accounting.spreading.lists import Losses, Side, profile_of, summed
from privately.accounting.spreading.steps import listed
from privately.rounding import Interval

METHOD = "losses in cells"

_SIDES: tuple[Side, Side] = "lower", "upper"
_FINE, _COARSE = 1 << 15, 1 << 11
_WORK = 1 << 25
_LEAST = 128
_RARE = 2.0**-40
LEFT_OUT = 1e-30
_LEAST_DELTA = Fraction(1, 10**100)
_CLOSE = 1e-10
_ROUNDS = 100
_ZERO, _ONE = np.zeros(1), np.ones(1)
_MOST_LAWS, _MOST_STEPS = 16, 10**8


def epsilon(composition: Composition, delta: Fraction, width: Fraction) -> Interval:
    """The epsilon of the finite losses, 0 < delta < 1, as near as the lists allow."""
    del width
    if delta < _LEAST_DELTA:
        raise NotApplicable("delta is too small")
    lower, upper = (Curve(_two(composition, float(delta) * _RARE, side), side) for side in _SIDES)
    high = upper.epsilon(delta)
    if not high:
        return Interval(0, 0, method=METHOD)
    return Interval(min(lower.epsilon(delta), high), high, method=METHOD)


def delta(composition: Composition, epsilon: Fraction, width: Fraction) -> Interval:
    """The delta of the finite losses."""
    del width
    lower, upper = (Curve(_two(composition, LEFT_OUT, side), side).delta(epsilon) for side in _SIDES)
    return Interval(lower, upper, method=METHOD)


class Curve:
    """The profile of the sum of two lists, from one side."""

    def __init__(self, lists: tuple[Losses, Losses], side: Side) -> None:
        self.side = side
        self.first, self.second = lists

    def epsilon(self, delta: Fraction) -> Fraction:
        """One that is enough for delta, or one that is not, or 0."""
        if self.side == "upper":
            return Fraction(self.passed(delta, lambda found: found <= delta))
        return Fraction(self.passed(delta, lambda found: found < delta, last=True))

    def delta(self, epsilon: Fraction) -> Fraction:
        """From the curve's side."""
        end = math.nextafter(float(epsilon), -math.inf if self.side == "upper" else math.inf)
        return min(Fraction(self.at(end)), Fraction(1))

    def at(self, epsilon: float) -> float:
        return profile_of(self.first, self.second, epsilon, self.side)

    def passed(self, delta: Fraction, holds: Callable[[float], bool], *, last: bool = False) -> float:
        """The least epsilon found at which something holds that holds for all larger ones; or the last where it does
        not.
        """
        target = nearly_log(delta)
        low, high = 0.0, max(float(self.first.losses[0] + self.second.losses[0]), 0.0) * (1 + 1e-12)
        at_low, at_high = self.at(low), self.at(high)
        if holds(at_low):
            return 0.0
        if not holds(at_high):
            raise NotApplicable("what was left out is more than delta")
        for turn in range(_ROUNDS):
            if high - low <= _CLOSE * low:
                break
            middle = _between(low, high)
            if not low < middle < high:
                break
            above, below = _log(at_low) - target, _log(at_high) - target
            if turn % 3 and math.isfinite(below) and above > below:
                guess = low + (high - low) * above / (above - below)
                middle = guess + (1 if turn % 3 == 1 else -1) * _CLOSE / 4 * guess
                middle = middle if low < middle < high else _between(low, high)
            found = self.at(middle)
            low, at_low, high, at_high = (
                (low, at_low, middle, found) if holds(found) else (middle, found, high, at_high)
            )
        return low if last else high


def _between(low: float, high: float) -> float:
    """The geometric mean while the ends are far apart, then the middle."""
    least = max(low, high * 1e-4)
    return math.sqrt(least * high) if high > 2 * least else (low + high) / 2


def _log(value: float) -> float:
    return math.log(value) if value > 0 else -math.inf


def _two(composition: Composition, rare: float, side: Side) -> tuple[Losses, Losses]:
    """Two lists whose sum is the whole."""
    steps = sum(times for _, times in composition.parts)
    if not 1 < steps <= _MOST_STEPS or len(composition.parts) > _MOST_LAWS:
        raise NotApplicable("one step, or too many")
    each = rare / steps
    singles = [(listed(law, side, _FINE, each), times) for law, times in composition.parts]
    if steps == 2:
        lists = [found for found, times in singles for _ in range(times)]
        return lists[0], lists[1]
    return two_of(singles, side, rare)


def two_of(singles: Sequence[tuple[Losses, int]], side: Side, rare: float) -> tuple[Losses, Losses]:
    """Two lists whose sum is that of all these, each so many times; about `rare` is left out in all."""
    first, *others = _added_up(singles, 2, _COARSE, side, rare)
    return first, others[0] if others else Losses.of(_ZERO, _ONE)


def all_of(singles: Sequence[tuple[Losses, int]], most: int, side: Side, rare: float) -> Losses:
    """Lists, each so many times, added up to one of at most about `most` losses; about `rare` is left out in all."""
    if not singles:
        return Losses.of(_ZERO, _ONE)
    if sum(times for _, times in singles) > _MOST_STEPS:
        raise NotApplicable("too many steps")
    (found,) = _added_up(singles, 1, most, side, rare)
    return _shorter(found, most, side)


def _added_up(singles: Sequence[tuple[Losses, int]], number: int, most: int, side: Side, rare: float) -> list[Losses]:
    """So many lists whose sum is the whole, of at most about `most` losses where they are sums."""
    sums = sum(2 * times.bit_length() - 1 for _, times in singles)
    count = max(min(most, int(math.sqrt(_WORK / sums))), _LEAST)
    each = rare / sum(times for _, times in singles)
    lists = [one for found, times in singles for one in _repeated(found, times, count, side, rare)]
    while len(lists) > number:
        lists.sort(key=lambda one: -one.losses.size)
        lists.append(summed(_shorter(lists.pop(), count, side), _shorter(lists.pop(), count, side), count, side, each))
    return lists


def _repeated(found: Losses, times: int, count: int, side: Side, rare: float) -> list[Losses]:
    """One or two lists whose sum is that of so many steps, by squaring; about `rare` is left out in all."""
    if times == 1:
        return [found]
    square, result, runs = _shorter(found, count, side), None, 1
    each = rare / (2 * times * times.bit_length())
    while True:
        is_last = times < 4
        if times & 1:
            result = square if result is None else summed(result, square, count, side, each * runs)
        times >>= 1
        if is_last and times == 1:
            return [square, square] if result is None else [result, summed(square, square, count, side, each * runs)]
        square, runs = summed(square, square, count, side, each * runs), 2 * runs


def _shorter(found: Losses, count: int, side: Side) -> Losses:
    """Of at most about so many losses."""
    if found.losses.size <= count:
        return found
    return summed(found, Losses.of(_ZERO, _ONE), count, side, 0.0)
