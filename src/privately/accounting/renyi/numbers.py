"""Formulas for floats and for enclosures at once: floats to choose an order by, enclosures to claim by."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import TypeVar

from privately.rounding import Enclosure, End, round_up

Number = TypeVar("Number", float, Enclosure)

_HIGHEST = 700.0
_DIGITS = 40


def like(pattern: Number, value: Fraction | int) -> Number:
    """`value` as a number of the same kind."""
    return Enclosure.of(value) if isinstance(pattern, Enclosure) else float(value)


def exp(x: Number) -> Number:
    """e^x; floats stop short of their range."""
    return x.exp() if isinstance(x, Enclosure) else math.exp(min(x, _HIGHEST))


def expm1(x: Number) -> Number:
    """e^x - 1."""
    return x.exp() - 1 if isinstance(x, Enclosure) else math.expm1(min(x, _HIGHEST))


def log(x: Number) -> Number:
    """ln x."""
    if isinstance(x, Enclosure):
        return x.log()
    return math.log(x) if x > 0 else -math.inf  # a rate so near 1 that nothing is left of it in floats


def log_one_minus_exp(x: Number) -> Number:
    """ln(1 - e^-x) for x > 0."""
    return (1 - (-x).exp()).log() if isinstance(x, Enclosure) else math.log(-math.expm1(-x))


def log_mix(terms: Iterable[tuple[Number, Number]]) -> Number:
    """ln of the sum of weight e^exponent, over pairs of a weight and an exponent."""
    listed: list[tuple[Number, Number]] = list(terms)
    top: Number = listed[0][1]
    for _, exponent in listed:
        top = _higher(top, exponent)
    total: Number = like(top, 0)
    for weight, exponent in listed:
        total = total + weight * exp(exponent - top)
    return top + log(total)


def _higher(x: Number, y: Number) -> Number:
    if isinstance(x, Enclosure) and isinstance(y, Enclosure):
        return x if x.upper >= y.upper else y
    return max(x, y)


def short(value: End) -> End:
    """A bound in few digits, rounded up, so that sums of many stay short."""
    return value if isinstance(value, float) else round_up(value, _DIGITS)


def ceiling(x: Enclosure) -> End:
    """The upper end, as bounds are kept."""
    return short(x.interval().upper)


def float_above(c: Fraction) -> float:
    """A float just above c, or c itself, such that one more is a float too."""
    step = Fraction(2) ** (math.floor(c).bit_length() - 40)
    return float(math.ceil(c / step) * step)
