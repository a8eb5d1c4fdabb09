"""Where the results of arithmetic lie, if the operands lie where they are known to."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

from privately.plans.types import Range

_ROUNDING = Fraction(1, 2**50)
_TINY = Fraction(1, 2**1000)
_DIGITS = 64
_LARGEST_DOUBLE = Fraction(2**1024)


def widened(found: Range) -> Range:
    """With room for what one operation on doubles is off by: at most a 2^53rd of the result, or less than 2^-1000."""
    room = found.magnitude * _ROUNDING + _TINY
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
