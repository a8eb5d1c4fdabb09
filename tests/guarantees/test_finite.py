"""Finite mechanisms: the pairs are those of the definition, and bad tables are refused."""

from __future__ import annotations

import copy
import pickle
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately.errors import InvalidParameter
from privately.guarantees import FiniteMechanism, Neighbors
from privately.guarantees.finite import MAX_INPUTS, _later_replacements

Data = tuple[str, ...]
RECORDS = st.integers(1, 3).map(lambda count: ["a", "b", "c"][:count])
SIZES = st.lists(st.integers(0, 3), min_size=1, max_size=4, unique=True)


def name(data: Data) -> str:
    return ".".join(data)


def naming(records: list[str], sizes: list[int]) -> FiniteMechanism:
    """Each data set tells its own name, so that a pair of laws gives away the pair of data sets."""
    return FiniteMechanism.tabulate(lambda data: {f"<{name(data)}>": 1}, records=records, sizes=sizes)


def found_pairs(mechanism: FiniteMechanism, neighbors: Neighbors) -> list[frozenset[str]]:
    return [frozenset((*first, *second)) for first, second in mechanism.pairs(neighbors)]


def replaced_once(first: Data, second: Data) -> bool:
    return len(first) == len(second) and sum(x != y for x, y in zip(first, second, strict=True)) == 1


def removed_once(first: Data, second: Data) -> bool:
    longer, shorter = sorted((first, second), key=len, reverse=True)
    return any(longer[:place] + longer[place + 1 :] == shorter for place in range(len(longer)))


def defined_pairs(records: list[str], sizes: list[int], differ: Any) -> set[frozenset[str]]:
    inputs = [data for size in sizes for data in product(records, repeat=size)]
    return {frozenset((f"<{name(x)}>", f"<{name(y)}>")) for x, y in combinations(inputs, 2) if differ(x, y)}


@given(RECORDS, SIZES)
def test_replacement_pairs_are_those_of_the_definition(records: list[str], sizes: list[int]) -> None:
    found = found_pairs(naming(records, sizes), Neighbors.REPLACE)
    assert Counter(found) == Counter(defined_pairs(records, sizes, replaced_once))


@given(RECORDS, st.integers(0, 4))
def test_addition_pairs_are_those_of_the_definition(records: list[str], most: int) -> None:
    sizes = list(range(most + 1))
    found = found_pairs(naming(records, sizes), Neighbors.ADD_REMOVE)
    assert set(found) == defined_pairs(records, sizes, removed_once)


@given(RECORDS, st.integers(0, 4))
def test_addition_pairs_come_once(records: list[str], most: int) -> None:
    """Removing either of two equal neighbouring rows gives the same data set."""
    found = found_pairs(naming(records, list(range(most + 1))), Neighbors.ADD_REMOVE)
    assert len(found) == len(set(found))


@given(RECORDS, SIZES.filter(lambda sizes: sorted(sizes) != list(range(len(sizes)))))
def test_rows_can_be_removed_only_down_to_none(records: list[str], sizes: list[int]) -> None:
    with pytest.raises(InvalidParameter, match="ADD_REMOVE") as caught:
        list(naming(records, sizes).pairs(Neighbors.ADD_REMOVE))
    assert caught.value.field == "sizes"


@pytest.mark.parametrize("neighbors", [Neighbors.REPLACE.times(2), Neighbors.REPLACE.of_unit("p"), "replace", None])
def test_pairs_of_other_neighbours_are_refused(neighbors: Any) -> None:
    """A table has single rows; giving single-row pairs for a group would prove too much."""
    with pytest.raises(InvalidParameter) as caught:
        list(naming(["a", "b"], [2]).pairs(neighbors))
    assert caught.value.field == "neighbors"


@given(RECORDS, st.integers(0, 3))
def test_changes_are_listed_once(records: list[str], size: int) -> None:
    for data in product(records, repeat=size):
        changes = list(_later_replacements(data, tuple(records)))
        assert len(changes) == len(set(changes))
        assert all(data[place] != record for place, record in changes)


# Tables


@given(RECORDS, SIZES, st.data())
def test_tabulate_keeps_the_laws(records: list[str], sizes: list[int], data: st.DataObject) -> None:
    weights = {
        one: data.draw(st.lists(st.integers(0, 5), min_size=2, max_size=2).filter(any))
        for size in sizes
        for one in product(records, repeat=size)
    }
    laws = {one: {"x": Fraction(x, x + y), "y": Fraction(y, x + y)} for one, (x, y) in weights.items()}
    mechanism = FiniteMechanism.tabulate(laws.__getitem__, records=records, sizes=sizes)
    assert mechanism.sizes == tuple(sorted(sizes))
    assert mechanism == FiniteMechanism(records=tuple(records), sizes=tuple(sizes), table=laws)
    for one, law in laws.items():
        assert mechanism.table[one] == {outcome: mass for outcome, mass in law.items() if mass}


def test_numbers_are_exact() -> None:
    mechanism = FiniteMechanism.tabulate(lambda _: {"x": "0.1", "y": "9/10"}, records=["a"], sizes=[1])
    assert mechanism.table["a",] == {"x": Fraction(1, 10), "y": Fraction(9, 10)}


def test_as_data_is_plain_and_sorted() -> None:
    mechanism = FiniteMechanism.tabulate(lambda data: {"y": "1/3", "x": "2/3"}, records=["b", "a"], sizes=[1, 0])
    law = [["x", "2/3"], ["y", "1/3"]]
    assert mechanism.as_data() == {
        "records": ["b", "a"],
        "sizes": [0, 1],
        "table": [{"input": [], "law": law}, {"input": ["b"], "law": law}, {"input": ["a"], "law": law}],
    }


def test_a_mechanism_cannot_be_changed() -> None:
    mechanism = naming(["a"], [1])
    with pytest.raises(AttributeError):
        mechanism.sizes = (2,)  # type: ignore[misc]
    with pytest.raises(TypeError):
        mechanism.table["a",] = {}  # type: ignore[index]
    with pytest.raises(TypeError):
        mechanism.table["a",]["x"] = Fraction(1)  # type: ignore[index]


def test_later_changes_to_the_arguments_do_not_matter() -> None:
    law: dict[str, Any] = {"x": 1}
    table: dict[Data, Mapping[str, Any]] = {("a",): law}
    mechanism = FiniteMechanism(records=("a",), sizes=(1,), table=table)
    law["x"], table["b",] = 0, {}
    assert dict(mechanism.table) == {("a",): {"x": Fraction(1)}}


def test_a_mechanism_travels() -> None:
    """It is the witness that NotPrivate carries."""
    mechanism = naming(["a", "b"], [0, 1])
    assert pickle.loads(pickle.dumps(mechanism)) == copy.deepcopy(mechanism) == mechanism
    assert hash(copy.deepcopy(mechanism)) == hash(mechanism)


# Limits and bad input


def test_the_largest_table() -> None:
    assert len(naming(["a", "b"], [12]).table) == MAX_INPUTS
    for sizes in ([12, 0], [13], [10**9], list(range(12, 14))):
        with pytest.raises(InvalidParameter, match="between 1 and") as caught:
            naming(["a", "b"], sizes)
        assert caught.value.field == "sizes"


def test_the_law_is_not_called_before_the_size_is_known() -> None:
    def never(data: Data) -> dict[str, Any]:
        raise AssertionError(data)

    with pytest.raises(InvalidParameter):
        FiniteMechanism.tabulate(never, records=["a", "b", "c"], sizes=[30])


@pytest.mark.parametrize(
    ("records", "sizes", "field"),
    [
        ("ab", [1], "records"),
        ([], [1], "records"),
        (["a", "a"], [1], "records"),
        (["a", 1], [1], "records"),
        ([["a"]], [1], "records"),
        ({"a"}, [1], "records"),
        (None, [1], "records"),
        (["a"], [], "sizes"),
        (["a"], [-1], "sizes"),
        (["a"], [1.0], "sizes"),
        (["a"], ["1"], "sizes"),
        (["a"], [True], "sizes"),
        (["a"], [None], "sizes"),
        (["a"], 1, "sizes"),
        (["a"], None, "sizes"),
    ],
)
def test_bad_domains_name_the_field(records: Any, sizes: Any, field: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        FiniteMechanism.tabulate(lambda _: {"x": 1}, records=records, sizes=sizes)
    assert caught.value.field == field
    with pytest.raises(InvalidParameter) as caught:
        FiniteMechanism(records=records, sizes=sizes, table={("a",): {"x": Fraction(1)}})
    assert caught.value.field == field


@pytest.mark.parametrize(
    "law",
    [
        {},
        {"x": "0.9"},
        {"x": 1, "y": "1e-30"},
        {"x": -1, "y": 2},
        {"x": None},
        {"x": float("nan")},
        {1: 1},
        None,
        [("x", 1)],
    ],
)
def test_bad_laws_name_the_table(law: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        FiniteMechanism.tabulate(lambda _: law, records=["a"], sizes=[1])
    assert caught.value.field.startswith("table")


@pytest.mark.parametrize(
    "table",
    [
        *({}, None, [], 7),
        {("a",): {"x": 1}},
        {("a",): {"x": 1}, ("b",): {"x": 1}, ("c",): {"x": 1}},
        {("a",): {"x": 1}, "b": {"x": 1}},
        {"a": {"x": 1}, "b": {"x": 1}},
    ],
)
def test_a_table_has_one_law_for_every_data_set(table: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        FiniteMechanism(records=("a", "b"), sizes=(1,), table=table)
    assert caught.value.field == "table"
