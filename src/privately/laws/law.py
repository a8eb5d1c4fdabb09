"""What every law on the integers answers."""

from __future__ import annotations

from typing import Protocol

from privately.rounding import Interval, Number


class Law(Protocol):
    """The distribution of a random integer X. Intervals contain the truth; integers are certain.

    `quantile` and `interval` raise `Unproved` where the enclosures cannot tell two neighbours apart.
    """

    def __hash__(self) -> int:
        """Laws are values: equal ones share their tables."""

    def pmf(self, k: int) -> Interval:
        """P(X = k)."""

    def cdf(self, k: int) -> Interval:
        """P(X <= k)."""

    def tail(self, k: int) -> Interval:
        """P(X > k), to full relative precision."""

    def quantile(self, probability: Number) -> int:
        """The least k with P(X <= k) >= probability."""

    def interval(self, confidence: Number) -> int:
        """The least w with P(|X| <= w) >= confidence."""
