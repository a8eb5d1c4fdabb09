"""The two inner loops, in NumPy. `compiled` has the same two for numba, draw for draw.

They see tables and random words, never data.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Words: TypeAlias = NDArray[np.unsignedinteger]
Cells: TypeAlias = NDArray[np.int16]
Integers: TypeAlias = NDArray[np.int64]
Draws: TypeAlias = NDArray[np.int64] | NDArray[np.object_]

Screened: TypeAlias = tuple[NDArray[np.bool_], NDArray[np.intp]]

UNDECIDED_CELL = -(1 << 15)

COIN_BITS = 31
SLOPE_BITS = 40
FARTHEST_BIN = 1000


@dataclass(frozen=True)
class Slope:
    """How fast the density falls within a bin: exp(-c (j x + x^2/2)) at a part x of bin j, or exp(-c x) in every bin.

    `lower` <= 2^40 c <= `upper`, which is at most 2^30, or 2^36.
    """

    lower: int
    upper: int
    bends: bool = field(kw_only=True)


@dataclass(frozen=True, kw_only=True)
class Kernels:
    """A set of inner loops."""

    name: str
    look_up: Callable[[Cells, Words, Integers], NDArray[np.intp]]
    screen: Callable[[Slope, Integers, Words, Words], Screened]


def look_up(cells: Cells, words: Words, out: Integers) -> NDArray[np.intp]:
    """Write each word's cell to `out`; return where it was undecided."""
    found = cells.take(words)
    out[:] = found
    return np.flatnonzero(found == UNDECIDED_CELL)


def screen(slope: Slope, bins: Integers, places: Words, coins: Words) -> Screened:
    """Which proposals are accepted, and which ones remain open because a few bits of each do not suffice.

    A proposal lies in bin j at x in [places, places + 1]/2^64 and is to be accepted if U < exp(-t), where U is in
    [coins, coins + 1]/2^31 and t = c (j x + x^2/2), or c x.

    Theorem: with integers low <= 2^31 t <= high <= 2^31, exp(-t) 2^31 lies between 2^31 - high + s(high) - k(high) and
        2^31 - low + s(low) + 1, where s(t) = floor(t^2/2^32) and k(t) = floor((s(t) + 1) t/2^32) + 1.
    Reference: 1 - t + t^2/2 - t^3/6 <= exp(-t) <= 1 - t + t^2/2 for t >= 0
    Proof: docs/theory/noise.md#the-screen
    Checked-by: tests/noise/test_kernels.py::test_screen_is_never_wrong
    """
    part = (places >> np.uint64(48)).astype(np.int64)
    low, high = _steepness(slope, bins, part)
    coin = coins.astype(np.int64)
    square = high * high >> 32
    accepted = coin < (1 << COIN_BITS) - 1 - high + square - ((square + 1) * high >> 32)
    possible = coin < (1 << COIN_BITS) + 1 - low + (low * low >> 32)
    if slope.bends and bins.max(initial=0) > FARTHEST_BIN:
        near = bins <= FARTHEST_BIN
        accepted, possible = accepted & near, possible | ~near
    return accepted, np.flatnonzero(accepted != possible)


def _steepness(slope: Slope, bins: Integers, part: Integers) -> tuple[Integers, Integers]:
    """2^31 t from below and above, for x in [part, part + 1]/2^16."""
    after = part + 1
    if slope.bends:
        low = 2 * bins * part + (part * part >> 16)
        high = 2 * bins * after + (after * after >> 16) + 1
    else:
        low, high = 2 * part, 2 * after
    return low * slope.lower >> 26, (high * slope.upper >> 26) + 1


NUMPY = Kernels(name="numpy", look_up=look_up, screen=screen)


def agree(one: Kernels, other: Kernels) -> bool:
    """Whether two sets of loops do the same, on words spread over their whole range."""
    return all(np.array_equal(a, b) for a, b in zip(_specimen(one), _specimen(other), strict=True))


def _specimen(kernels: Kernels) -> list[NDArray[np.generic]]:
    prefixes = np.arange(1 << 16, dtype=np.uint16)
    found = np.empty(prefixes.size, np.int64)
    undecided = kernels.look_up((prefixes * np.uint16(40503)).view(np.int16), prefixes, found)
    spread = np.arange(1 << 14, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    bins = (spread >> np.uint64(24)).astype(np.int64) % (FARTHEST_BIN + 100)
    coins = spread.astype(np.uint32) >> np.uint32(1)
    bent = kernels.screen(Slope(2**30 - 1, 2**30, bends=True), bins, spread, coins)
    straight = kernels.screen(Slope(2**35, 2**35 + 1, bends=False), bins, spread, coins)
    return [found, undecided, *bent, *straight]
