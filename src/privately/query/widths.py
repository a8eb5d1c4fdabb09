"""How far noise strays from zero, of one number, of a pair and of what is made of it; how far bins are from values."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from privately.laws import Law
from privately.laws.deciding import least
from privately.mechanisms.error_bars import half_width
from privately.mechanisms.sums_of_noise import NoiseLaw, sum_half_width
from privately.plans import BinCounts, Type
from privately.query.uses import TwoSided
from privately.rounding import Interval, decimal_text

_RARE = Fraction(1, 100)
"""How seldom a number may stay below the threshold for it to be treated as one that never does."""
_FINE = 2**17
"""A value that is nearer to the middle of its bin than such a part of the range is taken for the middle itself."""


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


def shown_interval(law: Law, threshold: int, number: int, confidence: Fraction) -> Interval:
    """Where a number of units is, of which the noisy one is shown only from a threshold on.

    It holds among the cases in which the number is shown. Just above the threshold that may be a lucky one, and little
    is known of it: its interval then reaches down to 1.

    Theorem: let X = n + Z be shown if X >= T, and b the doubt. Of all n with P(X >= x | X >= T) > b/2 and
        P(X <= x | X >= T) > b/2, the least and the largest contain the true one with probability at least 1 - b, given
        that it is shown; the first chance rises with n and the second falls, as the laws of the noise are log-concave.
    Reference: Clopper-Pearson 1934 (the inversion of tests); Karlin-Rubin 1956 (monotone likelihood ratios)
    Proof: docs/theory/stability.md#numbers-that-are-shown
    Checked-by: tests/query/test_widths.py::test_intervals_hold_among_the_numbers_that_are_shown
    """
    low, high = _shown_offsets(law, threshold, min(number - threshold, _far(law, confidence)), confidence)
    return Interval(Fraction(max(1, number - low)), Fraction(max(1, number + high)))


@lru_cache(maxsize=1024)
def _far(law: Law, confidence: Fraction) -> int:
    """So far above the threshold it matters to nobody: see `_shown_offsets`."""
    return width_of(law, _surer(confidence)) + max(1, law.quantile(1 - _RARE)) + 1


def _surer(confidence: Fraction) -> Fraction:
    return 1 - (1 - confidence) * (1 - _RARE)


@lru_cache(maxsize=2**16)
def _shown_offsets(law: Law, threshold: int, above: int, confidence: Fraction) -> tuple[int, int]:
    """How far below and above a number that is so far above the threshold the true one may be.

    Far above it, the width of the noise alone with a slightly smaller doubt b' = b (1 - 1/100) will do: a number that
    is off by more, in either direction, would be shown in all but 1 of 100 cases, and b'/2 / (1 - 1/100) is b/2.
    """
    if above >= _far(law, confidence):
        width = width_of(law, _surer(confidence))
        return width, width
    half, number = (1 - confidence) / 2, threshold + above

    def too_small(units: int) -> bool:
        reached, shown = law.tail(number - units - 1).upper, law.tail(threshold - units - 1).lower
        return Fraction(reached) <= half * Fraction(shown)

    def too_large(units: int) -> bool:
        below = Fraction(law.cdf(number - units).upper) - Fraction(law.cdf(threshold - 1 - units).lower)
        return below <= half * Fraction(law.tail(threshold - units - 1).lower)

    lowest = 1 if not too_small(1) else least(lambda units: units >= 1 and not too_small(units), threshold)
    highest = least(lambda units: units > number and too_large(units), number + width_of(law, confidence)) - 1
    return number - lowest, highest - number


def half_bin(tally: BinCounts) -> Fraction:
    """How far a value can be from what is shown of its bin; 0 where bins are as fine as they are unless told.

    Shown is the middle. Of whole numbers a bin of width w holds w, from half before the first to half after the last.
    """
    range_ = tally.argument.known.range
    gap = 1 if tally.argument.known.type is Type.INTEGER and tally.width.denominator == 1 else 0
    half = (tally.width - gap) / 2
    if range_ is None:
        return half
    half = min(half, range_.upper - range_.lower)
    return half if half * _FINE > range_.upper - range_.lower else Fraction(0)


def to_within(half: Fraction) -> str:
    """What is said of it after a number of ranks.

    >>> to_within(Fraction(5, 2)), to_within(Fraction(0))
    (', to within ± 2.5', '')
    """
    return f", to within ± {decimal_text(half, 4, 'ROUND_CEILING')}" if half else ""
