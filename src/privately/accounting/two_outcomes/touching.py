"""Where straight lines touch that are above all pairs which zCDP allows: two losses, and the order that holds them.

They are only looked for, in floats: every line is proved by itself, wherever it touches.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from privately.accounting.elementary import Floats
from privately.accounting.two_outcomes.allowed import Concentrated
from privately.accounting.two_outcomes.edges import edge

_SHARES = np.linspace(0.5, 1.0, 8)
_NEAREST = np.geomspace(0.002, 0.05, 8)
_NEAR = np.linspace(0.05, 4.0, 80)[1:]
_FAR = 50
_LARGEST_POWER = 300.0
_HALVINGS = 80


@dataclass(frozen=True)
class Touching:
    """For rho-zCDP, from the even pair, which both directions of order 1 hold, to rare large losses and high orders."""

    rho: float
    """Rounded up."""
    highs: Floats
    lows: Floats
    orders: Floats
    shares: Floats
    """How much of the order counts; the rest is order 0, which is order 1 of the other direction."""

    @property
    def last(self) -> float:
        return self.orders.size - 1.0

    def at(self, index: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Between two of them, if need be."""
        places = np.arange(float(self.orders.size))
        high, low, order, share = (
            np.interp(index, places, part) for part in (self.highs, self.lows, self.orders, self.shares)
        )
        return high, low, order, share


@lru_cache(maxsize=8)
def touching(statement: Concentrated, rarest: float) -> Touching:
    """Losses as large as count where probabilities of `rarest` do."""
    rho = math.nextafter(float(statement.rho), math.inf)
    even = _even(rho)
    far = np.geomspace(4.0, max(40.0, -1.2 * math.log(rarest)), _FAR)
    y = -np.logaddexp(0.0, even + np.concatenate([_NEAREST, _NEAR, far]))
    z, order = edge(statement, y)
    with np.errstate(divide="ignore"):  # losses so large that the rest is 0 in floats are not kept
        low = np.log1p(-np.exp(y + z)) - np.log1p(-np.exp(y))
    kept = (z + low > 0) & (z > 0) & (order * z < _LARGEST_POWER)
    same = np.full(_SHARES.size, even)
    return Touching(
        rho,
        np.concatenate([same, z[kept]]),
        np.concatenate([-same, low[kept]]),
        np.concatenate([np.ones(_SHARES.size), order[kept]]),
        np.concatenate([_SHARES, np.ones(int(kept.sum()))]),
    )


def _even(rho: float) -> float:
    """The loss of randomized response that is just allowed: e tanh(e/2) = rho."""
    low, high = 0.0, 2 * math.sqrt(rho) + 2 * rho
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if middle * math.tanh(middle / 2) < rho else (low, middle)
    return low
