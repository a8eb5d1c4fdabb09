"""The compiled loops do what NumPy's do, on any array that may come along."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from privately.noise.compiled import NUMBA
from privately.noise.kernels import FARTHEST_BIN, NUMPY, UNDECIDED_CELL, Kernels, Slope, agree

SLOPES = [
    Slope(0, 1, bends=True),
    Slope((1 << 30) - 1, 1 << 30, bends=True),
    Slope(1 << 28, (1 << 28) + 1, bends=True),
    Slope(0, 1, bends=False),
    Slope((1 << 36) - 1, 1 << 36, bends=False),
    Slope(1 << 35, 1 << 35, bends=False),
]
EDGES_OF_BINS = [0, 1, 2, FARTHEST_BIN - 1, FARTHEST_BIN, FARTHEST_BIN + 1, 1 << 40, (1 << 62) - 1]
EDGES_OF_PLACES = [0, 1, (1 << 48) - 1, 1 << 48, 1 << 63, (1 << 64) - (1 << 48), (1 << 64) - 1]
EDGES_OF_COINS = [0, 1, 1 << 30, (1 << 31) - 2, (1 << 31) - 1]


def screened(loops: Kernels, slope: Slope, bins: Any, places: Any, coins: Any) -> tuple[list[bool], list[int]]:
    accepted, undecided = loops.screen(slope, bins, places, coins)
    return accepted.tolist(), undecided.tolist()


def looked_up(loops: Kernels, cells: Any, words: Any) -> tuple[list[int], list[int]]:
    out = np.full(words.size, 77, np.int64)
    undecided = loops.look_up(cells, words, out).tolist()
    return out.tolist(), undecided


def plain(array: NDArray[Any]) -> NDArray[Any]:
    return array.copy()


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    copy = array.copy()
    copy.flags.writeable = False
    return copy


def sliced(array: NDArray[Any]) -> NDArray[Any]:
    return np.repeat(array, 3)[::3]


def turned(array: NDArray[Any]) -> NDArray[Any]:
    return array[::-1].copy()[::-1]


LAYOUTS = pytest.mark.parametrize("layout", [plain, read_only, sliced, turned])


@pytest.mark.parametrize("slope", SLOPES, ids=str)
def test_screens_agree_at_all_edges(slope: Slope) -> None:
    grids = np.meshgrid(EDGES_OF_BINS, np.array(EDGES_OF_PLACES, np.uint64), EDGES_OF_COINS)
    bins, places, coins = (grid.ravel() for grid in grids)
    arguments = bins.astype(np.int64), places.astype(np.uint64), coins.astype(np.uint32)
    assert screened(NUMPY, slope, *arguments) == screened(NUMBA, slope, *arguments)


def proposals(seed: int, size: int) -> list[NDArray[Any]]:
    chance = np.random.default_rng(seed)
    bins, places = chance.geometric(1 / 300, size), chance.integers(0, 1 << 64, size, np.uint64)
    return [bins.astype(np.int64), places, chance.integers(0, 1 << 31, size, np.uint32)]


@LAYOUTS
@pytest.mark.parametrize("slope", SLOPES, ids=str)
@pytest.mark.parametrize("size", [1, 1000])
def test_screens_agree_on_arrays_of_any_layout(
    layout: Callable[[NDArray[Any]], NDArray[Any]], slope: Slope, size: int
) -> None:
    arguments = proposals(size, size)
    expected = screened(NUMPY, slope, *arguments)
    assert screened(NUMBA, slope, *map(layout, arguments)) == expected
    assert screened(NUMPY, slope, *map(layout, arguments)) == expected


@given(st.sampled_from(SLOPES), st.integers(0, 2**32), st.integers(0, 3))
def test_screens_agree_next_to_what_is_accepted(slope: Slope, seed: int, size: int) -> None:
    """Coins a few units from where the answer changes."""
    bins, places, _ = proposals(seed, size)
    low, high = np.zeros(size, np.uint32), np.full(size, (1 << 31) - 1, np.uint32)
    for _ in range(32):
        coins = (low + high) // np.uint32(2)
        accepted = NUMPY.screen(slope, bins, places, coins)[0]
        low, high = np.where(accepted, np.minimum(coins + 1, high), low), np.where(accepted, high, coins)
    for step in range(-3, 4):
        coins = np.clip(low.astype(np.int64) + step, 0, (1 << 31) - 1).astype(np.uint32)
        assert screened(NUMPY, slope, bins, places, coins) == screened(NUMBA, slope, bins, places, coins)


@LAYOUTS
@pytest.mark.parametrize("size", [0, 1, 5000])
@pytest.mark.parametrize("kind", [np.uint16, "<u2"])
def test_look_ups_agree(layout: Callable[[NDArray[Any]], NDArray[Any]], size: int, kind: Any) -> None:
    chance = np.random.default_rng(size)
    cells = chance.integers(-(1 << 15), 1 << 15, 1 << 16).astype(np.int16)
    cells[chance.integers(0, 1 << 16, 5000)] = UNDECIDED_CELL
    words = chance.integers(0, 1 << 16, size).astype(kind)
    expected = looked_up(NUMPY, cells, words)
    assert looked_up(NUMBA, layout(cells), layout(words)) == expected
    assert looked_up(NUMPY, layout(cells), layout(words)) == expected


def test_look_ups_write_into_parts_of_an_array() -> None:
    cells, words = np.array([3, UNDECIDED_CELL], np.int16), np.array([1, 0, 1], np.uint16)
    for loops in (NUMPY, NUMBA):
        out = np.zeros(9, np.int64)
        assert loops.look_up(cells, words, out[3:6]).tolist() == [0, 2]
        assert out.tolist() == [0, 0, 0, UNDECIDED_CELL, 3, UNDECIDED_CELL, 0, 0, 0]


def test_both_agree_by_the_check_that_acceleration_makes() -> None:
    assert agree(NUMPY, NUMBA)
