"""Exact compositions of a few atoms, to compare with."""

from collections.abc import Sequence
from fractions import Fraction

import mpmath

Outcomes = Sequence[tuple[Fraction, Fraction]]
"""The probability of each outcome under P and under Q."""


def composed(parts: Sequence[tuple[Outcomes, int]]) -> list[tuple[Fraction, Fraction]]:
    """All combinations of outcomes, those of the same pair joined."""
    found: dict[tuple[Fraction, Fraction], int] = {(Fraction(1), Fraction(1)): 1}
    for outcomes, times in parts:
        for _ in range(times):
            grown: dict[tuple[Fraction, Fraction], int] = {}
            for (p, q), count in found.items():
                for first, second in outcomes:
                    key = p * first, q * second
                    grown[key] = grown.get(key, 0) + count
            found = grown
    return [(count * p, count * q) for (p, q), count in found.items()]


def profile(parts: Sequence[tuple[Outcomes, int]], epsilon: Fraction) -> mpmath.mpf:
    """sum (P - e^epsilon Q)+, in the working precision of mpmath."""
    growth = mpmath.exp(mpmath.mpf(epsilon.numerator) / epsilon.denominator)
    pairs = ((number(p), number(q)) for p, q in composed(parts))
    return mpmath.fsum(max(p - growth * q, 0) for p, q in pairs)


def number(value: Fraction) -> mpmath.mpf:
    return mpmath.mpf(value.numerator) / value.denominator
