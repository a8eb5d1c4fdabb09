"""The discrete Gaussian law.

It is *not* Gaussian DP: its delta exceeds that of the continuous normal. It is zCDP, and has a curve of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import floor, isqrt

from privately.laws.deciding import (
    certainty,
    least_reaching,
    least_within,
    level,
    outcome,
    rough_normal_quantile,
)
from privately.laws.gaussian_sums import half_sum, whole_sum
from privately.rounding import Enclosure, Interval, Number, rational

_METHOD = "theta series"


@dataclass(frozen=True, init=False)
class DiscreteGaussian:
    """P(X = k) is proportional to exp(-k^2/(2 variance)). The true variance of X is slightly below the parameter.

    >>> DiscreteGaussian(variance=1).pmf(0), DiscreteGaussian(variance=2**80).interval("0.95")
    (Interval(0.398942278266, 0.398942278267), 2155003191024)
    """

    variance: Fraction

    def __init__(self, *, variance: Number) -> None:
        object.__setattr__(self, "variance", rational(variance, "variance", above=0))

    def pmf(self, k: int) -> Interval:
        """P(X = k)."""
        weight = Enclosure.of(-(outcome(k) ** 2) / (2 * self.variance)).exp()
        return (weight / _total(self.variance)).clip(0, 1).interval(_METHOD)

    def cdf(self, k: int) -> Interval:
        """P(X <= k), to full relative precision."""
        return self._above(-outcome(k) - 1).clip(0, 1).interval(_METHOD)

    def tail(self, k: int) -> Interval:
        """P(X > k), to full relative precision."""
        return self._above(outcome(k)).clip(0, 1).interval(_METHOD)

    def quantile(self, probability: Number) -> int:
        """The least k with P(X <= k) >= probability."""
        p = level(probability)
        return least_reaching(self, p, self._guess(p))

    def interval(self, confidence: Number) -> int:
        """The least w with P(|X| <= w) >= confidence."""
        c = certainty(confidence)
        return least_within(self, c, self._guess((1 + c) / 2))

    def _above(self, k: int) -> Enclosure:
        if k < 0:
            return 1 - self._above(-k - 1)
        return half_sum(k + 1, self.variance) / _total(self.variance)

    def _guess(self, p: Fraction) -> int:
        deviation = Fraction(isqrt(floor(self.variance * 4**64)), 2**64)
        return floor(deviation * rough_normal_quantile(p) + Fraction(1, 2))


@lru_cache(maxsize=256)
def _total(variance: Fraction) -> Enclosure:
    return whole_sum(variance)
