from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.certificates.checker.building import PERSON, REPLACE, ROW, Number, Plain, conclude, refuse, statement

TINY = Fraction(1, 10**90)
RULES = ["exponential_mechanism", "permute_and_flip", "noisy_max"]
scales = st.builds(lambda a, k: a * Fraction(10) ** k, st.fractions("1/100", 100), st.integers(-100, 100))
losses = st.fractions(Fraction(1, 10**6), 1000)
each = pytest.mark.parametrize("rule", RULES)


def scores(rule: str, scale: Number, spread: Number, **changes: object) -> Plain:
    parameters: Plain = {"scale": str(Fraction(scale)), "spread": str(Fraction(spread))}
    if rule == "noisy_max":
        parameters |= {"noise": "discrete_exponential", "gap": False}
    return {**parameters, **changes}


@each
@given(scale=scales, epsilon=losses)
def test_epsilon(rule: str, scale: Fraction, epsilon: Fraction) -> None:
    parameters = scores(rule, scale, epsilon * scale)
    conclude(rule, [], statement("PureDP", epsilon=epsilon), parameters)
    less = statement("PureDP", epsilon=epsilon * (1 - TINY))
    assert "the rule gives" in refuse("conclusion.epsilon", rule, [], less, parameters)


@given(scales, losses)
def test_bounded_range_is_concentrated(scale: Fraction, loss: Fraction) -> None:
    parameters = scores("exponential_mechanism", scale, loss * scale)
    conclude("exponential_mechanism", [], statement("ZCDP", rho=loss**2 / 8), parameters)
    less = statement("ZCDP", rho=loss**2 / 8 * (1 - TINY))
    refuse("conclusion.rho", "exponential_mechanism", [], less, parameters)


@each
@pytest.mark.parametrize("neighbors", [ROW, REPLACE, PERSON, {**ROW, "size": 7}])
def test_any_neighbours_will_do(rule: str, neighbors: Plain) -> None:
    conclude(rule, [], statement("PureDP", neighbors, epsilon=1), scores(rule, 2, 2))


@each
def test_kinds(rule: str) -> None:
    refuse("conclusion.kind", rule, [], statement("GaussianDP", mu=9), scores(rule, 2, 2))
    refuse("conclusion.kind", rule, [], statement("ApproxDP", epsilon=9, delta=1), scores(rule, 2, 2))
    if rule != "exponential_mechanism":
        refuse("conclusion.kind", rule, [], statement("ZCDP", rho=9), scores(rule, 2, 2))


@each
def test_wrong_parameters(rule: str) -> None:
    claim = statement("PureDP", epsilon=10**9)
    for value in (0, -2, "-1e-1000"):
        refuse("parameters.scale", rule, [], claim, scores(rule, value, 1))
    refuse("parameters.spread", rule, [], claim, scores(rule, 1, -1))
    refuse("parameters.spread", rule, [], claim, {**scores(rule, 1, 1), "spread": 1})
    refuse("parameters", rule, [], claim, scores(rule, 1, 1, range="1"))
    refuse("conclusion.epsilon", rule, [], claim, scores(rule, "1e-1000", 1))
    conclude(rule, [], statement("PureDP", epsilon=0), scores(rule, "1e-1000", 0))


def test_the_gap_needs_noise_on_both_sides() -> None:
    claim = statement("PureDP", epsilon=1)
    for noise in ("discrete_laplace", "discrete_exponential"):
        conclude("noisy_max", [], claim, scores("noisy_max", 2, "3/2", noise=noise))
    conclude("noisy_max", [], claim, scores("noisy_max", 2, 2, noise="discrete_laplace", gap=True))
    one_sided = scores("noisy_max", 2, 2, gap=True)
    assert "gap" in refuse("parameters.noise", "noisy_max", [], claim, one_sided)
    broken = scores("noisy_max", 2, "3/2", noise="discrete_laplace", gap=True)
    assert "whole" in refuse("parameters.spread", "noisy_max", [], claim, broken)


WRONG_GAPS: list[object] = [0, 1, "true", None, []]
WRONG_NOISES: list[object] = [
    "laplace",
    "Discrete_Laplace",
    "discrete_laplace ",
    "rounded_gaussian",
    "",
    None,
    1,
    [],
    {},
]


@pytest.mark.parametrize(
    ("name", "value"), [*(("gap", gap) for gap in WRONG_GAPS), *(("noise", noise) for noise in WRONG_NOISES)]
)
def test_noise_has_a_name_and_the_gap_is_true_or_false(name: str, value: object) -> None:
    parameters = {**scores("noisy_max", 2, 2), name: value}
    refuse(f"parameters.{name}", "noisy_max", [], statement("PureDP", epsilon=9), parameters)
