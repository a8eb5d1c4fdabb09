"""The normal law rounded to the nearest integer.

For an integer x, x + round(N) = round(x + N): adding this noise is post-processing of the continuous normal mechanism.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import floor

from privately.laws.deciding import (
    certainty,
    least_reaching,
    least_within,
    level,
    outcome,
    rough_normal_quantile,
)
from privately.laws.series import NEGLIGIBLE, widened
from privately.rounding import Enclosure, Interval, Number, normal_cdf, rational
from privately.rounding.normal import PI

_METHOD = "normal distribution function"
_HALF = Fraction(1, 2)


@dataclass(frozen=True, init=False)
class RoundedNormal:
    """P(X = k) = Phi((k + 1/2)/s) - Phi((k - 1/2)/s), where s is the standard deviation before rounding.

    >>> law = RoundedNormal(standard_deviation=10)
    >>> law.pmf(0), law.interval("0.95")
    (Interval(0.0398776116767, 0.0398776116768), 20)
    """

    standard_deviation: Fraction

    def __init__(self, *, standard_deviation: Number) -> None:
        exact = rational(standard_deviation, "standard_deviation", above=0)
        object.__setattr__(self, "standard_deviation", exact)

    def pmf(self, k: int) -> Interval:
        """P(X = k), to full relative precision."""
        k, s = abs(outcome(k)), self.standard_deviation
        if s >= 1 and k < s * s:
            return narrow_probability(k, s).interval(_METHOD)
        if k == 0:
            return (1 - 2 * normal_cdf(-_HALF / s)).interval(_METHOD)
        difference = normal_cdf((_HALF - k) / s) - normal_cdf((-_HALF - k) / s)
        return difference.clip(0, 1).interval(_METHOD)

    def cdf(self, k: int) -> Interval:
        """P(X <= k), to full relative precision."""
        return self._up_to(outcome(k))

    def tail(self, k: int) -> Interval:
        """P(X > k), to full relative precision."""
        return self._up_to(-outcome(k) - 1)

    def quantile(self, probability: Number) -> int:
        """The least k with P(X <= k) >= probability."""
        p = level(probability)
        return least_reaching(self, p, self._guess(p))

    def interval(self, confidence: Number) -> int:
        """The least w with P(|X| <= w) >= confidence."""
        c = certainty(confidence)
        return least_within(self, c, self._guess((1 + c) / 2))

    def _up_to(self, k: int) -> Interval:
        return normal_cdf((k + _HALF) / self.standard_deviation).clip(0, 1).interval(_METHOD)

    def _guess(self, p: Fraction) -> int:
        return floor(self.standard_deviation * rough_normal_quantile(p) + _HALF)


def narrow_probability(k: int, s: Fraction) -> Enclosure:
    """Phi((k + 1/2)/s) - Phi((k - 1/2)/s) for s >= 1 and 0 <= k < s^2, where subtracting would lose digits.

    Theorem: with x = k/s and d = 1/(2s) it is phi(x) 2d times the sum over even m of b_m/(m+1), where b_0 = 1,
        b_1 = -xd and (m+1) b_{m+1} = -xd b_m - d^2 b_{m-1}; the terms from m = N on add up to at most 200000 t^N
        with t = max(d, xd)/4 <= 1/8.
    Reference: Hermite polynomials, DLMF 18.12.16; Cauchy's estimate
    Proof: docs/theory/laws.md#narrow-probability
    Checked-by: tests/laws/test_rounded_normal.py::test_narrow_probability_contains_the_truth
    """
    half = 1 / (2 * s)
    slope, square = Enclosure.of(k * half / s), Enclosure.of(half * half)
    shrinking = Enclosure.of(max(half, k * half / s) / 4)
    before, now, total = Enclosure.of(0), Enclosure.of(1), Enclosure.of(0)
    rest = Enclosure.of(200_000)
    m = 0
    while rest.upper > NEGLIGIBLE:
        if m % 2 == 0:
            total = total + now / (m + 1)
        before, now = now, -(slope * now + square * before) / (m + 1)
        rest = rest * shrinking
        m += 1
    density = Enclosure.of(-k * k / (2 * s * s)).exp() / (2 * PI).sqrt()
    return density / s * widened(total, rest.upper)
