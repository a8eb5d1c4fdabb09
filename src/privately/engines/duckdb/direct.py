"""Questions whose groups are counted at once, in one text: the rows are grouped by keys that need no second look.

Sums of real numbers are sums of doubles there, each a whole number of steps, which is quicker than to make an integer
of each; they are exact as long as they stay below 2^53, and whoever counts sees whether they did.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from privately.engines.duckdb.choices import is_limited
from privately.engines.duckdb.emission import (
    Reading,
    added_text,
    key_texts,
    only_grouped,
    relation_text,
    shared_counts,
    state_text,
    total_text,
    used_in,
    words_of,
)
from privately.engines.duckdb.programs import Direct, Total
from privately.engines.duckdb.scanning import may_be_cut
from privately.engines.duckdb.stored import Stored
from privately.engines.duckdb.tallies import Sums, sums_of
from privately.plans import Aggregation, BinCounts, Field, Key, Scan, StepSum, Tally, Type, UnitCount, scan_of

MOST_EXACT = 2**53
"""Doubles hold all whole numbers up to here."""

_NAME = re.compile(r"\b[crsxy][0-9]+\b")
_KINDS = (Type.TEXT, Type.INTEGER, Type.BOOLEAN)


def direct_of(aggregation: Aggregation, stored: Stored, key: bytes) -> Direct | None:
    """The way to count groups at once; None if there is none."""
    if not _may_count(aggregation, stored):
        return None
    identities = scan_of(aggregation.source).identities
    table = Reading(stored, key, identities, used_in(aggregation), only_grouped(aggregation, stored))
    words = [_words(one, table) for one in aggregation.keys]
    if None in words:
        return None
    tallies = [tally for _, tally in aggregation.tallies]
    columns = _Columns(tallies, table, len(words))
    totals = tuple(columns.total(place) for place in range(len(tallies)))
    names = [f"g{place}" for place in range(len(words))]
    outputs = [
        f"{key_texts(one, '', table, raw=True)[0]} AS {name}" for one, name in zip(aggregation.keys, names, strict=True)
    ]
    read = ", ".join([*outputs, *columns.read]) or "1 AS one"
    if isinstance(aggregation.source, Scan):
        table = replace(table, needed=frozenset(_NAME.findall(" ".join([read, *columns.layers[0]]))))
    rows = relation_text(aggregation.source, table)
    for layer in filter(None, columns.layers):
        rows = f"SELECT *, {', '.join(layer)} FROM ({rows})"
    shown = [
        f"CAST({name} AS VARCHAR) AS {name}" if words_of(one, table) else name
        for one, name in zip(aggregation.keys, names, strict=True)
    ]
    by = f"GROUP BY {', '.join(str(place + 1) for place in range(len(names)))}" if names else "HAVING count(*) > 0"
    return Direct(
        text=f"SELECT {', '.join([*shown, *columns.counted])} FROM (SELECT {read} FROM ({rows})) {by}",
        words=tuple(one or None for one in words),
        asked=tuple(_asked(one) for one in aggregation.keys),
        totals=totals,
    )


def _may_count(aggregation: Aggregation, stored: Stored) -> bool:
    """Whether all rows count, or those of people were chosen before, and no tally needs more than a sum."""
    unit = stored.table.unit
    if any(isinstance(tally, BinCounts) for _, tally in aggregation.tallies):
        return False
    if unit.column is None:
        return True
    people = any(isinstance(tally, UnitCount) for _, tally in aggregation.tallies)
    return stored.bounded and not people and not is_limited(aggregation, unit)


def _words(key: Key, table: Reading) -> tuple[str, ...] | None:
    """The texts that are keys, all others being NULL; none if all are keys; None if a key has to be worked out."""
    if key.expression.known.type not in _KINDS:
        return None
    if key_texts(key, "g", table, raw=True)[1] == "g" or words_of(key, table) is not None:
        return ()
    place = table.place(key.expression.identity) if isinstance(key.expression, Field) else None
    column = None if place is None else table.stored.table.columns[place]
    if column is None or column.categories is None or may_be_cut(column):
        return None
    return tuple(str(one) for one in column.categories)


def _asked(key: Key) -> tuple[str | int | bool | None, ...] | None:
    if key.values is None:
        return None
    return tuple(one for one in key.values if one is None or isinstance(one, (str, int)))


class _Columns:
    """What is read of a row, in `layers` and then at once, and what is counted of it; totals are looked up by place."""

    def __init__(self, tallies: Sequence[Tally], table: Reading, keys: int) -> None:
        self._tallies, self._table = tallies, table
        self._shared = shared_counts(tallies)
        self._places: dict[int, int] = {}
        self._sums: dict[int, Sums] = {}
        self.layers: tuple[list[str], list[str]] = ([], [])
        self.read: list[str] = []
        self.counted: list[str] = []
        for place, tally in enumerate(tallies):
            if place not in self._shared or table.stored.as_declared:
                self._places[place] = keys + len(self.counted)
                self.counted.append(f"{self._count(place, tally)} AS t{place}")

    def total(self, place: int) -> Total:
        """Where the total of a tally is."""
        source = self._shared.get(place, place)
        sums = self._sums.get(source)
        if place in self._places and sums is None and source not in self._states:
            return Total(column=self._places[place])
        column = self._places[source]
        if place != source:
            return Total(column=column, kind="count")
        if sums is None:
            return Total(column=column, kind="value")
        return Total(column=column, kind="doubles", factor=float(sums.factor), low=int(sums.low))

    @property
    def _states(self) -> frozenset[int]:
        """Tallies that are gathered with their counts."""
        return frozenset() if self._table.stored.as_declared else frozenset(self._shared.values())

    def _count(self, place: int, tally: Tally) -> str:
        sums = self._exact(tally)
        if sums is not None:
            self._sums[place] = sums
            identity = tally.argument.identity  # type: ignore[union-attr]  # `_exact` takes columns alone
            self.layers[0].append(f"{sums.left(f'y{identity.number}')} AS l{place}")
            self.layers[1].append(f"{sums.above(f'l{place}')} AS b{place}")
            self.read.append(f"{sums.doubles(f'b{place}')} AS a{place}")
            return f"CAST(avg(a{place}) EXPORT_STATE AS STRUCT(count UBIGINT, value DOUBLE))"
        added = None if place in self._shared else added_text(tally, self._table, kept=True)
        if added is not None:
            self.read.append(f"{added} AS a{place}")
        if place in self._states:
            return state_text(place)
        return total_text(tally, self._shared.get(place, place), self._table.stored)

    def _exact(self, tally: Tally) -> Sums | None:
        """How a sum is made of doubles, if that is quicker, and exact for as many rows as there may be.

        Whole values are taken: what becomes NaN of them shows in the sum, which is then given up.
        """
        if not isinstance(tally, StepSum) or not isinstance(tally.argument, Field):
            return None
        place, stored = self._table.place(tally.argument.identity), self._table.stored
        if place is None or place in stored.endless or stored.double(place) is None:
            return None
        bounds = stored.table.columns[place].bounds
        sums = bounds and sums_of(tally, bounds)
        if not sums or (stored.most_rows or 0) * (sums.high - sums.low) >= MOST_EXACT:
            return None
        return replace(sums, part=Fraction(1))
