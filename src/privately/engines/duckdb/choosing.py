"""Chooses the rows of every unit and counts them, in arrays.

Numbers of rows are shuffled one to one, in a way of its own for each unit, and the first so many of a unit are kept. So
two rows of a unit that the order does not tell apart are the same number, and count the same. Nothing in the order
depends on rows of others: not on which units there are, nor on how many.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from privately.engines.duckdb.first_rows import Rows, Whole, Words, word_of, words_for
from privately.engines.duckdb.programs import Choice
from privately.engines.protocol import Bins, Counts

_ROWS_AT_ONCE = 2**18
_ROWS_IN_CACHE = 2**16
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
    with words_for(choice.expected) as words:
        rows = Rows(shuffle.bits, words)
        for batch in connection.sql(choice.rows).to_arrow_reader(_ROWS_AT_ONCE):
            units = batch.column(0).to_numpy(zero_copy_only=False)
            for at in range(0, len(units), _ROWS_IN_CACHE):
                few = units[at : at + _ROWS_IN_CACHE]
                numbers = _numbers(batch.slice(at, _ROWS_IN_CACHE), choice, shuffle.bits)
                rows.add(few, shuffle.places(few, numbers))
        for units, places in rows.first(choice.most):
            totals.add(shuffle.numbers(units, places))
    return totals.counts()


def _numbers(batch: Any, choice: Choice, bits: int) -> Words:
    """The numbers of rows, of their digits; in words that wrap around, which leaves a difference below 2^bits right."""
    word = word_of(bits)
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
