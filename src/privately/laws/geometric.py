"""The geometric law with a rational chance of success: exact wherever the fractions are short."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from privately.laws.deciding import (
    ALWAYS,
    NEVER,
    certainty,
    least_reaching,
    least_within,
    level,
    outcome,
)
from privately.laws.series import minus_log_complement, one_minus_exp
from privately.rounding import MAX_BITS, Interval, Number, rational

_EXACT = "exact"
_METHOD = "closed form"
_EXACT_BITS = 2 * MAX_BITS
"""As long as the powers of the chance of failure that can equal a parameter: those must be compared exactly."""


@dataclass(frozen=True, init=False)
class Geometric:
    """P(X = k) = success (1 - success)^k for k >= 0: failures before the first success.

    >>> Geometric(success="1/3").cdf(1).lower
    Fraction(5, 9)

    Theorem: if P(X <= k) equals a rational of at most MAX_BITS bits, then (1 - success)^(k+1) has a denominator of at
        most 2 MAX_BITS bits by the count used here, so that it is computed exactly.
    Reference: unique factorisation
    Proof: docs/theory/laws.md#geometric
    Checked-by: tests/laws/test_geometric.py::test_quantile_at_equality
    """

    success: Fraction

    def __init__(self, *, success: Number) -> None:
        object.__setattr__(self, "success", rational(success, "success", above=0, maximum=1))

    def pmf(self, k: int) -> Interval:
        """P(X = k)."""
        k = outcome(k)
        if k < 0:
            return NEVER
        if self._short(k):
            exact = self.success * (1 - self.success) ** k
            return Interval(exact, exact, method=_EXACT)
        return (self.success * (-k * minus_log_complement(self.success)).exp()).interval(_METHOD)

    def cdf(self, k: int) -> Interval:
        """P(X <= k), to full relative precision."""
        k = outcome(k)
        if k < 0:
            return NEVER
        if self._short(k + 1):
            exact = 1 - (1 - self.success) ** (k + 1)
            return Interval(exact, exact, method=_EXACT)
        return one_minus_exp((k + 1) * minus_log_complement(self.success)).clip(0, 1).interval(_METHOD)

    def tail(self, k: int) -> Interval:
        """P(X > k) = (1 - success)^(k+1), to full relative precision."""
        k = outcome(k)
        if k < 0:
            return ALWAYS
        if self._short(k + 1):
            exact = (1 - self.success) ** (k + 1)
            return Interval(exact, exact, method=_EXACT)
        return (-(k + 1) * minus_log_complement(self.success)).exp().interval(_METHOD)

    def quantile(self, probability: Number) -> int:
        """The least k with P(X <= k) >= probability, decided exactly where they are equal."""
        p = level(probability)
        return least_reaching(self, p, self._guess(p))

    def interval(self, confidence: Number) -> int:
        """The least w with P(X <= w) >= confidence."""
        c = certainty(confidence)
        return least_within(self, c, self._guess(c))

    def _short(self, power: int) -> bool:
        return self.success == 1 or power * self.success.denominator.bit_length() <= _EXACT_BITS

    def _guess(self, p: Fraction) -> int:
        if self.success == 1 or p == 0:
            return 0
        steps = minus_log_complement(p) / minus_log_complement(self.success)
        return ceil(Fraction(steps.lower)) - 1
