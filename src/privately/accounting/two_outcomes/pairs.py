"""Two outcomes: how far apart two laws on them are at every order, and whether a statement allows them.

p, q     the probabilities of the first outcome under P and under Q
G(t)     p^t q^(1-t) + (1-p)^t (1-q)^(1-t)
F(t)     ln G(t) / (t (t-1)): D_t(P||Q)/t for t > 1, D_(1-t)(Q||P)/(1-t) for t < 0; at 1 and 0 those of order 1
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, Context, Decimal
from fractions import Fraction
from functools import cached_property

from privately.accounting.golden import valley
from privately.accounting.roads import NotApplicable
from privately.rounding import Enclosure

_NEAR_ONE = 1 + Fraction(1, 10**9)
WIDTH = Fraction(1, 10**5)
"""So near an order, relative to what it is above 1, the summit is looked for at first."""
_FAR, _NARROW = Fraction(1, 2), 1e-7
_EXACT = Context(prec=200, Emin=MIN_EMIN, Emax=MAX_EMAX, rounding=ROUND_CEILING)


@dataclass(frozen=True)
class TwoOutcomes:
    """Exact probabilities 0 < q < p < 1."""

    p: Decimal
    q: Decimal

    def __post_init__(self) -> None:
        if not 0 < self.q < self.p < 1:
            raise NotApplicable("probabilities that cannot be told apart, or from 0 and 1")

    @cached_property
    def logs(self) -> tuple[Enclosure, Enclosure, Enclosure, Enclosure]:
        """ln p, ln q, ln(1-p), ln(1-q)."""
        p, q = Enclosure(self.p, self.p), Enclosure(self.q, self.q)
        return p.log(), q.log(), (1 - p).log(), (1 - q).log()

    def apart(self, t: Fraction) -> Enclosure:
        """F(t)."""
        first, second, first_rest, second_rest = self.logs
        if t in {0, 1}:
            p = Enclosure(self.p, self.p) if t else Enclosure(self.q, self.q)
            found = p * (first - second) + (1 - p) * (first_rest - second_rest)
            return found if t else -found
        shown = (t * first + (1 - t) * second).exp()
        hidden = (t * first_rest + (1 - t) * second_rest).exp()
        return (shown + hidden).log() / (t * (t - 1))

    def delta(self, epsilon: Fraction) -> Enclosure:
        """p - e^epsilon q: what this pair reveals beyond epsilon, if that is above 0."""
        return Enclosure(self.p, self.p) - Enclosure.of(epsilon).exp() * Enclosure(self.q, self.q)

    def epsilon(self, delta: Fraction) -> Enclosure:
        """ln((p - delta)/q): at a lower epsilon this pair reveals more than delta."""
        left = Enclosure(self.p, self.p) - delta
        if left.lower <= 0:
            raise NotApplicable("a pair that reveals no more than delta")
        return left.log() - self.logs[1]


def concentration(pair: TwoOutcomes, order: Fraction, width: Fraction = WIDTH) -> Decimal:
    """A rho for which the pair is rho-zCDP in both directions; nearly the least, where F is largest near `order`.

    Theorem: F has one summit, above 1/2 if p + q < 1. If F(a) <= F(b) >= F(d) for 1 < a < b < d, F is on all of
        [1, infinity) at most the larger of F(a) and F(d), times 1 + (d-a)^2/(4a(a-1)); if F(1) >= F(d), at most d F(d).
        If p + q <= 1, it is at most F(0) on (-infinity, 0].
    Reference: Rolle's theorem; Kearns-Saul 1998 for the sum of many such losses
    Proof: docs/theory/accounting/two_outcomes.md#one-summit
    Checked-by: tests/accounting/two_outcomes/test_pairs.py::test_no_order_is_above_the_concentration,
        tests/accounting/two_outcomes/test_pairs.py::test_a_wrong_order_is_refused
    """
    if _EXACT.add(pair.p, pair.q) > 1:
        raise NotApplicable("the other direction may be the larger one")
    return max(pair.apart(Fraction(0)).upper, _forward(pair, order, width))


def _forward(pair: TwoOutcomes, order: Fraction, width: Fraction) -> Decimal:
    """At least F on [1, infinity)."""
    near = pair.apart(_NEAR_ONE)
    if pair.apart(Fraction(1)).lower >= near.upper:
        return (_NEAR_ONE * near).upper
    for place in _places(pair, order):
        a, d = (1 + (place - 1) * factor for factor in (1 - width, 1 + width))
        left, middle, right = (pair.apart(t) for t in (a, place, d))
        if middle.lower >= max(left.upper, right.upper):
            highest = left if left.upper >= right.upper else right
            return (highest * (1 + (d - a) ** 2 / (4 * a * (a - 1)))).upper
    raise NotApplicable("the summit is not near this order")


def _places(pair: TwoOutcomes, order: Fraction) -> Iterator[Fraction]:
    """Where the summit may be; looked for where it is not near the order."""
    if order > 1:
        yield order
    yield _summit(pair, order)


def _summit(pair: TwoOutcomes, order: Fraction) -> Fraction:
    """About where F is largest, up to some way beyond `order`, by golden sections of ln(t - 1)."""
    low, high = math.log(_NEAR_ONE - 1), math.log(max(order - 1, _FAR)) + 1
    return _order(valley(lambda place: -pair.apart(_order(place)).lower, low, high, _NARROW).middle)


def _order(place: float) -> Fraction:
    return 1 + Fraction(math.exp(place))
