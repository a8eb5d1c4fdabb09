"""Round numbers along an axis."""

from __future__ import annotations

import math

_STEPS = (1, 2, 5, 10)


def linear_ticks(low: float, high: float, most: int = 8) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten, at most so many.

    >>> linear_ticks(0, 7.1)
    [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]
    """
    if not low < high:
        return [low]
    power = math.floor(math.log10((high - low) / most))
    step = next(step for step in _steps(power) if math.floor(high / step) - math.ceil(low / step) < most)
    return [round(place * step, 12 - power) for place in range(math.ceil(low / step), math.floor(high / step) + 1)]


def decades(low: float, high: float, most: int = 10) -> list[int]:
    """Exponents of ten between two positive numbers, at most so many, at equal distances.

    >>> decades(1e-12, 1e-3, most=5)
    [-12, -10, -8, -6, -4]
    """
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    step = max(1, math.ceil((last - first + 1) / most))
    return list(range(first, last + 1, step))


def _steps(power: int) -> list[float]:
    """From small to large; written as texts, since 10**-5 would not be the nearest float."""
    return [float(f"{step}e{power + more}") for more in range(3) for step in _STEPS[:3]]
