"""Neighbours: what may be said, and that `covers` means what it says, on all data sets of a tiny world."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations_with_replacement, product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately.errors import InvalidParameter
from privately.guarantees import Neighbors
from privately.guarantees.neighbors import Change

CHANGES: st.SearchStrategy[Change] = st.sampled_from(["add_remove", "replace"])
SIZES = st.integers(1, 4)
UNITS = st.sampled_from([None, "patient", "ward"])


@st.composite
def neighborhoods(draw: st.DrawFn) -> Neighbors:
    unit = draw(UNITS)
    rows = draw(st.none() | SIZES) if unit else None
    return Neighbors(change=draw(CHANGES), size=draw(SIZES), unit=unit, max_rows=rows)


# A tiny world: a data set is a multiset of at most three units, and a unit is a multiset of up to three rows.

Unit = tuple[int, ...]
Data = tuple[Unit, ...]
MOST_UNITS = 3
MOST_ROWS = 3


def world(most_rows: int) -> list[Data]:
    units = [unit for rows in range(1, most_rows + 1) for unit in combinations_with_replacement((0, 1), rows)]
    return [data for count in range(MOST_UNITS + 1) for data in combinations_with_replacement(units, count)]


def changed_once(data: Data, change: str, units: list[Unit]) -> Iterator[Data]:
    without = [data[:place] + data[place + 1 :] for place in range(len(data))]
    if change == "replace":
        yield from (tuple(sorted((*rest, unit))) for rest in without for unit in units)
    else:
        yield from without
        if len(data) < MOST_UNITS:
            yield from (tuple(sorted((*data, unit))) for unit in units)


@lru_cache
def close_pairs(change: str, size: int, most_rows: int) -> frozenset[tuple[Data, Data]]:
    """All pairs that `size` changes lead to, one after another."""
    units = sorted({unit for data in world(most_rows) for unit in data})
    found = set()
    for start in world(most_rows):
        reached = {start}
        for _ in range(size):
            reached |= {after for before in reached for after in changed_once(before, change, units)}
        found |= {(start, end) for end in reached}
    return frozenset(found)


def meaning(neighbors: Neighbors) -> frozenset[tuple[Data, Data]]:
    rows_of_a_unit = 1 if neighbors.unit is None else (neighbors.max_rows or MOST_ROWS)
    return close_pairs(neighbors.change, neighbors.size, rows_of_a_unit)


TINY = [
    Neighbors(change="add_remove", size=size, unit=unit, max_rows=rows)
    for size, (unit, rows) in product((1, 2, 3), ((None, None), ("patient", 1), ("patient", 2), ("patient", None)))
] + [
    Neighbors(change="replace", size=size, unit=unit, max_rows=rows)
    for size, (unit, rows) in product((1, 2, 3), ((None, None), ("patient", 1), ("patient", 2)))
]


def test_covering_is_inclusion_of_pairs() -> None:
    """Never said where it is false; and said wherever it is true of the same change of the same thing."""
    for wide, narrow in product(TINY, repeat=2):
        included = meaning(narrow) <= meaning(wide)
        assert included or not wide.covers(narrow)
        if (wide.change, wide.unit) == (narrow.change, narrow.unit):
            assert wide.covers(narrow) == included


def test_a_covering_that_ignores_max_rows_would_be_false() -> None:
    few, many = (Neighbors.ADD_REMOVE.of_unit("patient", max_rows=rows) for rows in (1, 2))
    assert not meaning(many) <= meaning(few)
    assert not few.covers(many)
    assert many.covers(few)


@given(neighborhoods())
def test_covers_is_reflexive(neighbors: Neighbors) -> None:
    assert neighbors.covers(neighbors)


@given(neighborhoods(), neighborhoods())
def test_covers_is_antisymmetric(first: Neighbors, second: Neighbors) -> None:
    assert (first.covers(second) and second.covers(first)) == (first == second)


@given(neighborhoods(), neighborhoods(), neighborhoods())
def test_covers_is_transitive(first: Neighbors, second: Neighbors, third: Neighbors) -> None:
    if first.covers(second) and second.covers(third):
        assert first.covers(third)


@given(neighborhoods(), SIZES)
def test_more_changes_cover_fewer(neighbors: Neighbors, size: int) -> None:
    assert neighbors.times(size).covers(neighbors)
    assert neighbors.covers(neighbors.times(size)) == (size == 1)


@given(neighborhoods(), neighborhoods())
def test_another_change_or_unit_is_never_covered(first: Neighbors, second: Neighbors) -> None:
    if (first.change, first.unit) != (second.change, second.unit):
        assert not first.covers(second)


@given(neighborhoods(), SIZES, SIZES)
def test_times_multiplies(neighbors: Neighbors, first: int, second: int) -> None:
    assert neighbors.times(first).times(second) == neighbors.times(first * second)
    assert neighbors.times(first).size == first * neighbors.size


@given(neighborhoods())
def test_neighbors_travel(neighbors: Neighbors) -> None:
    again = pickle.loads(pickle.dumps(neighbors))
    assert again == neighbors
    assert hash(again) == hash(neighbors)


@given(neighborhoods(), neighborhoods())
def test_different_neighbors_read_differently(first: Neighbors, second: Neighbors) -> None:
    assert (str(first) == str(second)) == (first == second)


def test_the_constants() -> None:
    assert Neighbors() == Neighbors.ADD_REMOVE == Neighbors(change="add_remove", size=1, unit=None, max_rows=None)
    assert Neighbors(change="replace") == Neighbors.REPLACE
    assert not Neighbors.ADD_REMOVE.covers(Neighbors.REPLACE)
    assert not Neighbors.REPLACE.covers(Neighbors.ADD_REMOVE)


def test_of_unit_keeps_the_change() -> None:
    assert Neighbors.REPLACE.of_unit("patient", max_rows=3) == Neighbors(change="replace", unit="patient", max_rows=3)
    assert Neighbors.ADD_REMOVE.of_unit("patient").max_rows is None


@pytest.mark.parametrize(
    ("neighbors", "text"),
    [
        (Neighbors.ADD_REMOVE, "adding or removing one row"),
        (Neighbors.REPLACE, "replacing one row"),
        (Neighbors.REPLACE.times(3), "replacing up to 3 rows"),
        (Neighbors.ADD_REMOVE.of_unit("patient"), "adding or removing one patient"),
        (Neighbors.ADD_REMOVE.of_unit("patient", max_rows=2), "adding or removing one patient of at most 2 rows"),
        (Neighbors.REPLACE.of_unit("ward").times(2), "replacing up to 2 ward"),
    ],
)
def test_reads_as_english(neighbors: Neighbors, text: str) -> None:
    assert str(neighbors) == text


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"change": "swap"}, "change"),
        ({"change": "REPLACE"}, "change"),
        ({"change": None}, "change"),
        ({"change": 1}, "change"),
        ({"change": ["replace"]}, "change"),
        ({"size": 0}, "size"),
        ({"size": -1}, "size"),
        ({"size": 10**9 + 1}, "size"),
        ({"size": 10**5000}, "size"),
        ({"size": 1.0}, "size"),
        ({"size": True}, "size"),
        ({"size": "2"}, "size"),
        ({"size": None}, "size"),
        ({"size": float("nan")}, "size"),
        ({"unit": ""}, "unit"),
        ({"unit": 7}, "unit"),
        ({"unit": b"patient"}, "unit"),
        ({"unit": "x" * 1001}, "unit"),
        ({"unit": "half \ud800"}, "unit"),
        ({"max_rows": 3}, "max_rows"),
        ({"unit": "patient", "max_rows": 0}, "max_rows"),
        ({"unit": "patient", "max_rows": 2.5}, "max_rows"),
        ({"unit": "patient", "max_rows": False}, "max_rows"),
    ],
)
def test_bad_input_names_the_field(arguments: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        Neighbors(**arguments)
    assert caught.value.field == field


@pytest.mark.parametrize("size", [0, -2, 1.5, "2", None, True, 10**9])
def test_bad_multiples_name_the_field(size: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        Neighbors(size=2).times(size)
    assert caught.value.field == "size"


def test_cannot_be_changed_or_given_by_position() -> None:
    with pytest.raises(AttributeError):
        Neighbors.REPLACE.size = 2  # type: ignore[misc]
    with pytest.raises(TypeError):
        Neighbors("replace")  # type: ignore[call-arg]
