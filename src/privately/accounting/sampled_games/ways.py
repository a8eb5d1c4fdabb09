"""What a Poisson sample makes of the ratio r = dP/dQ of a pair, and of what follows, in either direction.

s is the ratio of the sampled pair: 1 - q + q r where the row is removed, r/(q + (1 - q) r) where it is added. A place
of the lattice is reached from another by s = e^(j step), j a whole number: these are the columns.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from privately.accounting.elementary import ERROR, UNIT, Floats, Integers, exp, expm1
from privately.accounting.losses import Direction
from privately.accounting.sampled_games.profiles import Lattice, Profile

_NEAR, _GROWTH, _APART = 40, 0.04, 0.04
_LEAST_RATIO, _LEAST_LEFT = 1 / 64, 1 / 256
_LITTLE, _HALF = 1e-9, Fraction(1, 2)


@dataclass(frozen=True)
class Way:
    """A sample of this rate, in one direction, on a lattice.

    Theorem: with V the value of what follows, one sampled step before it is worth the largest mean over Q of
        s V(y/s), s = 1 - q + q r, or of r V(y/s), s = r/(q + (1-q) r); both are convex in r. Where V = 1 - y they are
        lines of mean 1 - y.
    Reference: Zhu-Dong-Wang 2022, Theorem 11, for the pairs
    Proof: docs/theory/accounting/sampled_games.md#payoffs
    Checked-by: tests/accounting/sampled_games/test_ways.py::test_payoffs_are_above
    """

    rate: Fraction
    direction: Direction
    lattice: Lattice

    @property
    def is_kept(self) -> bool:
        """Whether it is the first law that is mixed."""
        return self.direction == "remove"

    @cached_property
    def jumps(self) -> Integers:
        """The columns: all near 0, and some of those beyond."""
        size, step = self.lattice.size, self.lattice.step
        found, place = set(range(-_NEAR, _NEAR + 1)), _NEAR
        while place < size - 1:
            place = min(place + max(min(int(place * _GROWTH), int(_APART / step)), 1), size - 1)
            found |= {place, -place}
        jumps = np.array(sorted(j for j in found if abs(j) < size))
        grown = expm1(jumps.astype(float) * step)
        rate = float(self.rate)
        if self.is_kept:
            return jumps[grown >= -rate * (1 - _LEAST_RATIO)]
        small = exp(jumps.astype(float) * step) * rate >= _LEAST_RATIO**2
        return jumps[(rate - (1 - rate) * grown >= rate * _LEAST_LEFT) & small]

    @cached_property
    def ratios(self) -> Floats:
        """r at all columns, after r = 0."""
        grown, rate = expm1(self.jumps.astype(float) * self.lattice.step), float(self.rate)
        found = 1 + grown / rate if self.is_kept else rate * (1 + grown) / (rate - (1 - rate) * grown)
        return np.concatenate([[0.0], found])

    @property
    def doubt(self) -> float:
        """The relative error of the ratios, of the factors and of what is left of payoffs."""
        return (4 * ERROR + 32 * UNIT * self.lattice.size * self.lattice.step) * (1 / _LEAST_LEFT)

    @cached_property
    def _factors(self) -> Floats:
        return exp(self.jumps.astype(float) * self.lattice.step) if self.is_kept else self.ratios[1:]

    def payoffs(self, profile: Profile, place: int) -> tuple[Floats, float]:
        """At r = 0 and all columns, and the slope beyond; less 1 - y, where y is below 1. Not below the truth."""
        values = profile.padded[0 if place >= 0 else 1]
        zero = place - self.lattice.first + self.lattice.size - 1
        found = np.empty(self.jumps.size + 1)
        found[1:] = self._factors * values[zero - self.jumps]
        found[0] = self._at_nothing(values, zero, place)
        slope = self._at_all(values, zero, place) if not self.is_kept else float(self.rate) if place >= 0 else 0.0
        return found * (1 + self.doubt), slope * (1 + self.doubt)

    @cached_property
    def _far(self) -> float:
        """The largest loss that removes a row's sample."""
        if self.rate == 1:
            return math.inf
        return -math.log1p(-float(self.rate)) if self.rate < _HALF else -math.log(self._left)

    @property
    def _left(self) -> float:
        """1 - q, which q as a float may hardly tell."""
        return float(1 - self.rate)

    def _at_nothing(self, values: Floats, zero: int, place: int) -> float:
        """At r = 0: what follows at y/(1-q), on the chord between two places; for additions y is beyond all bounds."""
        step, rate = self.lattice.step, float(self.rate)
        y = math.exp(place * step)
        if not self.is_kept:
            return 0.0 if place >= 0 else y * rate
        if not self._far < step * (values.size - 2 - zero):
            return self._left * float(values[-1]) if place >= 0 else y + self._left
        places = int(self._far / step)
        share = math.expm1(self._far - places * step) / math.expm1(step)
        first, second = float(values[zero + places]), float(values[zero + places + 1])
        share = min(max(share + math.copysign(_LITTLE, second - first), 0.0), 1.0)
        return self._left * (first + share * (second - first))

    def _at_all(self, values: Floats, zero: int, place: int) -> float:
        """At y (1-q), where r is beyond all bounds: V falls and X rises."""
        places = self._far / self.lattice.step
        if place >= 0:
            return float(values[zero - math.ceil(places) - 1]) if places + 2 < zero else 1.0
        return float(values[zero - int(places) + 1 if places < zero else 0])
