"""Rows that are chosen in arrays: as many as may count, by the unit's own rows alone, and exact sums of them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import duckdb
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from privately.engines.duckdb import choosing, first_rows
from privately.engines.duckdb.choices import choice_of
from privately.engines.duckdb.choosing import Shuffle
from privately.engines.duckdb.counting import count
from privately.engines.duckdb.emission import program
from privately.engines.protocol import Bins
from privately.plans import (
    Aggregation,
    BinCounts,
    Column,
    Filter,
    Identity,
    Key,
    RowCount,
    Scan,
    StepSum,
    Table,
    Tally,
    Unit,
    call,
    constant,
)
from tests.engines import reference
from tests.engines.duckdb.inside import KEY, connection_with, hashed, stored

KEYS = tuple(range(10**18, 10**18 + 4))
UNITS = np.array([0, 1, -1, 2**63 - 1, -(2**63), 12345], dtype=np.int64)

COLUMNS = (
    Column(name="who", type="integer"),
    Column(name="ward", type="text", categories=("a", "b", "it's")),
    Column(name="cost", type="real", bounds=("-0.5", 100)),
    Column(name="age", type="integer", bounds=(-5, 120)),
    Column(name="new", type="boolean"),
)
FOUND = ("BIGINT", "VARCHAR", "DOUBLE", "BIGINT", "BOOLEAN")
IDENTITIES = tuple(Identity(number=place, name=column.name) for place, column in enumerate(COLUMNS))

_ROW = st.tuples(
    st.sampled_from([0, 0, 1, 2, None, 2**62, -(2**62)]),
    st.sampled_from(["a", "a", "b", "it's", "z", "", None]),
    st.sampled_from([0.0, 1.0, 1.0, 99.75, 1e308, float("nan"), float("-inf"), -3.0, None]),
    st.sampled_from([0, 7, 7, 120, 2**63 - 1, -(2**63), None]),
    st.sampled_from([True, False, None]),
)
ROWS = st.lists(_ROW, max_size=9)


def question(most: int, *, by: str, filtered: bool) -> Aggregation:
    table = Table(name="t", columns=COLUMNS, unit=Unit(column="who", rows=most))
    scan = Scan(table=table, identities=IDENTITIES)
    _, ward, cost, age, new = scan.fields
    source = Filter(source=scan, condition=call("greater", age, constant(3))) if filtered else scan
    keys = {
        "": (),
        "ward": (Key(identity=Identity(number=50, name="ward"), expression=ward, values=("a", "it's")),),
        "rest": (Key(identity=Identity(number=50, name="ward"), expression=ward, values=("a", "b", "it's", None)),),
        "both": (
            Key(identity=Identity(number=50, name="ward"), expression=ward, values=("a", "b", "it's", None)),
            Key(identity=Identity(number=51, name="new"), expression=new, values=(True, None)),
        ),
    }[by]
    tallies: tuple[Tally, ...] = (
        RowCount(),
        RowCount(argument=cost),
        StepSum(argument=cost, step=Fraction(1, 8), low=-4, high=800),
        StepSum(argument=age, step=Fraction(1), low=3, high=100),
        RowCount(argument=new),
        BinCounts(argument=cost, lower=Fraction(-1, 2), width=Fraction(201, 200), bins=100),
    )
    named = tuple((Identity(number=60 + place, name="n"), tally) for place, tally in enumerate(tallies))
    return Aggregation(source=source, keys=keys, tallies=named)


def chosen(aggregation: Aggregation, rows: Sequence[Sequence[Any]]) -> dict[Any, tuple[Any, ...]]:
    table = stored(aggregation_table(aggregation), FOUND)
    choice = choice_of(aggregation, table, KEY)
    assert choice is not None
    with connection_with(list(zip((c.name for c in COLUMNS), FOUND, strict=True)), rows) as connection:
        found = count(connection, replace(program(aggregation, table, KEY), choice=choice))
    return {
        group: tuple(dict(one) if isinstance(one, Bins) else one for one in numbers) for group, numbers in found.items()
    }


def aggregation_table(aggregation: Aggregation) -> Table:
    relation = aggregation.source
    while not isinstance(relation, Scan):
        relation = relation.source
    return relation.table


def added_up(parts: list[dict[Any, tuple[Any, ...]]]) -> dict[Any, tuple[Any, ...]]:
    """Counts of tables that have no unit in common, put together."""
    totals: dict[Any, tuple[Any, ...]] = {}
    for part in parts:
        for group, numbers in part.items():
            seen = totals.get(group)
            totals[group] = numbers if seen is None else tuple(map(_plus, seen, numbers))
    return totals


def _plus(one: Any, other: Any) -> Any:
    return dict(Counter(one) + Counter(other)) if isinstance(one, dict) else one + other


@pytest.mark.parametrize("size", [2, 200, 256, 257, 4096])
def test_shuffling_is_one_to_one(size: int) -> None:
    shuffle = Shuffle(KEYS, size)
    numbers = np.arange(2**shuffle.bits, dtype=np.int64)
    assert len(numbers) >= size
    for unit in UNITS:
        units = np.full(len(numbers), unit)
        places = shuffle.places(units, numbers)
        assert sorted(places.tolist()) == numbers.tolist()
        assert (shuffle.numbers(units, places) == numbers).all()


@pytest.mark.parametrize("size", [2**31, 2**32, 2**32 + 1, 2**62])
def test_shuffling_can_be_undone(size: int) -> None:
    shuffle = Shuffle(KEYS, size)
    numbers = np.array([0, 1, size // 3, size - 1, 12345, 7], dtype=np.int64)
    places = shuffle.places(UNITS, numbers)
    assert places.max() < 2**shuffle.bits
    assert (shuffle.numbers(UNITS, places) == numbers).all()
    other = Shuffle((*KEYS[:3], 5), size)
    assert (other.places(UNITS, numbers) != places).any()


@pytest.mark.parametrize("width", [1, 1000, 25_600_002, 2**40])
def test_no_number_is_preferred(width: int) -> None:
    """Of five different numbers in 50 parts three are kept, those of each part with probability 3/5."""
    generator = np.random.default_rng(7)
    drawn = generator.integers(width, 51 * width, (60_000, 5))
    units = np.arange(len(drawn), dtype=np.int64)
    places = np.stack([Shuffle(KEYS, 51 * width).places(units, drawn[:, place]) for place in range(5)], axis=1)
    first = places.argsort(axis=1).argsort(axis=1) < 3
    different = (np.diff(np.sort(drawn, axis=1), axis=1) > 0).all(axis=1)
    parts, mask = drawn[different].reshape(-1) // width, first[different].reshape(-1)
    shares = np.bincount(parts[mask], minlength=51)[1:] / np.bincount(parts, minlength=51)[1:]
    assert np.abs(shares - 0.6).max() < 0.04, "about six deviations"


@pytest.mark.parametrize("units", [range(9), (-(2**63), 2**63 - 1, 0)])
def test_few_enough_are_added_at_once(units: Sequence[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Doubles hold the sums of no more than 2^20 digits, also where units and places are sorted as pairs."""
    assert first_rows._ROWS_IN_CACHE <= 2**20
    monkeypatch.setattr(first_rows, "_ROWS_IN_CACHE", 4)
    lengths, honest = list[int](), choosing._Totals.add

    def add(totals: Any, numbers: Any) -> None:
        lengths.append(len(numbers))
        honest(totals, numbers)

    monkeypatch.setattr(choosing._Totals, "add", add)
    rows = [(unit, "a", 2.0, 7, True) for unit in units for _ in range(3)]
    found = chosen(question(3, by="ward", filtered=False), rows)
    assert found["a",][:3] == (len(rows), len(rows), 16 * len(rows))
    assert max(lengths) == 4


def check_that_every_unit_counts_by_itself(rows: list[Any], most: int, by: str, *, filtered: bool) -> None:
    """What is counted of a table is the sum of what is counted of each unit alone, so no unit touches another."""
    asked = question(most, by=by, filtered=filtered)
    alone = [[row for row in rows if row[0] == unit] for unit in {row[0] for row in rows} - {None}]
    parts = [chosen(asked, own) for own in alone]
    whole = chosen(asked, rows[::-1])
    assert whole == added_up(parts)
    for own, part in zip(alone, parts, strict=True):
        assert sum(numbers[0] for numbers in part.values()) <= min(most, len(own))


CASES = given(ROWS, st.integers(1, 3), st.sampled_from(["", "ward", "rest", "both"]), st.booleans())


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@CASES
def test_every_unit_counts_by_itself(rows: list[Any], most: int, by: str, filtered: bool) -> None:
    check_that_every_unit_counts_by_itself(rows, most, by, filtered=filtered)


@pytest.mark.slow
@settings(max_examples=500, deadline=None, suppress_health_check=list(HealthCheck))
@CASES
def test_every_unit_counts_by_itself_at_length(rows: list[Any], most: int, by: str, filtered: bool) -> None:
    check_that_every_unit_counts_by_itself(rows, most, by, filtered=filtered)


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(ROWS, st.sampled_from(["", "ward", "rest", "both"]), st.booleans())
def test_numbers_are_the_references_where_all_rows_count(rows: list[Any], by: str, filtered: bool) -> None:
    asked = question(9, by=by, filtered=filtered)
    with duckdb.connect() as connection:
        wanted = reference.run(asked, rows, hashed(connection))
    assert chosen(asked, rows) == wanted


def test_one_row_more_than_may_count() -> None:
    """Two of three alike, and two of three different ones: always exactly two, and whichever it is, the same again."""
    alike = [(1, "a", 1.0, 7, True)] * 3
    different = [(1, "a", cost, 7, True) for cost in (1.0, 2.0, 4.0)]
    asked = question(2, by="ward", filtered=False)
    assert chosen(asked, alike)["a",][:3] == (2, 2, 16)
    sums = {chosen(asked, order)["a",][:3] for order in (different, different[::-1], different[1:] + different[:1])}
    assert len(sums) == 1
    assert sums < {(2, 2, 24), (2, 2, 40), (2, 2, 48)}


def test_an_order_that_looks_at_others_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted fault: the order depends on how many rows there are."""
    honest = Shuffle.places

    def places(self: Shuffle, units: Any, numbers: Any) -> Any:
        return honest(self, units + len(units), numbers)

    def back(self: Shuffle, units: Any, places: Any) -> Any:
        return honest_back(self, units + 20, places)

    honest_back = Shuffle.numbers
    rows = [(unit, "a", float(cost), 7, True) for unit in range(5) for cost in range(4)]
    asked = question(2, by="ward", filtered=False)
    monkeypatch.setattr(Shuffle, "places", places)
    monkeypatch.setattr(Shuffle, "numbers", back)
    whole = chosen(asked, rows)
    monkeypatch.setattr(Shuffle, "numbers", lambda self, units, places: honest_back(self, units + 4, places))
    assert whole != added_up([chosen(asked, [row for row in rows if row[0] == unit]) for unit in range(5)])
