"""Two losses, any number of times: two binomial tails, each by a continued fraction.

T runs, of which k show the larger loss; p and q are the probabilities of both losses, o = p/q.
Between the sums of k - 1 and of k the profile is P(K >= k) - e^epsilon Q(K >= k).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property, lru_cache
from statistics import NormalDist

from privately.accounting.closed_forms.factorials import log_binomial
from privately.accounting.roads import NotApplicable
from privately.rounding import Enclosure
from privately.rounding.enclosure import DOWN, UP
from privately.rounding.normal import normal_cdf

_FEWEST_TERMS = 16
MOST_TERMS = 4096
"""So many terms of a continued fraction are tried: enough but for the very middle of a law."""

_PRECISE = Decimal("1e-16")
_MOST_STEPS = 200
_HALVINGS, _STRIDE, _LONGER = 3, 1 / 256, 8
_TINY = 1e-300
_LONG, _MIDDLE, _BERRY_ESSEEN = 10**9, 2, Fraction(4748, 10_000)
_ZERO, _ONE = Decimal(0), Decimal(1)


@dataclass(frozen=True)
class TwoLosses:
    """`times` runs with the losses `large` and `small`, of probabilities `p` and `q`."""

    p: Enclosure
    q: Enclosure
    large: Enclosure
    small: Enclosure
    times: int
    most_terms: int = MOST_TERMS

    def profile(self, epsilon: Fraction) -> Enclosure:
        """delta at epsilon.

        Theorem: it is the largest of P(K >= k) - e^epsilon Q(K >= k) over all k, and that of the least k whose sum of
            losses is above epsilon; a term that is wrongly left out is at most what its loss exceeds epsilon by.
        Reference: Kairouz-Oh-Viswanath 2015, Theorem 3.3
        Proof: docs/theory/accounting/binomials.md#profiles
        Checked-by: tests/accounting/closed_forms/test_binomials.py::test_profiles_contain_the_truth
        """
        place = (epsilon - self.times * self.small) / (self.large - self.small)
        first, last = (min(max(math.floor(end) + 1, 0), self.times + 1) for end in (place.lower, place.upper))
        found = self._difference(last, Enclosure.of(epsilon))
        if first == last:
            return found.clip(0, 1)
        excess = (self.value(last - 1) - epsilon).nonnegative() * (last - first)
        return Enclosure(found.lower, (found + excess).upper).clip(0, 1)

    def inverse(self, delta: Fraction) -> tuple[Fraction, Fraction]:
        """epsilon at 0 < delta < 1, between two ends."""
        if self.profile(Fraction(0)).upper <= delta:
            return Fraction(0), Fraction(0)
        origin = min(max(math.floor((-self.times * self.small / (self.large - self.small)).lower), 0), self.times)
        stride = max(round(math.sqrt(self.times * float(self.p.lower) * float(self.q.lower)) * _STRIDE), 1)
        search = _Search(self.at, delta, self._guess(delta), stride)
        low = search.last(lambda found: found.lower >= delta, origin, self.times)
        high = search.last(lambda found: found.upper > delta, low, self.times) + 1
        lower, upper = self.value(low), self.value(high)
        if high == low + 1:
            inside = self._between(high, delta)
            lower = Enclosure(max(lower.lower, inside.lower), lower.upper)
            upper = Enclosure(upper.lower, min(upper.upper, inside.upper))
        return max(Fraction(lower.lower), Fraction(0)), max(Fraction(upper.upper), Fraction(0))

    def value(self, k: int) -> Enclosure:
        """The sum of the losses, k of them large."""
        return k * self.large + (self.times - k) * self.small

    def at(self, k: int) -> Enclosure:
        """delta where epsilon is the sum of the losses, k of them large."""
        return self._difference(k + 1, self.value(k))

    def _between(self, k: int, delta: Fraction) -> Enclosure:
        """epsilon, if it lies between the sums of k - 1 and of k."""
        return ((self._first(k) - delta) / self._second(k)).log()

    def _difference(self, k: int, epsilon: Enclosure) -> Enclosure:
        return self._first(k) - epsilon.exp() * self._second(k)

    def _first(self, k: int) -> Enclosure:
        found = in_the_middle(self.times, k, self.p, self.q) if self._is_long else None
        return tail(self.times, k, self.p, self.q, self.most_terms) if found is None else found

    @cached_property
    def _is_long(self) -> bool:
        """Whether epsilon is so many times the distance of two sums that some of them more or less do not matter."""
        mean = self.p * self.large + self.q * self.small
        return (self.times * mean).lower >= _LONG * (self.large - self.small).upper

    def _second(self, k: int) -> Enclosure:
        p, q, total = self._others
        return (self.times * total.log()).exp() * tail(self.times, k, p, q, self.most_terms)

    @cached_property
    def _others(self) -> tuple[Enclosure, Enclosure, Enclosure]:
        """The probabilities under the second law, and what they add up to before they are scaled to 1."""
        p, q = self.p * (-self.large).exp(), self.q * (-self.small).exp()
        return p / (p + q), q / (p + q), p + q

    def _guess(self, delta: Fraction) -> int:
        """The k at which the profile might pass delta, by the normal approximation: only where a search begins."""
        p, q = float(self.p.lower), float(self.q.lower)
        near, spread = float(delta), math.sqrt(self.times * p * q) + 1
        if _TINY < near < 1:
            away = -NormalDist().inv_cdf(near)
        else:
            away = math.sqrt(2 * max(float(-Enclosure.of(delta).log().lower), 0.5))
        return min(max(math.floor(self.times * p + away * spread), 0), self.times)


class _Search:
    """Whole numbers at which a falling function is above a level, by secants on a logarithmic scale."""

    def __init__(self, function: Callable[[int], Enclosure], level: Fraction, guess: int, stride: int) -> None:
        self.function, self.guess, self.stride = lru_cache(maxsize=None)(function), guess, stride
        self.level = float(Enclosure.of(level).log().lower)

    def last(self, holds: Callable[[Enclosure], bool], low: int, high: int) -> int:
        """The last k in [low, high) at which it holds, if it holds at `low` and from there up to some k."""
        low, high = self._around(holds, low, high)
        step = 0
        while high - low > 1:
            step += 1
            if step > _MOST_STEPS:
                raise NotApplicable("no epsilon could be checked")
            following = self._between(low, high, step)
            if holds(self.function(following)):
                low = following
            else:
                high = following
        return low

    def _around(self, holds: Callable[[Enclosure], bool], low: int, high: int) -> tuple[int, int]:
        """Nearer ends, by ever longer strides away from the guess."""
        place, stride = min(max(self.guess, low + 1), high - 1), self.stride
        rises = low < place and holds(self.function(place))
        while low < place < high:
            if holds(self.function(place)) != rises:
                return (low, place) if rises else (place, high)
            low, high = (place, high) if rises else (low, place)
            place += stride if rises else -stride
            stride *= _LONGER
        return low, high

    def _between(self, low: int, high: int, step: int) -> int:
        left, right = (_log(self.function(k)) - self.level for k in (low, high))
        middle = (low + high) // 2
        if step % _HALVINGS == 0 or not (math.isfinite(left) and math.isfinite(right) and left > right):
            return middle
        crossing = low + (high - low) * min(max(left / (left - right), 0.0), 1.0)
        return min(max(round(crossing), low + 1), high - 1) if high - low > 1 else low


def in_the_middle(times: int, k: int, p: Enclosure, q: Enclosure) -> Enclosure | None:
    """The probability of at least k, by the normal law; None where k is some deviations from the mean.

    Theorem: with s^2 = Tpq, P(K < k) is within 0.4748 (p^2 + q^2)/s of Phi((k - Tp)/s).
    Reference: Berry 1941; Shevtsova 2011
    Proof: docs/theory/accounting/binomials.md#in-the-middle
    Checked-by: tests/accounting/closed_forms/test_binomials.py::test_tails_in_the_middle
    """
    spread = (times * p * q).sqrt()
    place = (k - times * p) / spread
    if not -_MIDDLE < place.lower <= place.upper < _MIDDLE:
        return None
    off = (_BERRY_ESSEEN * (p * p + q * q) / spread).upper
    return (normal_cdf(-place) + Enclosure(-off, off)).clip(0, 1)


def tail(times: int, k: int, p: Enclosure, q: Enclosure, most_terms: int = MOST_TERMS) -> Enclosure:
    """The probability of at least k of `times`, each of probability p = 1 - q."""
    if k <= 0:
        return Enclosure.of(1)
    if k > times:
        return Enclosure.of(0)
    if k <= times * float(p.lower):
        return (1 - _upper_tail(times, times - k + 1, q, p, most_terms)).clip(0, 1)
    return _upper_tail(times, k, p, q, most_terms).clip(0, 1)


def _upper_tail(times: int, k: int, p: Enclosure, q: Enclosure, most_terms: int) -> Enclosure:
    first = (log_binomial(times, k) + k * p.log() + (times - k) * q.log()).exp()
    return first * _ratio(times, k, p / q, most_terms)


def _ratio(times: int, k: int, odds: Enclosure, most_terms: int) -> Enclosure:
    """P(K >= k) / P(K = k), as narrow as the arithmetic allows."""
    terms = _FEWEST_TERMS
    while True:
        found = _continued(times, k, odds, min(terms, times - k))
        if found.upper - found.lower <= _PRECISE * found.lower or terms >= min(times - k, most_terms):
            if found.lower <= 0:
                raise NotApplicable("too near the middle of the binomial law")
            return 1 / found
        terms *= 2


def _continued(times: int, k: int, odds: Enclosure, terms: int) -> Enclosure:
    """P(K = k) / P(K >= k), for 1 <= k <= times, from the inside out.

    Theorem: it is X_0, where X_n = 1 - a_n X_{n+1}/(X_{n+1} + b_n), a_n = o (T-k-n)(k+n)/((k+2n)(k+2n+1)),
        b_n = o (n+1)(T+n+1)/((k+2n+1)(k+2n+2)); all X_n are above 0 and at most 1, and X_n = 1 for n = T - k.
    Reference: Gauss's continued fraction, DLMF 15.7.1; Bahadur 1960
    Proof: docs/theory/accounting/binomials.md#tails
    Checked-by: tests/accounting/closed_forms/test_binomials.py::test_tails_contain_the_truth
    """
    least, most = Decimal(terms == times - k), Decimal(1)
    for n in reversed(range(terms)):
        a_least, a_most = _scaled(odds, (times - k - n) * (k + n), (k + 2 * n) * (k + 2 * n + 1))
        b_least, b_most = _scaled(odds, (n + 1) * (times + n + 1), (k + 2 * n + 1) * (k + 2 * n + 2))
        gain = UP.multiply(a_most, UP.divide(most, DOWN.add(most, b_least)))
        loss = DOWN.multiply(a_least, DOWN.divide(least, UP.add(least, b_most)))
        least, most = max(DOWN.subtract(_ONE, gain), _ZERO), UP.subtract(_ONE, loss)
    return Enclosure(least, most)


def _scaled(odds: Enclosure, above: int, below: int) -> tuple[Decimal, Decimal]:
    """odds above/below, rounded down and up."""
    numerator, denominator = Decimal(above), Decimal(below)
    return (
        DOWN.divide(DOWN.multiply(odds.lower, numerator), denominator),
        UP.divide(UP.multiply(odds.upper, numerator), denominator),
    )


def _log(value: Enclosure) -> float:
    """About ln of it."""
    return float(value.upper.ln()) if value.upper > 0 else -math.inf
