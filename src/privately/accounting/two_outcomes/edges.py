"""The edge of what a statement allows: for each q the largest p of two outcomes, and which order holds it."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from privately.accounting.elementary import Floats
from privately.accounting.two_outcomes import search
from privately.accounting.two_outcomes.allowed import Statement

_ORDERS, _HIGHEST_EXCESS = 150, 100.0


def edge(statement: Statement, y: Floats, margin: float = 0.0) -> tuple[Floats, Floats]:
    """At each y = ln q the largest z = ln(p/q), by bounds that are so much tighter, and about which order holds it."""
    orders, bounds = _orders(statement)
    tight = bounds * (1 - margin)
    z = search.reach(y, orders, tight)
    at = orders[np.argmin(z, axis=1)]
    z = z.min(axis=1)
    for _ in range(2 if statement.last == math.inf else 0):
        at = _summits(y, z, at, tight)
        near = np.concatenate([np.ones((y.size, 1)), 1 + (at - 1)[:, None] * np.array([0.99, 1.0, 1.01])], axis=1)
        z = search.reach(y, near, tight[:1]).min(axis=1)
    return z, at


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
