"""Integers are certain or refused, wherever the search starts."""

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privately.errors import InvalidParameter, Unproved
from privately.laws import DiscreteExponential, DiscreteGaussian, DiscreteLaplace, FiniteLaw, Geometric, RoundedNormal
from privately.laws.deciding import (
    certainty,
    least,
    least_reaching,
    least_within,
    level,
    outcome,
    rough_normal_quantile,
)
from privately.rounding import normal_cdf
from tests.laws.checks import check_half_width, check_quantile

UNBOUNDED = [
    DiscreteLaplace(scale="1/1000"),
    DiscreteLaplace(scale="7/3"),
    DiscreteLaplace(scale=2**60),
    DiscreteExponential(scale=3),
    Geometric(success="1/3"),
    RoundedNormal(standard_deviation="1/10"),
    RoundedNormal(standard_deviation=2**40),
    DiscreteGaussian(variance="1/10"),
    DiscreteGaussian(variance=50),
    DiscreteGaussian(variance=2**80),
]
LEVELS = st.fractions(min_value=Fraction(1, 10**9), max_value=1 - Fraction(1, 10**9), max_denominator=10**9)


@pytest.mark.parametrize("law", UNBOUNDED, ids=repr)
@settings(max_examples=10)
@given(p=LEVELS)
def test_quantile_is_the_least(law: Any, p: Fraction) -> None:
    check_quantile(law, p)
    check_half_width(law, p)


@pytest.mark.parametrize("law", UNBOUNDED, ids=repr)
def test_quantile_far_out(law: Any) -> None:
    for digits in (20, 300, 900):
        check_quantile(law, Fraction(1, 10**digits))
        check_quantile(law, 1 - Fraction(1, 10**digits))
        check_half_width(law, 1 - Fraction(1, 10**digits))


@given(st.integers(-(10**6), 10**6), st.integers(-(10**6), 10**6))
def test_least_finds_the_threshold_from_anywhere(threshold: int, guess: int) -> None:
    assert least(lambda k: k >= threshold, guess) == threshold


@given(LEVELS, st.integers(-1000, 1000))
def test_the_guess_does_not_matter(p: Fraction, guess: int) -> None:
    law = DiscreteLaplace(scale=5)
    assert least_reaching(law, p, guess) == law.quantile(p)
    assert least_within(law, p, guess) == law.interval(p)


def test_what_cannot_be_told_apart_is_refused() -> None:
    """A probability of 60 digits that sits inside the enclosure of a value of the law."""
    for law in (DiscreteLaplace(scale=2), RoundedNormal(standard_deviation=2), DiscreteGaussian(variance=4)):
        inside = law.cdf(-3)
        middle = Fraction(inside.lower + inside.upper) / 2
        with pytest.raises(Unproved, match="cannot be told"):
            law.quantile(middle)
        with pytest.raises(Unproved):
            law.interval(1 - 2 * middle)
        near = Fraction(1, 10**40)
        assert law.quantile(middle * (1 - near)) == -3
        assert law.quantile(middle * (1 + near)) == -2


@pytest.mark.parametrize(
    "law", [DiscreteLaplace(scale=2), DiscreteGaussian(variance=2), DiscreteExponential(scale=2)], ids=repr
)
def test_levels_beyond_what_is_reported_are_refused(law: Any) -> None:
    with pytest.raises(Unproved):
        law.quantile(1 - Fraction(1, 10**1100))


@pytest.mark.parametrize(
    "law",
    [
        DiscreteLaplace(scale=2**300),
        DiscreteLaplace(scale=2**4000),
        DiscreteGaussian(variance=2**4000),
        RoundedNormal(standard_deviation=2**2000),
        Geometric(success=Fraction(1, 2**3000)),
    ],
    ids=lambda law: type(law).__name__,
)
def test_laws_too_wide_to_tell_outcomes_apart_are_refused(law: Any) -> None:
    with pytest.raises(Unproved):
        law.quantile("0.95")


def test_exact_ties_are_decided() -> None:
    assert Geometric(success="1/2").quantile("1/2") == 0
    assert Geometric(success="1/2").quantile(Fraction(1, 2) + Fraction(1, 10**500)) == 1
    assert FiniteLaw(table={3: "1/4", 5: "3/4"}).quantile("1/4") == 3


@given(LEVELS)
def test_rough_quantiles_are_nearly_right(p: Fraction) -> None:
    x = rough_normal_quantile(p)
    assert normal_cdf(x - Fraction(1, 10**6)).lower < p < normal_cdf(x + Fraction(1, 10**6)).upper


@pytest.mark.parametrize("p", [Fraction(1, 10**301), Fraction(1, 10**1000), Fraction(1, 2) - Fraction(1, 10**50)])
def test_rough_quantiles_where_floats_end(p: Fraction) -> None:
    x = rough_normal_quantile(p)
    assert normal_cdf(x - Fraction(1, 10**4)).upper < p < normal_cdf(x + Fraction(1, 10**4)).lower


def test_parameters_are_named() -> None:
    assert (outcome(-7), level("0.5"), certainty(0)) == (-7, Fraction(1, 2), Fraction(0))
    for bad in (0, 1, math.nan, "x"):
        with pytest.raises(InvalidParameter, match="probability: "):
            level(bad)
    for bad in (-1, 1, math.nan, "x"):
        with pytest.raises(InvalidParameter, match="confidence: "):
            certainty(bad)
    with pytest.raises(InvalidParameter, match="k: "):
        outcome(10**101)
