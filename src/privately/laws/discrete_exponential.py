"""One-sided geometric noise with q = exp(-1/scale): the discrete exponential law."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import floor

from privately.laws.deciding import (
    ALWAYS,
    NEVER,
    certainty,
    least_reaching,
    least_within,
    level,
    outcome,
)
from privately.laws.series import one_minus_exp
from privately.rounding import Enclosure, Interval, Number, rational

_METHOD = "closed form"


@dataclass(frozen=True, init=False)
class DiscreteExponential:
    """P(X = k) = (1 - q) q^k for k >= 0, with q = exp(-1/scale).

    >>> DiscreteExponential(scale=3).tail(5)
    Interval(0.135335283236, 0.135335283237)
    """

    scale: Fraction

    def __init__(self, *, scale: Number) -> None:
        object.__setattr__(self, "scale", rational(scale, "scale", above=0))

    def pmf(self, k: int) -> Interval:
        """P(X = k)."""
        k = outcome(k)
        if k < 0:
            return NEVER
        return (one_minus_exp(1 / self.scale) * Enclosure.of(-k / self.scale).exp()).interval(_METHOD)

    def cdf(self, k: int) -> Interval:
        """P(X <= k), to full relative precision."""
        k = outcome(k)
        return NEVER if k < 0 else one_minus_exp((k + 1) / self.scale).clip(0, 1).interval(_METHOD)

    def tail(self, k: int) -> Interval:
        """P(X > k) = q^(k+1), to full relative precision."""
        k = outcome(k)
        return ALWAYS if k < 0 else Enclosure.of(-(k + 1) / self.scale).exp().interval(_METHOD)

    def quantile(self, probability: Number) -> int:
        """The least k with P(X <= k) >= probability."""
        p = level(probability)
        return least_reaching(self, p, self._guess(p))

    def interval(self, confidence: Number) -> int:
        """The least w with P(X <= w) >= confidence."""
        c = certainty(confidence)
        return least_within(self, c, self._guess(c))

    def _guess(self, p: Fraction) -> int:
        return -floor(self.scale * Fraction(Enclosure.of(1 - p).log().upper)) - 1
