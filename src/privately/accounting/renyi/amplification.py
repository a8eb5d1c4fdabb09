"""Samples of any mechanism, of which only Renyi divergences are known.

q      the rate, a = 1 + c the order, both real; K the base's logarithmic moment
P1, P0 the laws on a sample with the row and without it; r = P1/P0, u = 1 - q + q r
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from privately.accounting.renyi.moments import Moments
from privately.accounting.renyi.numbers import Number, ceiling, like, log, log_mix
from privately.rounding import Enclosure, End

MOST_TERMS = 256
"""The highest order that is expanded."""

_LARGEST_MOMENT = 10**15

_NEARLY = 1 - 2.0**-53
"""The largest double below 1, for rough looks."""


@dataclass(frozen=True)
class Kept:
    """A Poisson sample, when the row is in the first data set ("remove"): E[u^a] over P0.

    Theorem: K'(c) <= a ln(1 - q + q e^(K(c)/a)); and for whole orders n, K'(n-1) <= ln of the sum over i of
        binomial(n, i) (1-q)^(n-i) q^i e^K(i-1), where K is 0 for i < 2; between whole orders, the chord.
    Reference: Hardy-Littlewood-Polya 1934, Theorem 198; Mironov-Talwar-Zhang 2019, section 3.3
    Proof: docs/theory/accounting/renyi.md#poisson-samples
    Checked-by: tests/accounting/renyi/test_amplification.py::test_samples_dominate_enumeration
    """

    base: Moments
    rate: Fraction

    @cached_property
    def largest(self) -> End:
        most = self.base.largest
        if isinstance(most, float):
            return most
        return ceiling(_mixed(Enclosure.of(self.rate), Enclosure.of(most)))

    def above(self, c: Fraction) -> End:
        return min(self._norm(c), self.expanded(c))

    def _norm(self, c: Fraction) -> End:
        found = self.base.above(c)
        if isinstance(found, float):
            return found
        order = 1 + c
        return ceiling(order * _mixed(Enclosure.of(self.rate), Enclosure.of(found / order)))

    def rough(self, c: float) -> float:
        norm = (1 + c) * _mixed(float(self.rate), self.base.rough(c) / (1 + c))
        return min(norm, self.rough_expanded(c))

    def expanded(self, c: Fraction) -> End:
        """By whole orders."""
        below = math.floor(c)
        if below + 2 > MOST_TERMS:
            return math.inf
        low = self._at(below)
        if c == below:
            return low
        high = self._at(below + 1)
        return math.inf if isinstance(high, float) else low + (c - below) * (high - low)

    def rough_expanded(self, c: float) -> float:
        below = math.floor(c)
        if below + 2 > MOST_TERMS:
            return math.inf
        low = self._rough_at(below)
        return low if c == below else low + (c - below) * (self._rough_at(below + 1) - low)

    def _at(self, c: int) -> End:
        if c not in self._known:
            inside, outside = self._inside(c + 1), self._outside(c + 1)
            terms = [math.comb(c + 1, i) * one * outside[c + 1 - i] for i, one in enumerate(inside)]
            whole = len(terms) == c + 2
            self._known[c] = ceiling(sum(terms, Enclosure.of(0)).log()) if whole else math.inf
        return self._known[c]

    def _inside(self, n: int) -> list[Enclosure]:
        """q^i e^K(i-1) for i up to n, or as far as K is known and not too large."""
        found = self._powers
        while len(found) <= n:
            moment = self.base.above(Fraction(len(found) - 1))
            if moment > _LARGEST_MOMENT:
                break
            found.append(Enclosure.of(self.rate) ** len(found) * Enclosure.of(Fraction(moment)).exp())
        return found[: n + 1]

    def _outside(self, n: int) -> list[Enclosure]:
        """(1-q)^i for i up to n."""
        found = self._complements
        while len(found) <= n:
            found.append(found[-1] * (1 - self.rate))
        return found

    def _rough_at(self, c: int) -> float:
        if c not in self._rough_known:
            while len(self._rough_moments) <= c:
                self._rough_moments.append(self.base.rough(float(len(self._rough_moments))))
            found = self._rough_moments[: c + 1]
            rate = min(float(self.rate), _NEARLY)
            self._rough_known[c] = math.inf if math.inf in found else _rough_expanded(rate, found)
        return self._rough_known[c]

    @cached_property
    def _powers(self) -> list[Enclosure]:
        return [Enclosure.of(1), Enclosure.of(self.rate)]

    @cached_property
    def _complements(self) -> list[Enclosure]:
        return [Enclosure.of(1)]

    @cached_property
    def _rough_moments(self) -> list[float]:
        return [0.0]

    @cached_property
    def _known(self) -> dict[int, End]:
        return {}

    @cached_property
    def _rough_known(self) -> dict[int, float]:
        return {}


@dataclass(frozen=True)
class Joined:
    """A Poisson sample, when the row is in the second data set ("add"): E[u^-c] over P0.

    Theorem: K'(c) <= -c ln(1 - q + q e^(-K(c)/c)), K of P0 against P1; and for c >= 1, e^K'(c) <= t e^K1 + (1-t) e^K2
        with t = 3(1-q)/(3 + 2(c-1)q), K1 and K2 the moments for "remove" of the pairs (P1, P0) and (P0, P1); below, the
        chord from 0.
    Reference: Hardy-Littlewood-Polya 1934, Theorem 198; compare Steinke 2022 and Zhu-Wang 2019
    Proof: docs/theory/accounting/renyi.md#poisson-samples
    Checked-by: tests/accounting/renyi/test_amplification.py::test_samples_dominate_enumeration,
        tests/accounting/renyi/test_amplification.py::test_added_rows_lose_no_more_than_removed_ones
    """

    base: Moments
    kept: tuple[Moments, Moments]
    rate: Fraction

    @cached_property
    def largest(self) -> End:
        return ceiling(-_mixed_or_none(Enclosure.of(self.rate), self.base.largest, Enclosure.of))

    def above(self, c: Fraction) -> End:
        found = self.base.above(c)
        drop = found if isinstance(found, float) else found / c
        norm = ceiling(-c * _mixed_or_none(Enclosure.of(self.rate), drop, Enclosure.of))
        place = max(c, Fraction(1))
        one, other = (kept.above(place) for kept in self.kept)
        if isinstance(one, float) or isinstance(other, float):
            return norm
        share = _share(Enclosure.of(self.rate), Enclosure.of(place))
        mixed = log_mix([(share, Enclosure.of(one)), (1 - share, Enclosure.of(other))])
        return min(norm, ceiling(mixed * (c / place)))

    def rough(self, c: float) -> float:
        norm = -c * _mixed_or_none(float(self.rate), self.base.rough(c) / c, float)
        place = max(c, 1.0)
        one, other = (kept.rough(place) for kept in self.kept)
        if math.inf in (one, other):
            return norm
        share = _share(float(self.rate), place)
        return min(norm, log_mix([(share, one), (1 - share, other)]) * c / place)


@dataclass(frozen=True)
class Mixed:
    """A sample of fixed size, under replacement.

    Theorem: K'(c) <= ln(1 - q + q e^K(c)).
    Reference: van Erven-Harremoes 2014, Theorem 13
    Proof: docs/theory/accounting/renyi.md#samples-of-fixed-size
    Checked-by: tests/accounting/renyi/test_amplification.py::test_fixed_samples_dominate_enumeration
    """

    base: Moments
    rate: Fraction

    @cached_property
    def largest(self) -> End:
        return Kept(self.base, self.rate).largest

    def above(self, c: Fraction) -> End:
        found = self.base.above(c)
        if isinstance(found, float):
            return found
        return ceiling(_mixed(Enclosure.of(self.rate), Enclosure.of(found)))

    def rough(self, c: float) -> float:
        return _mixed(float(self.rate), self.base.rough(c))


def poisson(base: tuple[Moments, Moments], rate: Fraction) -> tuple[Moments, Moments]:
    """Both directions of a Poisson sample, from both directions of what is run on it."""
    remove, add = base
    kept = Kept(remove, rate)
    return kept, Joined(add, (kept, kept if add is remove else Kept(add, rate)), rate)


def _mixed(rate: Number, exponent: Number) -> Number:
    """ln(1 - q + q e^exponent)."""
    if exponent == math.inf:
        return exponent
    return log_mix([(1 - rate, like(rate, 0)), (rate, exponent)])


def _mixed_or_none(rate: Number, drop: End, as_number: Callable[[Fraction], Number]) -> Number:
    """ln(1 - q + q e^-drop), also for an infinite drop."""
    if drop == math.inf:
        return log(1 - rate)
    return _mixed(rate, -as_number(Fraction(drop)))


def _rough_expanded(rate: float, moments: Sequence[float]) -> float:
    """The sum for the order len(moments), of which moments[c] is K(c)."""
    n = len(moments)
    inside, outside = math.log(rate), math.log1p(-rate)
    exponents = [n * outside, *(i * inside + (n - i) * outside + moment for i, moment in enumerate(moments, start=1))]
    return log_mix([(float(math.comb(n, i)), exponent) for i, exponent in enumerate(exponents)])


def _share(rate: Number, c: Number) -> Number:
    """How much the pair (P1, P0) counts beside (P0, P1)."""
    return 3 * (1 - rate) / (3 + 2 * (c - 1) * rate)
