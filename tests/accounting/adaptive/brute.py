"""The game of bounded ranges by plain search, in the order in which it is played: never above the truth."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from mpmath import mp, mpf
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def value(y: Floats | float, ranges: Sequence[float], count: int = 300) -> Floats:
    """The largest P(E) - y Q(E); the last step is known in closed form, the others are searched."""
    at = np.asarray(y, dtype=float)
    if not ranges:
        return np.asarray(np.maximum(1 - at, 0))
    grown = float(np.exp(ranges[0]))
    if len(ranges) == 1:
        inside = (np.sqrt(grown) - np.sqrt(at)) ** 2 / (grown - 1)
        return np.asarray(np.where((at > 1 / grown) & (at < grown), inside, np.maximum(1 - at, 0)))
    u = np.exp(np.linspace(0, ranges[0], count + 1))
    up = (grown - u) / (grown - 1)
    z = at[..., None] / u
    found = up * value(z, ranges[1:], count) + (1 - up) * value(z * grown, ranges[1:], count)
    return np.asarray(found.max(axis=-1))


def two_steps(y: mpf, first: mpf, last: mpf) -> mpf:
    """The same for two steps, with many digits: nested sections around the best of a coarse search."""

    def one(at: mpf) -> mpf:
        grown = mp.exp(last)
        if not 1 / grown < at < grown:
            return max(1 - at, mpf(0))
        return (mp.sqrt(grown) - mp.sqrt(at)) ** 2 / (grown - 1)

    def chosen(t: mpf) -> mpf:
        up = (mp.exp(first) - mp.exp(t)) / mp.expm1(first)
        return up * one(y * mp.exp(-t)) + (1 - up) * one(y * mp.exp(first - t))

    count = 60
    best = max(range(count + 1), key=lambda k: chosen(first * k / count))
    left, right = first * max(best - 1, 0) / count, first * min(best + 1, count) / count
    for _ in range(60):
        third = (right - left) / 3
        left, right = (left, right - third) if chosen(left + third) >= chosen(right - third) else (left + third, right)
    return chosen((left + right) / 2)
