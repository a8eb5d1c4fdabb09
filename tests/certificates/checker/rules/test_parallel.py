from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.certificates.checker.building import (
    NINE,
    PERSON,
    REPLACE,
    ROW,
    Plain,
    conclude,
    refuse,
    renyi,
    statement,
)

HAIR = Fraction(1, 10**60)
fractions = st.lists(st.fractions(0, 5, max_denominator=10**6), min_size=1, max_size=6)


def pures(values: list[Fraction], neighbors: Plain = ROW) -> list[Plain]:
    return [statement("PureDP", neighbors, epsilon=value) for value in values]


def exactly(
    rule: str, premises: list[Plain], neighbors: Plain, needed: Fraction, parameters: Plain | None = None
) -> None:
    """The rule gives this epsilon, and not a hair less."""
    conclude(rule, premises, statement("PureDP", neighbors, epsilon=needed), parameters)
    if needed > HAIR:
        refuse("conclusion.epsilon", rule, premises, statement("PureDP", neighbors, epsilon=needed - HAIR), parameters)


@given(fractions, st.data())
def test_sequential_is_the_sum(values: list[Fraction], data: st.DataObject) -> None:
    counts = data.draw(st.lists(st.integers(1, 1000), min_size=len(values), max_size=len(values)))
    needed = sum((value * count for value, count in zip(values, counts, strict=True)), Fraction(0))
    exactly("sequential", pures(values), ROW, needed, {"counts": counts})


def test_sequential_of_each_kind() -> None:
    one = {"counts": [1, 2]}
    pure, approx = statement("PureDP", epsilon=1), statement("ApproxDP", epsilon=2, delta="1/100")
    conclude("sequential", [pure, approx], statement("ApproxDP", epsilon=5, delta="1/50"), one)
    refuse(
        "conclusion.delta",
        "sequential",
        [pure, approx],
        statement("ApproxDP", epsilon=5, delta=Fraction(1, 50) - NINE),
        one,
    )
    refuse("premises[1]", "sequential", [pure, approx], statement("PureDP", epsilon=50), one)
    conclude("sequential", [pure, pure], statement("ApproxDP", epsilon=3, delta=0), one)
    zcdp, mixed = statement("ZCDP", rho=1), statement("ApproxZCDP", rho=2, delta="1/100")
    conclude("sequential", [zcdp, mixed], statement("ApproxZCDP", rho=5, delta="1/50"), one)
    refuse("conclusion.rho", "sequential", [zcdp, mixed], statement("ApproxZCDP", rho=5 - NINE, delta="1/50"), one)
    refuse("premises[1]", "sequential", [zcdp, mixed], statement("ZCDP", rho=5), one)
    refuse("premises[1]", "sequential", [pure, zcdp], statement("ApproxDP", epsilon=500, delta=1), one)


def test_deltas_above_one_are_one() -> None:
    premise = statement("ApproxDP", epsilon=1, delta="1/2")
    conclude("sequential", [premise], statement("ApproxDP", epsilon=3, delta=1), {"counts": [3]})
    refuse(
        "conclusion.delta", "sequential", [premise], statement("ApproxDP", epsilon=3, delta=1 - NINE), {"counts": [3]}
    )


def test_gaussians_add_by_squares() -> None:
    premises = [statement("GaussianDP", mu=3), statement("GaussianDP", mu=4)]
    counts = {"counts": [1, 1]}
    conclude("sequential", premises, statement("GaussianDP", mu=5), counts)
    refuse("conclusion.mu", "sequential", premises, statement("GaussianDP", mu=5 - HAIR), counts)


def test_the_sum_of_squares_needs_its_root() -> None:
    """The twin that takes sum mu_i^2 for mu is below its root where the sum is below 1."""
    premise = statement("GaussianDP", mu="1/10")
    refuse("conclusion.mu", "sequential", [premise], statement("GaussianDP", mu="4/100"), {"counts": [4]})
    conclude("sequential", [premise], statement("GaussianDP", mu="2/10"), {"counts": [4]})


def test_renyi_adds_by_order() -> None:
    premises = [renyi({2: 1, 3: 2, 5: 4}), renyi({2: 1, 4: 2, 5: 5})]
    counts = {"counts": [2, 1]}
    conclude("sequential", premises, renyi({2: 3, 5: 13}), counts)
    conclude("sequential", premises, renyi({5: 13}), counts)
    refuse("conclusion.bounds[1][1]", "sequential", premises, renyi({2: 3, 5: 13 - HAIR}), counts)
    refuse("conclusion.bounds[1][0]", "sequential", premises, renyi({2: 3, 4: 100}), counts)


@pytest.mark.parametrize(
    ("counts", "field"),
    [([], ""), ([1], ""), ([1, 1, 1], ""), ([1, 0], "[1]"), ([1, True], "[1]"), ([1, 10**9 + 1], "[1]"), (None, "")],
)
def test_counts_are_one_for_each_premise(counts: object, field: str) -> None:
    premises = pures([Fraction(1), Fraction(1)])
    refuse(f"parameters.counts{field}", "sequential", premises, statement("PureDP", epsilon=9), {"counts": counts})


@given(fractions, st.integers(1, 7))
def test_by_position_is_the_sum_of_the_largest(values: list[Fraction], size: int) -> None:
    neighbors = {**REPLACE, "size": size}
    needed = sum(sorted(values, reverse=True)[:size], Fraction(0))
    exactly("parallel_by_position", pures(values, neighbors), neighbors, needed)


@given(fractions, st.integers(1, 3), st.integers(1, 3), st.booleans())
def test_by_value_is_the_sum_of_the_largest(values: list[Fraction], size: int, rows: int, person: bool) -> None:
    neighbors = {**PERSON, "size": size, "max_rows": rows} if person else {**ROW, "size": size}
    touched = size * rows if person else size
    needed = sum(sorted(values, reverse=True)[:touched], Fraction(0))
    exactly("parallel_by_value", pures(values, neighbors), neighbors, needed)


def test_parallel_needs_its_neighbours() -> None:
    one = Fraction(1)
    refuse(
        "conclusion.neighbors.change",
        "parallel_by_value",
        pures([one, one], REPLACE),
        statement("PureDP", REPLACE, epsilon=1),
    )
    refuse("conclusion.neighbors", "parallel_by_position", pures([one, one]), statement("PureDP", epsilon=1))
    person = {**PERSON, "change": "replace"}
    refuse("conclusion.neighbors", "parallel_by_position", pures([one], person), statement("PureDP", person, epsilon=1))
    unbounded = {**PERSON, "max_rows": None}
    refuse(
        "conclusion.neighbors.max_rows",
        "parallel_by_value",
        pures([one], unbounded),
        statement("PureDP", unbounded, epsilon=9),
    )
    refuse("conclusion.neighbors", "parallel_by_value", pures([one], REPLACE), statement("PureDP", ROW, epsilon=1))


def test_parallel_of_other_kinds() -> None:
    gaussians = [statement("GaussianDP", {**ROW, "size": 2}, mu=mu) for mu in (1, 3, 4)]
    conclude("parallel_by_value", gaussians, statement("GaussianDP", {**ROW, "size": 2}, mu=5))
    refuse("conclusion.mu", "parallel_by_value", gaussians, statement("GaussianDP", {**ROW, "size": 2}, mu=5 - HAIR))
    bounds = [renyi({2: 1, 3: 5}), renyi({2: 2, 3: 4})]
    conclude("parallel_by_value", bounds, renyi({2: 2, 3: 5}))
    refuse("conclusion.bounds[1][1]", "parallel_by_value", bounds, renyi({2: 2, 3: 4}))
    mixed = [statement("PureDP", epsilon=2), statement("ApproxDP", epsilon=1, delta="1/9")]
    conclude("parallel_by_value", mixed, statement("ApproxDP", epsilon=2, delta="1/9"))
    refuse("premises[1]", "parallel_by_value", mixed, statement("PureDP", epsilon=2))


@given(fractions, st.data())
def test_by_value_under_replacement(first: list[Fraction], data: st.DataObject) -> None:
    second = data.draw(st.lists(st.fractions(0, 12, max_denominator=10**6), min_size=len(first), max_size=len(first)))
    needed = max(*second, sum(sorted(first, reverse=True)[:2], Fraction(0)))
    exactly("parallel_by_value_replace", pures(first) + pures(second, REPLACE), REPLACE, needed)


def test_the_largest_part_is_not_enough_under_replacement() -> None:
    premises = pures([Fraction(1), Fraction(2)]) + pures([Fraction(1), Fraction(2)], REPLACE)
    for epsilon in (2, "2.999999999"):
        refuse(
            "conclusion.epsilon", "parallel_by_value_replace", premises, statement("PureDP", REPLACE, epsilon=epsilon)
        )
    conclude("parallel_by_value_replace", premises, statement("PureDP", REPLACE, epsilon=3))


def test_by_value_under_replacement_needs_both_halves() -> None:
    rule, one = "parallel_by_value_replace", Fraction(1)
    claim = statement("PureDP", REPLACE, epsilon=9)
    refuse("premises", rule, pures([one] * 3, REPLACE), claim)
    refuse("premises[0]", rule, pures([one] * 2, REPLACE), claim)
    refuse("premises[1]", rule, pures([one] * 2), claim)
    refuse("premises[0]", rule, pures([one], {**ROW, "size": 2}) + pures([one], REPLACE), claim)
    refuse("conclusion.neighbors", rule, pures([one]) + pures([one], REPLACE), statement("PureDP", ROW, epsilon=9))
    two = {**REPLACE, "size": 2}
    refuse("conclusion.neighbors", rule, pures([one]) + pures([one], two), statement("PureDP", two, epsilon=9))
    gaussians = [statement("GaussianDP", mu=3), statement("GaussianDP", mu=4)]
    gaussians += [statement("GaussianDP", REPLACE, mu=1), statement("GaussianDP", REPLACE, mu=2)]
    conclude(rule, gaussians, statement("GaussianDP", REPLACE, mu=5))
    refuse("conclusion.mu", rule, gaussians, statement("GaussianDP", REPLACE, mu=5 - HAIR))
