"""Counts rows in bins, in arrays. It runs in the worker."""

from __future__ import annotations

import math
from array import array
from typing import Any

import numpy as np
import numpy.typing as npt

from privately.engines.duckdb.programs import BinsText, Histogram
from privately.engines.protocol import MOST_SLOTS, Bins, Counts, Group

_ROWS_AT_ONCE = 2**20
_MOST_ROWS = 2**32 - 1
_FETCHED_AT_ONCE = 2**14

NOTHING = Bins(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))


def binned(connection: Any, bins: BinsText, raws: dict[Group, Group]) -> dict[Group, Bins]:
    """How many rows are in each bin, for the groups that were found: `raws` are their keys by what was grouped by."""
    if not raws:
        return {}
    if bins.codes is None:
        return grouped(connection, bins, raws)
    sizes = [code.size or _dictionary(connection, number) for number, code in enumerate(bins.codes)]
    stride = bins.bins + 1
    slots = math.prod(sizes) * stride
    if slots > MOST_SLOTS:
        return grouped(connection, bins, raws)
    number = "0"
    for code, size in zip(bins.codes, sizes, strict=True):
        number = f"({number} * {size} + {code.text})"
    text = f"SELECT {number} * {stride} + {bins.value} AS i FROM ({bins.rows})"
    totals = _numbered(connection, text, slots).reshape(-1, stride)
    keys = len(bins.codes)
    numbered = connection.execute(f"SELECT *, {number} AS i FROM found").fetchall()
    return _unfolded(totals, [(row[-1], raws[tuple(row[:keys])]) for row in numbered])


def histogram_counts(connection: Any, histogram: Histogram) -> Counts:
    """Counts in bins of every listed group that has a row.

    Theorem: a row adds 1 to the bin that its number names, in the group of its place, or to nothing if either is NULL.
    Reference: elementary
    Proof: docs/theory/engines.md#steps-and-bins
    Checked-by: tests/engines/duckdb/test_histograms.py::test_integers_are_the_references
    """
    for statement in histogram.before:
        connection.execute(statement)
    keys, groups = len(histogram.sizes), math.prod(histogram.sizes)
    totals = [np.zeros(groups * (bins + 1), dtype=np.uint32) for bins in histogram.bins]
    seen, rows = np.zeros(groups, dtype=bool), 0
    for batch in connection.sql(histogram.rows).to_arrow_reader(_ROWS_AT_ONCE):
        rows += batch.num_rows
        if rows > _MOST_ROWS:
            raise MemoryError
        columns = [batch.column(place) for place in range(batch.num_columns)]
        pairs = list(zip(columns[:keys], histogram.rests, strict=True))
        listed = _all_valid([column for column, rest in pairs if rest is None])
        places = np.zeros(batch.num_rows, dtype=np.int32)
        for size, (column, rest) in zip(histogram.sizes, pairs, strict=True):
            places *= np.int32(size)
            places += _numbers(column, rest or 0)
        for counts, bins, column in zip(totals, histogram.bins, columns[keys:], strict=True):
            slots = places * np.int32(bins + 1) + _numbers(column)
            kept = _all_valid([column]) if listed is None else listed & column.is_valid().to_numpy(zero_copy_only=False)
            np.add.at(counts, slots if kept is None else slots[kept], np.uint32(1))
        if any(column.null_count for column in columns[keys:]):
            seen[places if listed is None else places[listed]] = True
    shaped = [one.reshape(groups, -1) for one in totals]
    for one in shaped:
        seen |= one.any(axis=1)
    return {
        group: tuple(Bins(None, folded(one[place])) for one in shaped)
        for place, group in enumerate(histogram.groups)
        if group is not None and seen[place]
    }


def _numbers(column: Any, rest: int = 0) -> npt.NDArray[np.int32]:
    """Whole numbers below 2^25, with the rest for NULL."""
    filled = column.fill_null(0) if column.null_count else column
    found: npt.NDArray[np.int32] = filled.to_numpy(zero_copy_only=False).astype(np.int32, copy=False)
    if rest and column.null_count:
        found = np.where(column.is_null().to_numpy(zero_copy_only=False), np.int32(rest), found)
    return found


def _all_valid(columns: list[Any]) -> npt.NDArray[np.bool_] | None:
    """In which rows none of them is NULL; None if that is so in all."""
    found: npt.NDArray[np.bool_] | None = None
    for column in columns:
        if column.null_count:
            valid = column.is_valid().to_numpy(zero_copy_only=False)
            found = valid if found is None else found & valid
    return found


def _dictionary(connection: Any, number: int) -> int:
    """Makes a type of the texts that a key was found to have, so that each has a number."""
    connection.execute(f"DROP TYPE IF EXISTS d{number}")
    texts = f"SELECT DISTINCT CAST(g{number} AS VARCHAR) AS g FROM found WHERE g{number} IS NOT NULL"
    connection.execute(f"CREATE TEMP TYPE d{number} AS ENUM ({texts})")
    ((size,),) = connection.execute(f"SELECT count(*) + 1 FROM ({texts})").fetchall()
    return int(size)


def _numbered(connection: Any, text: str, slots: int) -> npt.NDArray[np.int64]:
    """How often each number occurs; NULL is none."""
    totals = np.zeros(slots, dtype=np.int64)
    for batch in connection.sql(text).to_arrow_reader(_ROWS_AT_ONCE):
        column = batch.column(0)
        numbers = (column.drop_null() if column.null_count else column).to_numpy(zero_copy_only=False)
        if len(numbers) < slots:
            np.add.at(totals, numbers, 1)
        else:
            found = np.bincount(numbers)
            totals[: len(found)] += found
    return totals


def _unfolded(totals: npt.NDArray[np.int64], numbered: list[tuple[int, Group]]) -> dict[Group, Bins]:
    """Counts by key and bin, of counts by number. What is just above the last bin is in the last bin."""
    sums: dict[Group, npt.NDArray[np.int64]] = {}
    for row, group in numbered:
        sums[group] = sums[group] + totals[row] if group in sums else totals[row]
    return {group: _kept(folded(slots)) for group, slots in sums.items()}


def _kept(counts: npt.NDArray[np.int64]) -> Bins:
    """What is kept of an array that is not: few numbers where few bins have rows."""
    places = np.flatnonzero(counts)
    return Bins(places, counts[places]) if 2 * len(places) < len(counts) else Bins(None, counts.copy())


def folded(slots: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Counts in bins, of which what is just above the last is in the last. The array is changed, and not copied."""
    slots[-2] += slots[-1]
    return slots[:-1]


def grouped(connection: Any, bins: BinsText, raws: dict[Group, Group]) -> dict[Group, Bins]:
    """The same where groups cannot be numbered."""
    found: dict[Group, tuple[array[int], array[int]]] = {}
    answer = connection.execute(bins.grouped)
    while rows := answer.fetchmany(_FETCHED_AT_ONCE):
        for *raw, place, number in rows:
            group = raws.get(tuple(raw))
            if group is not None:
                places, counts = found.setdefault(group, (array("q"), array("q")))
                places.append(min(place, bins.bins - 1))
                counts.append(number)
    return {group: _added(*pairs) for group, pairs in found.items()}


def _added(places: array[int], counts: array[int]) -> Bins:
    """Counts by place; several may be of one."""
    different, at = np.unique(np.frombuffer(places, dtype=np.int64), return_inverse=True)
    sums = np.zeros(len(different), dtype=np.int64)
    np.add.at(sums, at, np.frombuffer(counts, dtype=np.int64))
    return Bins(different, sums)
