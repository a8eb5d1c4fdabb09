"""Where derivations begin: tables that are compared in full, and assumptions that stay visible."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from privately.errors import InvalidParameter, NotPrivate
from privately.guarantees import ApproxDP, FiniteMechanism, Guarantee, Neighbors, PureDP, rules
from tests.guarantees.enumeration import Table, mechanism, neighbour_pairs, present, response, size_table, tables
from tests.guarantees.rules.knowns import ADD_REMOVE, FAST, REPLACE, SHARES, THOROUGH, claim, fault
from tests.guarantees.rules.refutation import privacy_ratio, refutation, spread

LITTLE = Fraction(1, 10**12)
NEIGHBORS = st.sampled_from([ADD_REMOVE, REPLACE])


def check_tight(table: Table, neighbors: Neighbors, delta: Fraction) -> None:
    """The conclusion holds, and one with a slightly smaller epsilon does not."""
    derived = rules.finite_table(mechanism(table), neighbors=neighbors, delta=delta)
    assert isinstance(derived.conclusion, ApproxDP if delta else PureDP)
    assert not fault(derived, table)
    epsilon = derived.conclusion.parameters["epsilon"]
    assume(epsilon > LITTLE)
    assert fault(claim(ApproxDP, neighbors, epsilon=epsilon * (1 - LITTLE), delta=delta), table)


@FAST
@given(table=tables(["0", "1", "2"], [0, 1], outcomes=3), neighbors=NEIGHBORS, share=SHARES)
def test_finite_table_is_tight(table: Any, neighbors: Neighbors, share: Fraction) -> None:
    pairs = neighbour_pairs(table, neighbors)
    assume(pairs)
    check_tight(table, neighbors, share * spread(pairs)[1])


@pytest.mark.slow
@THOROUGH
@given(table=tables(["0", "1", "2"], [0, 1, 2, 3], outcomes=3), neighbors=NEIGHBORS, share=SHARES)
def test_finite_table_is_tight_for_larger_mechanisms(table: Any, neighbors: Neighbors, share: Fraction) -> None:
    pairs = neighbour_pairs(table, neighbors)
    assume(pairs)
    check_tight(table, neighbors, share * spread(pairs)[1])


@FAST
@given(table=tables(["0", "1"], [0, 1, 2], outcomes=3, zeros=True), neighbors=NEIGHBORS)
def test_impossible_outcomes_need_a_delta(table: Any, neighbors: Neighbors) -> None:
    pairs = neighbour_pairs(table, neighbors)
    assume(pairs)
    least, _ = spread(pairs)
    if least == 0:
        assert not fault(rules.finite_table(mechanism(table), neighbors=neighbors), table)
        return
    for delta in (Fraction(0), least * (1 - LITTLE)):
        with pytest.raises(NotPrivate) as caught:
            rules.finite_table(mechanism(table), neighbors=neighbors, delta=delta)
        assert caught.value.witness == mechanism(table)
    derived = rules.finite_table(mechanism(table), neighbors=neighbors, delta=least)
    assert not fault(derived, table)


def pairs_of_removal_only(table: Table) -> list[Any]:
    """The false twin: neighbours in one direction and of full data sets alone."""
    most = max(len(data) for data in table)
    return [(table[data], table[data[:-1]]) for data in table if len(data) == most]


def test_table_twin_that_compares_too_few_neighbours_is_refuted() -> None:
    """It removes the last row only, and only from the largest data sets."""
    table = dict(present(2, records=["0", "1"], most=2))
    table[()] = {0: Fraction(98, 100), 1: Fraction(1, 100), 2: Fraction(1, 100)}
    ratio = privacy_ratio(pairs_of_removal_only(table), Fraction(0))
    assert fault(claim(PureDP, ADD_REMOVE, epsilon=math.log(ratio)), table)
    assert not fault(rules.finite_table(mechanism(table)), table)


def test_table_twin_of_one_direction_is_refuted() -> None:
    table: Table = {
        (): {"a": Fraction(1, 2), "b": Fraction(1, 2)},
        ("0",): {"a": Fraction(1, 10), "b": Fraction(9, 10)},
    }
    forwards = max(mass / table[()][o] for o, mass in table["0",].items())
    assert forwards == Fraction(9, 5)
    assert fault(claim(PureDP, ADD_REMOVE, epsilon=math.log(forwards) + 1e-9), table)
    found = rules.finite_table(mechanism(table)).conclusion
    assert abs(float(found.parameters["epsilon"]) - math.log(5)) < 1e-13


@pytest.mark.parametrize("records", [2, 3, 5])
def test_randomized_response_is_what_it_says(records: int) -> None:
    names = [str(i) for i in range(records)]
    derived = rules.finite_table(mechanism(response(3, records=names)), neighbors=REPLACE)
    epsilon = derived.conclusion.parameters["epsilon"]
    assert math.log(3) <= epsilon < math.log(3) + 1e-13


def test_the_size_of_the_data() -> None:
    table = mechanism(size_table(["0", "1"], 2))
    assert rules.finite_table(table, neighbors=REPLACE).conclusion == PureDP(epsilon=0, neighbors=REPLACE)
    with pytest.raises(NotPrivate):
        rules.finite_table(table, neighbors=ADD_REMOVE)
    assert rules.finite_table(table, delta=1).conclusion == ApproxDP(epsilon=0, delta=1)


def thawed(value: Any) -> Any:
    """Mappings as dicts, sequences as lists."""
    if isinstance(value, Mapping):
        return {key: thawed(inner) for key, inner in value.items()}
    return [thawed(inner) for inner in value] if isinstance(value, (list, tuple)) else value


def test_the_table_is_in_the_derivation() -> None:
    table = mechanism(response(3))
    derived = rules.finite_table(table, neighbors=REPLACE)
    assert thawed(derived.parameters) == table.as_data()
    assert (derived.rule, derived.premises, derived.assumptions) == ("finite_table", (), ())


@pytest.mark.parametrize("neighbors", [ADD_REMOVE.times(2), REPLACE.times(3), ADD_REMOVE.of_unit("person", max_rows=1)])
def test_a_table_speaks_of_single_rows(neighbors: Neighbors) -> None:
    with pytest.raises(InvalidParameter) as caught:
        rules.finite_table(mechanism(present(2)), neighbors=neighbors)
    assert caught.value.field == "neighbors"


@pytest.mark.parametrize("sizes", [[1], [1, 2], [0, 2]])
def test_removal_needs_all_sizes(sizes: list[int]) -> None:
    gapped = FiniteMechanism.tabulate(lambda data: {"out": 1}, records=["0"], sizes=sizes)
    with pytest.raises(InvalidParameter) as caught:
        rules.finite_table(gapped)
    assert caught.value.field == "sizes"


@pytest.mark.parametrize("delta", [-1, "1.5", math.nan, math.inf, True, "little", None])
def test_bad_delta(delta: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        rules.finite_table(mechanism(present(2)), delta=delta)
    assert caught.value.field == "delta"


def test_ratios_beyond_the_exponent_limit_are_refused() -> None:
    tiny = Fraction(1, 10**1000)
    laws: Table = {(): {"a": Fraction(1, 2), "b": Fraction(1, 2)}, ("0",): {"a": tiny, "b": 1 - tiny}}
    with pytest.raises(InvalidParameter) as caught:
        rules.finite_table(mechanism(laws))
    assert caught.value.field == "epsilon"


@FAST
@given(table=tables(["0", "1"], [0, 1, 2], outcomes=3), neighbors=NEIGHBORS, share=SHARES)
def test_finite_table_of_two_rows_is_tight(table: Any, neighbors: Neighbors, share: Fraction) -> None:
    pairs = neighbour_pairs(table, neighbors)
    assume(pairs)
    check_tight(table, neighbors, share * spread(pairs)[1])


# Assumptions


def test_an_assumption_stays_visible() -> None:
    assumed = rules.assumption(PureDP(epsilon=1), statement="the vendor says so", reference="letter of May")
    proved = rules.finite_table(mechanism(present(2)))
    combined = rules.sequential(proved, rules.postprocessing(assumed, description="rounded"), assumed)
    assert combined.assumptions == ("the vendor says so",)
    assert proved.assumptions == ()
    assert dict(assumed.parameters) == {"statement": "the vendor says so", "reference": "letter of May"}
    both = rules.sequential(combined, rules.suppose(PureDP(epsilon=2)))
    assert len(both.assumptions) == 2
    assert "epsilon 2" in both.assumptions[1]


def test_a_false_assumption_proves_falsehoods_and_says_so() -> None:
    """What enumeration refutes can be assumed; that is why a certificate lists it."""
    table = response(3)
    assumed = rules.suppose(PureDP(epsilon="0.1", neighbors=REPLACE))
    assert fault(assumed, table)
    assert assumed.assumptions


@pytest.mark.parametrize("conclusion", [None, 1, "PureDP", PureDP, {"epsilon": 1}])
def test_only_guarantees_are_assumed(conclusion: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        rules.assumption(conclusion, statement="so it is")
    assert caught.value.field == "conclusion"


@pytest.mark.parametrize(
    ("field", "texts"),
    [
        ("statement", {"statement": ""}),
        ("statement", {"statement": "  \n"}),
        ("statement", {"statement": 3}),
        ("statement", {"statement": "x" * 20_001}),
        ("reference", {"statement": "so it is", "reference": None}),
        ("reference", {"statement": "so it is", "reference": "x" * 20_001}),
    ],
)
def test_bad_texts(field: str, texts: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter) as caught:
        rules.assumption(PureDP(epsilon=1), **texts)
    assert caught.value.field == field


@given(st.fractions(min_value=0, max_value=5, max_denominator=99))
def test_suppose_changes_nothing(epsilon: Fraction) -> None:
    statement: Guarantee = PureDP(epsilon=epsilon)
    assert rules.suppose(statement).conclusion is statement
    assert not refutation(statement, [])
