"""Two pairs of laws with finitely many losses, on either side of a profile that is known on a lattice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from privately.accounting.adaptive.curves import Curve
from privately.accounting.elementary import Floats, Integers
from privately.accounting.losses import FiniteLoss
from privately.accounting.roads import NotApplicable

Point: TypeAlias = tuple[Fraction, Fraction]

MOST, FEW, NEIGHBOURS = 400, 40, 6
_NONE, _ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True)
class Above:
    """A pair whose profile is nowhere below: finite losses, and the mass at infinite loss."""

    law: FiniteLoss
    infinite: Fraction


def above(curve: Curve, around: float | None = None, most: int = MOST) -> Above:
    """From values at some places, most of them near one loss if that is all that counts.

    Theorem: the largest convex function through (0, 1) that is not above the values at these places, and constant from
        the last on, is the profile of the pair with Q-mass equal to the change of slope at every kink y, P-mass y times
        that, and what is left of P at infinite loss; as profiles are convex, none with these values is above it. With
        V(y) = 1 - y + y V(1/y) for y < 1 it is the same with P and Q exchanged.
    Reference: Zhu-Dong-Wang 2022, section 3
    Proof: docs/theory/accounting/adaptive.md#two-pairs
    Checked-by: tests/accounting/adaptive/test_pairs.py::test_pairs_are_on_their_sides
    """
    kept = _kept(curve, around, -(-most // 2))
    places, values = curve.values(upward=True)[kept].tolist(), curve.upper[kept].tolist()
    points = [(Fraction(y), Fraction(value)) for y, value in zip(places, values, strict=True)]
    mirrored = [(1 / y, 1 - (1 - value) / y) for y, value in reversed(points)]
    return enclosing([*mirrored, *points])


def enclosing(points: Sequence[Point]) -> Above:
    """The pair of the largest convex function through (0, 1) that is not above these points, from left to right."""
    hull = _hull([(_NONE, _ONE), *points], sign=1)
    slopes = [(v - u) / (y - x) for (x, u), (y, v) in pairwise(hull)]
    masses = [after - before for before, after in pairwise([*slopes, _NONE])]
    outcomes = [(y * mass, mass) for (y, _), mass in zip(hull[1:], masses, strict=True) if mass > 0]
    return Above(_law(outcomes[::-1]), hull[-1][1])


def below(curve: Curve, around: float | None = None) -> FiniteLoss:
    """From the tests at some places: what can be told apart by them alone.

    Theorem: the outcomes between one test and the next, in the order of how much they tell, are a pair that costs at
        most as much; so do fewer tests.
    Reference: Neyman-Pearson
    Proof: docs/theory/accounting/adaptive.md#two-pairs
    Checked-by: tests/accounting/adaptive/test_pairs.py::test_pairs_are_on_their_sides
    """
    curve = curve.whole()
    kept = _kept(curve, around, MOST)
    return reached(curve.prices[kept], curve.powers[kept])


def reached(prices: Floats, powers: Floats) -> FiniteLoss:
    """By tests of these prices and powers."""
    tests = zip(prices.tolist(), powers.tolist(), strict=True)
    points = sorted({(Fraction(price), Fraction(power)) for price, power in tests if 0 < price < 1 and 0 < power < 1})
    hull = _hull([(_NONE, _NONE), *points, (_ONE, _ONE)], sign=-1)
    outcomes = [(power - before, price - paid) for (paid, before), (price, power) in pairwise(hull)]
    return _law([outcome for outcome in outcomes if min(outcome) > 0])


def _kept(curve: Curve, around: float | None, most: int) -> Integers:
    """About so many places at even distances, and those near the loss."""
    size = curve.upper.size
    most = min(most if around is None else FEW, size)
    kept = np.unique(np.linspace(0, size - 1, most).astype(np.int64))
    if around is None:
        return kept
    middle = int(min(max(around / curve.step - curve.first, 0), size - 1))
    near = np.arange(max(middle - NEIGHBOURS, 0), min(middle + NEIGHBOURS + 2, size))
    return np.union1d(kept, near)


def _hull(points: Sequence[Point], *, sign: int) -> list[Point]:
    """Those points, from left to right, that leave slopes rising (sign 1) or falling (sign -1)."""
    hull: list[Point] = []
    for point in points:
        if hull and point[0] == hull[-1][0]:
            hull.pop()  # above the other, as both are sorted
        while len(hull) > 1 and sign * _turn(hull[-2], hull[-1], point) <= 0:
            hull.pop()
        hull.append(point)
    return hull


def _turn(one: Point, two: Point, three: Point) -> Fraction:
    """Positive where slopes rise."""
    return (three[1] - two[1]) * (two[0] - one[0]) - (two[1] - one[1]) * (three[0] - two[0])


def _law(outcomes: Sequence[tuple[Fraction, Fraction]]) -> FiniteLoss:
    if not outcomes:
        raise NotApplicable("no outcome is left")
    return FiniteLoss(epsilon=_NONE, outcomes=tuple(((first, _NONE), (second, _NONE)) for first, second in outcomes))
