from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
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

POISSON, WITHOUT = "poisson_sampling", "sampling_without_replacement"
positive = st.fractions(Fraction(1, 100), 30, max_denominator=10**9)
small = st.builds(lambda a, k: a / 10**k, st.fractions(Fraction(1, 100), 1, max_denominator=10**6), st.integers(0, 60))
rates = st.builds(lambda a, k: a / 10**k, st.fractions(Fraction(1, 10), Fraction(9, 10)), st.integers(0, 30))


def rate(value: Number) -> Plain:
    return {"rate": str(Fraction(value))}


def amplified(epsilon: Fraction, q: Fraction) -> mpmath.mpf:
    return mpmath.log1p(mpf(q) * mpmath.expm1(mpf(epsilon)))


@given(positive | small, rates)
def test_poisson(epsilon: Fraction, q: Fraction) -> None:
    premise, bound = statement("PureDP", epsilon=epsilon), amplified(epsilon, q)
    conclude(POISSON, [premise], statement("PureDP", epsilon=up(bound)), rate(q))
    conclude(POISSON, [premise], statement("PureDP", epsilon=epsilon), rate(q))
    refuse("conclusion.epsilon", POISSON, [premise], statement("PureDP", epsilon=down(bound)), rate(q))


@given(positive, st.integers(1, 999))
def test_without_replacement(epsilon: Fraction, sample: int) -> None:
    premise, bound = statement("PureDP", REPLACE, epsilon=epsilon), amplified(epsilon, Fraction(sample, 1000))
    sizes = {"sample": sample, "population": 1000}
    conclude(WITHOUT, [premise], statement("PureDP", REPLACE, epsilon=up(bound)), sizes)
    refuse("conclusion.epsilon", WITHOUT, [premise], statement("PureDP", REPLACE, epsilon=down(bound)), sizes)


def test_delta_is_exact() -> None:
    premise = statement("ApproxDP", epsilon=0, delta="1e-6")
    conclude(POISSON, [premise], statement("ApproxDP", epsilon=0, delta=Fraction(1, 3 * 10**6)), rate("1/3"))
    less = statement("ApproxDP", epsilon=0, delta=Fraction(1, 3 * 10**6) - Fraction(1, 10**90))
    refuse("conclusion.delta", POISSON, [premise], less, rate("1/3"))


def test_rates_at_the_ends() -> None:
    premise = statement("PureDP", epsilon=1)
    conclude(POISSON, [premise], statement("PureDP", epsilon=0), rate(0))
    conclude(POISSON, [premise], statement("PureDP", epsilon=1), rate(1))
    refuse("conclusion.epsilon", POISSON, [premise], statement("PureDP", epsilon=1 - Fraction(1, 10**90)), rate(1))
    refuse("conclusion.epsilon", POISSON, [premise], statement("PureDP", epsilon=0), rate("1e-300"))
    conclude(POISSON, [statement("PureDP", epsilon=0)], statement("PureDP", epsilon=0), rate("1/2"))
    conclude(POISSON, [statement("PureDP", epsilon=10**6)], statement("PureDP", epsilon=10**6), rate("1/2"))
    far = statement("PureDP", epsilon=10**6 - 1)
    refuse("conclusion.epsilon", POISSON, [statement("PureDP", epsilon=10**6)], far, rate("1/2"))
    for wrong in ("-1/2", "3/2"):
        refuse("parameters.rate", POISSON, [premise], statement("PureDP", epsilon=1), rate(wrong))
    replace = statement("PureDP", REPLACE, epsilon=1)
    refuse("parameters.sample", WITHOUT, [replace], replace, {"sample": 3, "population": 2})
    refuse("parameters.sample", WITHOUT, [replace], replace, {"sample": 0, "population": 2})
    conclude(WITHOUT, [replace], replace, {"sample": 2, "population": 2})


@pytest.mark.parametrize("neighbors", [ROW, REPLACE, {**ROW, "size": 2}, {**REPLACE, "size": 2}])
def test_each_sampling_has_its_neighbours(neighbors: Plain) -> None:
    premise = claim = statement("PureDP", neighbors, epsilon=1)
    sizes = {"sample": 1, "population": 2}
    if neighbors != ROW:
        refuse("conclusion.neighbors", POISSON, [premise], claim, rate("1/2"))
    if neighbors != REPLACE:
        refuse("conclusion.neighbors", WITHOUT, [premise], claim, sizes)


def test_kinds() -> None:
    refuse("premises[0]", POISSON, [statement("ZCDP", rho=1)], statement("ZCDP", rho=1), rate("1/2"))
    pure = statement("PureDP", epsilon=1)
    refuse("conclusion.kind", POISSON, [pure], statement("ApproxDP", epsilon=1, delta=0), rate("1/2"))
    unit = statement("PureDP", PERSON, epsilon=1)
    conclude(POISSON, [unit], unit, rate("1/2"))
