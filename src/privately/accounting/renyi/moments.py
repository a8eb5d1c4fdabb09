"""Logarithmic moments of a privacy loss, from above: K(c) = ln E[e^(cL)], L the loss under P, for c > 0.

The Renyi divergence of order 1 + c is K(c)/c. K is convex and K(0) = 0, so that K(c)/c grows with c.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from privately.accounting.renyi.numbers import short
from privately.rounding import End


class Moments(Protocol):
    """What is known of one law, or of all that a statement allows."""

    @property
    def largest(self) -> End:
        """No loss is above this."""

    def above(self, c: Fraction) -> End:
        """A number that K(c) does not exceed."""

    def rough(self, c: float) -> float:
        """About that number, fast: to choose an order by."""


@dataclass(frozen=True)
class Sum:
    """Losses that are added up: each law so many times, whatever came before. Without parts: nothing is revealed.

    Theorem: if for every value of the earlier answers the next divergence of order a is at most a bound, the
        divergence of order a of all answers together is at most the sum of the bounds.
    Reference: Mironov 2017, Proposition 1
    Proof: docs/theory/accounting/renyi.md#sums-and-maxima
    Checked-by: tests/accounting/renyi/test_moments.py::test_adaptive_sums_dominate_enumeration
    """

    parts: tuple[tuple[Moments, int], ...] = ()

    @property
    def largest(self) -> End:
        return sum((times * part.largest for part, times in self.parts), Fraction(0))

    def above(self, c: Fraction) -> End:
        return sum((times * part.above(c) for part, times in self.parts), Fraction(0))

    def rough(self, c: float) -> float:
        return math.fsum(times * part.rough(c) for part, times in self.parts)


@dataclass(frozen=True)
class Largest:
    """One of several, whichever is the worst at each order.

    Theorem: if every answer of a row that meets one of several mechanisms has a divergence within that mechanism's
        bound, it is within the largest bound; also when earlier answers decide which mechanism it meets.
    Reference: McSherry 2009, Theorem 4, order by order
    Proof: docs/theory/accounting/renyi.md#sums-and-maxima
    Checked-by: tests/accounting/renyi/test_moments.py::test_adaptive_sums_dominate_enumeration
    """

    parts: Sequence[Moments]

    @property
    def largest(self) -> End:
        return max(part.largest for part in self.parts)

    def above(self, c: Fraction) -> End:
        return max(part.above(c) for part in self.parts)

    def rough(self, c: float) -> float:
        return max(part.rough(c) for part in self.parts)


@dataclass(frozen=True)
class Least:
    """Several bounds that all hold."""

    parts: Sequence[Moments]

    @property
    def largest(self) -> End:
        return min(part.largest for part in self.parts)

    def above(self, c: Fraction) -> End:
        return min(part.above(c) for part in self.parts)

    def rough(self, c: float) -> float:
        return min(part.rough(c) for part in self.parts)


@dataclass(frozen=True)
class Quadratic:
    """rho-zCDP: K(c) = c (c + 1) rho. Normal noise has it exactly; discrete normal noise has no more."""

    rho: Fraction

    @property
    def largest(self) -> End:
        return math.inf if self.rho else Fraction(0)

    def above(self, c: Fraction) -> End:
        return short(c * (c + 1) * self.rho)

    def rough(self, c: float) -> float:
        return c * (c + 1) * float(self.rho)


@dataclass(frozen=True)
class Listed:
    """Bounds at listed orders, with the chords between them; above the last order nothing is known.

    Theorem: (a-1) D_a is convex in a and 0 at a = 1, so chords between upper bounds lie above it.
    Reference: van Erven-Harremoes 2014
    Proof: docs/theory/conversions.md#renyi-to-approx
    Checked-by: tests/accounting/renyi/test_moments.py::test_listed_orders_are_joined_by_chords
    """

    bounds: tuple[tuple[Fraction, Fraction], ...]

    @property
    def largest(self) -> End:
        return math.inf

    def above(self, c: Fraction) -> End:
        last = (Fraction(0), Fraction(0))
        for order, bound in self.bounds:
            place = order - 1, (order - 1) * bound
            if c <= place[0]:
                share = (c - last[0]) / (place[0] - last[0])
                return short(last[1] + share * (place[1] - last[1]))
            last = place
        return math.inf

    def rough(self, c: float) -> float:
        return float(self.above(Fraction(c)))
