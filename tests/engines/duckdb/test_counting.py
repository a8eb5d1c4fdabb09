"""Rows are gathered by key, whatever they were grouped by."""

from fractions import Fraction

from privately.plans import BinCounts
from tests.engines.duckdb.inside import answer
from tests.engines.duckdb.visits import asking, column, visits

FOUND = ("VARCHAR", "VARCHAR", "DOUBLE", "INTEGER")


def test_texts_that_become_one_key_are_added() -> None:
    table = visits()
    rows = [("a" * 20 + end, "a", 1.0, 1) for end in ("", "b", "cd")]
    bins = BinCounts(argument=column(table, "cost"), lower=Fraction(0), width=Fraction(10), bins=100)
    assert answer(asking(table, bins, by="who"), FOUND, rows) == {("a" * 20,): ({0: 3},)}


def test_a_group_without_values_has_empty_bins() -> None:
    table = visits()
    bins = BinCounts(argument=column(table, "cost"), lower=Fraction(0), width=Fraction(10), bins=100)
    assert answer(asking(table, bins, by="who"), FOUND, [("a", "a", None, 1)]) == {("a",): ({},)}
