"""Finding the parameter that keeps a promise where narrow answers take long and rough ones are quick, but wide.

Both depend on the parameter in about the same way: how far they are apart is learned from few narrow answers, and the
rest is done by rough ones. Nothing here bounds anything; what is returned was asked for narrowly, and is safe.
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
_ROUNDS, _TURNS = 5, 8
_CLOSE, _FARTHEST = 1e-9, 0.5
"""So short is the last stride of a search, in ln of the parameter, and so long no stride should be."""
_INWARD, _ENOUGH = 0.4, 0.8
"""So far on the safe side of a promise one aims, in parts of the precision, and so far from it is near enough."""


def compared(
    rough: Callable[[float], Interval], narrow: Callable[[float], float], epsilon: float, precision: float
) -> float | None:
    """A parameter whose narrow upper end is at most epsilon, hardly below; None where it is not found this way.

    `rough` is an answer, `narrow` ln of the upper end of a narrow one over epsilon.
    """

    def middle(parameter: float) -> float | None:
        try:
            lower, upper = map(float, rough(parameter))
        except InvalidParameter:
            return None
        if not (0 < lower <= upper < math.inf and epsilon > 0):
            return None
        return math.log(lower * upper) / 2 - math.log(epsilon)

    first = rough(1.0) if middle(1.0) is not None else None
    if first is None or not _WIDE < float(first.width / first.upper) < _WIDEST:
        return None
    place = crossing(middle)
    if place is None:
        return None
    there, beyond = middle(place), middle(place * (1 + _APART))
    if there is None or beyond is None:
        return None
    power = (beyond - there) / math.log1p(_APART)
    return _narrowly(
        lambda x: math.log(float(rough(math.exp(x)).upper) / epsilon), narrow, math.log(place), power, precision
    )


def _narrowly(
    above: Callable[[float], float], narrow: Callable[[float], float], x: float, power: float, precision: float
) -> float | None:
    """From a place that is nearly right, near which epsilon grows like this power of the parameter e^x."""
    known: list[tuple[float, float]] = []
    for _ in range(_ROUNDS):
        excess = narrow(math.exp(x))
        if not math.isfinite(excess):
            return None
        slope, unit = 0.0, precision * abs(power)
        if known and known[-1][0] != x:
            before, there = known[-1]
            power = (excess - there) / (x - before)
            slope, unit = power - (above(x) - above(before)) / (x - before), precision * abs(power)
            if -_ENOUGH * unit <= excess <= 0:
                return math.exp(x)
        if not _FLATTEST < abs(power) < 1 / _FLATTEST:
            return None
        known.append((x, excess))
        following = _solved(above, slope, x, above(x) - excess - _INWARD * unit, power)
        if following is None:
            return None
        x = following
    return None


def _solved(above: Callable[[float], float], slope: float, x: float, level: float, power: float) -> float | None:
    """Where the sum of both is at the level, if it grows by about this power; None if that is not soon found."""
    start = x
    for _ in range(_TURNS):
        stride = (level - above(x) - slope * (x - start)) / power
        if not abs(stride) < _FARTHEST:
            return None
        x += stride
        if abs(stride) < _CLOSE:
            return x
    return None
