"""Counting in arrays and by grouping is the same."""

import tracemalloc
from array import array
from fractions import Fraction

import numpy as np
import pytest

from privately.engines.duckdb import binning
from privately.engines.duckdb.counting import count
from privately.engines.duckdb.emission import program
from privately.engines.protocol import Bins
from privately.plans import BinCounts, Unit
from tests.engines.duckdb.inside import KEY, answer, connection_with, stored
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


def test_what_is_kept_of_many_tallies_follows_the_rows() -> None:
    """Arrays are there for one tally at a time, whichever groups have rows: afterwards filled bins alone are kept."""
    table, tallies, size = visits(), 20, 2**16
    bins = BinCounts(argument=column(table, "cost"), lower=Fraction(0), width=Fraction(1000, size), bins=size)
    asked = asking(table, *[bins] * tallies)
    types = [(one.name, kind) for one, kind in zip(table.columns, FOUND, strict=True)]
    with connection_with(types, ROWS) as connection:
        text = program(asked, stored(table, FOUND), KEY)
        count(connection, text)  # loads what it needs
        tracemalloc.start()
        found = count(connection, text)
        kept, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    one_tally = 4 * (size + 1) * 8
    assert len(found) == 3
    assert kept < one_tally / 4
    assert one_tally < most < 2 * one_tally


@pytest.mark.parametrize("filled", [0, 1, 49, 50, 51, 100])
def test_few_numbers_where_few_bins_have_rows(filled: int) -> None:
    slots = np.array([3] * filled + [0] * (101 - filled), dtype=np.int64)
    found = binning._unfolded(slots.reshape(1, -1).copy(), [(0, ("a",))])[("a",)]
    assert found == dict.fromkeys(range(filled), 3)
    assert (found.places is None) == (filled >= 50)
    assert found.counts.base is None, "the array of all is not kept for the sake of one"


def test_groups_that_were_found_in_several_ways_are_one() -> None:
    totals = np.array([[1, 0, 2, 0], [0, 5, 0, 7], [9, 9, 9, 9]], dtype=np.int64)
    found = binning._unfolded(totals, [(0, ("a",)), (1, ("a",)), (2, ("b",))])
    assert found == {("a",): {0: 1, 1: 5, 2: 9}, ("b",): {0: 9, 1: 9, 2: 18}}
    pairs = (array("q", [2, 0, 2]), array("q", [1, 4, 5]))
    assert binning._added(*pairs) == Bins(np.array([0, 2]), np.array([4, 6]))
