"""Dominating pairs with finitely many outcomes, in exact numbers: randomized response, and what sampling makes of it.

t = e^epsilon, K categories, d the probability that everything is revealed, q the sampling rate. In units of
1/(K - 1 + t) all probabilities have the form a + b t with rational a and b, and sampling keeps that form.

    outcome     P               Q
    revealed    d (K-1+t)       0                 only P can give it: infinite loss
    truth       (1-d) t         (1-d)             loss epsilon
    other       (1-d)(K-2)      (1-d)(K-2)        loss 0
    lie         (1-d)           (1-d) t           loss -epsilon
    hidden      0               d (K-1+t)         only Q can give it
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import gcd
from typing import TypeAlias

from privately.accounting.losses import Direction, FiniteLoss
from privately.accounting.losses import Weight as Exact

Weight: TypeAlias = tuple[int, int]
"""(a, b) stands for a + b e^epsilon."""
Outcomes: TypeAlias = tuple[tuple[Weight, Weight], ...]
_NOTHING = (0, 0)
_MOST_KEPT = 256
"""Of very many laws most differ in epsilon only, and share their weights."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FinitePair:
    """Weights of P and Q for each outcome, largest loss first, as many above loss 0 as below and one between.

    `unit` is the weight of probability 1; it grows, so that all weights stay whole.
    """

    epsilon: Fraction
    unit: Weight
    outcomes: Outcomes

    def sampled(self, rate: Fraction, direction: Direction) -> FinitePair:
        """The pair under Poisson sampling.

        Theorem: if (P, Q) dominates a mechanism under removal of a row, ((1-q)Q + qP, Q) dominates it on a Poisson
            sample of rate q; if (P, Q) dominates it under addition, (P, (1-q)P + qQ) does. Both hold for every base.
        Reference: Zhu-Dong-Wang 2022, Theorem 11
        Proof: docs/theory/accounting/events.md#poisson-sampling
        Checked-by: tests/accounting/test_finite_pairs.py::test_sampled_pairs_dominate_enumeration,
            tests/accounting/test_finite_pairs.py::test_sampled_pairs_are_reached
        """
        if direction == "remove":
            mixed = [(_mixed(q, p, rate), _times(rate.denominator, q)) for p, q in self.outcomes]
        else:
            mixed = [(_times(rate.denominator, p), _mixed(p, q, rate)) for p, q in self.outcomes]
        return FinitePair(epsilon=self.epsilon, unit=_times(rate.denominator, self.unit), outcomes=tuple(mixed))

    def glued(self, rate: Fraction) -> FinitePair:
        """The pair in a sample of fixed size, under replacement.

        Theorem: if (P, Q) dominates a mechanism under replacement, then the mechanism on a uniform subset of a share q
            of the rows has, as e^epsilon >= 1 or not, at most the profile of ((1-q)Q + qP, Q) or (P, (1-q)P + qQ).
        Reference: Zhu-Dong-Wang 2022, Theorem 11; Balle-Barthe-Gaboardi 2018, Theorem 9
        Proof: docs/theory/accounting/events.md#samples-of-fixed-size
        Checked-by: tests/accounting/test_finite_pairs.py::test_glued_pairs_dominate_enumeration
        """
        half = len(self.outcomes) // 2
        above, (even, _), below = self.outcomes[:half], self.outcomes[half], self.outcomes[half + 1 :]
        whole, left = rate.denominator, rate.denominator - rate.numerator
        even = _times(whole, even)
        for p, q in above:
            even = _plus(even, _times(left, (p[0] - q[0], p[1] - q[1])))
        outcomes = (
            *((_mixed(q, p, rate), _times(whole, q)) for p, q in above),
            (even, even),
            *((_times(whole, p), _mixed(p, q, rate)) for p, q in below),
        )
        return FinitePair(epsilon=self.epsilon, unit=_times(whole, self.unit), outcomes=outcomes)

    def loss(self) -> tuple[FiniteLoss | None, Fraction]:
        """The law of the finite losses, None when they are all 0; and the mass at infinite loss."""
        infinite = sum((self._share(p) for p, q in self.outcomes if q == _NOTHING), Fraction(0))
        finite = tuple((p, q) for p, q in self.outcomes if _NOTHING not in (p, q))
        if all(p == q for p, q in finite):
            return None, infinite
        return FiniteLoss(epsilon=self.epsilon, outcomes=_reduced(finite)), infinite

    def _share(self, weight: Weight) -> Fraction:
        """A probability that is a rational number."""
        place = 1 if self.unit[1] else 0
        share = Fraction(weight[place], self.unit[place])
        if _times(share.numerator, self.unit) != _times(share.denominator, weight):
            raise AssertionError("mass at infinite loss is rational")
        return share


def response_pair(epsilon: Fraction, *, categories: int = 2, delta: Fraction | int = 0) -> FinitePair:
    """Randomized response that reveals everything with probability delta.

    Theorem: with two categories this pair dominates every (epsilon, delta)-DP mechanism, and is one; with more it is
        randomized response itself, whatever the two true answers are.
    Reference: Kairouz-Oh-Viswanath 2015, Theorem 3.4; Murtagh-Vadhan 2016, Lemma 3.2
    Proof: docs/theory/accounting/events.md#finite-pairs
    Checked-by: tests/accounting/test_finite_pairs.py::test_response_pair_dominates_random_mechanisms,
        tests/accounting/test_finite_pairs.py::test_response_pair_is_k_ary_randomized_response
    """
    unit, outcomes = _response_weights(categories, Fraction(delta).as_integer_ratio(), is_silent=epsilon == 0)
    return FinitePair(epsilon=epsilon, unit=unit, outcomes=outcomes)


@lru_cache(maxsize=_MOST_KEPT)
def _response_weights(categories: int, delta: tuple[int, int], *, is_silent: bool) -> tuple[Weight, Outcomes]:
    lost, whole = delta
    kept, rest = whole - lost, categories - 1
    if is_silent:  # every answer has loss 0: one outcome
        unit, middle, ends = (1, 0), (kept, 0), []
    else:
        unit, middle = (rest, 1), (kept * (rest - 1), 0)
        ends = [((0, kept), (kept, 0))]
    above = [(_times(lost, unit), _NOTHING), *ends]
    return _times(whole, unit), (*above, (middle, middle), *((q, p) for p, q in reversed(above)))


def _plus(one: Weight, other: Weight) -> Weight:
    return one[0] + other[0], one[1] + other[1]


def _times(factor: int, weight: Weight) -> Weight:
    return factor * weight[0], factor * weight[1]


def _mixed(one: Weight, other: Weight, rate: Fraction) -> Weight:
    """(1 - rate) one + rate other, times the denominator of the rate."""
    part, whole = rate.as_integer_ratio()
    rest = whole - part
    return rest * one[0] + part * other[0], rest * one[1] + part * other[1]


@lru_cache(maxsize=_MOST_KEPT)
def _reduced(outcomes: Outcomes) -> tuple[tuple[Exact, Exact], ...]:
    """All weights without their common factor; equal ones are one object, as there may be very many laws."""
    common = gcd(*(number for outcome in outcomes for weight in outcome for number in weight))
    return tuple((_weight(a // common, b // common), _weight(c // common, d // common)) for (a, b), (c, d) in outcomes)


@lru_cache(maxsize=_MOST_KEPT)
def _weight(a: int, b: int) -> Exact:
    return _exact(a), _exact(b)


@lru_cache(maxsize=_MOST_KEPT)
def _exact(number: int) -> Fraction:
    return Fraction(number)
