"""Which functions above a profile are tried, for a statement about listed orders."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from privately.accounting.two_outcomes.allowed import AtOrders
from privately.accounting.two_outcomes.corners import Corner, edge
from privately.accounting.two_outcomes.majorants import Powers, Tried
from privately.accounting.two_outcomes.sketches import Lattice, Sketch

_AROUND = 3
_SHARES = np.concatenate([np.arange(0.5, 0.96, 0.02), [0.97, 0.98, 0.99]])
_ODDS = 0.125, 0.25, 0.5, 2.0, 4.0, 8.0
_KINKY = 6
"""So many steps leave kinks, between which more than two losses count."""
_LARGEST_POWER = 300.0


class Family(Protocol):
    """Functions that touch at a run of places, one each."""

    @property
    def rows(self) -> tuple[int, int]: ...
    @property
    def is_even(self) -> bool:
        """Of both directions."""

    def is_tried(self, done: int) -> bool:
        """After so many steps."""

    def at(self, sketch: Sketch, powers: Powers, places: int) -> Tried:
        """Those that may count at so many places, from 0 on."""

    def offsets(self, lattice: Lattice) -> range:
        """So far from where they touch they may count."""


@dataclass(frozen=True)
class Arc:
    """One order; maybe with the same of the other direction, in some share."""

    rows: tuple[int, int]
    share: float = 1.0
    always: bool = False
    """Even if there are no kinks."""

    @property
    def is_even(self) -> bool:
        return self.share < 1

    def is_tried(self, done: int) -> bool:
        return self.always or not self.is_even or done < _KINKY

    def at(self, sketch: Sketch, powers: Powers, places: int) -> Tried:
        del sketch  # whatever follows
        lattice = powers.lattice
        one, two = (float(powers.exponents[row]) for row in self.rows)
        away = lattice.step * lattice.down / 1.5
        rest = (1 - self.share) * math.exp(min((two - one) * away, _LARGEST_POWER))
        shares = np.full(places + lattice.down, self.share / (self.share + rest))
        return Tried(self.rows, 0, shares, round(away / lattice.step) if self.is_even else 0)

    def offsets(self, lattice: Lattice) -> range:
        return range(-lattice.down, 2)


@dataclass(frozen=True)
class AtCorner:
    """Two orders, or one in both directions, that hold one pair: touching at both of its losses."""

    corner: Corner
    odds: float = 1.0
    """Of the second order, over those for which it touches."""

    @property
    def rows(self) -> tuple[int, int]:
        return self.corner.rows

    @property
    def is_even(self) -> bool:
        return self.corner.is_even

    def is_tried(self, done: int) -> bool:
        return self.odds == 1 or done < _KINKY

    def offsets(self, lattice: Lattice) -> range:
        down = round(self.corner.down / lattice.step)
        return range(-down - _AROUND, -down + _AROUND + 1) if self.is_even else range(-lattice.down, _AROUND)

    def at(self, sketch: Sketch, powers: Powers, places: int) -> Tried:
        """With the shares for which it touches at both, as near as the lattice has them."""
        lattice = powers.lattice
        down, up = round(self.corner.down / lattice.step), round(self.corner.up / lattice.step)
        here = slice(lattice.left + down, lattice.left + down + places)
        start = np.maximum(np.arange(places) + lattice.left - up, 0)
        away = -(up + down) * lattice.step
        bent = sketch.slopes[start] / math.exp(away) - sketch.slopes[here]
        gap = sketch.upper[start] - sketch.upper[here] - sketch.slopes[here] * math.expm1(away)
        (g, g_slope), (f, f_slope) = (_rise(float(powers.exponents[row]), away) for row in self.rows)
        one = np.maximum((gap * f_slope - f * bent) / (g * f_slope - f * g_slope), 0.0)
        two = np.maximum((g * bent - gap * g_slope) / (g * f_slope - f * g_slope), 0.0)
        two = two * self.odds
        return Tried(self.rows, down, np.where(one + two > 0, one / np.maximum(one + two, 1e-300), 1.0), down)


def _rise(k: float, loss: float) -> tuple[float, float]:
    """G and its slope."""
    return (
        math.expm1(min(k * loss, _LARGEST_POWER)) - k * math.expm1(loss),
        k * math.expm1(min((k - 1) * loss, _LARGEST_POWER)),
    )


def families(statement: AtOrders, farthest: float) -> tuple[float, tuple[Family, ...]]:
    """The loss of the even pair, and all that are tried up to losses that are so large."""
    found = edge(statement, farthest)
    arcs = [Arc((row, row)) for row in found.arcs]
    mixed = [Arc(found.corners[0].rows, float(share)) for share in _SHARES]
    turned = [AtCorner(corner, odds) for corner in found.corners[1:] for odds in _ODDS]
    return found.even, (*arcs, *map(AtCorner, found.corners), *mixed, *turned)
