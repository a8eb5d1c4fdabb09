"""Golden sections: where a function that falls and then rises is about least. A search, which proves nothing."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple, TypeVar

Height = TypeVar("Height", float, Decimal, Fraction, Fraction | float)
_GOLDEN = (math.sqrt(5) - 1) / 2


class Valley(NamedTuple):
    """The least value is between these, if there is one valley."""

    low: float
    high: float

    @property
    def middle(self) -> float:
        return (self.low + self.high) / 2


def valley(height: Callable[[float], Height], low: float, high: float, narrow: float) -> Valley:
    """No wider than this.

    >>> print(f"{valley(lambda x: (x - 2) ** 2, 0, 10, 1e-6).middle:.3f}")
    2.000
    """
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = height(left), height(right)
    while high - low > narrow:
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = height(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = height(right)
    return Valley(low, high)


def highest(value: Callable[[float], Height], places: Sequence[float], turns: int) -> Height:
    """The largest value at any of these places, and between the neighbours of the best in so many turns.

    >>> highest(lambda x: 1 - abs(x - 0.3), [0.0, 0.5, 1.0], 0)
    0.8
    >>> print(f"{highest(lambda x: 1 - abs(x - 0.3), [0.0, 0.5, 1.0], 20):.3f}")
    1.000
    """
    seen = [value(place) for place in places]
    best = max(range(len(seen)), key=seen.__getitem__)
    if turns:
        low, high = places[max(best - 1, 0)], places[min(best + 1, len(places) - 1)]

        def depth(place: float) -> Height:
            seen.append(value(place))
            return -seen[-1]

        valley(depth, low, high, (high - low) * _GOLDEN**turns)
    return max(seen)
