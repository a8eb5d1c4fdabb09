"""Few steps of several statements, some about listed orders, in any order: their profile from above.

All that may be left is played, on one lattice. What is left is worth the largest of one step of each kind before the
rest, and each of these is known by functions above it, as in `sketches`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import TypeAlias

import numpy as np

from privately.accounting.adaptive.curves import Curve
from privately.accounting.renyi.orders import best_excess, epsilon_score
from privately.accounting.roads import NotApplicable
from privately.accounting.two_outcomes import searched
from privately.accounting.two_outcomes.allowed import AtOrders, Concentrated, Statement
from privately.accounting.two_outcomes.corners import even_loss
from privately.accounting.two_outcomes.families import Arc, Family, families
from privately.accounting.two_outcomes.listed_games import lattice_of
from privately.accounting.two_outcomes.majorants import Powers, lowered
from privately.accounting.two_outcomes.majorants import above as functions_above
from privately.accounting.two_outcomes.sketches import Found, Lattice, Sketch
from privately.accounting.two_outcomes.steps import NEVER

Parts: TypeAlias = tuple[tuple[Statement, int], ...]
"""Statements, each so many times."""

_SPARE, _IGNORED = 1e-4, 1e-3
_FINE, _COARSE, _MOST_PLACES = 0.1, 0.3, 800
_WORK, _WORK_ZCDP, _MOST_LOSS = 2e7, 1.5e7, 300.0
_SOME = 5
"""Of functions for kinks one of so many is tried, but after the last step."""
_LOWEST, _APART, _BITS = 0.06, 1.15, 1024
"""Orders for the tails of zCDP, less 1, from this one on, each so many times the one before it."""
_TWO = AtOrders(((Fraction(2), Fraction(1)),))
_UNBOUNDED = Fraction(10**9)
_NEAR = 4
"""So many times the largest even pair both directions of zCDP count."""


@dataclass(frozen=True)
class _Kind:
    """One statement, by the orders of it that are tried, and what is known of them on the lattice."""

    powers: Powers
    families: tuple[Family, ...]
    even: int
    """So many places from 0 on both directions may count."""

    def _tried(self, done: int) -> list[Family]:
        """After so many steps."""
        kept = [family for family in self.families if family.is_tried(done)]
        if not done:
            return kept
        return [one for k, one in enumerate(kept) if k % _SOME == 0 or not isinstance(one, Arc) or not one.is_even]

    def before(self, sketch: Sketch, tails: Found, done: int, ignored: float) -> Found:
        """One step of it before what is left after so many."""
        found, lattice = tails.copied(), self.powers.lattice
        count = int(np.count_nonzero(found.upper > ignored))
        for family in self._tried(done):
            tried = family.at(sketch, self.powers, min(self.even, count) if family.is_even else count)
            lowered(found, self.powers, functions_above(sketch, self.powers, tried), family.offsets(lattice))
        return found


@lru_cache(maxsize=8)
def above(parts: Parts, rare: float) -> Curve:
    """Upper values; those far below `rare` need not be told apart.

    Theorem: of all steps that are left any may be the next, so the value of what is left is the largest, over the
        kinds, of one step before the value of the rest.
    Reference: Dong-Durfee-Rogers 2020, section 5, for games of this kind
    Proof: docs/theory/accounting/two_outcomes.md#functions-above
    Checked-by: tests/accounting/two_outcomes/test_several_games.py::test_no_order_is_above,
        tests/accounting/two_outcomes/test_several_games.py::test_one_list_and_one_of_zcdp
    """
    lattice, orders = _lattice(parts, rare)
    times, ignored = [n for _, n in parts], rare * _SPARE * _IGNORED
    exponents = np.array([*(float(1 - order) for order in orders), *map(float, orders)])
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # a value that is out of all range is not taken
        kinds = [_kind(one, _listed(parts), lattice, rare * _SPARE) for one, _ in parts]
        nothing = together([], orders)
        start = Found.nothing(nothing, lattice).of_two(exponents)
        known = {tuple(0 for _ in parts): Sketch.of(start, nothing, lattice, 0)}
        for done in range(sum(times)):
            now = {}
            for left in _level(times, done + 1):
                total = together([(one, n) for (one, _), n in zip(parts, left, strict=True) if n], orders)
                tails = Found.tails(total, lattice, 1).of_two(exponents)
                each = (kinds[k].before(known[_less(left, k)], tails, done, ignored) for k, n in enumerate(left) if n)
                now[left] = Sketch.largest([Sketch.of(one, total, lattice, 1) for one in each], lattice.step)
            known = now
    ((_, found),) = known.items()
    upper = np.minimum.accumulate(np.minimum(found.upper[lattice.left :][: lattice.places], 1.0))
    nothing_below = np.zeros(upper.size)
    return Curve(lattice.step, 0, NEVER, upper, nothing_below, nothing_below)


def _listed(parts: Parts) -> set[Fraction]:
    return {order for one, _ in parts if isinstance(one, AtOrders) for order, _ in one.bounds}


def _kind(statement: Statement, listed: set[Fraction], lattice: Lattice, rare: float) -> _Kind:
    farthest = lattice.places * lattice.step
    if isinstance(statement, AtOrders):
        return _Kind(Powers(statement, lattice), families(statement, farthest)[1], lattice.places)
    if isinstance(statement, Concentrated):
        known = searched.orders(statement.rho, farthest, listed)
        tried = searched.families(statement, known, listed, lattice, rare)
        return _Kind(Powers(known, lattice, 1), tried, _NEAR * lattice.down)
    raise NotApplicable("a statement of another kind")


def _level(times: Sequence[int], many: int) -> Iterator[tuple[int, ...]]:
    """All that may be left, of so many steps."""
    return (left for left in product(*(range(n + 1) for n in times)) if sum(left) == many)


def _less(left: tuple[int, ...], kind: int) -> tuple[int, ...]:
    return tuple(many - (k == kind) for k, many in enumerate(left))


def together(parts: Sequence[tuple[Statement, int]], orders: Sequence[Fraction]) -> AtOrders:
    """What these steps keep together at each order; those that some do not bound count for nothing.

    Theorem: the logarithmic moments of steps, in whatever order they are chosen, add up to no more than the sum of
        their bounds.
    Reference: Mironov 2017, Proposition 1
    Proof: docs/theory/accounting/two_outcomes.md#functions-above
    Checked-by: tests/accounting/two_outcomes/test_several_games.py::test_tails
    """
    least = min((one.bounds[-1][0] for one, _ in parts if isinstance(one, AtOrders)), default=orders[-1])

    def bound(order: Fraction) -> Fraction:
        if order > least:
            return _UNBOUNDED
        return sum((n * Fraction(one.moments.above(order - 1)) for one, n in parts), Fraction(0)) / (order - 1)

    return AtOrders(tuple((order, bound(order)) for order in orders))


def _lattice(parts: Parts, rare: float) -> tuple[Lattice, tuple[Fraction, ...]]:
    """As fine as the work allows; and all orders."""
    rare_log, last = math.log(max(rare * _SPARE, 1e-290)), min(one.last for one, _ in parts)

    def moment(c: float) -> float:
        return sum(n * one.moments.rough(c) for one, n in parts)

    c = min(float(best_excess(lambda c: epsilon_score(moment(c), c, rare_log))), last)
    reach = epsilon_score(moment(c), c, rare_log)
    even = min(math.sqrt(2 * one.size) for one, _ in parts)
    most = max(_even_loss(one) for one, _ in parts)
    plays = sum(n * math.prod(m + 1 for j, (_, m) in enumerate(parts) if j != k) for k, (_, n) in enumerate(parts))
    work = _WORK_ZCDP if any(isinstance(one, Concentrated) for one, _ in parts) else _WORK
    step = max(_FINE * even, reach / min(_MOST_PLACES, math.sqrt(work / plays)))
    if step > _COARSE * even or not 0 < reach < _MOST_LOSS:
        raise NotApplicable("too many steps for a lattice")
    largest = max((one.rho for one, _ in parts if isinstance(one, Concentrated)), default=None)
    return lattice_of(_TWO, step, reach, most), tuple(sorted(_listed(parts) | _for_tails(largest, reach)))


def _even_loss(statement: Statement) -> float:
    """Of randomized response, about the largest that is allowed."""
    if isinstance(statement, Concentrated):
        return math.sqrt(2 * statement.size)
    return max(math.sqrt(2 * statement.size), even_loss(*statement.rows(0.0, 0.0))[0])


def _for_tails(rho: Fraction | None, reach: float) -> set[Fraction]:
    """Orders for zCDP, up to where one step of the largest leaves nothing."""
    if rho is None:
        return set()
    last = 0.75 * reach / float(rho) + 4
    many = math.ceil(math.log(last / _LOWEST) / math.log(_APART))
    return {1 + Fraction(round(_LOWEST * _APART**k * _BITS), _BITS) for k in range(many)}
