"""Very many steps that zCDP allows, of different rho, in any order: not much more than normal noise, from above."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np

from privately.accounting.elementary import UNIT, Floats, log1p, normal_tail_one
from privately.accounting.roads import NotApplicable
from privately.accounting.two_outcomes.allowed import Concentrated
from privately.accounting.two_outcomes.normal_games import SPARE, Normal, last_step
from privately.accounting.two_outcomes.touching import touching

_TOGETHER = 1, 2, 4, 8, 16, 32, 64
_GROWTH = 0.05
_SHARES = np.geomspace(0.25, 64.0, 700)
_EVEN = 1.6
"""About what mu^2 one statement needs, in 2 rho."""
_LESS = Fraction(0), Fraction(1, 5), Fraction(1, 2)
"""Sums are one statement up to a multiple of the largest rho, and up to less by these parts of it."""
_DOUBT, _UP = 1e-9, 1 + 8 * UNIT


@lru_cache(maxsize=8)
def above(largest: Fraction, total: Fraction, times: int, rare: float, *, of_ranges: bool = False) -> Normal:
    """At most so many steps, of which none is larger, and which add up to no more than the total.

    Steps of bounded range keep what zCDP of rho = range^2/8 asks for, and the same at orders below 1.

    Theorem: let each step of at most `largest` before G_v reveal at most what 2 (1 + share) times its rho adds to v,
        and v(T) grow with T by that much at least. Then V <= rest + G_v(T) for all that is left, T its sum of rho, in
        whatever order the steps are chosen.
    Reference: as for equal steps
    Proof: docs/theory/accounting/two_outcomes.md#many-different-steps
    Checked-by: tests/accounting/two_outcomes/test_mixed_games.py::test_equal_steps_are_within,
        tests/accounting/two_outcomes/test_mixed_games.py::test_one_step_before_normal_noise
    """
    rarest = rare * SPARE / times
    farthest = math.sqrt(-2 * math.log(rarest))
    rho, whole = (math.nextafter(float(one), math.inf) for one in (largest, total))
    tries = []
    for many in _TOGETHER:
        rough = [2 * _EVEN * (many - float(less)) * rho for less in _LESS]
        tries.append((_carried(rough, many * rho, whole, rho, farthest, of_ranges=of_ranges), many))
    found, many = min(tries)
    if found == math.inf:
        raise NotApplicable("steps that are too large")
    known, rests = [], []
    for less in _LESS if many * largest < total else _LESS[:1]:
        statement = Concentrated((many - less) * largest)
        v, _, rest = last_step(statement, touching(statement, rarest), farthest)
        known.append(v)
        rests.append(rest)
    v = _carried(known, float(many * largest) * (1 - 4 * UNIT), whole, rho, farthest, of_ranges=of_ranges)
    if v == math.inf:
        raise NotApplicable("steps that are too large")
    rest = max(rests) + times * normal_tail_one(farthest * (1 - 16 * UNIT)) * (1 + _DOUBT)
    return Normal(Fraction(v), Fraction(1), Fraction(min(rest, 1.0)))


def _carried(
    known: Sequence[float], start: float, total: float, rho: float, farthest: float, *, of_ranges: bool = False
) -> float:
    """v(total), from what it is up to the start, and up to somewhat less; infinite where no share is known.

    A step from just below the start counts as a whole, not only by what it is beyond.
    """
    v = known[0]
    before = min(known)  # not above v at any sum from which one step leads beyond the start
    below = [float(less) * rho * (1 + _DOUBT) for less in (*_LESS[1:], 1)]
    while start < total:
        share = enough(rho, before, farthest, of_ranges=of_ranges)
        if share == math.inf:
            return math.inf
        v = max([v, *(one + 2 * (1 + share) * rest * _UP for one, rest in zip(known, below, strict=False))])
        below = []
        end = min(total, start + max(rho, _GROWTH * start))
        v = (v + 2 * (1 + share) * (end - start) * _UP) * _UP
        before = max(before, v - 2 * (1 + share) * rho * (1 + _DOUBT))
        start = end
    return v


def enough(rho: float, v: float, farthest: float, *, of_ranges: bool = False) -> float:
    """A share for all steps of at most rho before G_v, up to losses of v/2 + farthest sqrt(v); or infinity.

    Theorem: it is enough that ln(1+a) - (1+a) rho/v - a rho/4 + tau^2 (a rho - 2 (1+a)^2 rho^2/v) is at least rho/4 for
        tau = 0 (of bounded ranges 0), and not negative for tau = 1/2 and the largest tau. It is also enough that
        ln(1+a) - ((1+a)/v + a/4) rho (1/2 + x/12) + tau^2 (a rho/2 - 2 (1+a)^2 (rho^2/v) (1/3 +
        x/12 + x^2/360)), x = (tau^2 - 1/4) rho, is not negative for tau = 1/2 and the largest tau; and that without x
        it is at least rho/8 for tau = 0. Of bounded ranges the last is (1+a)^2 rho^2/(6v) in place of rho/8.
    Reference: none
    Proof: docs/theory/accounting/two_outcomes.md#many-different-steps
    Checked-by: tests/accounting/two_outcomes/test_mixed_games.py::test_one_step_before_normal_noise
    """
    share = _SHARES * (rho / v)
    after = np.sqrt(v + 2 * rho * (1 + share)) * _UP
    square = ((after / 2 + farthest) * after / v) ** 2 * (1 + 16 * UNIT)
    given = share, square, rho, v
    kept = np.flatnonzero(np.maximum(*(one(*given, of_ranges=of_ranges) for one in (_at_the_end, _in_the_mean))) > 0)
    return float(share[kept[0]]) if kept.size else math.inf


def _at_the_end(share: Floats, square: Floats, rho: float, v: float, *, of_ranges: bool) -> Floats:
    """Positive where all of what normal noise gains grows at least as fast as what a step may add."""
    even = log1p(share) - (1 + share) * rho / v - share * rho / 4
    slope = share * rho - 2 * (1 + share) ** 2 * rho * rho / v
    near = even if of_ranges else even - rho / 4
    least = np.minimum(near, np.minimum(even + slope / 4, even + square * slope))
    return np.asarray(least - _DOUBT * (share + rho + np.abs(square * slope)))


def _in_the_mean(share: Floats, square: Floats, rho: float, v: float, *, of_ranges: bool) -> Floats:
    """Positive where the sum of it does."""
    part, lost = (1 + share) / v + share / 4, 2 * ((1 + share) * rho) ** 2 / v
    even = log1p(share) - part * rho / 2
    x = np.maximum(square - 0.25, 0.0) * rho
    gain = square * (share * rho / 2 - lost * (1 / 3 + x / 12 + x * x / 360))
    near = even - lost / 12 if of_ranges else even - rho / 8
    half = even + (share * rho / 2 - lost / 3) / 4
    least = np.minimum(near, np.minimum(half, even - part * rho * x / 12 + gain))
    return np.asarray(least - _DOUBT * (share + rho + square * (share * rho + lost * (1 + x) ** 2)))
