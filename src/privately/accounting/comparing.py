"""Finding the parameter that keeps a promise where narrow answers take long and rough ones are quick, but wide.

Both depend on the parameter in about the same way: where between two rough ends a narrow one lies is learned from few
narrow answers, and the rest is done by rough ones. Nothing here bounds anything; what is returned was asked for
narrowly, and is safe.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from privately.accounting.guessing import crossing
from privately.errors import InvalidParameter
from privately.rounding import Interval

_WIDE, _WIDEST = 0.01, 1.0
"""Answers that are less wide than this, relative to their upper ends, are no rougher than others."""
_APART, _FLATTEST = 1e-3, 1e-3
_ROUNDS, _TURNS = 6, 24
_CLOSE, _FARTHEST = 1e-9, 0.5
"""So short is the last stride of a search, in ln of the parameter, and so long no stride is."""
_INWARD, _ENOUGH = 0.4, 0.8
"""So far on the safe side of a promise one aims, in parts of the precision, and so far from it is near enough."""
_HALF, _WELL_INSIDE, _CLEARLY = 0.5, 0.7, 8
"""Places must be so many times as far apart as answers jump to tell how epsilon grows."""

Excess = Callable[[float], float]
Ends = Callable[[float], tuple[float, float]]


def _no_slack(_: float) -> float:
    return 0.0


def compared(
    rough: Callable[[float], Interval], narrow: Excess, epsilon: float, precision: float, slack: Excess = _no_slack
) -> float | None:
    """A parameter whose narrow upper end is at most epsilon, hardly below; None where it is not found this way.

    `rough` is an answer, `narrow` ln of the upper end of a narrow one over epsilon, and `slack` how far below 0 that is
    near enough, once it was asked for.
    """

    def ends(parameter: float) -> tuple[float, float]:
        lower, upper = map(float, rough(parameter))
        if not (0 < lower <= upper < math.inf and epsilon > 0):
            raise InvalidParameter("make_event", "no finite answer to compare with.")
        return math.log(lower) - math.log(epsilon), math.log(upper) - math.log(epsilon)

    try:
        lower, upper = ends(1.0)
    except InvalidParameter:
        return None
    if not _WIDE < -math.expm1(lower - upper) < _WIDEST:
        return None
    return _Comparison(ends, narrow, precision, slack).found()


def sketched(above: Excess, narrow: Excess, precision: float, slack: Excess = _no_slack) -> float | None:
    """The same by ln of upper ends alone that are quick, and perhaps far too large."""

    def ends(parameter: float) -> tuple[float, float]:
        excess = above(parameter)
        if not math.isfinite(excess):
            raise InvalidParameter("make_event", "no finite answer to compare with.")
        return excess, excess

    return _Comparison(ends, narrow, precision, slack).found()


class _Comparison:
    """Narrow answers beside rough ones, in ln of the parameter and of epsilon over the promised one."""

    def __init__(self, ends: Ends, narrow: Excess, precision: float, slack: Excess) -> None:
        self.ends, self.narrow, self.precision, self.slack = ends, narrow, precision, slack
        self.share, self.slope = _HALF, 0.0

    def found(self) -> float | None:
        """From where the mean of both rough ends crosses."""
        place = crossing(self._mean_or_none)
        if place is None:
            return None
        there, beyond = self._mean_or_none(place), self._mean_or_none(place * (1 + _APART))
        if there is None or beyond is None:
            return None
        return self._narrowly(math.log(place), (beyond - there) / math.log1p(_APART))

    def _mean_or_none(self, parameter: float) -> float | None:
        try:
            return self._mean(math.log(parameter))
        except InvalidParameter:
            return None

    def _mean(self, x: float) -> float:
        lower, upper = self.ends(math.exp(x))
        return lower + self.share * (upper - lower)

    def _narrowly(self, x: float, power: float) -> float | None:
        """From a place that is nearly right, near which epsilon grows like this power of the parameter e^x."""
        before: tuple[float, float] | None = None
        for _ in range(_ROUNDS):
            place = math.exp(x)
            excess = self.narrow(place)
            if not math.isfinite(excess):
                return None
            room = self.slack(place)
            if -room <= excess <= 0 and room:
                return place
            if before is None:
                self._learn_share(x, excess)
            elif abs(x - before[0]) * abs(power) > _CLEARLY * room:
                power = (excess - before[1]) / (x - before[0])
                self.slope = power - (self._mean(x) - self._mean(before[0])) / (x - before[0])
                if -_ENOUGH * self.precision * abs(power) <= excess <= 0:
                    return place
            if not _FLATTEST < abs(power) < 1 / _FLATTEST:
                return None
            before = x, excess
            inward = max(_INWARD * self.precision * abs(power), _WELL_INSIDE * room)
            following = self._solved(x, self._mean(x) - excess - inward)
            if following is None:
                return None
            x = following
        return None

    def _learn_share(self, x: float, excess: float) -> None:
        """About how near to the upper end the truth is."""
        lower, upper = self.ends(math.exp(x))
        if lower < upper:
            self.share = min(max((excess - lower) / (upper - lower), 0.0), 1.0)

    def _solved(self, start: float, level: float) -> float | None:
        """Where it is at the level; None if that is not soon found."""
        x = start
        for _ in range(_TURNS):
            there = self._mean(x)
            power = (self._mean(x + _APART) - there) / _APART + self.slope
            if not _FLATTEST < abs(power) < 1 / _FLATTEST:
                return None
            stride = (level - there - self.slope * (x - start)) / power
            x += min(max(stride, -_FARTHEST), _FARTHEST)
            if abs(stride) < _CLOSE:
                return x
        return None
