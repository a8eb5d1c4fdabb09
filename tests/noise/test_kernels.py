"""What the screen decides holds for every place and every coin that its few bits allow, at every slope it is given."""

from collections.abc import Callable
from fractions import Fraction
from math import exp
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from privately.noise import kernels
from privately.noise.compiled import NUMBA
from privately.noise.kernels import (
    COIN_BITS,
    FARTHEST_BIN,
    NUMPY,
    SLOPE_BITS,
    UNDECIDED_CELL,
    Kernels,
    Screened,
    Slope,
    agree,
)
from tests.rounding.truth import real, truth

COINS = 1 << COIN_BITS
STEEPEST = {True: 1 << SLOPE_BITS - 10, False: 1 << SLOPE_BITS - 4}
PLACES = 1 << 64
BOTH = pytest.mark.parametrize("loops", [NUMPY, NUMBA], ids=lambda loops: loops.name)


def screen(loops: Kernels, slope: Slope, proposals: list[tuple[int, int, int]]) -> list[bool | None]:
    """Accepted, rejected or left open, for triples of bin, place and coin."""
    bins, places, coins = zip(*proposals, strict=True)
    accepted, undecided = loops.screen(
        slope, np.array(bins, np.int64), np.array(places, np.uint64), np.array(coins, np.uint32)
    )
    found: list[bool | None] = accepted.tolist()
    for i in undecided.tolist():
        assert not found[i]
        found[i] = None
    return found


def edges(loops: Kernels, slope: Slope, j: int, place: int) -> tuple[int, int]:
    """How many coins are accepted, and from which one on they are rejected: the coins in between stay open."""

    def least(wanted: Callable[[bool | None], bool]) -> int:
        low, high = 0, COINS
        while low < high:
            middle = (low + high) // 2
            [found] = screen(loops, slope, [(j, place, middle)])
            low, high = (low, middle) if wanted(found) else (middle + 1, high)
        return low

    return least(lambda found: found is not True), least(lambda found: found is False)


def heads(slope: Slope, c: int, j: int, x: Fraction) -> Fraction:
    """2^31 exp(-t) at a part x of bin j, with 2^40 c given."""
    t = Fraction(c, 1 << SLOPE_BITS) * ((j + x / 2) * x if slope.bends else x)
    return COINS * truth(lambda: mpmath.exp(-real(min(t, Fraction(999)))), 60)


def is_never_wrong(loops: Kernels, slope: Slope, j: int, place: int) -> bool:
    """Whether all coins below the first edge lie below exp(-t), and all from the second on above, for all x and c."""
    accepted, rejected = edges(loops, slope, j, place)
    least = heads(slope, slope.upper, j, Fraction(place + 1, PLACES))
    most = heads(slope, slope.lower, j, Fraction(place, PLACES))
    return accepted <= least and rejected >= most


@st.composite
def slopes(draw: st.DrawFn) -> Slope:
    """Any that is allowed, the steepest and the flattest included; the two bounds may lie apart."""
    bends = draw(st.booleans())
    upper = draw(st.sampled_from([1, 2, STEEPEST[bends] - 1, STEEPEST[bends]]) | st.integers(1, STEEPEST[bends]))
    return Slope(max(0, upper - draw(st.sampled_from([0, 1, 1000]))), upper, bends=bends)


BINS = st.sampled_from([0, 1, 2, 999, FARTHEST_BIN, FARTHEST_BIN + 1, 1 << 40]) | st.integers(0, FARTHEST_BIN)
PARTS = st.sampled_from([0, 1, 32767, 65534, 65535]) | st.integers(0, 65535)
RESTS = st.sampled_from([0, 1, (1 << 48) - 1]) | st.integers(0, (1 << 48) - 1)
PLACE = st.builds(lambda part, rest: part << 48 | rest, PARTS, RESTS)


@BOTH
@given(slope=slopes(), j=BINS, place=PLACE)
@example(slope=Slope(1 << 30, 1 << 30, bends=True), j=FARTHEST_BIN, place=PLACES - 1)
@example(slope=Slope(1 << 30, 1 << 30, bends=True), j=0, place=0)
@example(slope=Slope(1 << 36, 1 << 36, bends=False), j=1 << 40, place=PLACES - 1)
@example(slope=Slope(0, 1, bends=True), j=0, place=0)
def test_screen_is_never_wrong(loops: Kernels, slope: Slope, j: int, place: int) -> None:
    assert is_never_wrong(loops, slope, j, place)


def in_integers(fault: str, slope: Slope, j: int, place: int, coin: int) -> tuple[bool, bool, list[int]]:
    """The screen in integers without end: surely accepted, possibly accepted, and all that is computed for it."""
    part = place >> 48
    after = part + (fault != "part is a point")
    if slope.bends:
        low, high = 2 * j * part + (part * part >> 16), 2 * j * after + (after * after >> 16) + 1
    else:
        low, high = 2 * part, 2 * after
    low, high, sizes = low * slope.lower, high * slope.upper, [low * slope.lower, high * slope.upper]
    low, high = (low >> 26) + (fault == "low too high"), (high >> 26) + (fault != "high too low")
    square = high * high >> 32
    cube = 0 if fault == "no cube" else (square + 1) * high >> 32
    sizes += [high * high, (square + 1) * high, low * low]
    sure = coin < COINS - (fault != "cube rounded down") - high + square - cube
    possible = coin < COINS + (fault != "square rounded down") - low + (low * low >> 32)
    if slope.bends and j > FARTHEST_BIN:
        return False, True, []
    return sure, possible, sizes


def planted(fault: str) -> Kernels:
    def faulty(slope: Slope, bins: Any, places: Any, coins: Any) -> Screened:
        proposals = zip(bins.tolist(), places.tolist(), coins.tolist(), strict=True)
        found = [in_integers(fault, slope, *proposal)[:2] for proposal in proposals]
        undecided = [i for i, (sure, possible) in enumerate(found) if sure != possible]
        return np.array([sure for sure, _ in found], np.bool_), np.array(undecided, np.intp)

    return Kernels(name=fault, look_up=NUMPY.look_up, screen=faulty)


HARD = [
    (slope, j, place)
    for slope in (Slope(1 << 30, 1 << 30, bends=True), Slope(1 << 36, 1 << 36, bends=False), Slope(7, 8, bends=True))
    for j in (0, 3, 40, 1000, 5000)
    for part in (0, 1, 255, 4097, 30000, 65535)
    for place in (part << 48, (part + 1 << 48) - 1)
]
# Where t^3/4 is just below one coin, so that its rounding matters.
HARD += [
    (Slope(c, c, bends=False), 0, (part << 48) - 1) for c in (1 << 36, 68181818181) for part in range(1200, 1290, 3)
]


@pytest.mark.parametrize(
    "fault",
    [
        "part is a point",
        "low too high",
        "high too low",
        "no cube",
        "cube rounded down",
        "square rounded down",
    ],
)
def test_a_planted_fault_is_noticed(fault: str) -> None:
    assert not all(is_never_wrong(planted(fault), *case) for case in HARD)


@BOTH
@given(slope=slopes(), j=BINS, place=PLACE, coins=st.lists(st.integers(0, COINS - 1), min_size=1, max_size=20))
@example(slope=Slope(1 << 30, 1 << 30, bends=True), j=FARTHEST_BIN, place=PLACES - 1, coins=[0, COINS - 1])
@example(slope=Slope(1 << 36, 1 << 36, bends=False), j=1 << 40, place=PLACES - 1, coins=[0, COINS - 1])
def test_nothing_overflows(loops: Kernels, slope: Slope, j: int, place: int, coins: list[int]) -> None:
    """Integers without end give the same, and none of them has more than 63 bits where it counts."""
    near = [min(max(edge + step, 0), COINS - 1) for edge in edges(loops, slope, j, place) for step in (-1, 0, 1)]
    for coin in coins + near:
        sure, possible, sizes = in_integers("", slope, j, place, coin)
        assert screen(loops, slope, [(j, place, coin)]) == [sure if sure == possible else None]
        assert max(sizes, default=0) < 1 << 63


def test_bins_too_far_for_the_screen_are_left_open() -> None:
    slope = Slope(1 << 30, 1 << 30, bends=True)
    for j in (FARTHEST_BIN + 1, 1 << 40, (1 << 62) - 1):
        assert (
            screen(NUMPY, slope, [(j, place, coin) for place in (0, PLACES - 1) for coin in (0, COINS - 1)])
            == [None] * 4
        )
    mixed = screen(NUMPY, slope, [(0, 0, 0), (FARTHEST_BIN + 1, 0, 0), (FARTHEST_BIN, 0, 0), (5, 0, COINS - 1)])
    assert mixed == [True, None, True, None]


def test_far_bins_would_overflow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "FARTHEST_BIN", 1 << 62)
    slope = Slope(1 << 30, 1 << 30, bends=True)
    assert not all(is_never_wrong(NUMPY, slope, j, PLACES - 1) for j in range(FARTHEST_BIN, 200 * FARTHEST_BIN, 999))


def left_open(slope: Slope, bins: range) -> float:
    """The share of coins that is left open, bins being as likely as in half a Gaussian."""
    weights = {j: exp(-j * j * slope.upper / 2 ** (SLOPE_BITS + 1)) for j in bins}
    total = 0.0
    for j, weight in weights.items():
        spans = [edges(NUMPY, slope, j, part << 48) for part in range(8192, 65536, 16384)]
        total += weight * sum(rejected - accepted for accepted, rejected in spans) / len(spans)
    return total / sum(weights.values()) / COINS


def test_little_is_left_open() -> None:
    """Measured from 32 to 64 bins to a standard deviation or a scale: one in 300,000 to one in two million."""
    shares = [left_open(Slope(1 << c, 1 << c, bends=True), range(4, 400, 9)) for c in (28, 30)]
    shares += [left_open(Slope(1 << c, 1 << c, bends=False), range(1)) for c in (34, 35)]
    assert 0 < min(shares) < max(shares) < 5e-6


def test_look_up_writes_cells_and_says_which_are_undecided() -> None:
    cells = np.array([5, UNDECIDED_CELL, -7, 32767, UNDECIDED_CELL + 1], np.int16)
    out = np.full(7, 99, np.int64)
    undecided = NUMPY.look_up(cells, np.array([4, 1, 0, 3, 2, 1, 0], np.uint16), out)
    assert out.tolist() == [-32767, UNDECIDED_CELL, 5, 32767, -7, UNDECIDED_CELL, 5]
    assert undecided.tolist() == [1, 5]


def test_agreement_is_seen_and_so_is_its_absence() -> None:
    assert agree(NUMPY, NUMPY)
    assert agree(NUMPY, planted(""))
    assert not agree(NUMPY, planted("no cube"))
