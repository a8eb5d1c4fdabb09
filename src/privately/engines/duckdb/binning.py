"""Counts rows in bins, in arrays. It runs in the worker."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from privately.engines.duckdb.programs import MOST_SLOTS, BinsText
from privately.engines.protocol import Bins, Group

_ROWS_AT_ONCE = 2**20

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
    found = {}
    for group, slots in sums.items():
        counts = slots[:-1].copy()
        counts[-1] += slots[-1]
        filled = np.flatnonzero(counts)
        found[group] = Bins(filled.astype(np.int64), counts[filled])
    return found


def grouped(connection: Any, bins: BinsText, raws: dict[Group, Group]) -> dict[Group, Bins]:
    """The same where groups cannot be numbered."""
    sums: dict[Group, dict[int, int]] = {}
    for *raw, place, number in connection.execute(bins.grouped).fetchall():
        group = raws.get(tuple(raw))
        if group is not None:
            counts, at = sums.setdefault(group, {}), min(place, bins.bins - 1)
            counts[at] = counts.get(at, 0) + number
    return {
        group: Bins(
            np.array(sorted(counts), dtype=np.int64),
            np.array([counts[place] for place in sorted(counts)], dtype=np.int64),
        )
        for group, counts in sums.items()
    }
