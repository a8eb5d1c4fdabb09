"""Two-sided geometric noise: the discrete Laplace law."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor

from privately.laws.deciding import certainty, least_reaching, least_within, level, outcome
from privately.laws.series import one_minus_exp
from privately.rounding import Enclosure, Interval, Number, rational

_METHOD = "closed form"


@dataclass(frozen=True, init=False)
class DiscreteLaplace:
    """P(X = k) = (1 - q)/(1 + q) q^|k| with q = exp(-1/scale).

    >>> DiscreteLaplace(scale=1).pmf(0), DiscreteLaplace(scale=2**60).interval("0.95")
    (Interval(0.46211715726, 0.462117157261), 3453844160225157792)

    Theorem: P(X > k) = q^(k+1)/(1+q) for k >= 0, P(X <= -k) = q^k/(1+q) for k >= 1, and none of these is rational.
    Reference: Ghosh-Roughgarden-Sundararajan 2012; Lindemann-Weierstrass 1885
    Proof: docs/theory/laws.md#discrete-laplace
    Checked-by: tests/laws/test_discrete_laplace.py::test_contains_the_truth
    """

    scale: Fraction

    def __init__(self, *, scale: Number) -> None:
        object.__setattr__(self, "scale", rational(scale, "scale", above=0))

    def pmf(self, k: int) -> Interval:
        """P(X = k)."""
        return (_at_zero(self.scale) * self._decay(abs(outcome(k)))).interval(_METHOD)

    def cdf(self, k: int) -> Interval:
        """P(X <= k)."""
        return self._above(-outcome(k) - 1)

    def tail(self, k: int) -> Interval:
        """P(X > k), to full relative precision."""
        return self._above(outcome(k))

    def quantile(self, probability: Number) -> int:
        """The least k with P(X <= k) >= probability."""
        p = level(probability)
        return least_reaching(self, p, self._guess(p))

    def interval(self, confidence: Number) -> int:
        """The least w with P(|X| <= w) >= confidence."""
        c = certainty(confidence)
        return least_within(self, c, self._guess((1 + c) / 2))

    def _decay(self, k: int) -> Enclosure:
        return Enclosure.of(-k / self.scale).exp()

    def _above(self, k: int) -> Interval:
        if k < 0:
            return (1 - self._decay(-k) / (1 + self._decay(1))).clip(0, 1).interval(_METHOD)
        return (self._decay(k + 1) / (1 + self._decay(1))).interval(_METHOD)

    def _guess(self, p: Fraction) -> int:
        smaller = min(p, 1 - p)
        steps = self.scale * Fraction((smaller * (1 + self._decay(1))).log().upper)
        return ceil(steps) if 2 * p < 1 else -floor(steps) - 1


@lru_cache(maxsize=256)
def _at_zero(scale: Fraction) -> Enclosure:
    """(1 - q)/(1 + q)."""
    gap = one_minus_exp(1 / scale)
    return gap / (2 - gap)
