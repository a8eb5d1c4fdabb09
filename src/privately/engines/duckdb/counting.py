"""Runs the text of an aggregation on a connection and gathers whole numbers. It runs in the worker.

What needs NumPy is loaded for those questions alone that need it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from privately.engines.duckdb.programs import BinsText, Direct, Program, Total
from privately.engines.protocol import Bins, Counts, Group

_ROWS_AT_ONCE = 2**14
_MOST_EXACT = 2.0**53
"""Doubles hold all whole numbers up to here."""


def attempted(connection: Any, program: Program) -> Counts | None:
    """The tallies of every group; None if the program says only how to count directly, and that is given up."""
    if program.direct is not None and not program.groups:
        return direct_counts(connection, program.direct)
    return count(connection, program)


def count(connection: Any, program: Program) -> Counts:
    """The tallies of every group."""
    if program.choice is not None:
        from privately.engines.duckdb.choosing import chosen_counts

        return chosen_counts(connection, program.choice)
    if program.histogram is not None:
        from privately.engines.duckdb.binning import histogram_counts

        return histogram_counts(connection, program.histogram)
    if program.direct is not None:
        found = direct_counts(connection, program.direct)
        if found is not None:
            return found
    connection.execute(f"CREATE OR REPLACE TEMP TABLE grouped AS {program.first}")
    keys, binned = len(program.types), {one.place: one for one in program.bins}
    groups = program.groups
    if binned:  # which are counted by what is found here
        connection.execute(f"CREATE OR REPLACE TEMP TABLE found AS {groups}")
        groups = "SELECT * FROM found"
    rows = connection.execute(groups).fetchall()
    raws = {tuple(row[:keys]): tuple(row[keys : 2 * keys]) for row in rows}
    scalars = [place for place in range(program.tallies) if place not in binned]
    counts = _summed(rows, keys, len(scalars))
    bins = _binned(connection, binned, raws)
    result: Counts = {}
    for group, totals in counts.items():
        numbers: dict[int, int | Bins] = dict(zip(scalars, totals, strict=True))
        numbers |= {place: found[group] for place, found in bins.items()}
        result[group] = tuple(numbers[place] for place in range(program.tallies))
    return result


def direct_counts(connection: Any, direct: Direct) -> Counts | None:
    """The tallies of every group, at once; None if a sum of doubles may have been rounded.

    Rows are looked at as they come: there may be many texts that are no key.
    """
    words = [None if one is None else frozenset(one) for one in direct.words]
    asked = [None if one is None else frozenset(one) for one in direct.asked]
    counts: dict[Group, list[int]] = {}
    answer = connection.execute(direct.text)
    while rows := answer.fetchmany(_ROWS_AT_ONCE):
        for row in rows:
            cells = zip(row, words, strict=False)
            group = tuple(None if known is not None and cell not in known else cell for cell, known in cells)
            if not all(one is None or key in one for key, one in zip(group, asked, strict=True)):
                continue
            found = [total_of(one, row[one.column]) for one in direct.totals]
            totals = [one for one in found if one is not None]
            if len(totals) < len(found):
                return None
            seen = counts.get(group)
            counts[group] = totals if seen is None else [one + other for one, other in zip(seen, totals, strict=True)]
    return {group: tuple(totals) for group, totals in counts.items()}


def total_of(total: Total, found: Any) -> int | None:
    """A total, of what DuckDB has found for it; None if it was added up as doubles and may have been rounded.

    Theorem: if doubles that are whole numbers times a power of two, and not below 0, are added up in any order, and the
        result is less than 2^53 times that power, no sum on the way was rounded. NaN and infinity are not less.
    Reference: elementary (sums of doubles are rounded to nearest, which is monotone)
    Proof: docs/theory/engines.md#sums-of-doubles
    Checked-by: tests/engines/duckdb/test_counting.py::test_sums_of_doubles_are_exact_or_given_up
    """
    match total.kind:
        case "whole":
            return int(found)
        case "count" | "value":
            return int(found[total.kind])
        case "doubles":
            steps = found["value"] * total.factor
            return int(steps) + total.low * int(found["count"]) if steps < _MOST_EXACT else None


def _summed(rows: Sequence[Sequence[Any]], keys: int, scalars: int) -> dict[Group, list[int]]:
    """Totals by key; rows were grouped by texts as they were found, several of which may be one key."""
    counts: dict[Group, list[int]] = {}
    for row in rows:
        group, totals = tuple(row[keys : 2 * keys]), [int(one) for one in row[2 * keys : 2 * keys + scalars]]
        seen = counts.get(group)
        counts[group] = totals if seen is None else [one + other for one, other in zip(seen, totals, strict=True)]
    return counts


def _binned(connection: Any, texts: Mapping[int, BinsText], raws: dict[Group, Group]) -> dict[int, dict[Group, Bins]]:
    """Counts in bins of every group, by the place of the tally."""
    if not texts:
        return {}
    from privately.engines.duckdb.binning import NOTHING, binned

    empty = dict.fromkeys(raws.values(), NOTHING)
    return {place: empty | binned(connection, one, raws) for place, one in texts.items()}
