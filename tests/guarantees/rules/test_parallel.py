"""Parallel composition against enumeration: by position, by value, and by value under replacement."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privately.errors import InvalidParameter, MixedNeighbors, NoSuchRule
from privately.guarantees import (
    ZCDP,
    ApproxDP,
    ApproxZCDP,
    Derivation,
    FiniteMechanism,
    GaussianDP,
    Guarantee,
    Neighbors,
    PureDP,
    RenyiDP,
    rules,
)
from privately.guarantees.costs import implies
from tests.guarantees.enumeration import (
    Table,
    by_position,
    by_value,
    clamped_noise,
    data_sets,
    present,
    response,
    size_table,
    tables,
)
from tests.guarantees.rules.knowns import (
    ADD_REMOVE,
    FAST,
    KINDS,
    REPLACE,
    SHARES,
    THOROUGH,
    Known,
    Rule,
    claim,
    fault,
    know,
    knowns,
)

ROUTE = {"a": 0, "b": 0, "c": 1, "d": 1}
PEOPLE = {"1a": 0, "2a": 0, "1b": 1, "2b": 1}
PERSON = ADD_REMOVE.of_unit("person", max_rows=2)
PARTS = [["a", "b"], ["c", "d"]]
TENTH = Fraction(1, 10)
FEW = settings(FAST, max_examples=12)


def position_fault(rule: Rule, parts: Sequence[Known]) -> str:
    return fault(rule(*(part.derivation for part in parts)), by_position([part.table for part in parts]))


def value_fault(rule: Rule, parts: Sequence[Known], route: dict[str, int], most: int) -> str:
    inputs = data_sets(sorted(route), range(most + 1))
    return fault(rule(*(part.derivation for part in parts)), by_value([part.table for part in parts], route, inputs))


def replace_fault(rule: Rule, moved: Sequence[Known], stayed: Sequence[Known], route: dict[str, int]) -> str:
    """The rule is told both; the tables are those of `moved`."""
    derived = rule(moved=[one.derivation for one in moved], stayed=[one.derivation for one in stayed])
    inputs = data_sets(sorted(route), range(3))
    return fault(derived, by_value([one.table for one in moved], route, inputs))


def largest(kind: type[Guarantee], listed: Sequence[Guarantee], neighbors: Neighbors) -> Derivation:
    """The false rule: always the cost of one part."""
    if kind is RenyiDP:
        orders = [order for order, _ in listed[0].parameters["bounds"]]
        most = {order: max(dict(one.parameters["bounds"])[order] for one in listed) for order in orders}
        return claim(kind, neighbors, bounds=most)
    names = listed[0].parameters
    return claim(kind, neighbors, **{name: max(one.parameters[name] for one in listed) for name in names})


def one_part(*premises: Derivation) -> Derivation:
    statements = [premise.conclusion for premise in premises]
    return largest(type(statements[0]), statements, statements[0].neighbors)


# By position


@pytest.mark.thinned(2)
@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.parametrize("kind", KINDS)
@FEW
@given(data=st.data())
def test_by_position_dominates_enumeration(kind: type[Guarantee], size: int, data: st.DataObject) -> None:
    neighbors = REPLACE.times(size)
    parts = [data.draw(knowns(kind, ["0", "1"], [length], neighbors)) for length in (1, 2)]
    assert not position_fault(rules.parallel_by_position, parts)


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("kind", KINDS)
@THOROUGH
@given(data=st.data())
def test_by_position_dominates_enumeration_of_three(kind: type[Guarantee], size: int, data: st.DataObject) -> None:
    neighbors = REPLACE.times(size)
    parts = [data.draw(knowns(kind, ["0", "1"], [1], neighbors, outcomes=3)) for _ in range(3)]
    assert not position_fault(rules.parallel_by_position, parts)


@pytest.mark.parametrize("kind", KINDS)
def test_by_position_twin_for_two_rows_is_refuted(kind: type[Guarantee]) -> None:
    parts = [know(kind, [response(2)], REPLACE.times(2), share=TENTH) for _ in range(2)]
    assert position_fault(one_part, parts)
    assert not position_fault(rules.parallel_by_position, parts)


def test_by_position_twin_under_removal_is_refuted() -> None:
    """Row i goes to part i. Removing the first row moves the second, so both parts change, not one."""
    states = ("0", "1", "none")

    def of_part(row: str) -> dict[str, Fraction]:
        return {state: Fraction(3 if state == row else 1, 5) for state in states}

    def of_whole(data: tuple[str, ...]) -> dict[Any, Fraction]:
        first, second = (of_part(data[i] if i < len(data) else "none") for i in range(2))
        return {(a, b): first[a] * second[b] for a in states for b in states}

    part: dict[Any, Any] = {(): of_part("none"), **{(row,): of_part(row) for row in "01"}}
    whole = {data: of_whole(data) for data in data_sets(["0", "1"], range(3))}
    known = know(PureDP, [part], ADD_REMOVE)
    assert not fault(known.derivation, part)
    assert fault(known.derivation, whole)  # the twin: the cost of one part
    with pytest.raises(NoSuchRule, match="shifts every later position"):
        rules.parallel_by_position(rules.suppose(PureDP(epsilon=1)))


# By value


@pytest.mark.thinned(2)
@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.parametrize("kind", KINDS)
@FEW
@given(data=st.data())
def test_by_value_dominates_enumeration(kind: type[Guarantee], size: int, data: st.DataObject) -> None:
    parts = [data.draw(knowns(kind, records, [0, 1, 2], ADD_REMOVE.times(size))) for records in PARTS]
    assert not value_fault(rules.parallel_by_value, parts, ROUTE, 2)


@pytest.mark.parametrize("kind", KINDS)
@FEW
@given(data=st.data())
def test_by_value_dominates_enumeration_of_units(kind: type[Guarantee], data: st.DataObject) -> None:
    parts = [data.draw(knowns(kind, records, [0, 1, 2], PERSON)) for records in (["1a", "2a"], ["1b", "2b"])]
    assert not value_fault(rules.parallel_by_value, parts, PEOPLE, 2)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@THOROUGH
@given(data=st.data())
def test_by_value_dominates_enumeration_of_three(kind: type[Guarantee], data: st.DataObject) -> None:
    neighbors = ADD_REMOVE.times(data.draw(st.integers(1, 2)))
    parts = [data.draw(knowns(kind, [record], [0, 1, 2], neighbors, outcomes=3)) for record in "abc"]
    assert not value_fault(rules.parallel_by_value, parts, {"a": 0, "b": 1, "c": 2}, 2)


@pytest.mark.parametrize("kind", KINDS)
def test_by_value_twin_for_two_rows_is_refuted(kind: type[Guarantee]) -> None:
    parts = [know(kind, [present(2, records=[record])], ADD_REMOVE.times(2), share=TENTH) for record in "ac"]
    assert value_fault_of_present(one_part, parts)
    assert not value_fault_of_present(rules.parallel_by_value, parts)


def value_fault_of_present(rule: Rule, parts: Sequence[Known]) -> str:
    """Each part tells whether it has a row; no part ever has two."""
    table = by_value([part.table for part in parts], {"a": 0, "c": 1}, [(), ("a",), ("c",), ("a", "c")])
    return fault(rule(*(part.derivation for part in parts)), table)


def anybody(record: str) -> Table:
    """Whether there is any row, noisily: the second row of a unit changes nothing."""
    return {data: clamped_noise(min(len(data), 1), 2, range(2)) for data in data_sets([record], range(3))}


@pytest.mark.parametrize("kind", KINDS)
def test_by_value_twin_for_units_of_two_rows_is_refuted(kind: type[Guarantee]) -> None:
    parts = [know(kind, [anybody(record)], PERSON, share=TENTH) for record in ("1a", "1b")]
    assert value_fault(one_part, parts, {"1a": 0, "1b": 1}, 2)
    assert not value_fault(rules.parallel_by_value, parts, {"1a": 0, "1b": 1}, 2)


def test_by_value_wants_additions_and_bounded_units() -> None:
    with pytest.raises(NoSuchRule, match="leave one part and enter another") as caught:
        rules.parallel_by_value(rules.suppose(PureDP(epsilon=1, neighbors=REPLACE)))
    assert caught.value.wanted == "the cost of one part"
    assert "replacing one row" in str(caught.value.premise)
    with pytest.raises(NoSuchRule, match="bound its rows"):
        rules.parallel_by_value(rules.suppose(PureDP(epsilon=1, neighbors=ADD_REMOVE.of_unit("person"))))


# By value under replacement


@pytest.mark.parametrize("kind", KINDS)
@FEW
@given(data=st.data())
def test_by_value_replace_dominates_enumeration(kind: type[Guarantee], data: st.DataObject) -> None:
    drawn: list[Any] = [data.draw(tables(records, [0, 1, 2], zeros=False)) for records in PARTS]
    share = data.draw(SHARES)
    moved = [know(kind, [table], ADD_REMOVE, share=share) for table in drawn]
    stayed = [know(kind, [table], REPLACE, share=share) for table in drawn]
    assert not replace_fault(rules.parallel_by_value_replace, moved, stayed, ROUTE)


def moved_once(*, moved: Sequence[Derivation], stayed: Sequence[Derivation]) -> Derivation:
    statements = [premise.conclusion for premise in [*moved, *stayed]]
    return largest(type(statements[0]), statements, REPLACE)


def stayed_only(*, moved: Sequence[Derivation], stayed: Sequence[Derivation]) -> Derivation:
    return largest(type(stayed[0].conclusion), [premise.conclusion for premise in stayed], REPLACE)


def twins_of_two(kind: type[Guarantee]) -> tuple[list[Known], list[Known]]:
    """Each part counts its rows, noisily: replacement within a part reveals nothing."""
    counts = [present(2, records=records, most=2) for records in PARTS]
    moved = [know(kind, [table], ADD_REMOVE, share=TENTH) for table in counts]
    return moved, [know(kind, [table], REPLACE, share=TENTH) for table in counts]


@pytest.mark.parametrize("twin", [moved_once, stayed_only])
@pytest.mark.parametrize("kind", KINDS)
def test_by_value_replace_twins_are_refuted(kind: type[Guarantee], twin: Rule) -> None:
    """A replaced row leaves one part and enters another, and both counts change."""
    moved, stayed = twins_of_two(kind)
    assert replace_fault(twin, moved, stayed, ROUTE)
    assert not replace_fault(rules.parallel_by_value_replace, moved, stayed, ROUTE)


def test_sizes_of_parts_refute_replacement_premises_alone() -> None:
    """M = size is 0-DP under replacement, and the sizes of two parts tell where a replaced row went."""
    parts = [know(PureDP, [size_table(records, 2)], REPLACE) for records in PARTS]
    assert parts[0].statement == PureDP(epsilon=0, neighbors=REPLACE)
    assert value_fault(one_part, parts, ROUTE, 2)
    with pytest.raises(NoSuchRule):
        rules.parallel_by_value(*(part.derivation for part in parts))
    with pytest.raises(NoSuchRule, match="moved parts"):
        rules.parallel_by_value_replace(
            moved=[part.derivation for part in parts], stayed=[part.derivation for part in parts]
        )


def test_by_value_replace_of_one_part_that_a_row_can_leave() -> None:
    """A filter: rows that are not "a..." belong to no part, and a replaced row can go there."""

    def parity(count: int) -> dict[str, str]:
        return {"even": "3/4", "odd": "1/4"} if count % 2 == 0 else {"even": "1/4", "odd": "3/4"}

    part = FiniteMechanism.tabulate(lambda data: parity(len(data)), records=["a1", "a2"], sizes=[0, 1, 2])
    whole = FiniteMechanism.tabulate(
        lambda data: parity(sum(row.startswith("a") for row in data)), records=["a1", "a2", "b"], sizes=[0, 1, 2]
    )
    moved, stayed = rules.finite_table(part), rules.finite_table(part, neighbors=REPLACE)
    truth = rules.finite_table(whole, neighbors=REPLACE).conclusion
    found = rules.parallel_by_value_replace(moved=[moved], stayed=[stayed]).conclusion
    assert stayed.conclusion == PureDP(epsilon=0, neighbors=REPLACE)  # the twin that only stays
    assert implies(truth, found)
    assert not implies(truth, stayed.conclusion)


def test_by_value_replace_takes_pairs_of_parts() -> None:
    added, replaced = rules.suppose(PureDP(epsilon=1)), rules.suppose(PureDP(epsilon=1, neighbors=REPLACE))
    with pytest.raises(InvalidParameter) as caught:
        rules.parallel_by_value_replace(moved=[added, added], stayed=[replaced])
    assert caught.value.field == "stayed"
    with pytest.raises(InvalidParameter):
        rules.parallel_by_value_replace(moved=[], stayed=[])
    with pytest.raises(NoSuchRule, match="stayed parts"):
        rules.parallel_by_value_replace(moved=[added], stayed=[added])
    with pytest.raises(MixedNeighbors):
        rules.parallel_by_value_replace(moved=[added, replaced], stayed=[replaced, replaced])
    doubled = rules.suppose(PureDP(epsilon=1, neighbors=REPLACE.times(2)))
    with pytest.raises(NoSuchRule):
        rules.parallel_by_value_replace(moved=[added], stayed=[doubled])


# All three


@given(st.lists(st.fractions(min_value=0, max_value=3, max_denominator=9), min_size=1, max_size=4), st.data())
def test_parallel_is_order_free_and_monotone(numbers: list[Fraction], data: st.DataObject) -> None:
    for rule, neighbors in (
        (rules.parallel_by_value, ADD_REMOVE.times(2)),
        (rules.parallel_by_position, REPLACE.times(2)),
    ):
        for kind, name in ((PureDP, "epsilon"), (ZCDP, "rho"), (GaussianDP, "mu")):
            premises = [claim(kind, neighbors, **{name: number}) for number in numbers]
            found = rule(*premises).conclusion
            assert rule(*data.draw(st.permutations(premises))).conclusion == found
            enlarged = rule(*premises, claim(kind, neighbors, **{name: 1})).conclusion
            assert enlarged.parameters[name] >= found.parameters[name]
            together = rules.sequential(*premises).conclusion.parameters[name]
            assert max(numbers) <= found.parameters[name] <= together * (1 + Fraction(1, 10**13))


def test_the_two_largest_of_mixed_kinds() -> None:
    twice = ADD_REMOVE.times(2)
    premises = [claim(PureDP, twice, epsilon=3), claim(ApproxDP, twice, epsilon=1, delta="0.1")]
    premises += [claim(ApproxDP, twice, epsilon=2, delta="0.2")]
    assert rules.parallel_by_value(*premises).conclusion == ApproxDP(epsilon=5, delta="0.3", neighbors=twice)
    concentrated = [claim(ZCDP, ADD_REMOVE, rho=3), claim(ApproxZCDP, ADD_REMOVE, rho=1, delta="0.1")]
    assert rules.parallel_by_value(*concentrated).conclusion == ApproxZCDP(rho=3, delta="0.1")
