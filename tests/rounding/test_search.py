"""The root of a decreasing curve lies between the two ends returned, for certain."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privately.rounding import Enclosure, normal_cdf, solve_decreasing
from privately.rounding.search import Curve


def exponential(rate: Fraction) -> Curve:
    return lambda x: Enclosure.of(-rate * x).exp()


def bell(x: Fraction) -> Enclosure:
    return normal_cdf(-x)


@settings(max_examples=40)
@given(
    st.fractions(min_value=Fraction(1, 100), max_value=100, max_denominator=1000),
    st.integers(1, 300),
)
def test_the_ends_enclose_the_root(rate: Fraction, digits: int) -> None:
    target = Fraction(1, 10**digits)
    curve = exponential(rate)
    lower, upper = solve_decreasing(curve, target, Fraction(10**6))
    assert 0 <= lower <= upper
    assert curve(lower).lower >= target >= curve(upper).upper
    assert upper - lower <= upper / 10**12


@pytest.mark.parametrize("target", ["0.4", "0.01", "1e-10", "1e-100"])
def test_a_curve_with_a_bend(target: str) -> None:
    lower, upper = solve_decreasing(bell, Fraction(target), Fraction(100))
    assert bell(lower).lower >= Fraction(target) >= bell(upper).upper
    assert upper - lower <= upper / 10**12


def test_a_wide_curve_gives_wide_ends() -> None:
    """What the curve does not know, the ends do not claim."""

    def blurred(x: Fraction) -> Enclosure:
        centre = Enclosure.of(-x).exp()
        return Enclosure((centre * Fraction(99, 100)).lower, (centre * Fraction(101, 100)).upper)

    lower, upper = solve_decreasing(blurred, Fraction(1, 100), Fraction(1000))
    assert blurred(lower).lower >= Fraction(1, 100) >= blurred(upper).upper
    assert upper - lower > Fraction(1, 100)


def test_a_root_at_the_ceiling_stays_below_it() -> None:
    curve = exponential(Fraction(1))
    ceiling = Fraction(5)
    target = Fraction(curve(ceiling).upper) * (1 + Fraction(1, 10**20))
    lower, upper = solve_decreasing(curve, target, ceiling)
    assert lower <= upper <= ceiling
    assert curve(lower).lower >= target


def test_a_very_small_root() -> None:
    calls = 0

    def curve(x: Fraction) -> Enclosure:
        nonlocal calls
        calls += 1
        assert calls < 2000
        return Enclosure.of(-x * 10**30).exp()

    lower, upper = solve_decreasing(curve, Fraction(1, 2), Fraction(1, 10**27))
    assert curve(lower).lower >= Fraction(1, 2) >= curve(upper).upper
