"""Runs the text of an aggregation on a connection and gathers whole numbers. It runs in the worker.

What needs NumPy is loaded for those questions alone that need it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from privately.engines.duckdb.programs import BinsText, Program
from privately.engines.protocol import Bins, Counts, Group


def count(connection: Any, program: Program) -> Counts:
    """The tallies of every group."""
    if program.choice is not None:
        from privately.engines.duckdb.choosing import chosen_counts

        return chosen_counts(connection, program.choice)
    if program.histogram is not None:
        from privately.engines.duckdb.binning import histogram_counts

        return histogram_counts(connection, program.histogram)
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
