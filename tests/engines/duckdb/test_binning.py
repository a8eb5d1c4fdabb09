"""Counting in arrays and by grouping is the same."""

from fractions import Fraction

import pytest

from privately.engines.duckdb import binning
from privately.plans import BinCounts, Unit
from tests.engines.duckdb.inside import answer
from tests.engines.duckdb.visits import ROWS, asking, column, visits

FOUND = ("VARCHAR", "VARCHAR", "DOUBLE", "INTEGER")


@pytest.mark.parametrize("by", ["who", "ward", "age", None])
@pytest.mark.parametrize("unit", [Unit(), Unit(column="who", rows=2)])
def test_two_ways_to_count(by: str | None, unit: Unit, monkeypatch: pytest.MonkeyPatch) -> None:
    table = visits(unit)
    bins = BinCounts(argument=column(table, "cost"), lower=Fraction(0), width=Fraction(10), bins=100)
    aggregation = asking(table, bins, by=by)
    quick = answer(aggregation, FOUND, ROWS)
    monkeypatch.setattr(binning, "MOST_SLOTS", 0)
    assert answer(aggregation, FOUND, ROWS) == quick
