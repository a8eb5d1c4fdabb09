"""Logarithms of factorials and of binomial coefficients."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from privately.rounding import Enclosure
from privately.rounding.normal import PI

_STIRLING_FROM = 200
_BERNOULLI = (
    (1, Fraction(1, 6)),
    (2, Fraction(-1, 30)),
    (3, Fraction(1, 42)),
    (4, Fraction(-1, 30)),
    (5, Fraction(5, 66)),
    (6, Fraction(-691, 2730)),
    (7, Fraction(7, 6)),
    (8, Fraction(-3617, 510)),
    (9, Fraction(43867, 798)),
    (10, Fraction(-174611, 330)),
)


def log_binomial(n: int, k: int) -> Enclosure:
    """ln of n over k."""
    return log_factorial(n) - log_factorial(k) - log_factorial(n - k)


@lru_cache(maxsize=1024)
def log_factorial(n: int) -> Enclosure:
    """ln n!.

    Theorem: (n + 1/2) ln n - n + ln(2 pi)/2 + sum_{m=1}^{M} B_2m/(2m (2m-1) n^(2m-1)) is off by at most the next term.
    Reference: Stirling's series, DLMF 5.11(ii)
    Proof: docs/theory/accounting/closed_forms.md#factorials
    Checked-by: tests/accounting/closed_forms/test_factorials.py::test_log_factorials
    """
    if n < _STIRLING_FROM:
        return Enclosure.of(math.factorial(n)).log()
    whole = Enclosure.of(n)
    total = (n + Fraction(1, 2)) * whole.log() - n + (2 * PI).log() / 2
    *terms, last = (bernoulli / (2 * m * (2 * m - 1) * Fraction(n) ** (2 * m - 1)) for m, bernoulli in _BERNOULLI)
    total = total + sum(terms, Fraction(0))
    off = Enclosure.of(abs(last)).upper
    return total + Enclosure(-off, off)
