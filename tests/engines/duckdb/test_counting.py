"""Rows are gathered by key, whatever they were grouped by."""

import math
from fractions import Fraction

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privately.engines.duckdb.counting import total_of
from privately.engines.duckdb.programs import Total
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


def _added(values: list[float], order: list[int]) -> float:
    """A sum of doubles in some order: each number says which of the sums that are left are put together next."""
    left = list(values)
    for place in order:
        if len(left) > 1:
            one = left.pop(place % len(left))
            left[place % len(left)] += one
    return sum(left)


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.sampled_from([0, 1, 3, 2**51, 2**52 - 1, 2**52, 2**52 + 1, 2**53 - 3, 2**53 - 1, 2**53]), max_size=6),
    st.lists(st.integers(0, 9), min_size=6, max_size=6),
    st.sampled_from([-900, -7, 0, 1, 900]),
    st.integers(-5, 5),
)
def test_sums_of_doubles_are_exact_or_given_up(numbers: list[int], order: list[int], power: int, low: int) -> None:
    value = _added([math.ldexp(one, power) for one in numbers], order)
    total = Total(column=0, kind="doubles", factor=math.ldexp(1.0, -power), low=low)
    found = total_of(total, {"count": len(numbers), "value": value})
    exact = sum(numbers)
    assert found == (exact + low * len(numbers) if exact < 2**53 else None)


def test_a_limit_that_is_too_high_is_found_out() -> None:
    """A planted fault: above 2^53 doubles round, so that one row more may change nothing."""
    values = [2.0**53, 1.0, 1.0]
    assert _added(values, [0, 0]) == 2.0**53
    assert total_of(Total(column=0, kind="doubles"), {"count": 3, "value": _added(values, [0, 0])}) is None
    for value in (math.nan, math.inf):
        assert total_of(Total(column=0, kind="doubles"), {"count": 1, "value": value}) is None


@pytest.mark.parametrize("threads", [1, 2])
def test_duckdb_adds_up_as_the_proof_says(threads: int) -> None:
    """Sums that stay below 2^53 are exact, in runs and out of them, and those that do not are seen."""
    sums = "CAST(avg(x) EXPORT_STATE AS STRUCT(count UBIGINT, value DOUBLE))"
    with duckdb.connect(config={"threads": threads}) as connection:
        for value, rows, wanted in (
            (2**40 - 1, 8192, 8192 * (2**40 - 1)),
            (2**40 + 1, 8192, None),
            (2**33 + 1, 300_000, 300_000 * (2**33 + 1)),
        ):
            for text in (f"SELECT {value}::DOUBLE AS x", f"SELECT (CASE WHEN i >= 0 THEN {value} END)::DOUBLE AS x"):
                ((found,),) = connection.execute(f"SELECT {sums} FROM ({text} FROM range({rows}) t(i))").fetchall()
                assert total_of(Total(column=0, kind="doubles"), found) == wanted
