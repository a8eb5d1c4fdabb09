"""How much the best of all pairs of bounded range gains; names as in `rules`."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np

from privately.accounting.elementary import UNIT, Floats

_FINE = 0.02
"""So far apart, in ln z, chords begin."""


class Ranged:
    """All ratios are in one interval [z, E z].

    Theorem: the largest mean of a convex payoff is that of a chord from z to E z at 1, over z from 1/E to 1. Where the
        payoff has the slopes u and v at both ends as z moves from z0 to z1 = z0 e^d, it is at most the larger of its
        values at z0 and z1 and 2 (cosh(d/2) - 1) E (v - u) z1/(E - 1).
    Reference: Dong-Durfee-Rogers 2020, section 4
    Proof: docs/theory/accounting/sampled_games.md#ranges
    Checked-by: tests/accounting/sampled_games/test_ranges.py::test_no_pair_of_bounded_range_gains_more
    """

    def __init__(self, size: Fraction, ratios: Floats, doubt: float) -> None:
        grown = math.exp(float(size)) * (1 + 8 * UNIT)
        self.ratios, self.doubt = np.append(ratios, 2 * max(ratios[-1], grown)), 8 * doubt
        z = self._starts(grown)
        self._near, self._far = _Chords(self.ratios, z), _Chords(self.ratios, z * grown)
        self._weights = np.clip((grown * z - 1) / ((grown - 1) * z), 0.0, 1.0)
        self._bulges = 4.001 * np.sinh(np.log(z[1:] / z[:-1]) / 4) ** 2 * grown / (grown - 1) * z[1:]

    def _starts(self, grown: float) -> Floats:
        """From 1/E to 1: all columns, those whose chords end at columns, and some between."""
        ends = np.concatenate([self.ratios, self.ratios / grown])
        found = np.unique(np.clip(ends, 1 / grown, 1.0))
        parts = [np.linspace(a, b, math.ceil(math.log(b / a) / _FINE), endpoint=False) for a, b in pairwise(found)]
        return np.unique(np.concatenate([*parts, found[-1:]]))

    def most(self, payoffs: Floats, slope: float) -> float:
        """No allowed pair has a larger mean payoff over Q."""
        payoffs = np.append(payoffs, payoffs[-1] + slope * (self.ratios[-1] - self.ratios[-2]))
        slopes = np.diff(payoffs) / np.diff(self.ratios)
        near, low, low_size = self._near.read(payoffs, slopes)
        far, high, high_size = self._far.read(payoffs, slopes)
        sizes = self._weights * low_size + (1 - self._weights) * high_size
        values = self._weights * near + (1 - self._weights) * far + self.doubt * sizes
        gaps = np.maximum(high - low, 0.0) + self.doubt * (np.abs(high) + np.abs(low))
        between = np.maximum(values[1:], values[:-1]) + gaps * self._bulges
        return float(between.max()) * (1 + self.doubt)


class _Chords:
    """Where some ratios are between columns."""

    def __init__(self, ratios: Floats, where: Floats) -> None:
        self._where = where
        self._cells = np.clip(np.searchsorted(ratios, where, side="right") - 1, 0, ratios.size - 2)
        self._rests = where - ratios[self._cells]
        middle = (where[1:] + where[:-1]) / 2
        self._between = np.clip(np.searchsorted(ratios, middle, side="right") - 1, 0, ratios.size - 2)

    def read(self, payoffs: Floats, slopes: Floats) -> tuple[Floats, Floats, Floats]:
        """Payoffs, slopes between one and the next, and the size of what payoffs are computed from."""
        steep = slopes[self._cells]
        found = payoffs[self._cells] + steep * self._rests
        return found, slopes[self._between], np.abs(found) + np.abs(steep) * self._where
