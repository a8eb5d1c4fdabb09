"""The discrete Gaussian law against mpmath, and why it is not Gaussian DP."""

from fractions import Fraction
from math import ceil, isqrt
from typing import Any

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privately.errors import InvalidParameter
from privately.laws import DiscreteGaussian, RoundedNormal
from tests.laws.checks import BAD_PARAMETERS, check_bad_questions, check_consistent, check_symmetric, known
from tests.laws.test_gaussian_sums import plain_sum
from tests.rounding.truth import real, truth

VARIANCES = st.builds(
    lambda part, exponent: part * Fraction(2) ** exponent,
    st.fractions(min_value=Fraction(1, 2), max_value=1, max_denominator=10**9),
    st.integers(-20, 120),
)
STEPS = st.fractions(min_value=-65, max_value=65, max_denominator=1000)
TIGHT = 1e-48
HALF = Fraction(1, 2)


@settings(max_examples=60)
@given(st.fractions(min_value=Fraction(1, 100), max_value=400, max_denominator=1000), STEPS)
def test_contains_the_truth(v: Fraction, steps: Fraction) -> None:
    law, k = DiscreteGaussian(variance=v), round(steps * isqrt(ceil(v)))
    total = 1 + 2 * plain_sum(1, v)

    def above(n: int) -> Fraction:
        return plain_sum(n + 1, v) / total if n >= 0 else 1 - plain_sum(-n, v) / total

    mass = truth(lambda: mpmath.exp(-real(k * k / (2 * v)))) / total
    for found, value in ((law.pmf(k), mass), (law.tail(k), above(k)), (law.cdf(k), above(-k - 1))):
        assert known(found, value, TIGHT)


@given(VARIANCES, STEPS)
def test_is_consistent_and_symmetric(v: Fraction, steps: Fraction) -> None:
    law, k = DiscreteGaussian(variance=v), round(steps * isqrt(ceil(v)))
    check_consistent(law, [k, 0])
    check_symmetric(law, [k, 1])


@pytest.mark.parametrize("v", ["1/1000", "1/4", 1, 50, 150])
def test_adds_up_to_one(v: Any) -> None:
    law = DiscreteGaussian(variance=v)
    found = [*(law.pmf(k) for k in range(-40, 41)), law.tail(40), law.cdf(-41)]
    lower, upper = sum(one.lower for one in found), sum(one.upper for one in found)
    assert lower <= 1 <= upper
    assert upper - lower < Fraction(1, 10**53)


@pytest.mark.parametrize("v", [Fraction(1, 10**30), Fraction(1, 1000), 1, 100, 2**80, 2**160, 2**4000])
def test_far_out(v: Any) -> None:
    check_consistent(DiscreteGaussian(variance=v), [0, 1, 49, 51, 10**30, -(10**30), 10**99])


def test_the_parameter_exceeds_the_true_variance() -> None:
    for v in (Fraction(1, 3), Fraction(1), Fraction(2)):
        law = DiscreteGaussian(variance=v)
        assert sum(k * k * Fraction(law.pmf(k).upper) for k in range(-60, 61)) < v


def continuous_delta(epsilon: Fraction) -> Fraction:
    """Of the normal mechanism with standard deviation 1 at sensitivity 1."""

    def phi(x: Fraction) -> Any:
        return mpmath.erfc(-real(x) / mpmath.sqrt(2)) / 2

    return truth(lambda: phi(HALF - epsilon) - mpmath.exp(real(epsilon)) * phi(-HALF - epsilon))


def exact_delta(epsilon: Fraction) -> Fraction:
    """A lower bound on P(X <= m) - e^epsilon P(X <= m - 1), m being the last outcome whose loss exceeds epsilon."""
    law = DiscreteGaussian(variance=1)
    m = ceil(HALF - epsilon) - 1
    factor = truth(lambda: mpmath.exp(real(epsilon)))
    return Fraction(law.cdf(m).lower) - factor * Fraction(law.cdf(m - 1).upper)


def test_is_not_gaussian_dp() -> None:
    """Claiming GaussianDP(mu=1) for variance 1 at sensitivity 1 would understate delta by more than half."""
    ratios = [exact_delta(e) / continuous_delta(e) for e in (Fraction(n, 50) for n in range(400))]
    assert max(ratios) > Fraction(5, 2)
    assert ratios[0] > Fraction(104, 100)
    assert sum(ratio > 1 for ratio in ratios) > 100


def test_the_event_behind_delta_is_the_best_one() -> None:
    """The exact delta is the hockey-stick divergence: the sum of all positive gains."""
    law, epsilon = DiscreteGaussian(variance=1), Fraction(22, 10)
    factor = truth(lambda: mpmath.exp(real(epsilon)))
    gains = [Fraction(law.pmf(k).lower) - factor * Fraction(law.pmf(k - 1).lower) for k in range(-40, 41)]
    mirrored = [Fraction(law.pmf(k).lower) - factor * Fraction(law.pmf(k + 1).lower) for k in range(-40, 41)]
    for listed in (gains, mirrored):
        assert abs(sum(gain for gain in listed if gain > 0) - exact_delta(epsilon)) < Fraction(1, 10**50)


def test_it_differs_from_the_rounded_normal() -> None:
    discrete, rounded = DiscreteGaussian(variance=1).pmf(0), RoundedNormal(standard_deviation=1).pmf(0)
    assert discrete.lower > rounded.upper


def test_known_quantiles() -> None:
    law = DiscreteGaussian(variance=100)
    assert [law.quantile(p) for p in ("0.025", "0.5", "0.975")] == [-20, 0, 20]
    assert law.interval("0.95") == 20
    assert DiscreteGaussian(variance=2**80).interval("0.95") == 2155003191024


@pytest.mark.parametrize("bad", BAD_PARAMETERS, ids=lambda value: type(value).__name__)
def test_bad_variances_are_named(bad: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        DiscreteGaussian(variance=bad)
    assert caught.value.field == "variance"


def test_bad_questions_are_named() -> None:
    check_bad_questions(DiscreteGaussian(variance=1))
