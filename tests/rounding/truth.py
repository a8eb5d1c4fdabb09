"""High-precision truth to hold enclosures against: mpmath with 130 digits, compared through exact fractions."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath

from privately.rounding import Enclosure, Interval

DIGITS = 130
_SLACK = Fraction(1, 10**110)


def real(value: Fraction | int) -> Any:
    """A rational as an mpmath number."""
    return mpmath.mpf(value.numerator) / value.denominator


def exactly(number: Any) -> Fraction:
    """The binary fraction that an mpmath number is."""
    sign, mantissa, exponent, _ = number._mpf_
    size: Fraction = int(mantissa) * Fraction(2) ** int(exponent)
    return -size if sign else size


def truth(formula: Callable[[], Any], digits: int = DIGITS) -> Fraction:
    """The value of a formula, computed with that many digits."""
    with mpmath.workdps(digits):
        return exactly(mpmath.mpf(formula()))


def encloses(found: Enclosure | Interval, value: Fraction, *, width: float | None = None) -> bool:
    """Whether `value` (good to 10^-110) lies inside, and the relative width is at most `width` if that is given."""
    lower, upper = Fraction(found.lower), Fraction(found.upper)
    slack = abs(value) * _SLACK
    inside = lower <= value + slack and value - slack <= upper
    return inside and (width is None or upper - lower <= abs(value) * Fraction(width))
