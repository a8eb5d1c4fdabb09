"""How far weighted sums of independent rounded normal noise stray from zero.

round(N) = N + e: the normal parts add up to a normal variable, and the rounding errors e to little.
V   the sum of the squares of the weights      s   the standard deviation before rounding
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from privately.rounding import Enclosure, normal_cdf, round_up
from privately.rounding.normal import PI

_TO_ROUNDING = Fraction(1, 200)
"""The part of the chance to miss that is spent on rounding errors."""

_BUCKET = 1.02
"""Sums whose V is within this factor are treated alike."""

_MARGIN = Fraction(1, 10**6)


def normal_half_width(
    standard_deviation: Fraction, squares: NDArray[np.float64], miss: Fraction, *, draws: int
) -> Fraction:
    """A w such that all sums are within w of zero but for a probability of `miss`.

    `squares` holds V for each sum, or more than it; each is made of at most so many draws.

    Theorem: |sum| > w implies that the normal part, of variance s^2 V, exceeds w - u or the rounding part exceeds u,
        for every u; the chances of all these add up.
    Reference: union bound
    Proof: docs/theory/mechanisms.md#sums-of-rounded-normal-noise
    Checked-by: tests/mechanisms/test_normal_sums.py::test_sums_are_covered
    """
    groups = _grouped(squares)
    rare = _TO_ROUNDING * miss / squares.size
    roundings = [rounding_half_width(standard_deviation, v, rare, draws=draws) for v, _ in groups]
    left = (1 - _TO_ROUNDING) * miss
    spreads = [(standard_deviation**2 * v, u, count) for (v, count), u in zip(groups, roundings, strict=True)]
    width, margin = _search(spreads, left), _MARGIN
    while _chance(spreads, width).upper > left:
        width, margin = width * (1 + margin), 2 * margin
    return round_up(width)


def rounding_half_width(standard_deviation: Fraction, square: Fraction, miss: Fraction, *, draws: int) -> Fraction:
    """A u such that the weighted rounding errors add up to at most u in size, but for a probability of `miss`.

    Theorem: P(|sum of c e| > u) <= 2 exp(-2 u^2/V), and <= 2 (1+x)^n exp(-6 u^2/V) for n draws, where
        x = 2r/(1-r) with r = exp(-2 (pi s)^2).
    Reference: Hoeffding 1963; the density of e is at most 1 + x by Poisson summation
    Proof: docs/theory/mechanisms.md#sums-of-rounded-normal-noise
    Checked-by: tests/mechanisms/test_normal_sums.py::test_rounding_errors_are_covered
    """
    surprise = Enclosure.of(2 / miss).log()
    small = (-2 * PI * PI * standard_deviation**2).exp()
    density = 2 * small / (1 - small)
    smooth = (surprise + draws * density) / 6
    least = min(surprise / 2, smooth, key=lambda bound: bound.upper)
    return (least * square).sqrt().claim()


def _grouped(squares: NDArray[np.float64]) -> list[tuple[Fraction, int]]:
    """Pairs of a V and how many sums have no larger one, but larger than the pair before."""
    places = np.ceil(np.log(squares) / math.log(_BUCKET)).astype(np.int64)
    _, group, counts = np.unique(places, return_inverse=True, return_counts=True)
    largest = np.zeros(counts.size)
    np.maximum.at(largest, group, squares)
    return [(Fraction(v), int(count)) for v, count in zip(largest.tolist(), counts.tolist(), strict=True)]


Spread = tuple[Fraction, Fraction, int]
"""The variance of the normal part, what is allowed to rounding, and how many sums these are."""


def _search(spreads: list[Spread], miss: Fraction) -> Fraction:
    """A width that is about right, in floating point."""
    rough = [(math.sqrt(variance), float(u), count) for variance, u, count in spreads]

    def chance(width: float) -> float:
        return sum(count * math.erfc((width - u) / (deviation * math.sqrt(2))) for deviation, u, count in rough)

    low = max(u for _, u, _ in rough)
    high = low + max(deviation for deviation, _, _ in rough)
    while chance(high) > miss:
        high = low + 2 * (high - low)
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if chance(middle) > miss else (low, middle)
    return Fraction(high)


def _chance(spreads: list[Spread], width: Fraction) -> Enclosure:
    total = Enclosure.of(0)
    for variance, u, count in spreads:
        total = total + 2 * count * normal_cdf((u - width) / Enclosure.of(variance).sqrt())
    return total
