"""Functions above a profile for a step of zCDP: which of very many orders is tried at each place, by a search."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from privately.accounting.elementary import UNIT, Floats, Integers
from privately.accounting.roads import NotApplicable
from privately.accounting.two_outcomes.allowed import AtOrders, Concentrated
from privately.accounting.two_outcomes.before_normal import mean_of
from privately.accounting.two_outcomes.families import Arc, Family
from privately.accounting.two_outcomes.majorants import Powers, Tried
from privately.accounting.two_outcomes.sketches import Lattice, Sketch
from privately.accounting.two_outcomes.smooth import Smooth, Touched
from privately.accounting.two_outcomes.touching import touching

_LOWEST, _APART, _BITS = 0.06, 1.02, 2**20
"""The least order less 1, and each over the one before it."""
_LARGEST = 500.0
"""Of logarithms of moments."""
_BETWEEN, _AROUND = 6, 2
_PLACES, _WIDE = 90, 10
_SHIFTS = 0, -5
"""Of orders beside those by which a profile bends."""
_PARTS = np.geomspace(0.004, 1.2, 16).tolist()
_TIMES = 0.3, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 1.0, 1.05, 1.1, 1.2, 1.5, 2.0
_TINY = 1e-300
_SHARES = 0.5, 0.8


def orders(rho: Fraction, farthest: float, others: Iterable[Fraction]) -> AtOrders:
    """What zCDP says of as many orders as count for losses up to these, and of these other ones."""
    last = 1.5 * farthest / (2 * float(rho)) + 4
    many = math.ceil(math.log(last / _LOWEST) / math.log(_APART))
    tried = sorted({1 + Fraction(round(_LOWEST * _APART**k * _BITS), _BITS) for k in range(many)}.union(others))
    kept = tuple((t, t * rho) for t in tried if t * (t - 1) * rho < _LARGEST)
    if not kept:
        raise NotApplicable("a rho that is too large")
    return AtOrders(kept)


def touched(statement: Concentrated, step: float, farthest: float, rare: float) -> Touched:
    """Where lines touch, as in `waves`."""
    known = touching(statement, rare)
    high, low, order, share = known.at(np.arange(0.0, known.last, 1 / _BETWEEN))
    kept = high < farthest
    high, low, order, share = (one[kept] for one in (high, low, order, share))
    mean = share * mean_of(order * (order - 1), known.rho) + (1 - share) * known.rho
    return Touched(high, low, order, share, mean * (1 + 8 * UNIT), step)


@dataclass(frozen=True)
class Searched:
    """One order at each place, about the best one if what follows is like normal noise."""

    touched: Touched
    is_even: bool = False

    @property
    def rows(self) -> tuple[int, int]:
        return 0, 0

    def is_tried(self, done: int) -> bool:
        del done  # at all times
        return True

    def at(self, sketch: Sketch, powers: Powers, places: int) -> Tried:
        lattice = powers.lattice
        values = sketch.upper[lattice.left : lattice.left + lattice.places]
        kind, _, _ = Smooth.of(values, lattice.left, lattice.step).best(self.touched, lattice.places)
        there = np.maximum.accumulate(np.arange(float(lattice.places)) - self.touched.lows[kind] / lattice.step)
        excess = np.maximum(self.touched.orders[kind] - 1, _LOWEST)
        found = np.interp(np.arange(float(places + lattice.down)), there, excess)
        known = -powers.exponents[: powers.exponents.size - 1]
        row = np.clip(np.searchsorted(known, found), 0, known.size - 1)
        return Tried((row, row), 0, np.ones(row.size))

    def offsets(self, lattice: Lattice) -> range:
        return range(-lattice.down, 2)


@dataclass(frozen=True)
class TwoOrders:
    """An order that is given, or about that by which the profile bends, and a higher one, whichever costs least."""

    rho: float
    row: int | None = None
    shift: int = 0
    is_even: bool = False

    @property
    def rows(self) -> tuple[int, int]:
        return 0, 0

    def is_tried(self, done: int) -> bool:
        return done > 0

    def at(self, sketch: Sketch, powers: Powers, places: int) -> Tried:
        lattice = powers.lattice
        here = np.arange(places + lattice.down) + lattice.left
        orders = 1 - powers.exponents[:-1]
        bent = np.maximum(_bent(sketch.upper, lattice.step), _TINY)
        by_slope = self._by_slope(bent, lattice.step, orders)[here]
        main = by_slope if self.row is None else np.full(here.size, self.row)
        first = bent[here] / (orders[main] * (orders[main] - 1))
        far = np.arange(float(here.size)) * (lattice.step / (2 * self.rho))
        some = np.arange(0, here.size, max(here.size // _PLACES, 1))
        wanted, times = _best(_Missing(sketch, powers, here[some], here[some]), main[some], first[some], far[some])
        nearest = np.minimum((np.arange(here.size) + some[1] // 2) // some[1], some.size - 1)
        first *= times[nearest]
        higher = np.clip(np.searchsorted(orders, orders[main] + wanted[nearest] * far), 0, orders.size - 1)
        more = _Missing(sketch, powers, here, here).after(main, first, higher)
        return Tried((main, higher), 0, np.ones(here.size), 0, more / np.maximum(first, _TINY))

    def _by_slope(self, bent: Floats, step: float, orders: Floats) -> Integers:
        around = np.pad(np.log(bent), _WIDE, mode="edge")
        slope = (around[: -2 * _WIDE] - around[2 * _WIDE :]) / (2 * _WIDE * step)
        found: Integers = np.clip(np.searchsorted(orders, slope + 1) + self.shift, 0, orders.size - 1)
        return found

    def offsets(self, lattice: Lattice) -> range:
        return range(-lattice.down, 2)


class _Missing:
    """How far a profile is above its tangents at some places, at some places before them."""

    def __init__(self, sketch: Sketch, powers: Powers, here: Integers, columns: Integers) -> None:
        self.powers = powers
        self.apart = np.minimum(columns[None, :] - here[:, None], 0) - powers.first
        tangents = sketch.upper[here][:, None] + sketch.slopes[here][:, None] * powers.rise[self.apart]
        self.over = sketch.upper[columns] - tangents

    def means(self, row: Integers) -> Floats:
        found: Floats = self.powers.after[row, -self.powers.first]
        return found

    def g(self, row: Integers) -> Floats:
        found: Floats = self.powers.g[row[:, None], self.apart]
        return found

    def after(self, main: Integers, first: Floats, higher: Integers) -> Floats:
        """What is needed of the higher order."""
        own = self.g(main)
        over = np.where(own > self.means(main)[:, None], self.over - first[:, None] * own, 0.0)
        found: Floats = np.maximum((over / np.maximum(self.g(higher), _TINY)).max(axis=1), 0.0)
        return found


def _best(missing: _Missing, main: Integers, first: Floats, far: Floats) -> tuple[Floats, Floats]:
    """How much higher the other order is, over what may count so far off, and how much of the first is taken."""
    orders = 1 - missing.powers.exponents[:-1]
    best, part, share = np.full(main.size, np.inf), np.zeros(main.size), np.ones(main.size)
    own, mean = missing.g(main), missing.means(main)
    counts = own > mean[:, None]
    for wanted in _PARTS:
        higher = np.clip(np.searchsorted(orders, orders[main] + wanted * far), 0, orders.size - 1)
        g, after = np.maximum(missing.g(higher), _TINY), missing.means(higher)
        over, less = np.where(counts, missing.over / g, 0.0), np.where(counts, own / g, 0.0)
        for times in _TIMES:
            needed = np.maximum((over - (first * times)[:, None] * less).max(axis=1), 0.0)
            lift = (missing.over - (first * times)[:, None] * own - needed[:, None] * g).max(axis=1)
            cost = needed * after + first * times * mean + np.maximum(lift, 0.0)
            part, share = np.where(cost < best, wanted, part), np.where(cost < best, times, share)
            best = np.minimum(best, cost)
    return part, share


def _bent(values: Floats, step: float) -> Floats:
    """About the second derivative in y, times y^2."""
    wide = np.pad(values, _AROUND, mode="edge")
    later, before = wide[2 * _AROUND :], wide[: -2 * _AROUND]
    far = _AROUND * step
    found: Floats = (later + before - 2 * values) / far**2 - (later - before) / (2 * far)
    return found


def families(
    statement: Concentrated, known: AtOrders, listed: Iterable[Fraction], lattice: Lattice, rare: float
) -> tuple[Family, ...]:
    """For these orders of it, the lowest of which counts in both directions, and those that others list."""
    found = touched(statement, lattice.step, lattice.places * lattice.step, rare)
    orders, rho = [order for order, _ in known.bounds], float(statement.rho)
    rows = [orders.index(order) for order in listed if order in orders]
    return (
        *(TwoOrders(rho, row) for row in rows),
        *(TwoOrders(rho, shift=shift) for shift in _SHIFTS),
        Searched(found),
        *(Arc((0, len(orders)), share, always=True) for share in _SHARES),
    )
