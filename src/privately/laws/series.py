"""1 - exp(-y) and -ln(1 - s), without losing digits where y or s is small."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from privately.rounding import Enclosure
from privately.rounding.enclosure import DIGITS, UP, Value

NEGLIGIBLE = UP.create_decimal(f"1e-{DIGITS + 5}")
"""A part of one that the precision does not show."""

_HALF = Decimal("0.5")


def widened(centre: Enclosure, error: Decimal) -> Enclosure:
    """The enclosure of all numbers within `error` of what `centre` encloses."""
    return centre + Enclosure(error.copy_negate(), error)


def one_minus_exp(y: Value) -> Enclosure:
    """1 - exp(-y) for y > 0, to full relative precision.

    Theorem: for 0 < y <= 1/2 the sum of -(-y)^n/n! over 1 <= n <= N misses 1 - exp(-y) by at most y^(N+1)/(N+1)!.
    Reference: Leibniz's criterion for alternating series
    Proof: docs/theory/laws.md#one-minus-exp
    Checked-by: tests/laws/test_series.py::test_one_minus_exp_contains_the_truth
    """
    y = Enclosure.of(y)
    if y.lower > _HALF:
        return 1 - (-y).exp()
    part, total = Enclosure.of(1), Enclosure.of(0)
    n = 1
    while part.upper > NEGLIGIBLE:
        total = total + part if n % 2 else total - part
        n += 1
        part = part * y / n
    return y * widened(total, part.upper)


def minus_log_complement(s: Fraction) -> Enclosure:
    """-ln(1 - s) for 0 < s < 1, to full relative precision.

    Theorem: -ln(1 - s) is twice the sum of z^(2n+1)/(2n+1) over n >= 0 with z = s/(2 - s), and for z^2 <= 1/2 the terms
        from the N-th on add up to at most twice the N-th.
    Reference: Abramowitz-Stegun 1964, 4.1.27
    Proof: docs/theory/laws.md#minus-log-complement
    Checked-by: tests/laws/test_series.py::test_minus_log_complement_contains_the_truth
    """
    if 4 * s > 1:
        return -Enclosure.of(1 - s).log()
    ratio = s / (2 - s)
    square = Enclosure.of(ratio * ratio)
    power, total = Enclosure.of(1), Enclosure.of(0)
    n = 0
    while power.upper > NEGLIGIBLE:
        total = total + power / (2 * n + 1)
        n += 1
        power = power * square
    rest = Enclosure(Decimal(0), (2 * power).upper)
    return 2 * ratio * (total + rest)
