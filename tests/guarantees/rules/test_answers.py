"""Randomized response: the table of every answer against what the rule concludes."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately.errors import InvalidParameter
from privately.guarantees import Derivation, PureDP, rules
from tests.guarantees.enumeration import Table, by_position, mechanism
from tests.guarantees.rules.knowns import FAST, REPLACE, claim, fault

LITTLE = Fraction(1, 10**9)
CHANCES = st.fractions(min_value=Fraction(1, 1000), max_value=Fraction(999, 1000), max_denominator=1000)


def answers(categories: int, truth: Fraction) -> Table:
    """The truth with this probability, otherwise one of the others."""
    names = [str(i) for i in range(categories)]
    lie = (1 - truth) / (categories - 1)
    return {(true,): {said: truth if said == true else lie for said in names} for true in names}


def answers_over_all(categories: int, truth: Fraction) -> Table:
    """The false twin: otherwise one of all, the true one among them."""
    return answers(categories, truth + (1 - truth) / categories)


@FAST
@given(st.integers(2, 6), CHANCES)
def test_randomized_response_equals_enumeration(categories: int, truth: Fraction) -> None:
    derived = rules.randomized_response(categories=categories, truth=truth)
    table = answers(categories, truth)
    assert not fault(derived, table)
    by_table = rules.finite_table(mechanism(table), neighbors=REPLACE)
    assert derived.conclusion == by_table.conclusion
    epsilon = derived.conclusion.parameters["epsilon"]
    if epsilon:
        assert fault(claim(PureDP, REPLACE, epsilon=epsilon * (1 - LITTLE)), table)


@pytest.mark.parametrize("rows", [2, 3])
def test_every_row_answers_alone(rows: int) -> None:
    """One row is replaced, so one answer changes its law."""
    table = by_position([answers(2, Fraction(2, 3))] * rows)
    assert not fault(rules.randomized_response(categories=2, truth=Fraction(2, 3)), table)


def only_upwards(categories: int, truth: Fraction) -> Derivation:
    """The false twin that forgets that the truth may be less likely than a lie."""
    ratio = truth * (categories - 1) / (1 - truth)
    return claim(PureDP, REPLACE, epsilon=max(math.log(ratio) * (1 + 1e-12), 0.0))


def others_forgotten(categories: int, truth: Fraction) -> Derivation:
    """The false twin with the formula of two categories."""
    return rules.randomized_response(categories=2, truth=truth)


@pytest.mark.parametrize("categories", [2, 3, 5])
@pytest.mark.parametrize("truth", [Fraction(3, 5), Fraction(9, 10)])
def test_randomized_response_twin_over_all_categories_is_refuted(categories: int, truth: Fraction) -> None:
    derived = rules.randomized_response(categories=categories, truth=truth)
    assert not fault(derived, answers(categories, truth))
    assert fault(derived, answers_over_all(categories, truth))


def test_randomized_response_twins_are_refuted() -> None:
    rare = Fraction(1, 10)
    assert fault(only_upwards(3, rare), answers(3, rare))
    assert not fault(rules.randomized_response(categories=3, truth=rare), answers(3, rare))
    often = Fraction(7, 10)
    assert fault(others_forgotten(4, often), answers(4, often))
    assert not fault(rules.randomized_response(categories=4, truth=often), answers(4, often))


def test_what_the_derivation_holds() -> None:
    derived = rules.randomized_response(categories=4, truth="0.75")
    assert (derived.rule, derived.premises, dict(derived.witness)) == ("randomized_response", (), {})
    assert dict(derived.parameters) == {"categories": 4, "truth": "3/4"}
    assert derived.conclusion.neighbors == REPLACE
    assert math.log(9) <= derived.conclusion.parameters["epsilon"] < math.log(9) + 1e-13
    assert rules.randomized_response(categories=4, truth="1/4").conclusion == PureDP(epsilon=0, neighbors=REPLACE)


@pytest.mark.parametrize("categories", [1, 0, -2, 2.0, "2", True, None, 10**10])
def test_bad_categories(categories: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        rules.randomized_response(categories=categories, truth="1/2")
    assert caught.value.field == "categories"


@pytest.mark.parametrize("truth", [0, 1, -1, 2, math.nan, True, None, "often", Fraction(1, 10**1000)])
def test_bad_truth(truth: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        rules.randomized_response(categories=2, truth=truth)
    assert caught.value.field == "truth"


def test_truth_next_to_chance_is_nearly_private() -> None:
    close = Fraction(1, 2) + Fraction(1, 10**200)
    epsilon = rules.randomized_response(categories=2, truth=close).conclusion.parameters["epsilon"]
    assert 4 * Fraction(1, 10**200) <= epsilon < Fraction(1, 10**50)
