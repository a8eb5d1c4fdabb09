"""The inner loops again, compiled by numba: the same draws from the same stream, in fewer passes over memory."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from privately.noise.kernels import (
    COIN_BITS,
    FARTHEST_BIN,
    UNDECIDED_CELL,
    Cells,
    Integers,
    Kernels,
    Screened,
    Slope,
    Words,
)


def look_up(cells: Cells, words: Words, out: Integers) -> NDArray[np.intp]:
    """As `kernels.look_up`."""
    undecided = np.empty(words.size, np.intp)
    return undecided[: _look_up(cells, words, out, undecided)]


def screen(slope: Slope, bins: Integers, places: Words, coins: Words) -> Screened:
    """As `kernels.screen`."""
    accepted, undecided = np.empty(bins.size, np.bool_), np.empty(bins.size, np.intp)
    count = _screen(slope.lower, slope.upper, slope.bends, bins, places, coins, accepted, undecided)
    return accepted, undecided[:count]


@numba.njit(nogil=True)
def _look_up(cells: Cells, words: Words, out: Integers, undecided: NDArray[np.intp]) -> int:
    count = 0
    for i in range(words.size):
        cell = cells[words[i]]
        out[i] = cell
        if cell == UNDECIDED_CELL:
            undecided[count] = i
            count += 1
    return count


@numba.njit(nogil=True)
def _screen(  # noqa: PLR0917  (numba takes no dataclass)
    lower: int,
    upper: int,
    bends: bool,  # noqa: FBT001
    bins: Integers,
    places: Words,
    coins: Words,
    accepted: NDArray[np.bool_],
    undecided: NDArray[np.intp],
) -> int:
    count = 0
    for i in range(bins.size):
        part = np.int64(places[i] >> np.uint64(48))
        after = part + 1
        if bends:
            low = 2 * bins[i] * part + (part * part >> 16)
            high = 2 * bins[i] * after + (after * after >> 16) + 1
        else:
            low, high = 2 * part, 2 * after
        low = low * lower >> 26
        high = (high * upper >> 26) + 1
        coin = np.int64(coins[i])
        square = high * high >> 32
        near = not bends or bins[i] <= FARTHEST_BIN
        sure = near and coin < (1 << COIN_BITS) - 1 - high + square - ((square + 1) * high >> 32)
        accepted[i] = sure
        if not sure and (not near or coin < (1 << COIN_BITS) + 1 - low + (low * low >> 32)):
            undecided[count] = i
            count += 1
    return count


NUMBA = Kernels(name="numba", look_up=look_up, screen=screen)
