"""The discrete exponential law against mpmath."""

from fractions import Fraction
from typing import Any

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately.errors import InvalidParameter
from privately.laws import DiscreteExponential, DiscreteLaplace
from tests.laws.checks import BAD_PARAMETERS, check_bad_questions, check_consistent, known
from tests.rounding.truth import real, truth

SCALES = st.builds(
    lambda part, exponent: part * Fraction(2) ** exponent,
    st.fractions(min_value=Fraction(1, 2), max_value=1, max_denominator=10**9),
    st.integers(-9, 80),
)
STEPS = st.fractions(min_value=0, max_value=2200, max_denominator=1000)
TIGHT = 1e-54


@given(SCALES, STEPS)
def test_contains_the_truth(scale: Fraction, steps: Fraction) -> None:
    law, k = DiscreteExponential(scale=scale), round(steps * scale)
    y = 1 / scale
    assert known(law.tail(k), truth(lambda: mpmath.exp(-real(y * (k + 1)))), TIGHT)
    assert known(law.cdf(k), truth(lambda: -mpmath.expm1(-real(y * (k + 1)))), TIGHT)
    mass = truth(lambda: -mpmath.expm1(-real(y)) * mpmath.exp(-real(y * k)))
    assert known(law.pmf(k), mass, TIGHT)
    check_consistent(law, [k, 0])


def test_nothing_lies_below_zero() -> None:
    law = DiscreteExponential(scale=1)
    assert tuple(law.pmf(-1)) == tuple(law.cdf(-1)) == (0, 0)
    assert tuple(law.tail(-1)) == (1, 1)
    assert law.quantile(Fraction(1, 10**500)) == 0


def test_a_discrete_laplace_is_a_difference_of_two() -> None:
    """P(X - Y = 0) = sum of squares = (1 - q)/(1 + q)."""
    one, both = DiscreteExponential(scale=2), DiscreteLaplace(scale=2)
    squares = [(Fraction(m.lower) ** 2, Fraction(m.upper) ** 2) for m in map(one.pmf, range(400))]
    lower, upper = sum(low for low, _ in squares), sum(high for _, high in squares) + Fraction(1, 10**170)
    assert lower <= Fraction(both.pmf(0).upper)
    assert Fraction(both.pmf(0).lower) <= upper


def test_far_out() -> None:
    for scale in (Fraction(1, 10**30), 1, 2**4000):
        check_consistent(DiscreteExponential(scale=scale), [0, 1, 10**30, 10**99])


def test_known_quantiles() -> None:
    law = DiscreteExponential(scale=1)
    assert [law.quantile(p) for p in ("0.01", "0.63", "0.64", "0.99")] == [0, 0, 1, 4]
    assert [law.interval(c) for c in (0, "0.64")] == [0, 1]


@pytest.mark.parametrize("bad", BAD_PARAMETERS, ids=lambda value: type(value).__name__)
def test_bad_scales_are_named(bad: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        DiscreteExponential(scale=bad)
    assert caught.value.field == "scale"


def test_bad_questions_are_named() -> None:
    check_bad_questions(DiscreteExponential(scale=1))
