"""Exact rationals: how numbers enter the system, and how bounds leave it rounded to the safe side."""

from __future__ import annotations

import math
import numbers
import re
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any, TypeAlias

from privately.errors import InvalidParameter

Number: TypeAlias = int | float | str | Fraction | Decimal

MAX_BITS = 4096
"""Numerators and denominators of parameters stay below two to this power."""

LARGEST = 10**9
"""No epsilon, rho, mu or order may exceed this: above it a guarantee says nothing."""

CLAIM_DIGITS = 15
_FINEST = 10**1000
CLAIM_MARGIN = Fraction(1, 10**20)

_TEXT = re.compile(
    r"""[+-]? ( \d{1,1300} / \d{1,1300}
              | ( \d{1,1300} (\.\d{0,1300})? | \.\d{1,1300} ) ([eE][+-]?\d{1,4})? )""",
    re.ASCII | re.VERBOSE,
)
_ANY_LENGTH = re.compile(r"[+-]?(\d+/\d+|(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?)", re.ASCII)
_ACCEPTED = "give an int, a Fraction, a decimal string such as '0.1', or a float"
_WRITTEN = "write it as in 0.1, 1e-5 or 1/3"


def rational(
    value: object,
    field: str,
    *,
    minimum: Fraction | int | None = None,
    above: Fraction | int | None = None,
    maximum: Fraction | int | None = None,
) -> Fraction:
    """The exact value of a parameter, or InvalidParameter naming `field`. Floats are taken exactly.

    >>> rational("0.1", "epsilon"), rational(0.5, "epsilon")
    (Fraction(1, 10), Fraction(1, 2))
    >>> rational("many", "epsilon", minimum=0)
    Traceback (most recent call last):
    privately.errors.InvalidParameter: epsilon: 'many' is not a number; write it as in 0.1, ...
    """
    exact = _exact(value, field)
    if max(exact.numerator.bit_length(), exact.denominator.bit_length()) > MAX_BITS:
        raise _out_of_range(value, field)
    if minimum is not None and _is_less(exact, minimum):
        raise InvalidParameter(field, f"{_short(value)} is below {minimum}.")
    if above is not None and not _is_less(above, exact):
        raise InvalidParameter(field, f"{_short(value)} must be above {above}.")
    if maximum is not None and _is_less(maximum, exact):
        raise InvalidParameter(field, f"{_short(value)} is above {maximum}.")
    return exact


def _is_less(one: Fraction | int, other: Fraction | int) -> bool:
    """one < other, without looking for what else they might be."""
    return one.numerator * other.denominator < other.numerator * one.denominator


def whole(value: object, field: str, *, minimum: int = 1, maximum: int = LARGEST) -> int:
    """A whole number in range, or InvalidParameter naming `field`."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise InvalidParameter(field, f"{_short(value)} is not a whole number.")
    if not minimum <= int(value) <= maximum:
        raise InvalidParameter(field, f"{_short(value)} is not between {_short(minimum)} and {_short(maximum)}.")
    return int(value)


def round_up(value: Fraction, digits: int = CLAIM_DIGITS) -> Fraction:
    """The least number of `digits` significant decimal digits that is at least `value`.

    >>> round_up(Fraction(1, 3), 3)
    Fraction(167, 500)
    """
    return Fraction(_divide(value, digits, ROUND_CEILING))


def round_down(value: Fraction, digits: int = CLAIM_DIGITS) -> Fraction:
    """The greatest number of `digits` significant decimal digits that is at most `value`."""
    return Fraction(_divide(value, digits, ROUND_FLOOR))


def tidy(value: Fraction) -> Fraction:
    """`value` itself while it is of ordinary length, otherwise rounded up to a multiple of 10**-1000.

    Sums of many unrelated fractions would otherwise grow without end.
    """
    short = max(value.numerator.bit_length(), value.denominator.bit_length()) <= MAX_BITS // 2
    return value if short else Fraction(math.ceil(value * _FINEST), _FINEST)


def decimal_text(value: Fraction | float, digits: int, rounding: str) -> str:
    """`value` in at most `digits` significant digits, rounded as told, without trailing zeros."""
    if isinstance(value, float):
        return str(value)
    context = _context(digits, rounding)
    rounded = context.normalize(_divide(value, digits, rounding))
    return f"{rounded:f}" if -5 <= rounded.adjusted() < 15 else f"{rounded:e}"


def _divide(value: Fraction, digits: int, rounding: str) -> Decimal:
    return _context(digits, rounding).divide(Decimal(value.numerator), Decimal(value.denominator))


def _context(digits: int, rounding: str) -> Context:
    return Context(prec=digits, rounding=rounding, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[])


def _exact(value: Any, field: str) -> Fraction:
    if type(value) is Fraction and type(value.numerator) is type(value.denominator) is int:
        return value
    if isinstance(value, bool):
        raise InvalidParameter(field, f"{value} is not a number; {_ACCEPTED}.")
    if isinstance(value, str):
        return _from_text(value, field)
    if isinstance(value, numbers.Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    if isinstance(value, Decimal) and value.is_finite():
        return _from_text(str(value), field)
    if isinstance(value, numbers.Real) and math.isfinite(float(value)) and float(value) == value:
        return Fraction(float(value))
    if isinstance(value, (float, Decimal)):
        raise InvalidParameter(field, f"{_short(value)} is not a finite number.")
    raise InvalidParameter(field, f"{_short(value)} is not a number; {_ACCEPTED}.")


def _from_text(text: str, field: str) -> Fraction:
    plain = text.strip()
    if _TEXT.fullmatch(plain) is None:
        if _ANY_LENGTH.fullmatch(plain) is not None:
            raise _out_of_range(text, field)
        raise InvalidParameter(field, f"{_short(text)} is not a number; {_WRITTEN}.")
    if "/" not in plain:
        return Fraction(Decimal(plain))  # exact too, and sooner
    try:
        return Fraction(plain)
    except ZeroDivisionError:
        raise InvalidParameter(field, f"{_short(text)} divides by zero.") from None


def _out_of_range(value: object, field: str) -> InvalidParameter:
    reason = f"is out of range: too long for {MAX_BITS} bits above and below the line, some 1,230 digits"
    return InvalidParameter(field, f"{_short(value)} {reason}.")


def _short(value: object) -> str:
    try:
        text = repr(value) if isinstance(value, str) else str(value)
    except ValueError:  # such as an int of more digits than Python will print
        text = "that value"
    return text if len(text) <= 60 else f"{text[:50]}... ({len(text)} characters)"
