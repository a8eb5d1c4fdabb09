"""Optimal and advanced composition against enumeration, exact binomial sums and mpmath."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privately.errors import InvalidParameter, MixedNeighbors, NoSuchRule
from privately.guarantees import ZCDP, ApproxDP, Derivation, GaussianDP, Guarantee, PureDP, rules
from privately.guarantees.distances import privacy_curve
from privately.guarantees.responses import solve
from privately.rounding import Enclosure
from tests.guarantees.enumeration import Table, adaptive, joint, response, revealing
from tests.guarantees.rules.knowns import (
    ADD_REMOVE,
    FAST,
    REPLACE,
    ROW_KINDS,
    THOROUGH,
    Rule,
    claim,
    fault,
    know,
    knowns,
)
from tests.rounding.truth import real

RULES: list[tuple[Rule, dict[str, Any]]] = [
    (rules.optimal_composition, {"delta": "1e-5"}),
    (rules.advanced_composition, {"slack": "1e-5"}),
]
CLOSE = Fraction(1, 10**12)
SHARES = st.sampled_from([Fraction(1, 100), Fraction(1, 10), Fraction(1, 3), Fraction(2, 3), Fraction(1)])
RATIOS = st.sampled_from([Fraction(11, 10), Fraction(3, 2), Fraction(2), Fraction(3), Fraction(20)])
FLOORS = st.sampled_from([Fraction(0), Fraction(0), Fraction(1, 1000), Fraction(1, 10)])


def worst(ratio: Fraction, delta: Fraction) -> Table:
    """The worst (ln ratio, delta) mechanism there is."""
    return revealing(response(ratio), delta) if delta else response(ratio)


def composed(listed: Sequence[Table]) -> Table:
    return {data: joint([table[data] for table in listed]) for data in listed[0]}


def premise_of(ratio: Fraction, delta: Fraction) -> Derivation:
    return know(ApproxDP if delta else PureDP, [worst(ratio, delta)], REPLACE).derivation


def exact_epsilon(table: Table, delta: Fraction) -> tuple[Fraction, Fraction]:
    found = privacy_curve(table["0",], table["1",]).epsilon(delta=delta)
    return Fraction(found.lower), Fraction(found.upper)


def target(floors: Sequence[Fraction], share: Fraction) -> Fraction:
    """A delta above the probability that some mechanism reveals all."""
    kept = math.prod((1 - floor for floor in floors), start=Fraction(1))
    return 1 - kept + share * kept * Fraction(1, 2)


# Optimal composition


@settings(FAST, max_examples=40)
@given(RATIOS, FLOORS, st.integers(1, 4), SHARES)
def test_optimal_composition_equals_enumeration(ratio: Fraction, floor: Fraction, times: int, share: Fraction) -> None:
    """Repetitions of the worst mechanism: not below the exact curve, and above it by rounding alone."""
    delta = target([floor] * times, share)
    found = rules.optimal_composition(premise_of(ratio, floor), counts=[times], delta=delta)
    lower, upper = exact_epsilon(composed([worst(ratio, floor)] * times), delta)
    assert lower <= found.conclusion.parameters["epsilon"] <= upper + CLOSE
    assert found.conclusion.parameters["delta"] == delta


@settings(FAST, max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 3), FLOORS), min_size=1, max_size=3), SHARES)
def test_optimal_composition_of_multiples_equals_enumeration(
    listed: list[tuple[int, Fraction]], share: Fraction
) -> None:
    """Different epsilons with a common unit, ln 2."""
    unit = Enclosure.of(2).log().claim()
    tables = [worst(Fraction(2) ** power, floor) for power, floor in listed]
    premises = [claim(ApproxDP, REPLACE, epsilon=power * unit, delta=floor) for power, floor in listed]
    delta = target([floor for _, floor in listed], share)
    found = rules.optimal_composition(*premises, delta=delta).conclusion.parameters["epsilon"]
    lower, upper = exact_epsilon(composed(tables), delta)
    assert lower <= found <= upper + CLOSE


@FAST
@given(st.lists(st.tuples(RATIOS, FLOORS), min_size=2, max_size=3), SHARES)
def test_optimal_composition_of_unrelated_epsilons(listed: list[tuple[Fraction, Fraction]], share: Fraction) -> None:
    """Rounded up to a lattice: still an upper bound, and a close one."""
    delta = target([floor for _, floor in listed], share)
    premises = [premise_of(*one) for one in listed]
    found = rules.optimal_composition(*premises, delta=delta).conclusion.parameters["epsilon"]
    lower, upper = exact_epsilon(composed([worst(*one) for one in listed]), delta)
    total = sum(premise.conclusion.parameters["epsilon"] for premise in premises)
    assert lower <= found <= upper + total * len(listed) / 1000


@pytest.mark.thinned(2)
@pytest.mark.parametrize("kind", ROW_KINDS)
@FAST
@given(data=st.data(), share=SHARES)
def test_optimal_composition_dominates_adaptive_choices(
    kind: type[Guarantee], data: st.DataObject, share: Fraction
) -> None:
    first = data.draw(knowns(kind, ["0", "1"], [0, 1], outcomes=3))
    second = data.draw(knowns(kind, ["0", "1"], [0, 1], members=3))
    floors = [one.statement.parameters.get("delta", Fraction(0)) for one in (first, second)]
    choose = {f"o{i}": table for i, table in enumerate(second.tables)}
    delta = min(target(floors, share), Fraction(1))
    found = rules.optimal_composition(first.derivation, second.derivation, delta=delta)
    assert not fault(found, adaptive(first.table, choose.__getitem__))


KNOWN = [
    ("0.1", 100, ["4.30679137251651", "4.77456758810799", "5.58618491022107", "6.29520784847295"]),
    ("1", 10, ["9.99977063453494", "9.99997706582073", "9.99999977066081", "9.99999999770661"]),
    ("0.01", 10_000, ["4.37638450926029", "4.88551560100732", "5.77440016123787", "6.54544042770631"]),
]


@pytest.mark.parametrize(("epsilon", "times", "values"), KNOWN)
def test_known_values_of_randomized_response(epsilon: str, times: int, values: list[str]) -> None:
    for delta, value in zip(["1e-5", "1e-6", "1e-8", "1e-10"], values, strict=True):
        premise = rules.suppose(PureDP(epsilon=epsilon))
        found = rules.optimal_composition(premise, counts=[times], delta=delta).conclusion.parameters["epsilon"]
        assert abs(found / Fraction(value) - 1) < CLOSE


def binomial_delta(loss: Any, times: int, epsilon: Any) -> Any:
    """E[max(0, 1 - e^(epsilon - S))] by the sum over how many answers are truthful."""
    truth = 1 / (1 + mpmath.exp(-loss))
    masses = {
        2 * i - times: mpmath.binomial(times, i) * truth**i * (1 - truth) ** (times - i) for i in range(times + 1)
    }
    return mpmath.fsum(mass * max(0, 1 - mpmath.exp(epsilon - total * loss)) for total, mass in masses.items())


@settings(FAST, max_examples=25)
@given(
    st.fractions(min_value=Fraction(1, 30), max_value=3, max_denominator=30),
    st.integers(1, 60),
    st.sampled_from([Fraction(1, 10**k) for k in (1, 2, 4, 8, 20, 60)]),
)
def test_optimal_composition_agrees_with_binomial_sums(loss: Fraction, times: int, delta: Fraction) -> None:
    premise = rules.suppose(PureDP(epsilon=loss))
    found = rules.optimal_composition(premise, counts=[times], delta=delta).conclusion.parameters["epsilon"]
    with mpmath.workdps(120):
        assert binomial_delta(real(loss), times, real(found)) <= real(delta)
        if found > 0:
            assert binomial_delta(real(loss), times, real(found * (1 - CLOSE))) > real(delta) * (
                1 - mpmath.mpf(10) ** -9
            )


@given(st.lists(st.fractions(min_value=0, max_value=2, max_denominator=20), min_size=1, max_size=4), st.data())
def test_optimal_is_order_free_and_never_worse(losses: list[Fraction], data: st.DataObject) -> None:
    delta = data.draw(st.sampled_from([Fraction(1, 10**6), Fraction(1, 100), Fraction(0)]))
    floor = data.draw(st.sampled_from([Fraction(0), Fraction(1, 10**7)]))
    premises = [rules.suppose(ApproxDP(epsilon=loss, delta=floor)) for loss in losses]
    goal = delta + len(losses) * floor
    found = rules.optimal_composition(*premises, delta=goal).conclusion
    assert rules.optimal_composition(*data.draw(st.permutations(premises)), delta=goal).conclusion == found
    total = rules.sequential(*premises).conclusion.parameters["epsilon"]
    epsilon = found.parameters["epsilon"]
    assert epsilon <= total * (1 + CLOSE)
    if delta:
        advanced = rules.advanced_composition(*premises, slack=delta).conclusion.parameters["epsilon"]
        assert epsilon <= advanced * (1 + CLOSE)
    more = rules.optimal_composition(*premises, rules.suppose(PureDP(epsilon=1)), delta=goal).conclusion
    assert more.parameters["epsilon"] >= epsilon * (1 - CLOSE)


@given(st.fractions(min_value=0, max_value=1, max_denominator=20), st.integers(1, 5))
def test_counts_repeat(loss: Fraction, times: int) -> None:
    premise = rules.suppose(ApproxDP(epsilon=loss, delta="1e-9"))
    for rule, choice in RULES:
        once = rule(*[premise] * times, **choice).conclusion.parameters
        counted = rule(premise, counts=[times], **choice).conclusion.parameters
        assert abs(once["epsilon"] - counted["epsilon"]) <= CLOSE * (1 + once["epsilon"])
        assert abs(once["delta"] - counted["delta"]) <= CLOSE * once["delta"]


# Advanced composition


@given(
    st.lists(st.fractions(min_value=0, max_value=2, max_denominator=20), min_size=1, max_size=3),
    st.integers(1, 30),
    st.sampled_from([Fraction(1, 10**9), Fraction(1, 1000), Fraction(1, 3)]),
    FLOORS,
)
def test_advanced_composition_dominates_optimal(
    losses: list[Fraction], times: int, slack: Fraction, floor: Fraction
) -> None:
    premises = [rules.suppose(ApproxDP(epsilon=loss, delta=floor / 100)) for loss in losses]
    counts = [times] * len(losses)
    advanced = rules.advanced_composition(*premises, counts=counts, slack=slack).conclusion.parameters
    if advanced["delta"] < 1:
        optimal = rules.optimal_composition(*premises, counts=counts, delta=advanced["delta"]).conclusion
        assert advanced["epsilon"] >= optimal.parameters["epsilon"] * (1 - CLOSE)


def repeated_responses(ratio: Fraction, times: int) -> Table:
    """How many of the answers are "1": all that matters of the answers."""
    truth = ratio / (ratio + 1)
    law = {i: math.comb(times, i) * truth**i * (1 - truth) ** (times - i) for i in range(times + 1)}
    return {("1",): law, ("0",): {times - i: mass for i, mass in law.items()}}


def advanced_fault(rule: Rule, ratio: Fraction, times: int, slack: Fraction) -> str:
    return fault(rule(premise_of(ratio, Fraction(0)), counts=[times], slack=slack), repeated_responses(ratio, times))


@FAST
@given(RATIOS, st.integers(1, 40), st.sampled_from([Fraction(1, 2), Fraction(1, 100), Fraction(1, 10**6)]))
def test_advanced_composition_dominates_enumeration(ratio: Fraction, times: int, slack: Fraction) -> None:
    assert not advanced_fault(rules.advanced_composition, ratio, times, slack)


# False twins


def loss_and_count(premise: Derivation, counts: Sequence[int]) -> tuple[float, int]:
    return float(premise.conclusion.parameters["epsilon"]), counts[0]


def without_the_mean(premise: Derivation, *, counts: Sequence[int], slack: Fraction) -> Derivation:
    loss, times = loss_and_count(premise, counts)
    return claim(ApproxDP, REPLACE, epsilon=math.sqrt(-2 * math.log(slack) * times) * loss, delta=slack)


def half_the_mean(premise: Derivation, *, counts: Sequence[int], slack: Fraction) -> Derivation:
    loss, times = loss_and_count(premise, counts)
    spread = math.sqrt(-2 * math.log(slack) * times) * loss
    return claim(ApproxDP, REPLACE, epsilon=times * loss * math.tanh(loss / 2) / 2 + spread / 2, delta=slack)


@pytest.mark.parametrize("twin", [without_the_mean, half_the_mean])
def test_advanced_composition_twins_are_refuted(twin: Rule) -> None:
    assert advanced_fault(twin, Fraction(3), 20, Fraction(1, 2))
    assert not advanced_fault(rules.advanced_composition, Fraction(3), 20, Fraction(1, 2))


def optimal_fault(rule: Rule, ratio: Fraction, floor: Fraction, times: int, delta: Fraction) -> str:
    table = composed([worst(ratio, floor)] * times)
    return fault(rule(premise_of(ratio, floor), counts=[times], delta=delta), table)


def mean_losses(premise: Derivation, *, counts: Sequence[int], delta: Fraction) -> Derivation:
    loss, times = loss_and_count(premise, counts)
    return claim(ApproxDP, REPLACE, epsilon=times * loss * math.tanh(loss / 2), delta=delta)


def rounded_down(premise: Derivation, *, counts: Sequence[int], delta: Fraction) -> Derivation:
    """A lattice of nine tenths of the loss, with one step for each."""
    unit = premise.conclusion.parameters["epsilon"] * Fraction(9, 10)
    return claim(ApproxDP, REPLACE, epsilon=solve(unit, [1], counts, delta).claim(), delta=delta)


def without_the_deltas(premise: Derivation, *, counts: Sequence[int], delta: Fraction) -> Derivation:
    pure = rules.suppose(PureDP(epsilon=premise.conclusion.parameters["epsilon"], neighbors=REPLACE))
    return rules.optimal_composition(pure, counts=counts, delta=delta)


def one_answer_less(premise: Derivation, *, counts: Sequence[int], delta: Fraction) -> Derivation:
    return rules.optimal_composition(premise, counts=[counts[0] - 1], delta=delta)


@pytest.mark.parametrize(
    ("twin", "floor"),
    [
        (mean_losses, Fraction(0)),
        (rounded_down, Fraction(0)),
        (one_answer_less, Fraction(0)),
        (without_the_deltas, Fraction(1, 100)),
        (one_answer_less, Fraction(1, 100)),
    ],
)
def test_optimal_composition_twins_are_refuted(twin: Rule, floor: Fraction) -> None:
    assert optimal_fault(twin, Fraction(3), floor, 3, Fraction(1, 20))
    assert not optimal_fault(rules.optimal_composition, Fraction(3), floor, 3, Fraction(1, 20))


@pytest.mark.slow
@THOROUGH
@given(RATIOS, FLOORS, st.integers(1, 6), SHARES)
def test_optimal_composition_equals_enumeration_of_six(
    ratio: Fraction, floor: Fraction, times: int, share: Fraction
) -> None:
    delta = target([floor] * times, share)
    found = rules.optimal_composition(premise_of(ratio, floor), counts=[times], delta=delta)
    lower, upper = exact_epsilon(composed([worst(ratio, floor)] * times), delta)
    assert lower <= found.conclusion.parameters["epsilon"] <= upper + CLOSE


# What is refused


@pytest.mark.parametrize("statement", [ZCDP(rho=1), GaussianDP(mu=1)])
def test_other_kinds_are_refused(statement: Guarantee) -> None:
    premise = rules.suppose(statement)
    for rule, choice in RULES:
        with pytest.raises(NoSuchRule) as caught:
            rule(premise, premise, **choice)
        assert (caught.value.premise, caught.value.wanted) == (statement, "optimal or advanced composition")


def test_mixed_neighbors_are_refused() -> None:
    added, replaced = rules.suppose(PureDP(epsilon=1)), rules.suppose(PureDP(epsilon=1, neighbors=REPLACE))
    for rule, choice in RULES:
        with pytest.raises(MixedNeighbors) as caught:
            rule(added, replaced, **choice)
        assert caught.value.found == (ADD_REMOVE, REPLACE)


@pytest.mark.parametrize("number", [-1, 2, math.nan, math.inf, "tiny", True, None])
def test_bad_delta_and_slack(number: Any) -> None:
    premise = rules.suppose(PureDP(epsilon=1))
    with pytest.raises(InvalidParameter) as caught:
        rules.optimal_composition(premise, delta=number)
    assert caught.value.field == "delta"
    with pytest.raises(InvalidParameter) as caught:
        rules.advanced_composition(premise, slack=number)
    assert caught.value.field == "slack"


def test_slack_lies_strictly_between() -> None:
    for slack in (0, 1):
        with pytest.raises(InvalidParameter) as caught:
            rules.advanced_composition(rules.suppose(PureDP(epsilon=1)), slack=slack)
        assert caught.value.field == "slack"


def test_delta_must_cover_what_the_premises_leave_out() -> None:
    premise = rules.suppose(ApproxDP(epsilon=1, delta="0.1"))
    with pytest.raises(InvalidParameter, match="alone add up"):
        rules.optimal_composition(premise, premise, delta="0.18")
    assert rules.optimal_composition(premise, premise, delta="0.2").conclusion.parameters["delta"] == Fraction(1, 5)
    assert rules.optimal_composition(premise, premise, delta=1).conclusion == ApproxDP(epsilon=0, delta=1)


@pytest.mark.parametrize("floor", [Fraction(1, 3), Fraction(1, 7), Fraction(1, 10**6), Fraction(1, 10)])
def test_delta_may_be_all_that_the_premises_leave_out(floor: Fraction) -> None:
    premise = rules.suppose(ApproxDP(epsilon=1, delta=floor))
    for times in (1, 2, 3):
        found = rules.optimal_composition(premise, counts=[times], delta=1 - (1 - floor) ** times).conclusion
        assert times <= found.parameters["epsilon"] <= times + CLOSE


def test_too_many_are_refused() -> None:
    with pytest.raises(InvalidParameter) as caught:
        rules.optimal_composition(rules.suppose(PureDP(epsilon="1e-9")), counts=[10**9], delta="0.1")
    assert caught.value.field == "premises"
