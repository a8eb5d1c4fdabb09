"""How far many different atoms scatter: a lower bound on -ln |phi|, over a whole range of frequencies at once."""

from __future__ import annotations

import math

import numpy as np

from privately.accounting.elementary import UNIT, Floats
from privately.accounting.lattice import fourier
from privately.accounting.roads import NotApplicable

_PER_CELL = 0.5
"""A distance is cut to cells over which the last frequency turns by so much."""
_BEND = 0.02
"""Between two frequencies at most such a part of the whole is lost."""
_SHORTEST, _LONGEST = 10, 20
_PI = 3.1415926535897931  # below pi
_BELOW, _ROUNDING = 1 - 2.0**-20, 2.0**-20


class Scattering:
    """Pairs of atoms, of this distance and this weight, and what is known of their turns up to the last frequency.

    Theorem: with each distance shared between two multiples of a, so that the mean stays, a cosine is off by at most
        (wa)^2/8; between two frequencies b apart the sum is at least the smaller one of both ends, less b^2/8 times
        the sum of weights distance^2; and wrong distances cost w doubt each.
    Reference: none needed
    Proof: docs/theory/accounting/contour.md#many-atoms-scatter
    Checked-by: tests/accounting/contour/test_scattering.py::test_no_frequency_is_below
    """

    def __init__(self, last: float) -> None:
        self.last, self._cell = last, _PER_CELL / last
        self._cells: Floats = np.zeros(1 << _LONGEST)
        self._whole = self._square = self._wrong = 0.0

    def add(self, distances: Floats, weights: Floats, doubts: Floats) -> None:
        """More of them; every distance is off by at most its doubt."""
        places = distances / self._cell
        below = np.floor(places)
        share = places - below
        cells = below.astype(np.int64) % self._cells.size
        np.add.at(self._cells, cells, weights * (1 - share))
        np.add.at(self._cells, (cells + 1) % self._cells.size, weights * share)
        self._whole += float(weights.sum())
        self._square += float(weights @ (distances * distances))
        self._wrong += float(weights @ (doubts + 4 * UNIT * distances))

    def fallen(self, frequencies: Floats) -> Floats:
        """Lower bounds on the sum of weights (1 - cos(w distance)), for all w from each of these to the last."""
        whole, square, cell = self._whole, self._square, self._cell
        if not (whole > 0 and square > 0):
            return np.zeros_like(frequencies)
        bits = math.ceil(math.log2(2 * _PI / (cell * math.sqrt(8 * _BEND * whole / square))))
        if not bits <= _LONGEST:
            raise NotApplicable("too many frequencies")
        size = 1 << max(bits, _SHORTEST)
        gap = 2 * _PI / (size * cell) * (1 + 2.0**-40)
        found = fourier.transform(self._cells.reshape(-1, size).sum(axis=0)).real
        needed = math.ceil(self.last / gap) + 2
        if needed > found.size:
            raise NotApplicable("too few frequencies")
        w = gap * np.arange(1.0, needed + 1)  # at or above each frequency
        lost = whole * (fourier.error(size) + _ROUNDING + (w * cell) ** 2 / 8)
        lost += w * self._wrong + square * gap * gap / 8
        levels = whole - found[:needed] - lost * (1 + 2.0**-20)
        least = np.minimum.accumulate(levels[::-1])[::-1]
        first = np.minimum(np.floor(frequencies / gap), needed - 1).astype(np.int64)
        return np.maximum(least[first] * _BELOW, 0.0)
