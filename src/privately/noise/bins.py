"""Wide laws: choose a bin by inversion, a place in it uniformly, and accept as often as the density there says.

Bins are 2^shift wide, some 32 to 64 of them to a scale, so that about one proposal in fifty to a hundred is rejected.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privately.noise.brackets import GUARD, Bracket
from privately.noise.inversion import Inversion
from privately.noise.kernels import COIN_BITS, Draws, Integers, Slope, Words
from privately.noise.source import Source

CHUNK = 1 << 13
"""Proposals at a time: small enough for their arrays to be used again, instead of asked from the system each time."""

PLACE_BITS = 64
LONG = 48
"""Bytes of a Python integer and of the pointer to it."""

_MORE = 64
_EXACT = np.iinfo(np.int64).bits - 2


@dataclass(frozen=True, kw_only=True)
class Shape:
    """A law on the whole numbers, or on the positive reals, seen through bins.

    The bin is `coarse`; `density(j, place, bits, precision)` brackets the density at (j + place/2^bits) 2^shift as a
    part of the density where bin j begins; it falls with `place`. A law on the reals is rounded after it is drawn.
    Draws from a `wide` one do not fit 64 bits often enough to be Python integers from the start.
    """

    coarse: Inversion
    shift: int
    slope: Slope
    density: Callable[[int, int, int, int], Bracket]
    real: bool
    signed: bool
    wide: bool


class Bins:
    """Draws from one law.

    Theorem: if bin j is chosen with a probability in proportion to the density where it begins, a place in it
        uniformly, and the proposal is accepted with the density there as a part of that at the beginning, then what is
        accepted has the density. A sign of its own makes it symmetric; the second zero is rejected.
    Reference: von Neumann 1951
    Proof: docs/theory/noise.md#bins
    Checked-by: tests/noise/test_bins.py::test_every_proposal_is_accepted_as_its_density_says
    """

    def __init__(self, shape: Shape) -> None:
        self._shape = shape
        self.bytes_per_draw = LONG if shape.wide else 8
        # A law on the whole numbers looks at no bits of the place beyond them.
        hidden = 0 if shape.real else PLACE_BITS - shape.shift
        self._mask = np.uint64((1 << PLACE_BITS) - (1 << hidden))

    def draw(self, source: Source, size: int) -> Draws:
        """Independent draws. Python integers take over once one of them does not fit; none is thrown away."""
        out: Draws = np.empty(size, object if self._shape.wide else np.int64)
        done = 0
        while done < size:
            drawn = self._propose(source, min(CHUNK, size - done))
            if drawn.dtype == object and out.dtype != object:
                out = out.astype(object)
            out[done : done + drawn.size] = drawn
            done += drawn.size
        return out

    def _propose(self, source: Source, count: int) -> Draws:
        """Those of so many proposals that are accepted."""
        bins = np.empty(count, np.int64)
        self._shape.coarse.fill(source, bins)
        places = source.words(count, "<u8") & self._mask
        tosses = source.words(count, "<u4")
        coins, minus = tosses >> np.uint32(1), tosses & np.uint32(1)
        accepted, undecided = source.kernels.screen(self._shape.slope, bins, places, coins)
        for i in undecided:
            accepted[i] = self._accept(source, int(bins[i]), int(places[i]), int(coins[i]))
        if self._shape.signed and not self._shape.real:
            accepted &= (minus == 0) | (bins != 0) | (places != 0)
        chosen = np.flatnonzero(accepted)
        sizes = self._assemble(bins[chosen], places[chosen])
        if self._shape.signed:
            sizes *= 1 - 2 * minus[chosen].astype(np.int64)
        return sizes

    def _assemble(self, bins: Integers, places: Words) -> Draws:
        """(j + place/2^64) 2^shift, rounded to the nearest integer if the law is on the reals."""
        shift = self._shape.shift
        kept = places >> np.uint64(PLACE_BITS - shift - 1)
        within = ((kept + np.uint64(1) if self._shape.real else kept) >> np.uint64(1)).astype(np.int64)
        if self._shape.wide or (bins >> _EXACT - shift).any():
            long: NDArray[np.object_] = (bins.astype(object) << shift) + within.astype(object)
            return long
        return (bins << shift) + within

    def _accept(self, source: Source, j: int, place: int, coin: int) -> bool:
        """Add bits until it is certain whether the coin is below the density."""
        place_bits, coin_bits = PLACE_BITS, COIN_BITS
        while True:
            coin, coin_bits = coin << _MORE | source.integer(_MORE), coin_bits + _MORE
            precision = coin_bits + GUARD
            end = place
            if self._shape.real:
                place, place_bits = place << _MORE | source.integer(_MORE), place_bits + _MORE
                end = place + 1
            if coin + 1 << GUARD <= self._shape.density(j, end, place_bits, precision).lower:
                return True
            if coin << GUARD >= self._shape.density(j, place, place_bits, precision).upper:
                return False
