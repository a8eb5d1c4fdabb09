"""The probability that at least one of many independent failures happens: 1 - (1 - d)^n (1 - e)^m ..."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from privately.rounding import Enclosure

LONGEST = 4096
"""Numerators and denominators stay below two to this power; what is longer is rounded outward."""

_SMALL = Fraction(1, 10**20)


def failing(failures: Mapping[Fraction, int]) -> tuple[Fraction, Fraction]:
    """Two ends, equal when the probability is short enough to be written down.

    >>> failing({Fraction(1, 2): 2})
    (Fraction(3, 4), Fraction(3, 4))
    """
    if any(probability == 1 for probability in failures):
        return Fraction(1), Fraction(1)
    bits = sum(times * probability.denominator.bit_length() for probability, times in failures.items())
    if bits <= LONGEST:
        kept = Fraction(1)
        for probability, times in failures.items():
            kept *= (1 - probability) ** times
        return 1 - kept, 1 - kept
    exponent = sum((times * _minus_log(probability) for probability, times in failures.items()), Enclosure.of(0))
    found = _one_minus_exp(exponent).clip(0, 1)
    return Fraction(found.lower), Fraction(found.upper)


def _minus_log(probability: Fraction) -> Enclosure:
    """-ln(1 - d), to full relative precision: between d + d^2/2 and that plus d^3, for small d."""
    if probability > _SMALL:
        return -Enclosure.of(1 - probability).log()
    start = probability + probability**2 / 2
    return Enclosure(Enclosure.of(start).lower, Enclosure.of(start + probability**3).upper)


def _one_minus_exp(exponent: Enclosure) -> Enclosure:
    """1 - e^-x for x >= 0, to full relative precision: between x - x^2/2 and that plus x^3/6, for small x."""
    if exponent.lower > _SMALL:
        return 1 - (-exponent).exp()
    lower, upper = max(Fraction(exponent.lower), Fraction(0)), Fraction(exponent.upper)
    start, end = lower - lower**2 / 2, upper - upper**2 / 2 + upper**3 / 6
    return Enclosure(max(Enclosure.of(start).lower, Enclosure.of(0).lower), Enclosure.of(end).upper)
