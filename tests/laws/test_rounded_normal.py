"""The rounded normal law against mpmath, and as post-processing of the continuous one."""

from fractions import Fraction
from typing import Any

import mpmath
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from privately.errors import InvalidParameter
from privately.laws import RoundedNormal, rounded_normal
from privately.laws.rounded_normal import narrow_probability
from tests.laws.checks import BAD_PARAMETERS, check_bad_questions, check_consistent, check_symmetric, known
from tests.rounding.truth import encloses, real, truth

DEVIATIONS = st.builds(
    lambda part, exponent: part * Fraction(2) ** exponent,
    st.fractions(min_value=Fraction(1, 2), max_value=1, max_denominator=10**9),
    st.integers(-9, 60),
)
STEPS = st.fractions(min_value=-65, max_value=65, max_denominator=1000)
HALF = Fraction(1, 2)
TIGHT = 1e-48


def phi(x: Fraction) -> Any:
    return mpmath.erfc(-real(x) / mpmath.sqrt(2)) / 2


def mass(k: int, s: Fraction, mean: int = 0) -> Fraction:
    """The chance that a normal number of that mean is rounded to k, by the smaller tails."""
    sign = -1 if k > mean else 1
    low, high = sorted((sign * (k - mean + HALF) / s, sign * (k - mean - HALF) / s))
    return truth(lambda: phi(high) - phi(low), 250)


@given(DEVIATIONS, STEPS)
def test_contains_the_truth(s: Fraction, steps: Fraction) -> None:
    law, k = RoundedNormal(standard_deviation=s), round(steps * s)
    x = (k + HALF) / s
    for found, value in (
        (law.cdf(k), truth(lambda: phi(x))),
        (law.tail(k), truth(lambda: phi(-x))),
        (law.pmf(k), mass(k, s)),
    ):
        assert known(found, value, TIGHT)


@given(
    st.fractions(min_value=1, max_value=10**30, max_denominator=1000),
    st.fractions(min_value=0, max_value=60, max_denominator=1000),
)
@example(Fraction(1), Fraction(0))
@example(Fraction(60), Fraction(59))
def test_narrow_probability_contains_the_truth(s: Fraction, steps: Fraction) -> None:
    k = min(round(steps * s), int(s * s))
    assert encloses(narrow_probability(k, s), mass(k, s), width=1e-55)


def test_the_narrow_series_is_right_wherever_it_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    for negligible in (10**6, 100, Fraction(1, 10**4), Fraction(1, 10**20)):
        monkeypatch.setattr(rounded_normal, "NEGLIGIBLE", negligible)
        for k, s in ((0, Fraction(1)), (30, Fraction(6)), (99, Fraction(10))):
            assert encloses(narrow_probability(k, s), mass(k, s))


def test_forgetting_the_remainder_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounded_normal, "NEGLIGIBLE", Fraction(1, 10**6))
    monkeypatch.setattr(rounded_normal, "widened", lambda centre, error: centre)
    assert not encloses(narrow_probability(99, Fraction(10)), mass(99, Fraction(10)))


@given(DEVIATIONS, STEPS)
def test_is_consistent_and_symmetric(s: Fraction, steps: Fraction) -> None:
    law, k = RoundedNormal(standard_deviation=s), round(steps * s)
    check_consistent(law, [k, 0])
    check_symmetric(law, [k, 1])


@given(
    st.integers(-50, 50), st.integers(-50, 50), st.fractions(min_value=Fraction(1, 2), max_value=20, max_denominator=20)
)
def test_adding_the_noise_is_rounding_the_noisy_value(x: int, y: int, s: Fraction) -> None:
    """x + round(N) = round(x + N) for integer x: the chance of y is that of a normal number of mean x rounded to y."""
    assert encloses(RoundedNormal(standard_deviation=s).pmf(y - x), mass(y, s, mean=x))


@pytest.mark.parametrize("epsilon", [Fraction(n, 4) for n in range(17)], ids=str)
def test_delta_never_exceeds_the_continuous_one(epsilon: Fraction) -> None:
    """Post-processing, seen from outside: sensitivity 1, standard deviation 1."""
    law = RoundedNormal(standard_deviation=1)
    factor = truth(lambda: mpmath.exp(real(epsilon)))
    gains = [Fraction(law.pmf(k).lower) - factor * Fraction(law.pmf(k - 1).upper) for k in range(-30, 31)]
    continuous = truth(lambda: phi(HALF - epsilon) - mpmath.exp(real(epsilon)) * phi(-HALF - epsilon))
    assert sum(gain for gain in gains if gain > 0) <= continuous


@pytest.mark.parametrize("s", ["1/1000", "1/3", 1, 10])
def test_adds_up_to_one(s: Any) -> None:
    law = RoundedNormal(standard_deviation=s)
    found = [*(law.pmf(k) for k in range(-40, 41)), law.tail(40), law.cdf(-41)]
    lower, upper = sum(one.lower for one in found), sum(one.upper for one in found)
    assert lower <= 1 <= upper
    assert upper - lower < Fraction(1, 10**53)


@pytest.mark.parametrize("s", [Fraction(1, 10**30), Fraction(1, 1000), 1, 2**40, 10**45, 2**4000])
def test_far_out(s: Any) -> None:
    check_consistent(RoundedNormal(standard_deviation=s), [0, 1, 10**30, -(10**30), 10**99])


def test_known_quantiles() -> None:
    law = RoundedNormal(standard_deviation=10)
    assert [law.quantile(p) for p in ("0.025", "0.5", "0.975")] == [-20, 0, 20]
    assert law.interval("0.95") == 20


@pytest.mark.parametrize("bad", BAD_PARAMETERS, ids=lambda value: type(value).__name__)
def test_bad_deviations_are_named(bad: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        RoundedNormal(standard_deviation=bad)
    assert caught.value.field == "standard_deviation"


def test_bad_questions_are_named() -> None:
    check_bad_questions(RoundedNormal(standard_deviation=1))
