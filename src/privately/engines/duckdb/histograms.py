"""Questions for counts in bins alone, for the quick way: groups are listed, so that none need be looked for first.

DuckDB hands on the place of a row's group in the list and the number of its bin; arrays do the counting.
"""

from __future__ import annotations

import math

from privately.engines.duckdb.choices import Coded, bare_keys, combinations, is_limited, listed_code
from privately.engines.duckdb.emission import Reading, number_text, relation_text, used_in
from privately.engines.duckdb.programs import Histogram
from privately.engines.duckdb.stored import Stored
from privately.engines.duckdb.tallies import bin_text
from privately.engines.protocol import MOST_SLOTS
from privately.plans import Aggregation, BinCounts, Field, Key, scan_of


def histogram_of(aggregation: Aggregation, stored: Stored, key: bytes) -> Histogram | None:
    """The quick way to count in bins; None if there is none."""
    tallies = [tally for _, tally in aggregation.tallies if isinstance(tally, BinCounts)]
    unit = stored.table.unit
    if len(tallies) < len(aggregation.tallies) or (unit.column is not None and is_limited(aggregation, unit)):
        return None
    ranked = unit.column is not None and not stored.bounded
    bare = frozenset() if ranked else bare_keys(aggregation, stored)
    reading = Reading(stored, key, scan_of(aggregation.source).identities, used_in(aggregation), bare)
    found = [_kept_code(one, reading) or listed_code(one, at, reading) for at, one in enumerate(aggregation.keys)]
    codes = [one for one in found if one is not None]
    lists = [one.values for one in codes]
    most = math.prod(len(values) for values in lists) * sum(tally.bins + 1 for tally in tallies)
    if len(codes) < len(found) or most > MOST_SLOTS:
        return None
    outputs = [one.text for one in codes]
    outputs += [bin_text(tally, number_text(tally, reading)) for tally in tallies]
    named = ", ".join(f"{one} AS d{place}" for place, one in enumerate(outputs))
    asked = [frozenset(one.values or ()) for one in aggregation.keys]
    return Histogram(
        before=tuple(one.made for one in codes if one.made),
        rows=f"SELECT {named} FROM ({relation_text(aggregation.source, reading)})",
        sizes=tuple(len(values) for values in lists),
        rests=tuple(len(one.values) - 1 if one.rest else None for one in codes),
        groups=tuple(
            group if all(one in wanted for one, wanted in zip(group, asked, strict=True)) else None
            for group in combinations(lists)
        ),
        bins=tuple(tally.bins for tally in tallies),
    )


def _kept_code(key: Key, reading: Reading) -> Coded | None:
    """The number of a word that a prepared copy keeps: all words are listed, asked for or not."""
    place = reading.place(key.expression.identity) if isinstance(key.expression, Field) else None
    if place is None or reading.stored.word(place) is None or key.values is None:
        return None
    words = [str(one) for one in reading.stored.table.columns[place].categories or ()]
    values = [*words, None] if None in key.values else words
    return Coded(made="", values=values, text=f"enum_code(r{reading.identities[place].number})", rest=None in values)
