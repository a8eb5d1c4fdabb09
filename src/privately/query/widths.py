"""How far noise strays from zero: of one number, of both sums of a pair, and of what is made of a pair."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from privately.mechanisms.error_bars import half_width
from privately.mechanisms.sums_of_noise import NoiseLaw, sum_half_width
from privately.query.uses import TwoSided


@lru_cache(maxsize=1024)
def width_of(law: NoiseLaw, confidence: Fraction, entries: int = 1) -> int:
    """All of so many numbers are off by no more; the same for all groups, and not quickly found."""
    return half_width(law, confidence, entries)


@lru_cache(maxsize=1024)
def width_of_sum(law: NoiseLaw, confidence: Fraction) -> int:
    """The sum of two noises is off by no more."""
    return min(sum_half_width(law, 2, 1 - confidence), 2 * width_of(law, confidence, 2))


def error_of_count(use: TwoSided, law: NoiseLaw, confidence: Fraction) -> Fraction:
    """How far off the count of a pair is."""
    return Fraction(width_of_sum(law, confidence), use.high - use.low)


def error_of_sum(use: TwoSided, law: NoiseLaw, confidence: Fraction) -> Fraction:
    """How far off the sum of a pair is, in steps.

    Theorem: the noise of (high A + low B)/(high - low) is (high X + low Y)/(high - low): that of one side if the other
        bound is 0, that of a sum of two if the bounds are as far from 0, as noise is symmetric; and otherwise no more
        than if both were at the end of what they reach together.
    Reference: elementary
    Proof: docs/theory/stability.md#derived-columns
    Checked-by: tests/query/test_widths.py::test_errors_hold_as_often_as_stated
    """
    low, high = abs(use.low), abs(use.high)
    if 0 in {low, high}:
        return Fraction(width_of(law, confidence))
    if low == high:
        return Fraction(low * width_of_sum(law, confidence), use.high - use.low)
    return Fraction((low + high) * width_of(law, confidence, 2), use.high - use.low)
