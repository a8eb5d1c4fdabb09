"""Which listed orders hold pairs of two outcomes, and the pairs that two of them hold; in floats, for searches only."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from privately.accounting.elementary import Floats
from privately.accounting.two_outcomes import search
from privately.accounting.two_outcomes.allowed import AtOrders

_HALVINGS = 60
_LARGEST_EVEN = 700.0
_NEAR, _FAR = np.geomspace(1e-4, 4.0, 120), 160


@dataclass(frozen=True)
class Corner:
    """A pair that two rows hold, and its losses, up and down."""

    rows: tuple[int, int]
    up: float
    down: float
    is_even: bool = False


@dataclass(frozen=True)
class Edge:
    """Rows k are the orders, one after the other, and then the same orders of the other direction."""

    arcs: tuple[int, ...]
    """The orders that hold pairs by themselves."""
    corners: tuple[Corner, ...]
    """The even pair first, which one order holds in both directions."""

    @property
    def even(self) -> float:
        return self.corners[0].up


def edge(statement: AtOrders, farthest: float) -> Edge:
    """From the even pair to losses that are so large."""
    orders, bounds = statement.rows(0.0, 0.0)
    even, row = even_loss(orders, bounds)
    ratios = np.unique(np.concatenate([_NEAR * max(even, 1e-9), np.geomspace(4 * even, 2 * farthest + 4, _FAR)]))
    y = -np.logaddexp(0.0, even + ratios * np.linspace(1.0, orders[-1], ratios.size))
    z = search.reach(y, orders, bounds)
    held = np.argmin(z, axis=1)
    corners = [Corner((row, orders.size + row), even, even, is_even=True)]
    for k, (one, two) in enumerate(pairwise(held.tolist())):
        if one != two and z[k].min() < farthest:
            corners.append(_corner(orders, bounds, (one, two), y[k], y[k + 1]))
    return Edge(tuple(sorted({row, *held[z.min(axis=1) < 2 * farthest].tolist()})), tuple(corners))


def even_loss(orders: Floats, bounds: Floats) -> tuple[float, int]:
    """The largest loss of an even pair, and the order that holds it."""
    low, high = np.zeros(orders.size), np.full(orders.size, _LARGEST_EVEN)
    for _ in range(_HALVINGS):
        loss = (low + high) / 2
        inside = search.measured(bounds)(-np.logaddexp(0.0, loss), loss, orders) <= bounds
        low, high = np.where(inside, loss, low), np.where(inside, high, loss)
    return float(low.min()), int(np.argmin(low))


def _corner(orders: Floats, bounds: Floats, rows: tuple[int, int], y: float, end: float) -> Corner:
    for _ in range(_HALVINGS):
        middle = (y + end) / 2
        z = search.reach(np.array([middle]), orders, bounds)[0]
        y, end = (middle, end) if z[rows[0]] < z[rows[1]] else (y, middle)
    up = float(search.reach(np.array([y]), orders, bounds).min())
    return Corner(rows, up, math.log1p(-math.exp(y)) - math.log1p(-min(math.exp(y + up), 1 - 1e-15)))
