"""The coordinates in which guarantees add: there and back, the common kind, and what implies what."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately.errors import MixedNeighbors, NoSuchRule
from privately.guarantees import (
    ZCDP,
    ApproxDP,
    ApproxZCDP,
    GaussianDP,
    Guarantee,
    Neighbors,
    PureDP,
    RenyiDP,
    costs,
)
from privately.rounding import MAX_BITS

AMOUNTS = st.sampled_from([Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(1), Fraction(3)])
PROBABILITIES = st.sampled_from([Fraction(0), Fraction(1, 1000), Fraction(1, 10), Fraction(1)])
ORDERS = st.sampled_from([Fraction(3, 2), Fraction(2), Fraction(8), Fraction(64)])
NEIGHBORS = st.sampled_from([Neighbors.ADD_REMOVE, Neighbors.ADD_REMOVE.times(2), Neighbors.REPLACE])
EXACT = st.fractions(min_value=0, max_value=100, max_denominator=10**9)
EXAMPLES: list[Guarantee] = [
    PureDP(epsilon=1),
    ApproxDP(epsilon=1, delta="0.1"),
    ZCDP(rho=1),
    ApproxZCDP(rho=1, delta="0.1"),
    RenyiDP(bounds=[(2, 1)]),
    GaussianDP(mu=1),
]
WIDER: dict[frozenset[type[Guarantee]], type[Guarantee]] = {
    frozenset((PureDP, ApproxDP)): ApproxDP,
    frozenset((ZCDP, ApproxZCDP)): ApproxZCDP,
}


STATEMENTS: st.SearchStrategy[Guarantee] = st.one_of(
    st.builds(PureDP, epsilon=AMOUNTS, neighbors=NEIGHBORS),
    st.builds(ApproxDP, epsilon=AMOUNTS, delta=PROBABILITIES, neighbors=NEIGHBORS),
    st.builds(ZCDP, rho=AMOUNTS, neighbors=NEIGHBORS),
    st.builds(ApproxZCDP, rho=AMOUNTS, delta=PROBABILITIES, neighbors=NEIGHBORS),
    st.builds(RenyiDP, bounds=st.dictionaries(ORDERS, AMOUNTS, min_size=1, max_size=3), neighbors=NEIGHBORS),
    st.builds(GaussianDP, mu=AMOUNTS, neighbors=NEIGHBORS),
)


# The common kind


@pytest.mark.parametrize(("first", "second"), list(product(EXAMPLES, repeat=2)), ids=lambda one: type(one).__name__)
def test_the_table_of_common_kinds(first: Guarantee, second: Guarantee) -> None:
    kinds = frozenset((type(first), type(second)))
    if len(kinds) == 1 or kinds in WIDER:
        assert costs.common_kind([first, second]) is WIDER.get(kinds, type(first))
    else:
        with pytest.raises(NoSuchRule, match=" with ") as caught:
            costs.common_kind([first, second])
        assert "Convert" in caught.value.hint


def test_three_kinds_have_nothing_in_common() -> None:
    with pytest.raises(NoSuchRule, match="ApproxDP with PureDP with ZCDP"):
        costs.common_kind([PureDP(epsilon=1), ApproxDP(epsilon=1, delta=0), ZCDP(rho=1)])


def test_common_neighbors() -> None:
    assert costs.common_neighbors(EXAMPLES) == Neighbors.ADD_REMOVE
    with pytest.raises(MixedNeighbors) as caught:
        costs.common_neighbors([PureDP(epsilon=1), PureDP(epsilon=1, neighbors=Neighbors.REPLACE)])
    assert caught.value.found == (Neighbors.ADD_REMOVE, Neighbors.REPLACE)


# There and back


@given(STATEMENTS)
def test_coordinates_give_the_statement_back(statement: Guarantee) -> None:
    kind = type(statement)
    assert costs.from_costs(kind, costs.costs(statement, kind), statement.neighbors) == statement


@given(EXACT)
def test_a_pure_statement_has_delta_zero_among_approximate_ones(amount: Fraction) -> None:
    assert costs.costs(PureDP(epsilon=amount), ApproxDP) == {"epsilon": amount, "delta": 0}
    assert costs.costs(ZCDP(rho=amount), ApproxZCDP) == {"rho": amount, "delta": 0}
    assert costs.costs(PureDP(epsilon=amount), PureDP) == {"epsilon": amount}
    assert costs.costs(GaussianDP(mu=amount), GaussianDP) == {"mu": amount**2}


@given(EXACT, EXACT)
def test_a_delta_above_one_says_no_less_than_one(epsilon: Fraction, delta: Fraction) -> None:
    found = costs.from_costs(ApproxDP, {"epsilon": epsilon, "delta": delta}, Neighbors.REPLACE)
    assert found == ApproxDP(epsilon=epsilon, delta=min(delta, Fraction(1)), neighbors=Neighbors.REPLACE)


def test_long_sums_are_rounded_up_and_stay_short() -> None:
    long = Fraction(3**2000 + 1, 7 * 3**2000)
    found = costs.from_costs(PureDP, {"epsilon": long}, Neighbors.ADD_REMOVE).parameters["epsilon"]
    assert long <= found <= long * (1 + Fraction(1, 10**290))
    assert found.denominator.bit_length() < MAX_BITS


def test_no_common_order_is_no_statement() -> None:
    listed = [costs.costs(RenyiDP(bounds=[(order, 1)]), RenyiDP) for order in (2, 3)]
    assert costs.shared_coordinates(listed) == []
    with pytest.raises(NoSuchRule, match="common order"):
        costs.from_costs(RenyiDP, {}, Neighbors.ADD_REMOVE)


def test_shared_coordinates_keep_the_first_order() -> None:
    first: costs.Costs = {Fraction(8): Fraction(1), Fraction(2): Fraction(1)}
    second: costs.Costs = {Fraction(2): Fraction(1)}
    assert costs.shared_coordinates([first, {**second, Fraction(8): Fraction(0)}]) == [8, 2]
    assert costs.shared_coordinates([first, second]) == [2]


# Roots


@given(st.fractions(min_value=0, max_value=10**12, max_denominator=10**20))
def test_roots_are_rounded_up(square: Fraction) -> None:
    assert square <= costs.root_up(square) ** 2 <= square * (1 + Fraction(1, 10**13))


@given(EXACT)
def test_roots_of_squares_are_exact(root: Fraction) -> None:
    assert costs.root_up(root**2) == root


@pytest.mark.parametrize("exponent", [-1100, -600, -301, -11, 3, 17])
def test_roots_of_extreme_numbers(exponent: int) -> None:
    square = 2 * Fraction(10) ** exponent
    assert costs.root_up(square) ** 2 >= square


# What implies what


@given(STATEMENTS)
def test_implies_is_reflexive(statement: Guarantee) -> None:
    assert costs.implies(statement, statement)


@given(STATEMENTS, STATEMENTS, STATEMENTS)
def test_implies_is_transitive(first: Guarantee, second: Guarantee, third: Guarantee) -> None:
    if costs.implies(first, second) and costs.implies(second, third):
        assert costs.implies(first, third)


@given(STATEMENTS, STATEMENTS)
def test_implies_both_ways_only_of_the_same(first: Guarantee, second: Guarantee) -> None:
    if costs.implies(first, second) and costs.implies(second, first):
        assert first == second


@st.composite
def implications(draw: st.DrawFn) -> tuple[Guarantee, Guarantee]:
    """A statement, and one with larger numbers, fewer orders, fewer neighbours, or of the wider kind."""
    strong = draw(STATEMENTS)
    kind = draw(st.sampled_from([type(strong), *(wide for kinds, wide in WIDER.items() if type(strong) in kinds)]))
    coordinates = costs.costs(strong, kind)
    kept = list(coordinates)
    if kind is RenyiDP:
        kept = draw(st.lists(st.sampled_from(kept), min_size=1, unique=True))
    weaker = {name: coordinates[name] + draw(AMOUNTS) for name in kept}
    neighbors = draw(NEIGHBORS.filter(strong.neighbors.covers))
    return strong, costs.from_costs(kind, weaker, neighbors)


@given(implications())
def test_larger_numbers_are_implied(pair: tuple[Guarantee, Guarantee]) -> None:
    assert costs.implies(*pair)


@given(implications(), st.sampled_from(["1e-30", "1e-6", "0.05", "0.5"]), st.sampled_from([0, "0.3", 1, 5]))
def test_what_is_implied_never_has_the_smaller_curve(
    pair: tuple[Guarantee, Guarantee], delta: str, epsilon: str
) -> None:
    strong, weak = pair
    assert strong.epsilon(delta=delta).lower <= weak.epsilon(delta=delta).upper
    assert strong.delta(epsilon=epsilon).lower <= weak.delta(epsilon=epsilon).upper
    slack = 1 + Fraction(1, 10**9)
    if type(strong) is type(weak) and not isinstance(strong, RenyiDP):  # with fewer orders other chords are searched
        assert strong.epsilon(delta=delta).upper <= weak.epsilon(delta=delta).upper * slack
        assert strong.delta(epsilon=epsilon).upper <= weak.delta(epsilon=epsilon).upper * slack


@pytest.mark.parametrize(
    ("premise", "conclusion"),
    [
        (PureDP(epsilon=1), PureDP(epsilon="0.999")),
        (ApproxDP(epsilon=1, delta=0), PureDP(epsilon=1)),
        (PureDP(epsilon=1), ZCDP(rho=5)),
        (ApproxDP(epsilon=1, delta="0.1"), ApproxDP(epsilon=2, delta="0.09")),
        (RenyiDP(bounds=[(2, 1)]), RenyiDP(bounds=[(3, 100)])),
        (RenyiDP(bounds=[(3, 1)]), RenyiDP(bounds=[(2, 1), (3, 1)])),
        (PureDP(epsilon=1), PureDP(epsilon=2, neighbors=Neighbors.REPLACE)),
        (PureDP(epsilon=1), PureDP(epsilon=2, neighbors=Neighbors.ADD_REMOVE.times(2))),
        (ZCDP(rho=1), GaussianDP(mu=9)),
        (GaussianDP(mu=1), GaussianDP(mu="0.5")),
    ],
)
def test_what_weakening_does_not_give(premise: Guarantee, conclusion: Guarantee) -> None:
    assert not costs.implies(premise, conclusion)
