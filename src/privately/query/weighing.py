"""How far two noises stray from zero if they are weighed against one another, as in averages and sums of pairs."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from privately.laws import RoundedNormal
from privately.mechanisms.sums_of_noise import NoiseLaw
from privately.query.uses import TwoSided
from privately.query.widths import width_of, width_of_sum
from privately.rounding import Enclosure

_CELLS = 64
"""From 0 to 1/2, the parts that a noise can have are rounded down to so many."""
_ROOM = 1 + 2**-30
"""Far more than doubles are off by in what is computed here."""
_RAREST = 1e-290
_TIMES = 3


def weighted_width(law: NoiseLaw, confidence: Fraction, part: Fraction) -> int:
    """How far (1 - part) X + part Y is off at most, for independent noises X and Y; it falls until 1/2.

    Theorem: it holds with this confidence for each part from 0 to 1; and, with `part` 0, for all weights whose sizes
        add up to 1, on each side with half of the doubt.
    Reference: Proschan 1965 (weighted sums of symmetric log-concave variables are the more peaked, the more even)
    Proof: docs/theory/stability.md#weighted-noise
    Checked-by: tests/query/test_weighing.py::test_widths_hold_as_often_as_stated
    """
    return _width_at(law, confidence, math.floor(min(part, 1 - part) * 2 * _CELLS))


@lru_cache(maxsize=4096)
def _width_at(law: NoiseLaw, confidence: Fraction, cell: int) -> int:
    """Not above that of both at once, which noise of few steps has."""
    both, doubt = width_of(law, confidence, 2), float(1 - confidence)
    if doubt < _RAREST:
        return both
    part = Fraction(cell, 2 * _CELLS)
    if isinstance(law, RoundedNormal):
        size = Fraction(Enclosure.of((1 - part) ** 2 + part**2).sqrt().upper)
        return min(both, math.ceil((width_of(law, confidence) + Fraction(1, 2)) * size + Fraction(1, 2)))
    return min(both, math.ceil(law.scale * Fraction(_quantile(float(part), doubt) * _ROOM)) + 1)


def _quantile(part: float, doubt: float) -> float:
    """Where the tail of weighted Laplace noise, both sides of it, is as likely as the doubt."""
    low, high = 0.0, -math.log(doubt)
    while high - low > high * 2**-40:
        middle = (low + high) / 2
        low, high = (middle, high) if _tail(part, middle) > doubt else (low, middle)
    return high


def _tail(part: float, at: float) -> float:
    """P(|(1 - part) L + part M| > at) for Laplace noises of scale 1."""
    one, other = 1 - part, part
    if other == 0:
        return math.exp(-at)
    if one == other:
        return (1 + at / (2 * one)) * math.exp(-at / one)
    return (one**2 * math.exp(-at / one) - other**2 * math.exp(-at / other)) / (one**2 - other**2)


def error_of_sum(use: TwoSided, law: NoiseLaw, confidence: Fraction) -> Fraction:
    """How far off the sum of a pair is, in steps.

    Theorem: the noise of (high A + low B)/(high - low) is (high X + low Y)/(high - low): that of one side if the other
        bound is 0, that of a sum of two if the bounds are as far from 0, as noise is symmetric; and otherwise that of
        weighted noise.
    Reference: elementary
    Proof: docs/theory/stability.md#derived-columns
    Checked-by: tests/query/test_weighing.py::test_errors_of_sums_hold_as_often_as_stated
    """
    low, high = abs(use.low), abs(use.high)
    if 0 in {low, high}:
        return Fraction(width_of(law, confidence))
    if low == high:
        return Fraction(low * width_of_sum(law, confidence), use.high - use.low)
    width = weighted_width(law, confidence, Fraction(low, low + high))
    return Fraction((low + high) * width, use.high - use.low)


class Shares:
    """Where above/(above + below) is for exact numbers, given noisy ones, with one confidence.

    Theorem: if t is the exact share, (1 - t) above - t below is noise alone, (1 - t) X - t Y. The t for which that is
        no farther off than such noise is contain the exact one with this confidence.
    Reference: Fieller 1954
    Proof: docs/theory/stability.md#weighted-noise
    Checked-by: tests/query/test_weighing.py::test_shares_are_found_as_often_as_stated
    """

    def __init__(self, law: NoiseLaw, confidence: Fraction) -> None:
        self._law, self._confidence = law, confidence
        self._widths = dict[int, int]()

    def between(self, above: int, below: int) -> tuple[int, int, int]:
        """Two numerators and their denominator; 0 and 1 over 1 if nothing is known. All in whole numbers, for speed."""
        total = above + below
        if total <= 0:
            return 0, 1, 1
        low, high = 0, total
        for _ in range(_TIMES):
            width = max(self._width(min(end, total - end), total) for end in (low, high))
            low, high = (min(max(above + move, low), high) for move in (-width, width))
        return (low, high, total) if (low, high) != (0, total) else (0, 1, 1)

    def _width(self, nearer: int, total: int) -> int:
        cell = nearer * 2 * _CELLS // total
        if cell not in self._widths:
            self._widths[cell] = weighted_width(self._law, self._confidence, Fraction(cell, 2 * _CELLS))
        return self._widths[cell]


@lru_cache(maxsize=256)
def shares_of(law: NoiseLaw, confidence: Fraction) -> Shares:
    """The same for all groups."""
    return Shares(law, confidence)
