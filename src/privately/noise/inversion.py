"""Lazy inversion: the least k with U < F(k), from as many bits of U as it takes and no more.

Sixteen bits decide most draws by one look into a table, 64 bits nearly all others by a search; for the rest, bits are
added and F is computed more closely until the answer is certain. Nothing is cut off: the law is F, tails included.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privately.noise.brackets import GUARD, Bracket
from privately.noise.kernels import UNDECIDED_CELL, Draws, Integers, Words
from privately.noise.source import Source

CHUNK = 1 << 17
"""Draws at a time: enough of them for what each batch costs beside them not to count."""

_MORE = 64
_LARGEST_GUARD = 256


@dataclass(frozen=True, kw_only=True)
class Cumulative:
    """F(k) = P(X <= k), bracketed at will, from `lowest` up to `highest`, or without end.

    A law without a lowest outcome is symmetric: F(-k-1) = 1 - F(k).
    """

    bracket: Callable[[int, int], Bracket]
    lowest: int | None = None
    highest: int | None = None


class Inversion:
    """Draws from one law.

    Theorem: let T(k) = floor(2^b F(k)) and let u be the first b bits of U. If T(k-1) < u < T(k), then k is the least
        integer with U < F(k), whatever the other bits of U are.
    Reference: inversion of distribution functions; lazy comparison after von Neumann
    Proof: docs/theory/noise.md#lazy-inversion
    Checked-by: tests/noise/test_inversion.py::test_a_draw_is_the_quantile_of_its_bits
    """

    bytes_per_draw = 8

    def __init__(self, law: Cumulative, *, cell_bits: int = 16, word_bits: int = 64) -> None:
        self._law = law
        self._cell_bits, self._word_bits = cell_bits, word_bits
        self.first, self._bounds, self._doubtful = _boundaries(law, word_bits)
        self._last = self.first + self._bounds.size
        self._cells = self._decided_cells()

    def draw(self, source: Source, size: int) -> Draws:
        """Independent draws."""
        out = np.empty(size, np.int64)
        self.fill(source, out)
        return out

    def fill(self, source: Source, out: Integers) -> None:
        """Replace the content of `out` by independent draws."""
        for start in range(0, out.size, CHUNK):
            self._fill(source, out[start : start + CHUNK])

    def _fill(self, source: Source, out: Integers) -> None:
        prefixes = source.words(out.size, "<u2")
        if self._cell_bits < 16:
            prefixes = prefixes >> np.uint16(16 - self._cell_bits)
        undecided = source.kernels.look_up(self._cells, prefixes, out)
        if undecided.size:
            out[undecided] = self._search(source, prefixes[undecided])

    def _search(self, source: Source, prefixes: Words) -> Integers:
        """Decide by whole words; what they leave open is refined one by one."""
        added = self._word_bits - self._cell_bits
        fresh = source.words(prefixes.size, "<u8")
        whole = prefixes.astype(np.uint64) << np.uint64(added)
        if added:
            whole |= fresh >> np.uint64(64 - added)
        found, open_ = _locate(self._bounds, whole, self._ends())
        if self._doubtful.size:
            open_ |= np.isin(whole, self._doubtful)
        outcomes = found + self.first
        for i in np.flatnonzero(open_):
            outcomes[i] = self._refine(source, int(whole[i]))
        return outcomes

    def _refine(self, source: Source, known: int) -> int:
        """Add bits to U until it is certain where it falls."""
        bits = self._word_bits
        while True:
            known = known << _MORE | source.integer(_MORE)
            bits += _MORE
            outcome = self._least_above(known, bits)
            if outcome is not None:
                return outcome

    def _least_above(self, known: int, bits: int) -> int | None:
        """The least k with U < F(k) if the known bits of U settle it."""

        def above(k: int) -> bool | None:
            if self._law.lowest is not None and k < self._law.lowest:
                return False
            if self._law.highest is not None and k >= self._law.highest:
                return True
            bracket = self._law.bracket(k, bits + GUARD)
            if known + 1 << GUARD <= bracket.lower:
                return True
            return False if known << GUARD >= bracket.upper else None

        return least_certain(above, self.first - 1, self._last)

    def _ends(self) -> tuple[bool, bool]:
        """Whether the lowest and the highest outcome of the table are the ends of the law."""
        return self.first == self._law.lowest, self._last == self._law.highest

    def _decided_cells(self) -> NDArray[np.int16]:
        prefixes = np.arange(1 << self._cell_bits, dtype=np.uint64)
        cut = np.uint64(self._word_bits - self._cell_bits)
        found, open_ = _locate(self._bounds >> cut, prefixes, self._ends())
        open_ |= np.isin(prefixes, self._doubtful >> cut)
        outcomes = found + self.first
        outcomes[open_ | (np.abs(outcomes) >= -UNDECIDED_CELL)] = UNDECIDED_CELL
        return outcomes.astype(np.int16)


class Listed:
    """Draws from a list of outcomes, by their places in it."""

    def __init__(self, places: Inversion, outcomes: Sequence[int]) -> None:
        fits = all(-(2**63) <= outcome < 2**63 for outcome in outcomes)
        self._places = places
        self._outcomes = np.array(outcomes, np.int64 if fits else object)
        self.bytes_per_draw = 16

    def draw(self, source: Source, size: int) -> Draws:
        """Independent draws."""
        return self._outcomes[self._places.draw(source, size).astype(np.intp)]


def _locate(bounds: Words, u: Words, ends: tuple[bool, bool]) -> tuple[Integers, NDArray[np.bool_]]:
    """How many boundaries lie below each u, and whether more bits are needed to be certain of it."""
    found = np.searchsorted(bounds, u, side="left").astype(np.int64)
    inside = found < bounds.size
    open_ = inside & (bounds[np.minimum(found, bounds.size - 1)] == u) if bounds.size else np.zeros(u.size, np.bool_)
    if not ends[0]:
        open_ |= found == 0
    if not ends[1]:
        open_ |= ~inside
    return found, open_


def _boundaries(law: Cumulative, bits: int) -> tuple[int, Words, Words]:
    """The lowest outcome of the table, floor(2^bits F(k)) from there on, up to where it is all ones, and the doubtful.

    Where F(k) is so close to a multiple of 2^-bits that its floor is not found with reasonable effort, the lower of the
    two candidates is a boundary, and the other one is doubtful: neither decides anything.
    """
    start = 0 if law.lowest is None else law.lowest
    upward: list[int] = []
    downward: list[int] = []
    doubtful: list[int] = []
    while start + len(upward) != law.highest:
        bracket, guard = _bracket(law, start + len(upward), bits)
        upward.append(_floor(bracket, guard, bits, doubtful))
        if law.lowest is None:
            downward.append(_floor(bracket.complement(bits + guard), guard, bits, doubtful))
        if upward[-1] == (1 << bits) - 1:
            break
    bounds = np.array(downward[::-1] + upward, np.uint64)
    return start - len(downward), bounds, np.array(doubtful, np.uint64)


def _bracket(law: Cumulative, k: int, bits: int) -> tuple[Bracket, int]:
    """F(k) at bits + guard, where the guard suffices for its floor, and for that of 1 - F(k), or is the largest."""
    guard = GUARD
    while True:
        bracket = law.bracket(k, bits + guard)
        certain = bracket.lower == bracket.upper or bracket.lower >> guard == bracket.upper - 1 >> guard
        if certain or guard >= _LARGEST_GUARD:
            return bracket, guard
        guard *= 2


def _floor(bracket: Bracket, guard: int, bits: int, doubtful: list[int]) -> int:
    """The floor of a probability below 1, or the lower of two candidates."""
    lower, upper = bracket.lower >> guard, min(bracket.upper >> guard, (1 << bits) - 1)
    if lower != upper:
        doubtful.append(upper)
    return lower


def least_certain(above: Callable[[int], bool | None], below: int, top: int) -> int | None:
    """The least k with `above(k)`, which is monotone, sought from a first guess; None as soon as it is not certain."""
    step = 1
    while (there := above(below)) is not False:
        if there is None:
            return None
        below, top, step = below - step, below, 2 * step
    step = 1
    while (there := above(top)) is not True:
        if there is None:
            return None
        below, top, step = top, top + step, 2 * step
    while top - below > 1:
        middle = (below + top) // 2
        there = above(middle)
        if there is None:
            return None
        below, top = (below, middle) if there else (middle, top)
    return top
