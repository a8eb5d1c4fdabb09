"""Running totals that never come out too small, stay exact while they are short, and cost the same at every query."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from privately.rounding import MAX_BITS

EXACT_BITS = 512
"""A total is exact while its denominator is at most two to this power."""

GRID = 10**154
"""Longer totals are rounded up to a multiple of 1/GRID: the finest power of ten within EXACT_BITS.

A power of ten, so that tenths, and floats of up to 154 binary places, still add up exactly afterwards.
"""


def shortened(total: Fraction) -> Fraction:
    """The total itself while it is short, otherwise the least multiple of 1/GRID that is no smaller.

    Theorem: the result is at least the total and less than 1/GRID above it, and its denominator has at most EXACT_BITS
        bits; so k additions of summands of b bits take time proportional to k, and come out at most k/GRID too high.
    Reference: none; the bound is elementary
    Proof: docs/theory/accounting/filters.md#arithmetic
    Checked-by: tests/accounting/filters/test_sums.py::test_shortened_is_just_above,
        tests/accounting/filters/test_sums.py::test_unrelated_denominators_stay_short
    """
    above, below = total.numerator, total.denominator
    if below.bit_length() <= EXACT_BITS:
        return total
    return Fraction(-(-above * GRID // below), GRID)


def added(amounts: Iterable[Fraction]) -> Fraction:
    """The sum, shortened on the way."""
    total = Fraction(0)
    for amount in amounts:
        total = shortened(total + amount)
    return total


def lowered(rest: Fraction) -> Fraction:
    """A rest that a statement can hold: itself while it is of ordinary length, otherwise rounded down."""
    if rest.denominator.bit_length() <= MAX_BITS // 2:
        return rest
    return Fraction(rest.numerator * GRID // rest.denominator, GRID)
