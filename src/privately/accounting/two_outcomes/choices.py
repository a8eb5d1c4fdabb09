"""Pairs of two outcomes that a statement allows, of all kinds, as choices for one step of a game on a lattice."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np

from privately.accounting.elementary import Floats
from privately.accounting.roads import NotApplicable
from privately.accounting.two_outcomes import search
from privately.accounting.two_outcomes.allowed import Statement
from privately.accounting.two_outcomes.pairs import TwoOutcomes
from privately.accounting.two_outcomes.supports import Limit

_NEAR, _FAR, _FINE, _ORDERS = 100, 60, 0.04, 150
_ROOM = 1e-9
_HIGHEST_EXCESS = 100.0
_MARGIN, _TRIES = 1e-5, 4
_AROUND = Fraction(1, 400)


@dataclass(frozen=True)
class Choice:
    """An allowed pair of two outcomes: their probabilities, and how many places of the lattice each loss is off 0."""

    p: float
    q: float
    up: int
    down: int
    limit: Limit
    """The order that holds it, and its bound."""

    @property
    def weights(self) -> tuple[float, float, float, float]:
        """Of the outcome with the larger loss under P and under Q, then of the other one."""
        return self.p, self.q, 1 - self.p, 1 - self.q

    @property
    def mirrored(self) -> tuple[float, float, float, float]:
        """The same with both laws exchanged."""
        return 1 - self.q, 1 - self.p, self.q, self.p


@dataclass(frozen=True)
class Table:
    """The choices of one statement on a lattice with so many places."""

    step: float
    places: int
    choices: tuple[Choice, ...]
    is_listed: bool
    """Whether only some orders are bounded."""


def table(statement: Statement, step: float, places: int) -> Table:
    """Choices of all kinds, from nearly even ones to rare large losses, each shown to be allowed."""
    orders, bounds = _orders(statement)
    tight = bounds * (1 - _MARGIN)
    even = search.reach(np.array([-math.log(2)]), orders, tight)  # no pair has a smaller loss
    rises = [np.arange(_NEAR) * _FINE, _NEAR * _FINE * np.geomspace(1, places * step + 50, _FAR)]
    y = -np.logaddexp(0.0, max(float(even.min()), step) + np.concatenate(rises))
    z = search.reach(y, orders, tight)
    at = orders[np.argmin(z, axis=1)]
    z = z.min(axis=1)
    for _ in range(2 if statement.last == math.inf else 0):
        at = _summits(y, z, at, tight)
        near = np.concatenate([np.ones((y.size, 1)), 1 + (at - 1)[:, None] * np.array([0.99, 1.0, 1.01])], axis=1)
        z = search.reach(y, near, tight[:1]).min(axis=1)
    kept = np.flatnonzero((np.exp(y) + np.exp(y + z) < 1 - _ROOM) & (z < 2 * places * step))
    found = [_choice(statement, math.exp(y[k]), float(z[k]), step, at[k]) for k in kept]
    choices = tuple(one for one in found if one is not None)
    if not choices:
        raise NotApplicable("no choice of this statement is known on the lattice")
    return Table(step, places, choices, statement.last < math.inf)


def _orders(statement: Statement) -> tuple[Floats, Floats]:
    if statement.last < math.inf:
        return statement.rows(0.0, 0.0)
    rho = float(statement.bound(Fraction(2)))
    excess = np.geomspace(1e-4, _HIGHEST_EXCESS * (1 + 1 / math.sqrt(rho)), _ORDERS)
    orders = np.concatenate([[1.0], 1 + excess])
    return orders, np.full(orders.size, rho)


def _summits(y: Floats, z: Floats, orders: Floats, bounds: Floats) -> Floats:
    """About where F is largest, near some orders."""
    near = np.log(np.maximum(orders - 1, 1e-12))[:, None]
    for half in (0.1, 0.005, 0.0003):
        looked = near + np.linspace(-half, half, 41)
        values = search.measured(bounds)(y[:, None], z[:, None], 1 + np.exp(looked))
        near = np.take_along_axis(looked, np.argmax(values, axis=1)[:, None], axis=1)
    found: Floats = np.where(orders > 1, 1 + np.exp(near[:, 0]), 1.0)
    return found


def _choice(statement: Statement, q: float, z: float, step: float, order: float) -> Choice | None:
    listed = statement.last < math.inf
    exact = statement.order(order) if listed else Fraction(order)
    for _ in range(_TRIES):
        p = q * math.exp(z)
        try:
            excess, _ = statement.exceeded(TwoOutcomes(Decimal(p), Decimal(q)), exact, _AROUND)
        except NotApplicable:
            return None
        if excess <= 0:
            low = math.log1p(-p) - math.log1p(-q)
            return Choice(p, q, round(z / step), round(-low / step), Limit(exact, statement.bound(exact)))
        q *= 1 - _MARGIN
    return None
