"""The first rows of every unit, of all that were read: their units and places are put into one word each, and sorted.

It runs in the worker, which keeps the memory for them from one question to the next: a system takes longer to hand out
so many empty pages than it takes to sort what is put there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from privately.engines.duckdb.programs import MOST_ROWS

Whole = npt.NDArray[np.int64]
Words = npt.NDArray[Any]

_ROWS_IN_CACHE = 2**16
_FEWEST_ROWS = 2**16
_MOST_KEPT = 2**30
"""So many bytes are kept at most."""

_kept: list[npt.NDArray[np.uint64]] = []


@contextmanager
def words_for(rows: int) -> Iterator[npt.NDArray[np.uint64]]:
    """Memory for so many rows, which is used again later. What is in it is of earlier questions, or nothing."""
    wanted = max(min(rows, MOST_ROWS), _FEWEST_ROWS)
    words = _kept.pop() if _kept else np.empty(wanted, dtype=np.uint64)
    if len(words) < wanted:
        del words
        words = np.empty(wanted, dtype=np.uint64)
    yield words
    if words.nbytes <= _MOST_KEPT:
        _kept[:] = [words]


class Rows:
    """The rows that were read, in one word each: the last bits of the unit, and the place in the order of that unit.

    Units that are no farther apart than these bits can tell have different ones. Words of 32 bits become words of 64,
    and these pairs of a unit and a place, as soon as that is no longer so.
    """

    def __init__(self, bits: int, words: npt.NDArray[np.uint64]) -> None:
        self._bits, self._memory, self._count = bits, words, 0
        self._low, self._high = 2**63, -(2**63)
        self._words: Words | None = words.view(np.uint32) if bits < 32 else words
        self._pairs: list[tuple[Whole, Words]] = []

    def add(self, units: Whole, places: Words) -> None:
        """Takes in rows; few enough for the cache, or else it is slower."""
        if not len(units):
            return
        self._make_room(len(units))
        low, high = min(self._low, int(units.min())), max(self._high, int(units.max()))
        while not self._tells_apart(low, high):
            self._widen()
        self._low, self._high = low, high
        if self._words is None:
            self._pairs.append((units.copy(), places.copy()))
        else:
            self._put(self._words[self._count : self._count + len(units)], units, places)
        self._count += len(units)

    def first(self, most: int) -> Iterator[tuple[Whole, Words]]:
        """The first rows of every unit, some at a time. The rows are put in order.

        Theorem: of every unit as many rows as it has, or `most` if these are fewer; which places they have is a
            function of the multiset of that unit's places.
        Reference: elementary
        Proof: docs/theory/engines.md#rows-as-numbers
        Checked-by: tests/engines/duckdb/test_first_rows.py::test_the_first_rows_of_every_unit
        """
        if self._words is None:
            yield from _first_of_pairs(self._pairs, most)
            return
        words = self._words[: self._count]
        words.sort()
        bits = words.dtype.type(self._bits)
        for start, end in _pieces(words, self._bits):
            part = words[start:end]
            first = part.compress(_chosen(part >> bits, most, partial(self._owners, part)))
            for at in range(0, len(first), _ROWS_IN_CACHE):
                yield self._apart(first[at : at + _ROWS_IN_CACHE])

    def _tells_apart(self, low: int, high: int) -> bool:
        """Whether no two units from the least to the largest one have the same bits."""
        return self._words is None or (high - low).bit_length() + self._bits <= 8 * self._words.itemsize

    def _owners(self, words: Words, places: Whole) -> Whole:
        """The units of some words."""
        return self._apart(words[places])[0]

    def _apart(self, words: Words) -> tuple[Whole, Words]:
        """Units and places again."""
        word: Any = words.dtype.type
        length = 8 * words.itemsize - self._bits
        last = words >> word(self._bits)
        if self._low < 0 or self._high >> length:
            last -= word(self._low % 2**length)
            last &= word(2**length - 1)
            units = last.astype(np.int64) + self._low
        else:
            units = last.astype(np.int64)
        return units, (words & word(2**self._bits - 1)).astype(word_of(self._bits), copy=False)

    def _put(self, words: Words, units: Whole, places: Words) -> None:
        words[...] = units  # whose first bits are dropped
        words <<= words.dtype.type(self._bits)
        words |= places.astype(words.dtype, copy=False)

    def _make_room(self, more: int) -> None:
        if self._count + more > MOST_ROWS:
            raise MemoryError
        if self._words is not None and self._count + more > len(self._memory):
            kind, longer = self._words.dtype, np.empty(2 * (self._count + more), dtype=np.uint64)
            longer.view(kind)[: self._count] = self._words[: self._count]
            self._memory, self._words = longer, longer.view(kind)

    def _widen(self) -> None:
        """Makes words of twice as many bits, from the last on, in the same memory; or, if there are none, pairs."""
        assert self._words is not None  # noqa: S101 - pairs are never widened
        starts = range(0, self._count, _ROWS_IN_CACHE)
        narrow = self._words[: self._count]
        if narrow.itemsize == 8:
            self._pairs = [self._apart(narrow[at : at + _ROWS_IN_CACHE]) for at in starts]
            self._words = None
            return
        for at in reversed(starts):
            few = narrow[at : at + _ROWS_IN_CACHE]
            self._put(self._memory[at : at + len(few)], *self._apart(few))
        self._words = self._memory


def _pieces(words: Words, bits: int) -> Iterator[tuple[int, int]]:
    """Where parts of sorted words begin and end: whole units, and few enough for the cache unless one has more."""
    start, largest = 0, int(np.iinfo(words.dtype).max)
    while start < len(words):
        end = start + _ROWS_IN_CACHE
        if end < len(words):
            following = ((int(words[end - 1]) >> bits) + 1) << bits
            rest = (
                len(words) - end if following > largest else np.searchsorted(words[end:], words.dtype.type(following))
            )
            end += int(rest)
        yield start, min(end, len(words))
        start = end


def _first_of_pairs(pairs: list[tuple[Whole, Words]], most: int) -> Iterator[tuple[Whole, Words]]:
    """The same where a unit and a place do not go into one word."""
    units, places = (np.concatenate(column) for column in zip(*pairs, strict=True))
    order = np.lexsort((places, units))
    units, places = units[order], places[order]
    kept = _chosen(units, most, lambda few: units[few])
    units, places = units[kept], places[kept]
    for at in range(0, len(units), _ROWS_IN_CACHE):
        yield units[at : at + _ROWS_IN_CACHE], places[at : at + _ROWS_IN_CACHE]


def _chosen(last: Words, most: int, units: Callable[[Whole], Whole]) -> npt.NDArray[np.bool_]:
    """Which rows count, of whole units in the order of their places: so many that follow one another, in a circle.

    Of a unit with too many rows the first is any of them, by a hash of the unit. Were it always the first one, a rare
    place would count as often as a frequent one, since equal ones stand together. `last` are the last bits of units,
    `units` tells those of some rows.
    """
    ends = np.append(np.flatnonzero(last[1:] != last[:-1]), len(last) - 1)
    lengths = np.diff(ends, prepend=-1)
    longer = lengths > most
    kept = np.repeat(~longer, lengths)
    if longer.any():
        lengths = lengths[longer]
        starts = ends[longer] + 1 - lengths
        begins = (_hashed(units(starts)) % lengths.view(np.uint64)).view(np.int64)
        places = begins + np.arange(most)[:, None]
        places -= lengths * (places >= lengths)
        kept[places + starts] = True
    return kept


def _hashed(units: Whole) -> npt.NDArray[np.uint64]:
    """No secret: which places are close to one another is."""
    words = units.view(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        words ^= words >> np.uint64(shift)
        words *= np.uint64(factor)
    words ^= words >> np.uint64(31)
    return words


def word_of(bits: int) -> Any:
    """The type of words of so many bits."""
    return np.uint32 if bits <= 32 else np.uint64
