"""Where steps of zCDP lead to, in the worst order: numbers only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from privately.accounting.elementary import UNIT, Floats
from privately.accounting.roads import NotApplicable

ALPHA, LESSER = 3.3, 0.15
_STEEP, _FIRST, _TURN, _HIGH, _EARLY = 6.6, 0.375, 3.0, 17.0, 4.0
"""How fast q grows at first, from where on, where it is how much later, in shares of the largest rho; and up to where
the first line is to blame if it is too much.
"""
SHARES = 1.0, 0.99, 0.98, 0.97, 0.96, 0.95, 0.935, 0.92, 0.9, 0.87, 0.84, 0.8, 0.75, 0.7, 0.65, 0.6
SLOPES = 6.05, 6.0, 5.95, 5.9, 5.85, 5.8, 5.75, 5.7, 5.65, 5.6, 5.5, 5.4, 5.2, 5.0, 4.7, 4.4, 4.0, 3.6
_UP = 1 + 8 * UNIT


@dataclass(frozen=True)
class Rule:
    """f_c(phi) = phi + c + b_c/(alpha c + q(phi)), for c up to rho and phi from rho on.

    Theorem: q is concave, and grows by alpha at least; b_c/(alpha c + q) is c times what rises in c. So of all orders
        the one with the largest first leads farthest.
    Reference: none
    Proof: docs/theory/accounting/two_outcomes.md#after-the-largest
    Checked-by: tests/accounting/two_outcomes/test_leading.py::test_the_largest_first_is_the_most,
        tests/accounting/two_outcomes/test_leading.py::test_what_the_lemma_asks_for
    """

    rho: float
    shares: tuple[float, ...] = SHARES
    slopes: tuple[float, ...] = SLOPES
    """The first of both counts; the others are left to be tried."""

    def more(self, size: Floats, phi: float | Floats) -> Floats:
        """f_c(phi) - phi - c."""
        grown = size * size * (1 + LESSER * np.maximum(1 - size / self.rho, 0.0))
        found: Floats = grown / (ALPHA * size + self.q(phi))
        return found

    def q(self, phi: float | Floats) -> Floats:
        """No lesser rule has more."""
        share, beyond = self.shares[0], phi - _TURN * self.rho
        early, steep = share * _STEEP * (phi - _FIRST * self.rho), share * SLOPES[0]
        late = share * _HIGH * self.rho + np.minimum(steep * beyond, min(steep, self.slopes[0]) * beyond)
        return np.minimum(early, late)

    def lesser(self, phi: float) -> Rule:
        """The next one, if this is not enough there."""
        is_late = phi > _EARLY * self.rho
        found = replace(self, slopes=self.slopes[1:]) if is_late else replace(self, shares=self.shares[1:])
        if not found.shares or not found.slopes:
            raise NotApplicable("steps unlike normal noise")
        return found

    def last(self, sizes: Sequence[float], others: Floats, phi: float) -> Floats:
        """Where all lead to, the largest first, with one more, for each of others; rounded up."""
        found, is_left = np.full(others.size, phi), np.ones(others.size, dtype=bool)
        for size in (*sizes, -1.0):
            now = is_left & (others >= size)
            found = np.where(now, (found + others + self.more(others, found)) * _UP, found)
            is_left &= ~now
            if size > 0:
                found = (found + size + self.more(np.array([size]), found)) * _UP
        return found

    def last_one(self, sizes: Sequence[float], other: float, phi: float) -> float:
        """The same with one more only."""
        share, rho = self.shares[0], self.rho
        steep = share * SLOPES[0]
        slope = min(steep, self.slopes[0])
        for size in sorted((*sizes, other), reverse=True):
            beyond = phi - _TURN * rho
            q = min(share * _STEEP * (phi - _FIRST * rho), share * _HIGH * rho + min(steep * beyond, slope * beyond))
            grown = size * size * (1 + LESSER * max(1 - size / rho, 0.0))
            phi = (phi + size + (grown / (ALPHA * size + q) if size else 0.0)) * _UP
        return phi


def reached(units: Sequence[int], times: Sequence[int], target: int) -> Iterator[tuple[int, ...]]:
    """All choices of so many of each that add up to the target or more, but not without the largest of them.

    Units are sorted, the largest first.
    """
    for found in _chosen(units, times, len(units) - 1, target):
        yield (*found, *(0,) * (len(units) - len(found)))


def _chosen(units: Sequence[int], times: Sequence[int], k: int, left: int) -> Iterator[tuple[int, ...]]:
    """From the k-th one to the largest; the last one that is taken exceeds what is left."""
    if k < 0:
        return
    for many in range(min(times[k], -(-left // units[k])) + 1):
        rest = left - many * units[k]
        if rest <= 0:
            yield (*(0,) * k, many)
        else:
            for others in _chosen(units, times, k - 1, rest):
                yield (*others, *(0,) * (k - len(others)), many)
