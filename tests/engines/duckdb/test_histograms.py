"""Counts in bins for groups that are listed: the reference's whole numbers, of a file and of a prepared copy."""

import random
import tracemalloc
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import duckdb
import pytest

from privately.engines.duckdb import binning, histograms, preparing
from privately.engines.duckdb.binning import histogram_counts
from privately.engines.duckdb.histograms import histogram_of
from privately.engines.duckdb.programs import Histogram
from privately.engines.duckdb.stored import Stored
from privately.plans import Aggregation, BinCounts, Column, Filter, Identity, Key, RowCount, Scan, Table, Unit
from tests.engines import reference
from tests.engines.duckdb.inside import KEY, connection_with, hashed, stored
from tests.engines.duckdb.test_choosing import COLUMNS, FOUND, IDENTITIES, aggregation_table, question

_VALUES: tuple[tuple[Any, ...], ...] = (
    (0, 0, 1, None),
    ("a", "a", "b", "it's", "z", "", None),
    (0.0, 1.0, 99.75, 1e308, float("nan"), float("-inf"), -3.0, 100.0, None),
    (0, 7, 120, 2**63 - 1, -(2**63), None),
    (True, False, None),
)


def _tables(count: int) -> list[list[tuple[Any, ...]]]:
    chance = random.Random(7)
    return [
        [tuple(chance.choice(values) for values in _VALUES) for _ in range(chance.choice([0, 1, 3, 12]))]
        for _ in range(count)
    ]


def _asked(by: str, unit: Unit, *, filtered: bool = False, columns: tuple[Column, ...] = COLUMNS) -> Aggregation:
    """Bins of costs and of ages, and nothing else."""
    found = question(2, by=by, filtered=filtered)
    scan = Scan(table=Table(name="t", columns=columns, unit=unit), identities=IDENTITIES)
    source = replace(found.source, source=scan) if isinstance(found.source, Filter) else scan
    bins = (
        BinCounts(argument=scan.fields[2], lower=Fraction(-1, 2), width=Fraction(201, 200), bins=100),
        BinCounts(argument=scan.fields[3], lower=Fraction(0), width=Fraction(7), bins=10),
    )
    return replace(
        found,
        source=source,
        tallies=tuple((Identity(number=70 + place, name="n"), tally) for place, tally in enumerate(bins)),
    )


def _counted(connection: Any, histogram: Histogram) -> dict[Any, tuple[Any, ...]]:
    found: dict[Any, tuple[Any, ...]] = dict(histogram_counts(connection, histogram))
    return {group: tuple(dict(one) for one in bins) for group, bins in found.items()}


def _with(rows: Sequence[Sequence[Any]]) -> Any:
    return connection_with(list(zip((column.name for column in COLUMNS), FOUND, strict=True)), rows)


@pytest.mark.thinned(2)
@pytest.mark.parametrize("by", ["", "ward", "rest", "both"])
@pytest.mark.parametrize("filtered", [False, True])
@pytest.mark.parametrize("unit", [Unit(), Unit(column="who", rows=2)])
def test_integers_are_the_references(by: str, unit: Unit, *, filtered: bool) -> None:
    asked = _asked(by, unit, filtered=filtered)
    histogram = histogram_of(asked, stored(aggregation_table(asked), FOUND), KEY)
    assert histogram is not None
    with duckdb.connect() as hashing:
        for rows in _tables(8):
            with _with(rows) as connection:
                assert _counted(connection, histogram) == reference.run(asked, rows, hashed(hashing))


def _copied(asked: Aggregation, connection: Any) -> Stored:
    """A prepared copy within the same connection."""
    connection.execute(f"ATTACH ':memory:' AS {preparing.ALIAS}")
    table = replace(stored(aggregation_table(asked), FOUND), relation="memory.t")
    source: Any = _NoFile()
    for statement in preparing.statements(table, source, KEY):
        connection.execute(statement)
    described = connection.execute(f"DESCRIBE {preparing.ALIAS}.data").fetchall()
    return preparing.stored_copy(table, {str(row[0]): str(row[1]) for row in described})


class _NoFile:
    def state(self) -> tuple[str, int, int]:
        return "", 0, 0


@pytest.mark.parametrize("by", ["", "ward", "rest", "both"])
def test_a_copy_keeps_the_numbers_of_words(by: str) -> None:
    asked = _asked(by, Unit())
    for rows in _tables(8):
        with _with(rows) as connection, duckdb.connect() as hashing:
            histogram = histogram_of(asked, _copied(asked, connection), KEY)
            assert histogram is not None
            assert not histogram.before, "words of a copy have numbers"
            assert _counted(connection, histogram) == reference.run(asked, rows, hashed(hashing))


def test_groups_that_are_not_asked_for_are_left_out() -> None:
    asked = _asked("ward", Unit())
    with _with([(1, "b", 1.0, 1, True)]) as connection:
        histogram = histogram_of(asked, _copied(asked, connection), KEY)
        assert histogram is not None
        assert histogram.groups == (("a",), None, ("it's",))
        assert _counted(connection, histogram) == {}


def test_questions_that_are_counted_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = _asked("ward", Unit())
    table = stored(aggregation_table(asked), FOUND)
    assert histogram_of(asked, table, KEY) is not None
    (key,) = asked.keys
    unlisted = Key(identity=key.identity, expression=key.expression)
    assert histogram_of(replace(asked, keys=(unlisted,)), table, KEY) is None
    more = (*asked.tallies, (Identity(number=90, name="n"), RowCount()))
    assert histogram_of(replace(asked, tallies=more), table, KEY) is None
    for unit in (Unit(column="who", rows=2, groups=1), Unit(column="who", rows=2, rows_per_group=1)):
        limited = _asked("ward", unit)
        assert histogram_of(limited, stored(aggregation_table(limited), FOUND), KEY) is None
    slots = 2 * (101 + 11)
    monkeypatch.setattr(histograms, "MOST_SLOTS", slots)
    assert histogram_of(asked, table, KEY) is not None
    monkeypatch.setattr(histograms, "MOST_SLOTS", slots - 1)
    assert histogram_of(asked, table, KEY) is None, "all tallies together are too many"


def test_counts_are_not_copied() -> None:
    asked = _asked("ward", Unit())
    histogram = histogram_of(asked, stored(aggregation_table(asked), FOUND), KEY)
    assert histogram is not None
    wide = replace(histogram, bins=(2**18, 2**18))
    with _with([(1, "a", 1.0, 1, True), (1, "it's", 1.0, 1, True)]) as connection:
        histogram_counts(connection, histogram)  # loads what it needs
        tracemalloc.start()
        found = histogram_counts(connection, wide)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert set(found) == {("a",), ("it's",)}
    counters = 2 * 2 * 2**18 * 4
    assert counters < most < 1.4 * counters


def test_too_many_rows_are_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = _asked("ward", Unit())
    histogram = histogram_of(asked, stored(aggregation_table(asked), FOUND), KEY)
    assert histogram is not None
    monkeypatch.setattr(binning, "_MOST_ROWS", 1)
    with _with([(1, "a", 1.0, 1, True)] * 2) as connection, pytest.raises(MemoryError):
        histogram_counts(connection, histogram)
