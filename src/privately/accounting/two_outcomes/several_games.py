"""Few steps of several statements, some about listed orders, in any order: their profile from above.

All that may be left is played, on one lattice; a profile is straight between its places, and nothing else is known.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import Protocol, TypeAlias

import numpy as np

from privately.accounting.adaptive.curves import Curve
from privately.accounting.elementary import Floats
from privately.accounting.renyi.orders import best_excess, epsilon_score
from privately.accounting.roads import NotApplicable
from privately.accounting.two_outcomes.allowed import AtOrders, Concentrated, Statement
from privately.accounting.two_outcomes.families import families
from privately.accounting.two_outcomes.listed_games import lattice_of
from privately.accounting.two_outcomes.long_games import before, whole
from privately.accounting.two_outcomes.majorants import Powers
from privately.accounting.two_outcomes.smooth import Smooth
from privately.accounting.two_outcomes.steps import NEVER
from privately.accounting.two_outcomes.touching import touching
from privately.accounting.two_outcomes.waves import Lattice as WaveLattice
from privately.accounting.two_outcomes.waves import Wave, Waves, raised

Parts: TypeAlias = tuple[tuple[Statement, int], ...]
"""Statements, each so many times."""

_SPARE = 1e-4
_FINE, _COARSE, _MOST_PLACES = 0.08, 0.2, 1100
_WORK, _MOST_LOSS = 2e7, 300.0
_SOME, _SMOOTH = 5, 10**6
"""Of functions for kinks so many are tried, one of so many, but after the last step; and when none are left."""
_AROUND = Fraction(3, 4), Fraction(1), Fraction(5, 4)
"""Orders that are tried for zCDP beside a listed one."""
_NO_TAIL = 1e6
"""A rho that says nothing of large losses."""
_TAIL_DOUBT = 1e-8


class _Kind(Protocol):
    def before(self, values: Floats, done: int) -> Floats:
        """Upper values of one step before what is left after so many."""


class _Listed:
    def __init__(self, statement: AtOrders, step: float, places: int) -> None:
        even, self.families = families(statement, places * step)
        lattice = lattice_of(statement, step, places * step, even)
        self.powers = Powers(statement, replace(lattice, places=places))

    def before(self, values: Floats, done: int) -> Floats:
        tried = [family for family in self.families if family.is_tried(done)]
        if done:
            tried = [one for k, one in enumerate(tried) if k % _SOME == 0 or not one.is_even or one.is_tried(_SMOOTH)]
        return before(values, self.powers, tried)


class _Concentrated:
    """By lines of all orders, or by the powers of some, whichever says less."""

    def __init__(self, statement: Concentrated, orders: Sequence[Fraction], step: float, places: int, rare: float):
        self.lattice = WaveLattice(step, places)
        self.waves = Waves(touching(statement, rare), self.lattice)
        around = sorted({order * near for order in orders for near in _AROUND if order * near > 1})
        self.listed = _Listed(AtOrders(tuple((order, order * statement.rho) for order in around)), step, places)

    def before(self, values: Floats, done: int) -> Floats:
        wave = Wave(values, Smooth.of(values, self.lattice.far, self.lattice.step), _NO_TAIL)
        return np.minimum(raised(wave, self.waves).upper, self.listed.before(values, done))


@lru_cache(maxsize=8)
def above(parts: Parts, rare: float) -> Curve:
    """Upper values; those far below `rare` need not be told apart.

    Theorem: of all steps that are left any may be the next, so the value of what is left is the largest, over the
        kinds, of one step before the value of the rest.
    Reference: Dong-Durfee-Rogers 2020, section 5, for games of this kind
    Proof: docs/theory/accounting/two_outcomes.md#functions-above
    Checked-by: tests/accounting/two_outcomes/test_several_games.py::test_no_order_is_above,
        tests/accounting/two_outcomes/test_several_games.py::test_tails
    """
    step, places = _lattice(parts, rare)
    orders = sorted({order for one, _ in parts if isinstance(one, AtOrders) for order, _ in one.bounds})
    kinds = [_kind(one, orders, step, places, rare * _SPARE) for one, _ in parts]
    times = [n for _, n in parts]
    known = {tuple(0 for _ in parts): np.zeros(places)}
    with np.errstate(over="ignore", invalid="ignore"):  # a value that is out of all range is not taken
        for done in range(sum(times)):
            known = {
                left: whole(
                    np.minimum(
                        np.max([kinds[k].before(known[_less(left, k)], done) for k, n in enumerate(left) if n], axis=0),
                        tails([(one, n) for (one, _), n in zip(parts, left, strict=True) if n], orders, step, places),
                    ),
                    step,
                )
                for left in _level(times, done + 1)
            }
    ((_, found),) = known.items()
    nothing = np.zeros(places)
    return Curve(step, 0, NEVER, found, nothing, nothing)


def _kind(statement: Statement, orders: Sequence[Fraction], step: float, places: int, rare: float) -> _Kind:
    if isinstance(statement, AtOrders):
        return _Listed(statement, step, places)
    if isinstance(statement, Concentrated):
        return _Concentrated(statement, orders, step, places, rare)
    raise NotApplicable("a statement of another kind")


def _level(times: Sequence[int], many: int) -> Iterator[tuple[int, ...]]:
    """All that may be left, of so many steps."""
    return (left for left in product(*(range(n + 1) for n in times)) if sum(left) == many)


def _less(left: tuple[int, ...], kind: int) -> tuple[int, ...]:
    return tuple(many - (k == kind) for k, many in enumerate(left))


def tails(parts: Sequence[tuple[Statement, int]], orders: Sequence[Fraction], step: float, places: int) -> Floats:
    """What these steps reveal at most, by single orders that all of them bound."""
    least = min((one.bounds[-1][0] for one, _ in parts if isinstance(one, AtOrders)), default=orders[-1])
    known = [order - 1 for order in orders if order <= least]
    excess = np.array([float(c) for c in known])
    moments = np.array([float(sum((n * one.moments.above(c) for one, n in parts), Fraction(0))) for c in known])
    logs = moments - excess * np.log1p(1 / excess) - np.log1p(excess)
    logs = (logs - excess * (np.arange(float(places))[:, None] * step)).min(axis=1)
    found: Floats = np.exp(np.minimum(logs, 0.0)) * (1 + _TAIL_DOUBT)
    return found


def _lattice(parts: Parts, rare: float) -> tuple[float, int]:
    """As fine as the work allows."""
    rare_log, last = math.log(max(rare * _SPARE, 1e-290)), min(one.last for one, _ in parts)

    def moment(c: float) -> float:
        return sum(n * one.moments.rough(c) for one, n in parts)

    c = min(float(best_excess(lambda c: epsilon_score(moment(c), c, rare_log))), last)
    reach = epsilon_score(moment(c), c, rare_log)
    even = min(math.sqrt(2 * one.size) for one, _ in parts)
    plays = sum(n * math.prod(m + 1 for j, (_, m) in enumerate(parts) if j != k) for k, (_, n) in enumerate(parts))
    step = max(_FINE * even, reach / min(_MOST_PLACES, math.sqrt(_WORK / plays)))
    if step > _COARSE * even or not 0 < reach < _MOST_LOSS:
        raise NotApplicable("too many steps for a lattice")
    return step, math.ceil(reach / step) + 2
