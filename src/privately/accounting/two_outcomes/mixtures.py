"""Choices of more than two outcomes for one step of listed orders: now a smaller choice, now a larger one.

Names are those of `steps`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from privately.accounting.adaptive.curves import Curve
from privately.accounting.elementary import UNIT, Floats
from privately.accounting.roads import NotApplicable
from privately.accounting.two_outcomes.allowed import AtOrders
from privately.accounting.two_outcomes.choices import Table, table
from privately.accounting.two_outcomes.steps import best, with_tests
from privately.rounding import Enclosure

_TRIED = (*((Fraction(0), Fraction(n, 32)) for n in (30, 27, 22, 16, 10)), (Fraction(1, 2), Fraction(10, 32)))
"""What the smaller choice has of the bounds, and how often the larger one is taken."""
_LESS, _DIGITS = 1e-9, 2**60
_LARGEST = 300.0
_SLACK = 16 * UNIT


@dataclass(frozen=True)
class Mixture:
    """The larger choices in this share, and otherwise smaller ones, or none at all."""

    share: float
    small: Table | None
    large: Table


def larger(statement: AtOrders, part: Fraction, share: Fraction) -> AtOrders:
    """What larger choices in this share may keep, if otherwise only this part of all bounds is used.

    Theorem: who chooses a pair at random, and tells which, has as moments the means of those of the pairs. So if in
        each order the mean of both bounds on moments is not above that of the statement, the statement allows it.
    Reference: none; by what a moment is
    Proof: docs/theory/accounting/two_outcomes.md#games
    Checked-by: tests/accounting/two_outcomes/test_mixtures.py::test_the_mean_of_moments_is_held
    """
    bounds = []
    for order, bound in statement.bounds:
        excess = order - 1
        if excess * bound > _LARGEST:
            raise NotApplicable("moments that are too large")
        moment, less = math.exp(excess * bound), math.exp(excess * bound * part)
        found = math.log((moment - float(1 - share) * less) / float(share)) * (1 - _LESS)
        more = Fraction(int(found / float(excess) * _DIGITS), _DIGITS)
        mean = Enclosure.of(excess * more).exp() * share + Enclosure.of(excess * bound * part).exp() * (1 - share)
        if mean.upper > Enclosure.of(excess * bound).exp().lower:
            raise NotApplicable("bounds that are too small to be told apart")
        bounds.append((order, more))
    return AtOrders(tuple(bounds))


def mixtures(statement: AtOrders, step: float, places: int) -> tuple[Mixture, ...]:
    """Those for which there are tables on the lattice."""
    found = []
    for part, share in _TRIED:
        try:
            less = AtOrders(tuple((order, bound * part) for order, bound in statement.bounds))
            small = table(less, step, places) if part else None
            found.append(Mixture(float(share), small, table(larger(statement, part, share), step, places)))
        except NotApplicable:
            continue
    return tuple(found)


def with_mixtures(curve: Curve, chances: Table, mixed: Sequence[Mixture]) -> Curve:
    """Tests that are possible with one more step before it, the best choice or mixture of choices at every place."""
    return best(curve, chances, _tests(curve, chances, mixed), _SLACK)


def _tests(curve: Curve, chances: Table, mixed: Sequence[Mixture]) -> Iterator[tuple[Floats, Floats]]:
    plain, middle = with_tests(curve, chances), -curve.first
    now = slice(middle, middle + chances.places)
    nothing = curve.powers[now], curve.prices[now]
    yield plain.powers, plain.prices
    for one in mixed:
        less = with_tests(curve, one.small) if one.small else None
        power, price = (less.powers, less.prices) if less else nothing
        more = with_tests(curve, one.large)
        yield power * (1 - one.share) + more.powers * one.share, price * (1 - one.share) + more.prices * one.share
