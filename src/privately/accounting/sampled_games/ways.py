"""What a Poisson sample makes of the ratio r = dP/dQ of a pair, and of what follows, where the row is removed.

s = 1 - q + q r is the ratio of the sampled pair. A place of the lattice is reached from another by s = e^(j step), j a
whole number: these are the columns. Where the row is added, both laws are exchanged, and so is all that follows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from privately.accounting.elementary import ERROR, UNIT, Floats, Integers, exp, expm1
from privately.accounting.sampled_games.profiles import Lattice, Profile

_NEAR, _FARTHER = 40, 3
_LEAST_RATIO = 1 / 64
_LITTLE, _HALF = 1e-9, Fraction(1, 2)


@dataclass(frozen=True)
class Way:
    """A sample of this rate, from which a row is removed, on a lattice.

    Theorem: with V the value of what follows, one sampled step before it is worth the largest mean over Q of
        s V(y/s), s = 1 - q + q r, which is convex in r. Where V = 1 - y it is a line of mean 1 - y.
    Reference: Zhu-Dong-Wang 2022, Theorem 11, for the pairs
    Proof: docs/theory/accounting/sampled_games.md#payoffs
    Checked-by: tests/accounting/sampled_games/test_ways.py::test_payoffs_are_above
    """

    rate: Fraction
    lattice: Lattice
    apart: float = 0.04
    """How far columns are from each other, of how far they are away, and at most."""

    @cached_property
    def jumps(self) -> Integers:
        """The columns: all near 0, and some of those beyond."""
        size, step, last = self.lattice.size, self.lattice.step, self.lattice.size - 1 + self.lattice.beyond
        found, place = set(range(-_NEAR, _NEAR + 1)), _NEAR
        while place < last:
            apart = self.apart if place < size - 1 else _FARTHER * self.apart
            place = min(place + max(min(int(place * apart), int(apart / step)), 1), last)
            found |= {place, -place}
        jumps = np.array(sorted(j for j in found if -size < j <= last))
        grown = expm1(jumps.astype(float) * step)
        return jumps[grown >= -float(self.rate) * (1 - _LEAST_RATIO)]

    @cached_property
    def ratios(self) -> Floats:
        """r at all columns, after r = 0."""
        grown, rate = expm1(self.jumps.astype(float) * self.lattice.step), float(self.rate)
        return np.concatenate([[0.0], 1 + grown / rate])

    @property
    def doubt(self) -> float:
        """The relative error of the ratios, of the factors and of what is left of payoffs."""
        lattice = self.lattice
        return (4 * ERROR + 32 * UNIT * (lattice.size + lattice.beyond) * lattice.step) * (1 / _LEAST_RATIO)

    @property
    def _zero(self) -> int:
        """Where y = 1 is in what is known of a profile."""
        return self.lattice.size - 1 - self.lattice.first + self.lattice.beyond

    @cached_property
    def _factors(self) -> Floats:
        return exp(self.jumps.astype(float) * self.lattice.step)

    def payoffs(self, profile: Profile, place: int) -> tuple[Floats, float]:
        """At r = 0 and all columns, and the slope beyond; less 1 - y, where y is below 1. Not below the truth."""
        values = profile.farther[0 if place >= 0 else 1]
        zero = place + self._zero
        found = np.empty(self.jumps.size + 1)
        found[1:] = self._factors * values[zero - self.jumps]
        found[0] = self._at_nothing(values, np.array([zero]), np.array([place]))[0]
        slope = float(self.rate) if place >= 0 else 0.0
        return found * (1 + self.doubt), slope * (1 + self.doubt)

    def all_payoffs(self, profile: Profile, places: Integers) -> Floats:
        """The same at places on one side of 1, from left to right: a row for each, ended by the slope beyond."""
        is_right = bool(places[0] >= 0)
        values, zeros = profile.farther[0 if is_right else 1], places + self._zero
        found = np.empty((places.size, self.jumps.size + 2))
        found[:, 1:-1] = self._factors * values[zeros[:, None] - self.jumps]
        found[:, 0] = self._at_nothing(values, zeros, places)
        found[:, -1] = float(self.rate) if is_right else 0.0
        return found * (1 + self.doubt)

    @cached_property
    def _far(self) -> float:
        """The largest loss that removes a row's sample."""
        if self.rate == 1:
            return math.inf
        return -math.log1p(-float(self.rate)) if self.rate < _HALF else -math.log(self._left)

    @cached_property
    def _left(self) -> float:
        """1 - q, which q as a float may hardly tell."""
        return float(1 - self.rate)

    def _at_nothing(self, values: Floats, zeros: Integers, places: Integers) -> Floats:
        """At r = 0: what follows at y/(1-q), on the chord between two places."""
        step = self.lattice.step
        found = np.full(places.size, self._left * float(values[-1]))
        if places[0] < 0:
            found = exp(places.astype(float) * step) + self._left
        is_inside = self._far < step * (values.size - 2 - zeros)
        if is_inside.any():
            far = int(self._far / step)
            share = math.expm1(self._far - far * step) / math.expm1(step)
            first, second = (values[zeros[is_inside] + far + k] for k in (0, 1))
            shares = np.clip(share + np.copysign(_LITTLE, second - first), 0.0, 1.0)
            found[is_inside] = self._left * (first + shares * (second - first))
        return found
