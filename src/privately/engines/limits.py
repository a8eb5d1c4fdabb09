"""How much time and memory a question may take: so much more than its plan can need that only a fault reaches it.

What is known beforehand is the plan, with the steps that a row takes at most, and how large the table is, to a power of
two. Whoever waits for a question that fails learns at most that power.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from privately.engines.protocol import MOST_SLOTS, Limits
from privately.plans.aggregates import Aggregation
from privately.plans.costs import bins_of_groups, numbers, passes, steps
from privately.plans.relations import scan_of

SECONDS = 600.0
"""For whatever does not grow with the table."""
PER_BYTE, PER_ROW, PER_STEP = 1e-7, 2e-5, 1e-7
"""Seconds to read a byte, to group a row and choose whether it counts, and for one step of one row."""
MOST_SECONDS = 10.0**6

MEMORY = 2**31
BYTES_PER_ROW, BYTES_PER_NUMBER, BYTES_PER_STEP = 64, 64, 4 * 2048
"""For rows that are put in order, numbers that are counted, and texts of as many rows as a thread has at once."""
BYTES_PER_SLOT, BYTES_PER_GROUP = 32, 1024
"""For counters of bins in arrays, of which there are so many at most, and for what is kept of each group's bins."""

_SMALLEST = 2**20
_THREADS = 2
_DAY = 24 * 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How large a table is, rounded up to powers of two: small tables are all of one size."""

    rows: int
    bytes: int

    def __post_init__(self) -> None:
        for name in ("rows", "bytes"):
            object.__setattr__(self, name, max(_SMALLEST, _power(getattr(self, name))))


def limits_of(aggregation: Aggregation, size: Size) -> Limits:
    """The limits of a question about a table of a size.

    seconds = 600 + passes (bytes/10^7 + rows (20 + steps/10) / 10^6), memory the power of two from
    64 rows + 64 numbers + max(2^31 + 8192 threads steps, bins) on, at least 4 GB and at most that of the machine. The
    bins are 2^30 for the arrays that they are counted in, and 1024 for each group and tally; they lie beside what
    DuckDB takes, and a worker may take twice the memory.

    Theorem: the limits depend on the plan, on the machine, and on the size of the table to a power of two, and on
        nothing else of the data; they never fall when an expression gets dearer or the table larger.
    Reference: elementary
    Proof: docs/theory/engines.md#limits
    Checked-by: tests/engines/test_limits.py::test_dearer_questions_get_more
    """
    each = steps(aggregation)
    seconds = SECONDS + passes(aggregation) * (PER_BYTE * size.bytes + size.rows * (PER_ROW + PER_STEP * each))
    ordered = 0 if scan_of(aggregation.source).table.unit.column is None else size.rows
    found, listed = len(aggregation.tallies) * size.rows, numbers(aggregation)
    counted = found if listed is None else min(found, listed)
    kept = bins_of_groups(aggregation, size.rows)
    beside = BYTES_PER_GROUP * kept + (BYTES_PER_SLOT * MOST_SLOTS if kept else 0)
    within = MEMORY + BYTES_PER_STEP * _THREADS * each
    needed = BYTES_PER_ROW * ordered + BYTES_PER_NUMBER * counted + max(within, beside)
    usual = Limits()
    memory = max(usual.memory, min(_power(needed), _of_machine()))
    return Limits(seconds=min(seconds, MOST_SECONDS), memory=memory, threads=_THREADS)


def sorting_limits(size: Size) -> Limits:
    """What it may take to make a copy of a table, for its owner: a day, and memory to put all rows in order."""
    needed = MEMORY + BYTES_PER_ROW * size.rows
    return Limits(seconds=_DAY, memory=max(Limits().memory, min(_power(needed), _of_machine())), threads=_THREADS)


def _power(number: int) -> int:
    """The least power of two that is not less."""
    return 1 << max(number - 1, 0).bit_length()


def _of_machine() -> int:
    """The largest power of two that fits into its memory."""
    return 1 << (os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")).bit_length() - 1
