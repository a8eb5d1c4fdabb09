"""Chooses the rows of every unit and counts them, in arrays.

Numbers of rows are shuffled one to one, in a way of its own for each unit, and the least so many of a unit are kept. So
two rows of a unit that the order does not tell apart are the same number, and count the same. Nothing in the order
depends on other rows: not on which units there are, nor on how many.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from privately.engines.duckdb.programs import Choice
from privately.engines.protocol import Bins, Counts

Whole = npt.NDArray[np.int64]
Words = npt.NDArray[Any]

_ROWS_AT_ONCE = 2**18
_ROWS_IN_CACHE = 2**16
_MOST_ROWS = 2**30
_FEWEST_BITS = 6


class Shuffle:
    """The order of a unit's rows, by a secret key.

    Theorem: for every unit it is a one-to-one map of the numbers below a power of 2 that is at least `size`, which
        depends on the key and the unit alone.
    Reference: elementary
    Proof: docs/theory/engines.md#rows-as-numbers
    Checked-by: tests/engines/duckdb/test_choosing.py::test_shuffling_is_one_to_one
    """

    def __init__(self, key: tuple[int, ...], size: int) -> None:
        self.bits = max((size - 1).bit_length(), _FEWEST_BITS)
        self._key = [np.uint64(word) for word in key]
        self._word: Any = np.uint32 if self.bits <= 32 else np.uint64
        self._mask = self._word(2**self.bits - 1)
        self._half = self._word((self.bits + 1) // 2)
        self._factor = self._word(0x85EBCA6B if self.bits <= 32 else 0xFF51AFD7ED558CCD)

    def places(self, units: Whole, numbers: Words) -> Words:
        """Where rows of these numbers are in the orders of their units."""
        odd, offset = self._of_units(units)
        words: Words = numbers.astype(self._word)
        words *= odd
        words += offset
        words &= self._mask
        words ^= words >> self._half
        words *= self._factor
        words &= self._mask
        words ^= words >> self._half
        return words

    def numbers(self, units: Whole, places: Words) -> Whole:
        """The numbers again: every step backwards."""
        odd, offset = self._of_units(units)
        words: Words = places ^ (places >> self._half)
        words *= self._word(pow(int(self._factor), -1, 2**self.bits))
        words &= self._mask
        words ^= words >> self._half
        words -= offset
        words *= _inverse(odd, self.bits)
        words &= self._mask
        found: Whole = words.astype(np.int64)
        return found

    def _of_units(self, units: Whole) -> tuple[Words, Words]:
        """An odd number and another one, for each unit."""
        words = units.view(np.uint64) ^ self._key[0]
        words *= self._key[1] | np.uint64(1)
        words ^= words >> np.uint64(32)
        words *= self._key[2] | np.uint64(1)
        words += self._key[3]
        if self._word is np.uint32:
            odd = words.astype(np.uint32)
            odd |= np.uint32(1)
            words >>= np.uint64(32)
            return odd, words.astype(np.uint32)
        return (words * np.uint64(0x9E3779B97F4A7C15)) | np.uint64(1), words


def _inverse(odd: Words, bits: int) -> Words:
    """By Newton's iteration: 3 a xor 2 is right in 5 bits of the inverse of an odd a, and each step doubles them."""
    word: Any = odd.dtype.type
    found: Words = (odd * word(3)) ^ word(2)
    right = 5
    while right < bits:
        found *= word(2) - odd * found
        right *= 2
    return found


def chosen_counts(connection: Any, choice: Choice) -> Counts:
    """The tallies of every group, of no more than so many rows of a unit."""
    for statement in choice.before:
        connection.execute(statement)
    shuffle, totals = Shuffle(choice.key, math.prod(choice.sizes)), _Totals(choice)
    blocks: list[Block] = []
    for batch in connection.sql(choice.rows).to_arrow_reader(_ROWS_AT_ONCE):
        units = batch.column(0).to_numpy(zero_copy_only=False)
        places = np.empty(len(units), dtype=_short_word_of(shuffle.bits))
        for at in range(0, len(units), _ROWS_IN_CACHE):
            part = slice(at, at + _ROWS_IN_CACHE)
            places[part] = shuffle.places(units[part], _numbers(batch.slice(at, _ROWS_IN_CACHE), choice, shuffle.bits))
        blocks.append((_shortened(units), places))
    if sum(len(units) for units, _ in blocks) > _MOST_ROWS:
        raise MemoryError
    for units, places in first_rows(blocks, choice.most, shuffle.bits):
        for at in range(0, len(units), _ROWS_IN_CACHE):
            part = slice(at, at + _ROWS_IN_CACHE)
            totals.add(shuffle.numbers(units[part], places[part]))
    return totals.counts()


def _numbers(batch: Any, choice: Choice, bits: int) -> Words:
    """The numbers of rows, of their digits; in words that wrap around, which leaves a difference below 2^bits right."""
    word = _word_of(bits)
    numbers: Words | None = None
    for place, (size, low) in enumerate(zip(choice.sizes, choice.lows, strict=True), start=1):
        column = batch.column(place)
        filled = column.fill_null(0) if column.null_count else column
        digit = filled.to_numpy(zero_copy_only=False).astype(word)
        digit += word(-low % 2 ** (8 * word().itemsize))
        if column.null_count:
            digit[column.is_null().to_numpy(zero_copy_only=False)] = choice.rest if place == 1 else 0
        if numbers is None:
            numbers = digit
        else:
            numbers *= word(size)
            numbers += digit
    assert numbers is not None  # noqa: S101  (for the type checker)
    if batch.column(1).null_count and not choice.rest:
        numbers[batch.column(1).is_null().to_numpy(zero_copy_only=False)] = 0
    return numbers


Block = tuple[npt.NDArray[np.int32] | Whole, Words]
"""Rows: their units, and where they are in the orders of these; both in as few bytes as will do."""


def first_rows(blocks: list[Block], most: int, bits: int) -> Iterator[tuple[Whole, Words]]:
    """The first rows of every unit, in the order of their places, which have so many bits. It takes the blocks apart.

    Theorem: of every unit as many rows as it has, or `most` if these are fewer, and none with a lower place is left
        out; so what remains of a unit is a function of the multiset of its own places.
    Reference: elementary
    Proof: docs/theory/engines.md#rows-as-numbers
    Checked-by: tests/engines/duckdb/test_choosing.py::test_the_first_rows_of_every_unit
    """
    blocks[:] = [block for block in blocks if len(block[0])]
    if not blocks:
        return
    low = min(int(units.min()) for units, _ in blocks)
    span = max(int(units.max()) for units, _ in blocks) - low
    if span.bit_length() + bits > 64:
        yield _first_of_pairs(blocks, most, bits)
        return
    word: Any = np.uint32 if span.bit_length() + bits <= 32 else np.uint64
    keys, at = np.empty(sum(len(units) for units, _ in blocks), dtype=word), 0
    least = word(low % 2 ** (8 * word().itemsize))
    while blocks:
        units, places = blocks.pop()
        for first in range(0, len(units), _ROWS_IN_CACHE):
            few = units[first : first + _ROWS_IN_CACHE]
            part = keys[at : at + len(few)]
            part[...] = few
            part -= least  # words wrap around, which leaves differences right
            part <<= word(bits)
            part |= places[first : first + _ROWS_IN_CACHE].astype(word, copy=False)
            at += len(few)
    keys.sort()
    for at in range(0, len(keys), _ROWS_IN_CACHE):
        part = keys[at : at + _ROWS_IN_CACHE]
        before = min(max(most - at, 0), len(part))
        kept = np.ones(len(part), dtype=bool)
        kept[before:] = (part[before:] ^ keys[at + before - most : at - most + len(part)]) >> word(bits) != 0
        part = part.compress(kept)
        yield (part >> word(bits)).astype(np.int64) + low, (part & word(2**bits - 1)).astype(_word_of(bits))


def _first_of_pairs(blocks: list[Block], most: int, bits: int) -> tuple[Whole, Words]:
    """The same where a unit and a place do not go into one word."""
    units = np.concatenate([block[0].astype(np.int64, copy=False) for block in blocks])
    places = np.concatenate([block[1].astype(_word_of(bits), copy=False) for block in blocks])
    order = np.lexsort((places, units))
    units, places = units[order], places[order]
    kept = np.ones(len(units), dtype=bool)
    kept[most:] = units[most:] != units[:-most]
    return units[kept], places[kept]


def _word_of(bits: int) -> Any:
    return np.uint32 if bits <= 32 else np.uint64


def _short_word_of(bits: int) -> Any:
    return np.uint8 if bits <= 8 else np.uint16 if bits <= 16 else _word_of(bits)


def _shortened(units: Whole) -> npt.NDArray[np.int32] | Whole:
    """A copy in half the memory, if they are small enough: what DuckDB handed over can then be used again."""
    small = len(units) and units.min() >= -(2**31) and units.max() < 2**31
    return units.astype(np.int32) if small else units


class _Totals:
    """Adds up the digits of numbers, group by group."""

    def __init__(self, choice: Choice) -> None:
        self._choice = choice
        slots = choice.sizes[0]
        self._rows = np.zeros(slots, dtype=np.int64)
        self._there = [np.zeros(slots, dtype=np.int64) for _ in choice.parts]
        self._sums = [np.zeros(slots, dtype=np.int64) for _ in choice.parts]
        self._bins = [np.zeros((slots, part.bins + 2), dtype=np.int64) for part in choice.parts]

    def add(self, numbers: Whole) -> None:
        """Adds up no more than 2^20 numbers at once."""
        digits: list[Whole] = []
        for size in reversed(self._choice.sizes[1:]):
            rest = numbers >> (size.bit_length() - 1) if _is_power_of_two(size) else numbers // size
            digits.append(numbers - rest * size)
            numbers = rest
        digits.append(numbers)
        digits.reverse()
        slots = len(self._rows)
        self._rows += np.bincount(numbers, minlength=slots)
        for place, part in enumerate(self._choice.parts):
            if part.digit is None:
                continue
            digit = digits[part.digit]
            if part.kind == "bins":
                np.add.at(self._bins[place].reshape(-1), numbers * (part.bins + 2) + digit, 1)
                continue
            self._there[place] += np.bincount(numbers[digit > 0], minlength=slots)
            if part.kind == "sum":
                self._sums[place] += _summed(numbers, digit, slots)

    def counts(self) -> Counts:
        result: Counts = {}
        for place, group in enumerate(self._choice.groups, start=1):
            if self._rows[place]:
                result[group] = tuple(self._total(number, place) for number in range(len(self._choice.parts)))
        return result

    def _total(self, number: int, place: int) -> int | Bins:
        part, there = self._choice.parts[number], int(self._there[number][place])
        match part.kind:
            case "bins":
                return _bins(self._bins[number][place])
            case "sum":
                return int(self._sums[number][place]) + (part.low - 1) * there
            case _:
                return int(self._rows[place]) if part.digit is None else there


def _is_power_of_two(size: int) -> bool:
    return size & (size - 1) == 0


def _summed(groups: Whole, digits: Whole, slots: int) -> Whole:
    """Sums by group, exactly: of 2^20 digits below 2^32 at most, where doubles hold all whole numbers to 2^53."""
    return np.bincount(groups, weights=digits, minlength=slots).astype(np.int64)


def _bins(slots: Whole) -> Bins:
    """Counts in bins: the first is of NULL, and what is just above the last bin is in the last bin."""
    slots[-2] += slots[-1]
    return Bins(None, slots[1:-1])
