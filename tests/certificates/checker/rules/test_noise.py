from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.certificates.checker.building import PERSON, REPLACE, ROW, Number, Plain, conclude, refuse, statement

ANYONE = [ROW, REPLACE, PERSON, {**PERSON, "max_rows": None}, {**REPLACE, "size": 10**9}]
TINY = Fraction(1, 10**90)
scales = st.builds(lambda a, k: a * Fraction(10) ** k, st.fractions("1/100", 100), st.integers(-100, 100))
losses = st.fractions(Fraction(1, 10**6), 1000)


def claim(kind: str, name: str, value: int, neighbors: Plain = ROW) -> Plain:
    return {**statement(kind, neighbors), name: str(value)}


def noise(name: str, scale: Number, sensitivity: Number) -> Plain:
    return {name: str(Fraction(scale)), "sensitivity": str(Fraction(sensitivity))}


@given(scales, losses)
def test_discrete_laplace(scale: Fraction, epsilon: Fraction) -> None:
    parameters = noise("scale", scale, epsilon * scale)
    conclude("discrete_laplace", [], statement("PureDP", epsilon=epsilon), parameters)
    less = statement("PureDP", epsilon=epsilon * (1 - TINY))
    assert "the rule gives" in refuse("conclusion.epsilon", "discrete_laplace", [], less, parameters)


@given(scales, losses)
def test_rounded_gaussian(deviation: Fraction, mu: Fraction) -> None:
    parameters = noise("standard_deviation", deviation, mu * deviation)
    conclude("rounded_gaussian", [], statement("GaussianDP", mu=mu), parameters)
    refuse("conclusion.mu", "rounded_gaussian", [], statement("GaussianDP", mu=mu * (1 - TINY)), parameters)


@given(scales, losses)
def test_discrete_gaussian(deviation: Fraction, mu: Fraction) -> None:
    parameters = noise("variance", deviation**2, mu * deviation)
    conclude("discrete_gaussian", [], statement("ZCDP", rho=mu**2 / 2), parameters)
    refuse("conclusion.rho", "discrete_gaussian", [], statement("ZCDP", rho=mu**2 / 2 * (1 - TINY)), parameters)


CASES = [
    ("discrete_laplace", "scale", "PureDP", "epsilon"),
    ("rounded_gaussian", "standard_deviation", "GaussianDP", "mu"),
    ("discrete_gaussian", "variance", "ZCDP", "rho"),
]
each = pytest.mark.parametrize(("rule", "scale", "kind", "number"), CASES)


@each
@pytest.mark.parametrize("neighbors", ANYONE)
def test_any_neighbours_will_do(rule: str, scale: str, kind: str, number: str, neighbors: Plain) -> None:
    conclude(rule, [], claim(kind, number, 9, neighbors), noise(scale, 2, 3))


@each
def test_what_does_not_change_costs_nothing(rule: str, scale: str, kind: str, number: str) -> None:
    conclude(rule, [], claim(kind, number, 0), noise(scale, "1e-1000", 0))


@each
def test_wrong_parameters(rule: str, scale: str, kind: str, number: str) -> None:
    most = claim(kind, number, 10**9)
    for value in (0, -1, "-1e-1000"):
        refuse(f"parameters.{scale}", rule, [], most, noise(scale, value, 1))
    refuse("parameters.sensitivity", rule, [], most, noise(scale, 1, "-1/3"))
    for wrong in (1, True, None, 0.5, "1e3", "2/4"):
        refuse(f"parameters.{scale}", rule, [], most, {scale: wrong, "sensitivity": "1"})
    refuse("parameters", rule, [], most, {scale: "1"})
    refuse("parameters", rule, [], most, {**noise(scale, 1, 1), "dimension": 1})
    refuse("witness", rule, [], most, noise(scale, 1, 1), {"order": "2"})
    assert "claims 1000000000" in refuse(f"conclusion.{number}", rule, [], most, noise(scale, "1e-1000", 1))


@each
def test_each_noise_has_one_kind(rule: str, scale: str, kind: str, number: str) -> None:
    """In particular the discrete Gaussian is no Gaussian."""
    others = {"PureDP": "epsilon", "ZCDP": "rho", "GaussianDP": "mu"}
    for other in others.keys() - {kind}:
        wrong = claim(other, others[other], 9)
        assert f"the rule gives {kind}" in refuse("conclusion.kind", rule, [], wrong, noise(scale, 1, 1))
    right = claim(kind, number, 9)
    refuse("parameters", rule, [right], right, noise(scale, 1, 1))
    refuse("premises[0]", rule, [right], right, {scale: "1"})
    refuse("premises", rule, [right, right], right, {scale: "1"})
