"""The enumeration of all draws: known distributions, what it leaves out, and rounds that are repeated."""

from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest

from privately.laws import DiscreteExponential, DiscreteGaussian, DiscreteLaplace, Law, RoundedNormal
from tests.mechanisms.enumeration import Distribution, Untouchable, hashable, outcomes

LAWS = [
    DiscreteLaplace(scale="1/2"),
    DiscreteExponential(scale="2/3"),
    RoundedNormal(standard_deviation=1),
    DiscreteGaussian(variance=2),
]
TINY = 1e-45


@pytest.mark.parametrize("law", LAWS, ids=lambda law: type(law).__name__)
def test_draws_are_as_likely_as_their_law_says(law: Law) -> None:
    found = outcomes(lambda random: random.draw(law, size=1)[0], window=6)
    for k in range(-6, 7):
        exact = Fraction(law.pmf(k).lower)
        assert abs(found.chances.get(k, 0) - mpmath.mpf(exact.numerator) / exact.denominator) < TINY
    assert 0 < found.missing == pytest.approx(float(law.tail(6).lower + law.cdf(-7).lower), rel=1e-9)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: type(law).__name__)
def test_ends_stand_for_what_lies_beyond(law: Law) -> None:
    """Whether a draw reaches 2 or -1 takes no more than a window of 2."""
    found = outcomes(lambda random: random.draw(law, size=1)[0] >= 2, window=2, lumped=True)
    assert found.chances[True] == pytest.approx(float(law.tail(1).lower), rel=1e-15)
    assert abs(found.missing) < TINY


def test_two_draws_are_independent() -> None:
    law = DiscreteLaplace(scale="1/2")
    one = outcomes(lambda random: random.draw(law, size=1)[0], window=3).chances
    two = outcomes(lambda random: random.draw(law, size=2), window=3).chances
    assert all(abs(two[i, j] - one[i] * one[j]) < TINY for i in one for j in one)


def test_the_other_draws() -> None:
    assert outcomes(lambda random: random.uniform(upper=4, size=1), window=1).chances == dict.fromkeys(
        [(0,), (1,), (2,), (3,)], mpmath.mpf(1) / 4
    )
    coins = outcomes(lambda random: random.bernoulli(probability=Fraction(1, 4), size=2), window=1).chances
    assert coins == {(False, False): 9 / 16, (False, True): 3 / 16, (True, False): 3 / 16, (True, True): 1 / 16}
    assert outcomes(lambda random: random.bernoulli(probability=0, size=1), window=1).chances == {(False,): 1}
    heads = outcomes(lambda random: random.bernoulli_exp(exponent="3/2", size=1)[0], window=1).chances[True]
    assert abs(heads - mpmath.exp("-1.5")) < TINY
    chosen = outcomes(lambda random: random.weighted(counts=[2, 0, 1], exponents=[1, 0, 0], size=1)[0], window=1)
    assert chosen.chances.keys() == {0, 2}
    assert abs(chosen.chances[2] / chosen.chances[0] - mpmath.e / 2) < TINY


def until_heads(random: Any) -> int:
    while True:
        proposed = int(random.uniform(upper=3, size=1)[0])
        if random.bernoulli(probability=Fraction(proposed, 4), size=1)[0]:
            return proposed


def test_rounds_are_repeated_until_one_succeeds() -> None:
    """0 never, 1 and 2 with 1/4 and 1/2: given success, 1/3 and 2/3."""
    found = outcomes(until_heads, window=1, again="uniform")
    assert found.chances.keys() == {1, 2}
    assert abs(found.chances[1] - mpmath.mpf(1) / 3) < TINY
    assert abs(found.missing) < TINY


def test_what_is_too_unlikely_is_missing() -> None:
    found = outcomes(lambda random: bool(random.bernoulli_exp(exponent=100, size=1)[0]), window=1)
    assert found.chances.keys() == {False}
    assert 0 < found.missing < 1e-40


def test_distances() -> None:
    half, third = mpmath.mpf(1) / 2, mpmath.mpf(1) / 3
    one = Distribution({"a": half, "b": half}, mpmath.mpf(0))
    other = Distribution({"a": third, "b": 2 * third}, mpmath.mpf(0))
    assert abs(one.loss(other) - mpmath.log("1.5")) < TINY
    assert abs(other.loss(one) - mpmath.log(4 * third)) < TINY
    assert abs(one.excess(other, 0) - (half - third)) < TINY
    assert one.excess(other, mpmath.log("1.6")) == 0
    assert abs(one.farthest(other) - (half - third)) < TINY
    assert one.loss(Distribution({"a": mpmath.mpf(1)}, mpmath.mpf(0))) == mpmath.inf
    assert one.farthest(Distribution({}, mpmath.mpf(1))) == half


def test_answers_become_hashable() -> None:
    assert hashable([np.array([[1, 2], [3, 4]]), np.int64(5), [True]]) == (((1, 2), (3, 4)), 5, (True,))


def test_the_untouchable_notices_every_draw() -> None:
    with pytest.raises(AssertionError, match="draw was called"):
        Untouchable().draw(LAWS[0], size=1)
