"""Where the results of arithmetic lie, if the operands lie where they are known to."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

from privately.plans.types import Range
from privately.rounding import Enclosure

_ROUNDING = Fraction(1, 2**50)
_TINY = Fraction(1, 2**1000)
_DIGITS = 64
_LARGEST_DOUBLE = Fraction(2**1024)
_LEAST_DOUBLE = Fraction(1, 2**1074)
_DOUBLES = Range(-_LARGEST_DOUBLE, _LARGEST_DOUBLE)
_LIBRARY = Fraction(1, 2**40)
_LARGEST_EXPONENT, _LEAST_EXPONENT = 709, -800
"""From 709.79 on, powers of e are more than a double holds; from -746 on downwards they are 0."""


def widened(found: Range, rounding: Fraction = _ROUNDING) -> Range:
    """With room for what one operation on doubles is off by: at most a 2^53rd of the result, or less than 2^-1000."""
    room = found.magnitude * rounding + _TINY
    return Range(-_short(room - found.lower), _short(found.upper + room))


def _short(value: Fraction) -> Fraction:
    """Not below it, and of few digits, however many steps led to it; doubles end at 2^1024."""
    exponent = max(value.numerator.bit_length() - value.denominator.bit_length(), -1024)
    unit = Fraction(2) ** (exponent - _DIGITS)
    return max(min(math.ceil(value / unit) * unit, _LARGEST_DOUBLE), -_LARGEST_DOUBLE)


def added(one: Range, other: Range) -> Range:
    return Range(one.lower + other.lower, one.upper + other.upper)


def subtracted(one: Range, other: Range) -> Range:
    return Range(one.lower - other.upper, one.upper - other.lower)


def multiplied(one: Range, other: Range) -> Range:
    ends = [a * b for a, b in product((one.lower, one.upper), (other.lower, other.upper))]
    return Range(min(ends), max(ends))


def divided(one: Range, other: Range) -> Range | None:
    """None if the divisor may be near 0."""
    if other.lower <= 0 <= other.upper:
        return None
    return multiplied(one, Range(1 / other.upper, 1 / other.lower))


def negated(one: Range) -> Range:
    return Range(-one.upper, -one.lower)


def absolute(one: Range) -> Range:
    if one.lower <= 0 <= one.upper:
        return Range(Fraction(0), one.magnitude)
    return Range(min(abs(one.lower), abs(one.upper)), one.magnitude)


def greatest(*ranges: Range) -> Range:
    return Range(max(one.lower for one in ranges), max(one.upper for one in ranges))


def least(*ranges: Range) -> Range:
    return Range(min(one.lower for one in ranges), min(one.upper for one in ranges))


def clamped(one: Range, bounds: Range) -> Range:
    """Both ends brought between two bounds."""
    return Range(*(min(max(end, bounds.lower), bounds.upper) for end in (one.lower, one.upper)))


def whole(one: Range) -> Range:
    """Rounded to a whole number, in whatever way."""
    return Range(Fraction(math.floor(one.lower)), Fraction(math.ceil(one.upper)))


def remainder(divisor: Range) -> Range:
    """Of a division that rounds towards 0."""
    return Range(-divisor.magnitude, divisor.magnitude)


# --- monotone functions ---------------------------------------------------------------------------------------------


def square_root(one: Range) -> Range:
    """Of the numbers that have a root; those below 0 give NULL, which lies in any range.

    Theorem: the root rises, and that of a double is rounded correctly: the roots of the ends, rounded outwards, bound
        it. Where the root of an end is a double itself, no rounding leads beyond it.
    Reference: IEEE 754-2019, section 5.4.1
    Proof: docs/theory/stability.md#known-ranges
    Checked-by: tests/plans/test_ranges.py::test_monotone_functions_of_doubles
    """
    lower, upper = (max(end, Fraction(0)) for end in (one.lower, one.upper))
    roots = [Enclosure.of(end).sqrt() for end in (lower, upper)]
    room = widened(Range(Fraction(roots[0].lower), Fraction(roots[1].upper)))
    exact_lower, exact_upper = _exact_root(lower), _exact_root(upper)
    return Range(
        max(room.lower, Fraction(0)) if exact_lower is None else exact_lower,
        room.upper if exact_upper is None else exact_upper,
    )


def _exact_root(value: Fraction) -> Fraction | None:
    """The root, if it is a double."""
    root = Fraction(Enclosure.of(value).sqrt().lower)
    return root if root**2 == value and Fraction(float(root)) == root else None


def logarithm(one: Range | None) -> Range:
    """Of the numbers that have one; others give NULL. The least positive double is 2^-1074.

    Theorem: the logarithm rises, and libraries compute it to far less than a 2^40th of the result: the logarithms of
        the ends, with so much room, bound it.
    Reference: elementary; the GNU C library lists errors of 1 unit in the last place for log and exp
    Proof: docs/theory/stability.md#known-ranges
    Checked-by: tests/plans/test_ranges.py::test_monotone_functions_of_doubles
    """
    one = clamped(one or _DOUBLES, Range(_LEAST_DOUBLE, _LARGEST_DOUBLE))
    low, high = (Enclosure.of(end).log() for end in (one.lower, one.upper))
    return widened(Range(Fraction(low.lower), Fraction(high.upper)), _LIBRARY)


def exponential(one: Range) -> Range | None:
    """None if the power may be more than a double holds; what is, gives NULL.

    Theorem: powers of e rise with the exponent and are positive; as for logarithms.
    Reference: as for logarithms
    Proof: docs/theory/stability.md#known-ranges
    Checked-by: tests/plans/test_ranges.py::test_monotone_functions_of_doubles
    """
    if one.upper > _LARGEST_EXPONENT:
        return None
    low, high = (Enclosure.of(max(end, Fraction(_LEAST_EXPONENT))).exp() for end in (one.lower, one.upper))
    found = widened(Range(Fraction(low.lower), Fraction(high.upper)), _LIBRARY)
    return Range(max(found.lower, Fraction(0)), found.upper)
