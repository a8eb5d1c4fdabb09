"""The discrete Laplace law against mpmath, from scale 1/1000 to beyond 2^60."""

from fractions import Fraction
from typing import Any

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately.errors import InvalidParameter
from privately.laws import DiscreteLaplace
from tests.laws.checks import BAD_PARAMETERS, check_bad_questions, check_consistent, check_symmetric, known
from tests.rounding.truth import real, truth

SCALES = st.builds(
    lambda part, exponent: part * Fraction(2) ** exponent,
    st.fractions(min_value=Fraction(1, 2), max_value=1, max_denominator=10**9),
    st.integers(-9, 80),
)
STEPS = st.fractions(min_value=-2200, max_value=2200, max_denominator=1000)
TIGHT = 1e-54


@given(SCALES, STEPS)
def test_contains_the_truth(scale: Fraction, steps: Fraction) -> None:
    """At outcomes that lie up to 2200 scales out, where probabilities are about 10^-955."""
    law, k = DiscreteLaplace(scale=scale), round(steps * scale)
    y = 1 / scale

    def tail(n: int) -> Fraction:
        return truth(lambda: mpmath.exp(-real(y * n)) / (1 + mpmath.exp(-real(y))))

    mass = truth(lambda: mpmath.tanh(real(y) / 2) * mpmath.exp(-real(y * abs(k))))
    assert known(law.pmf(k), mass, TIGHT)
    above = tail(k + 1) if k >= 0 else 1 - tail(-k)
    up_to = tail(-k) if k < 0 else 1 - tail(k + 1)
    assert known(law.tail(k), above, TIGHT)
    assert known(law.cdf(k), up_to, TIGHT)


@given(SCALES, STEPS)
def test_is_consistent_and_symmetric(scale: Fraction, steps: Fraction) -> None:
    law, k = DiscreteLaplace(scale=scale), round(steps * scale)
    check_consistent(law, [k, 0])
    check_symmetric(law, [k, 1])


@pytest.mark.parametrize("scale", ["1/1000", 1, "7/3", 40])
def test_adds_up_to_one(scale: Any) -> None:
    law = DiscreteLaplace(scale=scale)
    masses = [law.pmf(k) for k in range(-200, 201)]
    rest = (law.tail(200), law.cdf(-201))
    lower = sum(found.lower for found in [*masses, *rest])
    upper = sum(found.upper for found in [*masses, *rest])
    assert lower <= 1 <= upper
    assert upper - lower < Fraction(1, 10**55)


@pytest.mark.parametrize("scale", [Fraction(1, 10**30), Fraction(1, 1000), 1, 2**60, 2**4000])
def test_far_out(scale: Any) -> None:
    law = DiscreteLaplace(scale=scale)
    check_consistent(law, [10**30, -(10**30), 10**99, 1, 0])


def test_neighbours_differ_by_the_exact_ratio() -> None:
    """P(X = k)/P(X = k+1) is exp(1/scale): the reason for pure DP."""
    law = DiscreteLaplace(scale=3)
    ratio = truth(lambda: mpmath.exp(mpmath.mpf(1) / 3))
    for k in (0, 5, 1000):
        here, there = law.pmf(k), law.pmf(k + 1)
        assert Fraction(here.lower) / Fraction(there.upper) <= ratio <= Fraction(here.upper) / Fraction(there.lower)


def test_known_quantiles() -> None:
    law = DiscreteLaplace(scale=1)
    assert [law.quantile(p) for p in ("0.01", "0.26", "0.27", "0.5", "0.73", "0.74", "0.99")] == [-4, -1, 0, 0, 0, 1, 4]
    assert law.interval("0.46") == 0
    assert law.interval("0.47") == 1


@pytest.mark.parametrize("bad", BAD_PARAMETERS, ids=lambda value: type(value).__name__)
def test_bad_scales_are_named(bad: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        DiscreteLaplace(scale=bad)
    assert caught.value.field == "scale"


def test_bad_questions_are_named() -> None:
    check_bad_questions(DiscreteLaplace(scale=1))
