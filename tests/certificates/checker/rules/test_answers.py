from fractions import Fraction

import mpmath
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.certificates.checker.building import (
    PERSON,
    REPLACE,
    ROW,
    Number,
    Plain,
    conclude,
    down,
    mpf,
    refuse,
    statement,
    up,
)

RULE = "randomized_response"
near = st.builds(lambda a, k: a / Fraction(10) ** k, st.fractions("1/100", "99/100"), st.integers(0, 200))


def responses(categories: int, truth: Number) -> Plain:
    return {"categories": categories, "truth": str(Fraction(truth))}


def tightest(categories: int, truth: Fraction) -> mpmath.mpf:
    """|ln (truth / lie)|, from the larger and the smaller of both."""
    lie = (1 - truth) / (categories - 1)
    small, large = sorted([lie, truth])
    return mpmath.log1p(mpf((large - small) / small))


def check_both_sides(categories: int, truth: Fraction) -> None:
    bound = tightest(categories, truth)
    parameters = responses(categories, truth)
    conclude(RULE, [], statement("PureDP", REPLACE, epsilon=up(bound)), parameters)
    refuse("conclusion.epsilon", RULE, [], statement("PureDP", REPLACE, epsilon=down(bound)), parameters)


@given(st.integers(2, 10**9), near, st.booleans())
def test_epsilon(categories: int, truth: Fraction, complement: bool) -> None:
    truth = 1 - truth if complement else truth
    assume(truth * categories != 1)
    check_both_sides(categories, truth)


@given(st.integers(2, 10**6), st.integers(30, 200), st.sampled_from([-1, 1]))
def test_close_to_a_fair_choice(categories: int, digits: int, sign: int) -> None:
    check_both_sides(categories, Fraction(1, categories) + Fraction(sign, 10**digits))


@pytest.mark.parametrize("categories", [2, 3, 10**9])
def test_a_fair_choice_costs_nothing(categories: int) -> None:
    conclude(RULE, [], statement("PureDP", REPLACE, epsilon=0), responses(categories, Fraction(1, categories)))
    nearly = responses(categories, Fraction(1, categories) + Fraction(1, 10**1000))
    refuse("conclusion.epsilon", RULE, [], statement("PureDP", REPLACE, epsilon=0), nearly)


def test_lies_do_not_include_the_truth() -> None:
    """Truth 3/5 of three: lies are 1/5 each, a ratio of 3, and not 2 as for lies of 3/10."""
    conclude(RULE, [], statement("PureDP", REPLACE, epsilon=up(mpmath.log(3))), responses(3, "3/5"))
    twin = statement("PureDP", REPLACE, epsilon=up(mpmath.log(2)))
    refuse("conclusion.epsilon", RULE, [], twin, responses(3, "3/5"))
    rare = responses(2, "1/100")
    refuse("conclusion.epsilon", RULE, [], statement("PureDP", REPLACE, epsilon=0), rare)
    conclude(RULE, [], statement("PureDP", REPLACE, epsilon=up(mpmath.log(99))), rare)


@pytest.mark.parametrize("neighbors", [ROW, {**REPLACE, "size": 2}, {**PERSON, "change": "replace"}, PERSON])
def test_it_speaks_of_replacing_one_row(neighbors: Plain) -> None:
    refuse("conclusion.neighbors", RULE, [], statement("PureDP", neighbors, epsilon=9), responses(2, "2/3"))


def test_wrong_parameters() -> None:
    claim = statement("PureDP", REPLACE, epsilon=10**9)
    for truth in (0, 1, -1, "3/2", Fraction(10**1000 + 1, 10**1000)):
        refuse("parameters.truth", RULE, [], claim, responses(2, truth))
    for categories in (1, 0, -1, 10**9 + 1, True, "2", 2.0, None):
        refuse("parameters.categories", RULE, [], claim, {"categories": categories, "truth": "1/3"})
    refuse("conclusion.kind", RULE, [], statement("ZCDP", REPLACE, rho=9), responses(2, "1/3"))
