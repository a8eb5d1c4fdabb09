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
_SHORTEST, _LONGEST = 10, 21
_PI = 3.1415926535897931  # below pi
_BELOW, _ROUNDING = 1 - 2.0**-20, 2.0**-30


def fallen(distances: Floats, weights: Floats, doubts: Floats, frequencies: Floats, last: float) -> Floats:
    """Lower bounds on the sum of weights (1 - cos(w distance)), for all w from each of these frequencies to the last;
    every distance is off by at most its doubt.

    Theorem: with each distance shared between two multiples of a, so that the mean stays, a cosine is off by at most
        (wa)^2/8; between two frequencies b apart the sum is at least the smaller one of both ends, less b^2/8 times
        the sum of weights distance^2; and wrong distances cost w doubt each.
    Reference: none needed
    Proof: docs/theory/accounting/contour.md#many-atoms-scatter
    Checked-by: tests/accounting/contour/test_scattering.py::test_no_frequency_is_below
    """
    whole, square = float(weights.sum()), float(weights @ (distances * distances))
    if not (whole > 0 and square > 0):
        return np.zeros_like(frequencies)
    cell, gap = _PER_CELL / last, math.sqrt(8 * _BEND * whole / square)
    bits = math.ceil(math.log2(2 * _PI / (cell * gap)))
    if not bits <= _LONGEST:
        raise NotApplicable("too many frequencies")
    size = 1 << max(bits, _SHORTEST)
    gap = 2 * _PI / (size * cell) * (1 + 2.0**-40)
    found = fourier.transform(_shared(distances / cell, weights, size)).real
    needed = math.ceil(last / gap) + 2
    if needed > found.size:
        raise NotApplicable("too few frequencies")
    w = gap * np.arange(1.0, needed + 1)  # at or above each frequency
    wrong = float(weights @ (doubts + 4 * UNIT * distances))
    lost = whole * (fourier.error(size) + _ROUNDING + (w * cell) ** 2 / 8) + w * wrong + square * gap * gap / 8
    levels = whole - found[:needed] - lost * (1 + 2.0**-20)
    least = np.minimum.accumulate(levels[::-1])[::-1]
    first = np.minimum(np.floor(frequencies / gap), needed - 1).astype(np.int64)
    return np.maximum(least[first] * _BELOW, 0.0)


def _shared(places: Floats, weights: Floats, size: int) -> Floats:
    """The weights in cells that are counted modulo `size`, each shared between the two next to its place."""
    below = np.floor(places)
    share = places - below
    cells = below.astype(np.int64) % size
    found = np.bincount(cells, weights * (1 - share), size) + np.bincount((cells + 1) % size, weights * share, size)
    return np.asarray(found, dtype=np.float64)
