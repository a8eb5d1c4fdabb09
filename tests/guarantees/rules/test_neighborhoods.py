"""Groups, replacement and units against enumeration."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately.errors import InvalidParameter, NoSuchRule
from privately.guarantees import (
    ZCDP,
    ApproxDP,
    ApproxZCDP,
    Derivation,
    GaussianDP,
    Guarantee,
    Neighbors,
    PureDP,
    RenyiDP,
    rules,
)
from tests.guarantees.enumeration import Table, mechanism, present, size_table, tables
from tests.guarantees.rules.knowns import (
    ADD_REMOVE,
    FAST,
    KINDS,
    REPLACE,
    THOROUGH,
    Known,
    Rule,
    claim,
    fault,
    know,
    knowns,
    renyi,
)

GROUPED: list[type[Guarantee]] = [PureDP, ApproxDP, ZCDP, GaussianDP]
DOMAINS: list[tuple[list[str], list[int], Neighbors]] = [
    (["0"], [0, 1, 2, 3], ADD_REMOVE),
    (["0", "1"], [0, 1, 2], ADD_REMOVE),
    (["0", "1"], [2], REPLACE),
    (["0", "1"], [1, 3], REPLACE),
]


def chain(lengths: dict[tuple[str, ...], Fraction]) -> Table:
    """Says yes with these probabilities."""
    return {data: {"yes": mass, "no": 1 - mass} for data, mass in lengths.items()}


TIGHT = {(): Fraction(1, 20), ("0",): Fraction(1, 5), ("0", "0"): Fraction(1, 2)}
"""Twice the probability of the one before and 1/10 more: (ln 2, 1/10) at each step, and 3/10 over two."""
TIGHT_REPLACEMENT = {("0",): Fraction(1, 20), (): Fraction(1, 5), ("1",): Fraction(1, 2)}


def group_fault(rule: Rule, known: Known, size: int) -> str:
    return fault(rule(known.derivation, size=size), known.table)


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("kind", GROUPED)
@FAST
@given(data=st.data())
def test_group_dominates_enumeration(kind: type[Guarantee], size: int, data: st.DataObject) -> None:
    records, sizes, neighbors = data.draw(st.sampled_from(DOMAINS))
    known = data.draw(knowns(kind, records, sizes, neighbors, outcomes=3))
    assert not group_fault(rules.group, known, size)


@pytest.mark.slow
@pytest.mark.parametrize("kind", GROUPED)
@THOROUGH
@given(data=st.data())
def test_group_dominates_enumeration_of_larger_mechanisms(kind: type[Guarantee], data: st.DataObject) -> None:
    records, sizes, neighbors = data.draw(
        st.sampled_from([(["0"], list(range(6)), ADD_REMOVE), (["0", "1", "2"], [3], REPLACE)])
    )
    known = data.draw(knowns(kind, records, sizes, neighbors, outcomes=3))
    assert not group_fault(rules.group, known, data.draw(st.integers(2, 5)))


def with_numbers(derivation: Derivation, neighbors: Neighbors, **numbers: Fraction) -> Derivation:
    found = dict(derivation.conclusion.parameters) | numbers
    return claim(type(derivation.conclusion), neighbors, **found)


def same_delta(premise: Derivation, *, size: int) -> Derivation:
    numbers = premise.conclusion.parameters
    return with_numbers(premise, ADD_REMOVE.times(size), epsilon=size * numbers["epsilon"])


def delta_times_size(premise: Derivation, *, size: int) -> Derivation:
    numbers = premise.conclusion.parameters
    found = {"epsilon": size * numbers["epsilon"], "delta": size * numbers["delta"]}
    return with_numbers(premise, ADD_REMOVE.times(size), **found)


def same_epsilon(premise: Derivation, *, size: int) -> Derivation:
    return with_numbers(premise, ADD_REMOVE.times(size))


def rho_times_size(premise: Derivation, *, size: int) -> Derivation:
    return with_numbers(premise, ADD_REMOVE.times(size), rho=size * premise.conclusion.parameters["rho"])


def mu_times_root(premise: Derivation, *, size: int) -> Derivation:
    mu = premise.conclusion.parameters["mu"] * Fraction(size**0.5)
    return with_numbers(premise, ADD_REMOVE.times(size), mu=mu)


@pytest.mark.parametrize(
    ("kind", "twin", "table"),
    [
        (PureDP, same_epsilon, present(2, most=2)),
        (ApproxDP, same_delta, chain(TIGHT)),
        (ApproxDP, delta_times_size, chain(TIGHT)),
        (ZCDP, rho_times_size, present(Fraction(3, 2), most=2)),
        (GaussianDP, mu_times_root, present(Fraction(3, 2), most=2)),
    ],
)
def test_group_twins_are_refuted(kind: type[Guarantee], twin: Rule, table: Table) -> None:
    if kind is ApproxDP:
        premise = rules.finite_table(mechanism(table), delta=Fraction(1, 10))
        known = Known((table,), premise)
    else:
        known = know(kind, [table], ADD_REMOVE)
    assert group_fault(twin, known, 2)
    assert not group_fault(rules.group, known, 2)


def test_group_delta_is_exact() -> None:
    premise = rules.suppose(ApproxDP(epsilon=0, delta="0.1"))
    assert rules.group(premise, size=3).conclusion.parameters["delta"] == Fraction(3, 10)
    premise = rules.finite_table(mechanism(chain(TIGHT)), delta=Fraction(1, 10))
    delta = rules.group(premise, size=2).conclusion.parameters["delta"]
    assert Fraction(3, 10) <= delta < Fraction(3, 10) + Fraction(1, 10**12)
    assert rules.group(premise, size=1).conclusion == premise.conclusion
    assert rules.group(rules.suppose(ApproxDP(epsilon=1, delta="0.5")), size=9).conclusion.parameters["delta"] == 1


@pytest.mark.parametrize("kind", [ApproxZCDP, RenyiDP])
def test_no_group_rule_for(kind: type[Guarantee]) -> None:
    statement = renyi({2: 1}) if kind is RenyiDP else ApproxZCDP(rho=1, delta="0.1")
    with pytest.raises(NoSuchRule) as caught:
        rules.group(rules.suppose(statement), size=2)
    assert (caught.value.premise, caught.value.wanted) == (statement, "a group of 2")
    with pytest.raises(NoSuchRule) as caught:
        rules.add_remove_to_replace(rules.suppose(statement))
    assert (caught.value.premise, caught.value.wanted) == (statement, "replacement")


@pytest.mark.parametrize("size", [0, -1, True, 1.0, "2", 10**10, None])
def test_bad_size(size: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        rules.group(rules.suppose(PureDP(epsilon=1)), size=size)
    assert caught.value.field == "size"


# Replacement


def replacement_fault(rule: Rule, known: Known) -> str:
    return fault(rule(known.derivation), known.table)


@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.parametrize("kind", GROUPED)
@FAST
@given(data=st.data())
def test_replacement_dominates_enumeration(kind: type[Guarantee], size: int, data: st.DataObject) -> None:
    known = data.draw(knowns(kind, ["0", "1"], [0, 1, 2], ADD_REMOVE.times(size), outcomes=3))
    assert not replacement_fault(rules.add_remove_to_replace, known)


@pytest.mark.parametrize("kind", GROUPED)
@FAST
@given(data=st.data())
def test_replacement_of_units_dominates_enumeration(kind: type[Guarantee], data: st.DataObject) -> None:
    people = ADD_REMOVE.of_unit("person", max_rows=data.draw(st.sampled_from([1, 2, None])))
    known = data.draw(knowns(kind, ["1", "2"], [0, 1, 2], people))
    assert not replacement_fault(rules.add_remove_to_replace, known)


def unchanged(premise: Derivation) -> Derivation:
    return with_numbers(premise, REPLACE)


def twice(premise: Derivation) -> Derivation:
    numbers = premise.conclusion.parameters
    return with_numbers(premise, REPLACE, **{name: 2 * value for name, value in numbers.items()})


@pytest.mark.parametrize(
    ("kind", "twin"),
    [(PureDP, unchanged), (ApproxDP, unchanged), (ApproxDP, twice), (ZCDP, twice), (GaussianDP, unchanged)],
)
def test_replacement_twins_are_refuted(kind: type[Guarantee], twin: Rule) -> None:
    if kind is ApproxDP:
        table = chain(TIGHT_REPLACEMENT)
        known = Known((table,), rules.finite_table(mechanism(table), delta=Fraction(1, 10)))
    else:
        geometric = [Fraction(1, 9), Fraction(2, 9), Fraction(4, 9)]
        table = chain(dict(zip([("0",), (), ("1",)], geometric, strict=True)))
        known = know(kind, [table], ADD_REMOVE)
    assert replacement_fault(twin, known)
    assert not replacement_fault(rules.add_remove_to_replace, known)


def test_replacement_does_not_imply_addition() -> None:
    """M = size is 0-DP under replacement and not private under addition and removal."""
    table = size_table(["0", "1"], 2)
    derived = know(PureDP, [table], REPLACE).derivation
    assert derived.conclusion == PureDP(epsilon=0, neighbors=REPLACE)
    assert fault(with_numbers(derived, ADD_REMOVE), table)
    assert fault(with_numbers(derived, ADD_REMOVE, epsilon=Fraction(1000)), table)
    with pytest.raises(NoSuchRule, match="would be false"):
        rules.add_remove_to_replace(derived)
    with pytest.raises(NoSuchRule, match="would be false"):
        rules.convert(derived, PureDP, neighbors=ADD_REMOVE)
    with pytest.raises(NoSuchRule):
        rules.weaken(derived, to=PureDP(epsilon=1000))


# Units


def unit_fault(rule: Rule, known: Known) -> str:
    return fault(rule(known.derivation, unit="person"), known.table)


@pytest.mark.thinned(2)
@pytest.mark.parametrize("kind", KINDS)
@FAST
@given(data=st.data())
def test_bounded_unit_dominates_enumeration(kind: type[Guarantee], data: st.DataObject) -> None:
    rows = data.draw(st.integers(1, 2))
    known = data.draw(knowns(kind, ["1", "2"], [0, 1, 2, 3], ADD_REMOVE.times(rows)))
    assert rules.bounded_unit(known.derivation, unit="person").conclusion.neighbors.max_rows == rows
    assert not unit_fault(rules.bounded_unit, known)


@pytest.mark.parametrize("kind", GROUPED)
@FAST
@given(data=st.data())
def test_grouped_rows_make_a_unit(kind: type[Guarantee], data: st.DataObject) -> None:
    table: Any = data.draw(tables(["1", "2"], [0, 1, 2, 3]))
    known = know(kind, [table], ADD_REMOVE, share=Fraction(1, 10))
    assert not unit_fault(lambda premise, unit: rules.bounded_unit(rules.group(premise, size=2), unit=unit), known)


@pytest.mark.parametrize("kind", KINDS)
def test_bounded_unit_twin_that_counts_one_row_is_refuted(kind: type[Guarantee]) -> None:
    def one_row(premise: Derivation, *, unit: str) -> Derivation:
        return with_numbers(premise, ADD_REMOVE.of_unit(unit, max_rows=2))

    known = know(kind, [present(2, records=["1"], most=2)], ADD_REMOVE, share=Fraction(1, 10))
    assert unit_fault(one_row, known)


@pytest.mark.parametrize("neighbors", [REPLACE, ADD_REMOVE.of_unit("person", max_rows=2), REPLACE.of_unit("person")])
def test_bounded_unit_starts_from_added_rows(neighbors: Neighbors) -> None:
    statement = PureDP(epsilon=1, neighbors=neighbors)
    with pytest.raises(NoSuchRule) as caught:
        rules.bounded_unit(rules.suppose(statement), unit="person")
    assert (caught.value.premise, caught.value.wanted) == (statement, "a statement about one person")


@pytest.mark.parametrize("unit", ["", 3, "x" * 1001])
def test_bad_unit(unit: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        rules.bounded_unit(rules.suppose(PureDP(epsilon=1)), unit=unit)
    assert caught.value.field == "unit"


@given(st.sampled_from(GROUPED), st.fractions(min_value=0, max_value=3, max_denominator=9), st.integers(1, 4))
def test_groups_are_monotone_and_of_one_piece(kind: type[Guarantee], number: Fraction, size: int) -> None:
    """A group of 2k is a group of k, twice; only delta may be rounded up."""
    listed: dict[type[Guarantee], dict[str, Any]] = {
        PureDP: {"epsilon": number},
        ApproxDP: {"epsilon": number, "delta": "1e-6"},
        ZCDP: {"rho": number},
        GaussianDP: {"mu": number},
    }
    premise = claim(kind, ADD_REMOVE, **listed[kind])
    once, twofold = rules.group(premise, size=2 * size).conclusion, rules.group(rules.group(premise, size=size), size=2)
    assert once.neighbors == twofold.conclusion.neighbors == ADD_REMOVE.times(2 * size)
    for name, value in once.parameters.items():
        assert abs(value - twofold.conclusion.parameters[name]) <= value / 10**13
        assert value >= rules.group(premise, size=size).conclusion.parameters[name]
