"""Amplification by sampling against enumeration of every sample."""

from __future__ import annotations

import math
from collections.abc import Callable
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
    rules,
)
from tests.guarantees.enumeration import (
    Table,
    data_sets,
    poisson_sampled,
    present,
    response,
    revealing,
    sampled_without_replacement,
    symmetric,
    tables,
)
from tests.guarantees.rules.knowns import (
    ADD_REMOVE,
    FAST,
    REPLACE,
    ROW_KINDS,
    SHARES,
    THOROUGH,
    Known,
    Rule,
    claim,
    fault,
    know,
    knowns,
    renyi,
)

RATES = st.fractions(min_value=0, max_value=1, max_denominator=12)
PERSON = ADD_REMOVE.of_unit("person", max_rows=2)


def poisson_fault(rule: Rule, known: Known, rate: Fraction, *, units: bool = False) -> str:
    sampled = poisson_sampled(known.table, rate, known.table, units=units)
    return fault(rule(known.derivation, rate=rate), sampled)


def fixed_fault(rule: Rule, known: Known, sample: int, population: int, *, in_order: bool = False) -> str:
    inputs = data_sets(sorted({record for data in known.table for record in data}), [population])
    sampled = sampled_without_replacement(known.table, sample, inputs, in_order=in_order)
    return fault(rule(known.derivation, sample=sample, population=population), sampled)


@pytest.mark.parametrize("kind", ROW_KINDS)
@FAST
@given(data=st.data())
def test_poisson_dominates_enumeration(kind: type[Guarantee], data: st.DataObject) -> None:
    known = data.draw(knowns(kind, ["0", "1"], [0, 1, 2], outcomes=3))
    assert not poisson_fault(rules.poisson_sampling, known, data.draw(RATES))


@pytest.mark.parametrize("kind", ROW_KINDS)
@FAST
@given(data=st.data())
def test_poisson_sampling_of_units_dominates_enumeration(kind: type[Guarantee], data: st.DataObject) -> None:
    known = data.draw(knowns(kind, ["1", "2"], [0, 1, 2, 3], PERSON))
    assert not poisson_fault(rules.poisson_sampling, known, data.draw(RATES), units=True)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ROW_KINDS)
@THOROUGH
@given(data=st.data())
def test_poisson_dominates_enumeration_of_larger_mechanisms(kind: type[Guarantee], data: st.DataObject) -> None:
    known = data.draw(knowns(kind, ["0", "1", "2"], [0, 1, 2, 3], outcomes=3))
    assert not poisson_fault(rules.poisson_sampling, known, data.draw(RATES))


@pytest.mark.parametrize("kind", ROW_KINDS)
@pytest.mark.parametrize(("sample", "population"), [(1, 1), (1, 2), (1, 3), (2, 2), (2, 3)])
@FAST
@given(data=st.data())
def test_without_replacement_dominates_enumeration(
    kind: type[Guarantee], sample: int, population: int, data: st.DataObject
) -> None:
    """The sample comes in random order."""
    known = data.draw(knowns(kind, ["0", "1"], [sample], REPLACE, outcomes=3))
    assert not fixed_fault(rules.sampling_without_replacement, known, sample, population)


@pytest.mark.parametrize("kind", ROW_KINDS)
@FAST
@given(data=st.data())
def test_without_replacement_in_order_dominates_enumeration(kind: type[Guarantee], data: st.DataObject) -> None:
    """A mechanism that ignores the order of its rows may be given them in order."""
    table: Any = symmetric(data.draw(tables(["0", "1"], [2], outcomes=3)))
    known = know(kind, [table], REPLACE, share=data.draw(SHARES))
    assert not fixed_fault(rules.sampling_without_replacement, known, 2, 3, in_order=True)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ROW_KINDS)
@pytest.mark.parametrize(("sample", "population"), [(1, 4), (2, 4), (3, 4)])
@THOROUGH
@given(data=st.data())
def test_without_replacement_dominates_enumeration_of_four(
    kind: type[Guarantee], sample: int, population: int, data: st.DataObject
) -> None:
    known = data.draw(knowns(kind, ["0", "1", "2"], [sample], REPLACE, outcomes=3))
    assert not fixed_fault(rules.sampling_without_replacement, known, sample, population)


# False twins


def scaled(
    epsilon: Callable[[float, float], float], delta: Callable[[Fraction, Fraction], Fraction] = lambda d, q: q * d
) -> Rule:
    """Another formula in place of ln(1 + q (e^epsilon - 1)) and q delta, for both kinds of sampling."""

    def rule(premise: Derivation, *, rate: Fraction = Fraction(1), sample: int = 1, population: int = 1) -> Derivation:
        kept = rate * Fraction(sample, population)
        numbers = premise.conclusion.parameters
        found: dict[str, Any] = {"epsilon": epsilon(float(numbers["epsilon"]), float(kept))}
        if "delta" in numbers:
            found["delta"] = delta(numbers["delta"], kept)
        return claim(type(premise.conclusion), premise.conclusion.neighbors, **found)

    return rule


def amplified(epsilon: float, rate: float) -> float:
    return math.log1p(rate * math.expm1(epsilon)) * (1 + 1e-12)


times_rate = scaled(lambda epsilon, rate: rate * epsilon)
times_square = scaled(lambda epsilon, rate: math.log1p(rate * rate * math.expm1(epsilon)))
delta_squared = scaled(amplified, lambda delta, rate: rate * rate * delta)
delta_lost = scaled(amplified, lambda delta, rate: Fraction(0))
HALF = Fraction(1, 2)


@pytest.mark.parametrize("twin", [times_rate, times_square])
def test_twins_of_epsilon_are_refuted(twin: Rule) -> None:
    counting = know(PureDP, [present(4)], ADD_REMOVE)
    assert poisson_fault(twin, counting, HALF)
    assert not poisson_fault(rules.poisson_sampling, counting, HALF)
    answering = know(PureDP, [response(4)], REPLACE)
    assert fixed_fault(twin, answering, 1, 2)
    assert not fixed_fault(rules.sampling_without_replacement, answering, 1, 2)


@pytest.mark.parametrize("twin", [delta_squared, delta_lost])
def test_twins_of_delta_are_refuted(twin: Rule) -> None:
    counting = know(ApproxDP, [revealing(present(4), Fraction(1, 10))], ADD_REMOVE)
    assert poisson_fault(twin, counting, HALF)
    assert not poisson_fault(rules.poisson_sampling, counting, HALF)
    answering = know(ApproxDP, [revealing(response(4), Fraction(1, 10))], REPLACE)
    assert fixed_fault(twin, answering, 1, 2)
    assert not fixed_fault(rules.sampling_without_replacement, answering, 1, 2)


def test_amplification_is_attained() -> None:
    """Randomized response of a sampled row: the formula gives no more than it must."""
    answering = know(PureDP, [response(4)], REPLACE)
    slightly_less = scaled(lambda epsilon, rate: math.log1p(rate * math.expm1(epsilon)) * (1 - 1e-9))
    assert fixed_fault(slightly_less, answering, 1, 2)


ORDERED: Table = {
    data: {"yes": mass, "no": 1 - mass}
    for data, mass in {
        ("a", "b"): Fraction(1, 2),
        ("a", "a"): Fraction(1, 4),
        ("b", "b"): Fraction(1, 4),
        ("b", "a"): Fraction(1, 8),
    }.items()
}


def test_a_sample_in_order_refutes_for_a_mechanism_that_looks_at_the_order() -> None:
    """Swapping a sampled row for another one then moves rows to other places: not one replacement but two.

    The rule therefore speaks of samples in random order, or of mechanisms that ignore the order.
    """
    known = know(PureDP, [ORDERED], REPLACE)
    assert fixed_fault(rules.sampling_without_replacement, known, 2, 3, in_order=True)
    assert not fixed_fault(rules.sampling_without_replacement, known, 2, 3)


def test_sampling_rows_refutes_a_statement_about_units() -> None:
    """A person with two rows is in the sample with probability 1 - (1 - q)^2: the rate is one of units."""
    counting: Table = {
        data: {"some": Fraction(4 if data else 1, 5), "none": Fraction(1 if data else 4, 5)}
        for data in data_sets(["1"], [0, 1, 2])
    }
    known = know(PureDP, [counting], PERSON)
    assert poisson_fault(rules.poisson_sampling, known, HALF, units=False)
    assert not poisson_fault(rules.poisson_sampling, known, HALF, units=True)


# What is refused


@pytest.mark.parametrize("statement", [ZCDP(rho=1), ApproxZCDP(rho=1, delta="0.1"), renyi({2: 1}), GaussianDP(mu=1)])
def test_other_kinds_are_refused(statement: Guarantee) -> None:
    with pytest.raises(NoSuchRule) as caught:
        rules.poisson_sampling(rules.suppose(statement), rate="0.5")
    assert (caught.value.premise, caught.value.wanted) == (statement, "Poisson sampling in closed form")


@pytest.mark.parametrize("neighbors", [REPLACE, ADD_REMOVE.times(2)])
def test_poisson_wants_single_additions(neighbors: Neighbors) -> None:
    statement = PureDP(epsilon=1, neighbors=neighbors)
    with pytest.raises(NoSuchRule, match="single changes") as caught:
        rules.poisson_sampling(rules.suppose(statement), rate="0.5")
    assert (caught.value.premise, caught.value.wanted) == (statement, "Poisson sampling")


@pytest.mark.parametrize("neighbors", [ADD_REMOVE, REPLACE.times(2)])
def test_fixed_samples_want_single_replacements(neighbors: Neighbors) -> None:
    statement = PureDP(epsilon=1, neighbors=neighbors)
    with pytest.raises(NoSuchRule, match="single changes") as caught:
        rules.sampling_without_replacement(rules.suppose(statement), sample=1, population=2)
    assert (caught.value.premise, caught.value.wanted) == (statement, "sampling without replacement")


@pytest.mark.parametrize("rate", [-1, "1.01", 2, math.nan, math.inf, True, "half", None, Fraction(-1, 10**9)])
def test_bad_rate(rate: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        rules.poisson_sampling(rules.suppose(PureDP(epsilon=1)), rate=rate)
    assert caught.value.field == "rate"


@pytest.mark.parametrize(
    ("sample", "population", "field"),
    [
        (2, 1, "sample"),
        (0, 1, "sample"),
        (-1, 1, "sample"),
        (True, 1, "sample"),
        (1.0, 2, "sample"),
        ("1", 2, "sample"),
        (1, 0, "population"),
        (1, 2.5, "population"),
        (1, math.inf, "population"),
        (1, 10**10, "population"),
    ],
)
def test_bad_sample(sample: Any, population: Any, field: str) -> None:
    premise = rules.suppose(PureDP(epsilon=1, neighbors=REPLACE))
    with pytest.raises(InvalidParameter) as caught:
        rules.sampling_without_replacement(premise, sample=sample, population=population)
    assert caught.value.field == field


@given(st.fractions(min_value=0, max_value=20, max_denominator=50), RATES, RATES)
def test_amplification_is_monotone_and_never_hurts(epsilon: Fraction, rate: Fraction, other: Fraction) -> None:
    premise = rules.suppose(ApproxDP(epsilon=epsilon, delta="0.01"))
    low, high = sorted([rate, other])
    small = rules.poisson_sampling(premise, rate=low).conclusion.parameters
    large = rules.poisson_sampling(premise, rate=high).conclusion.parameters
    assert small["epsilon"] <= large["epsilon"] <= epsilon
    assert small["delta"] <= large["delta"] <= Fraction(1, 100)
    assert small["epsilon"] >= low * epsilon * (1 - Fraction(1, 10**13))
    assert rules.poisson_sampling(premise, rate=1).conclusion == premise.conclusion
    assert rules.poisson_sampling(premise, rate=0).conclusion == ApproxDP(epsilon=0, delta=0)


def test_an_epsilon_beyond_the_exponent_limit() -> None:
    with pytest.raises(InvalidParameter) as caught:
        rules.poisson_sampling(rules.suppose(PureDP(epsilon=2001)), rate="0.5")
    assert caught.value.field == "epsilon"
