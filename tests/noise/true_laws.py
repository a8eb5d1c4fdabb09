"""Distribution functions to 520 digits, or exact where they are rational, and their quantiles."""

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

import mpmath

from tests.noise.scripted import Expansion
from tests.rounding.truth import real, truth

DIGITS = 520
DOUBT = Fraction(1, 2**1700)
"""The truth is known better than this."""

Distribution: TypeAlias = Callable[[int], Fraction]
"""F(k) = P(X <= k)."""


def symmetric(below: Distribution) -> Distribution:
    """F of a symmetric law from P(X <= -n)."""
    kept = lru_cache(maxsize=None)(below)
    return lambda k: kept(-k) if k < 0 else 1 - kept(k + 1)


def laplace(scale: Fraction) -> Distribution:
    return symmetric(lambda n: truth(lambda: mpmath.exp(-real(n / scale)) / (1 + mpmath.exp(-real(1 / scale))), DIGITS))


def exponential(scale: Fraction) -> Distribution:
    return lru_cache(maxsize=None)(lambda k: 1 - truth(lambda: mpmath.exp(-real((k + 1) / scale)), DIGITS))


def geometric(success: Fraction) -> Distribution:
    return lru_cache(maxsize=None)(lambda k: 1 - (1 - success) ** (k + 1))


def rounded_normal(deviation: Fraction) -> Distribution:
    half = Fraction(1, 2)
    return symmetric(lambda n: truth(lambda: mpmath.erfc(real((n - half) / deviation) / mpmath.sqrt(2)) / 2, DIGITS))


def gaussian(variance: Fraction) -> Distribution:
    """The discrete one."""
    sums = gaussian_sums(1 / variance)
    return symmetric(lambda n: sums[n] / (sums[0] + sums[1]))


def half_gaussian(c: Fraction) -> Distribution:
    """P(X = j) in proportion to exp(-c j^2/2) for j >= 0."""
    sums = gaussian_sums(c)
    return lambda k: 1 - sums[k + 1] / sums[0]


def gaussian_sums(c: Fraction) -> list[Fraction]:
    """Sums of exp(-c j^2/2) over j >= n, until they are in doubt."""
    terms = [Fraction(1)]
    while terms[-1] > DOUBT:
        terms.append(truth(lambda: mpmath.exp(-real(c * len(terms) ** 2 / 2)), DIGITS))
    sums = [Fraction(0)]
    for term in reversed(terms):
        sums.append(sums[-1] + term)
    return sums[::-1]


def coin(tails: Fraction) -> Distribution:
    return lambda k: Fraction(0) if k < 0 else tails if k == 0 else Fraction(1)


def quantile(law: Distribution, u: Expansion, lowest: int, highest: int) -> int:
    """The least k with U < F(k), which is above `lowest` and at most `highest`. The truth must be certain of it."""

    def above(k: int) -> bool:
        value = law(k)
        rational = value.denominator.bit_length() < 1700
        assert rational or abs(value - Fraction(u.known + u.ones, 1 << u.bits)) > DOUBT
        return u.is_below(value)

    while highest - lowest > 1:
        middle = (lowest + highest) // 2
        lowest, highest = (lowest, middle) if above(middle) else (middle, highest)
    return highest
