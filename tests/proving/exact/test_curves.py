"""Curves by ball arithmetic."""

from fractions import Fraction

import pytest

from privately.errors import InvalidParameter
from privately.guarantees.distances import privacy_curve_of
from privately.proving import analyze
from privately.proving.exact.curves import curve_of
from privately.proving.exact.places import Between, Exponential
from privately.proving.exact.weights import UNKNOWN, Quotient, fraction, weight

LEFT = {k: weight(Fraction(k + 1, 15)) for k in range(5)}
RIGHT = {k: weight(Fraction(5 - k, 15)) for k in range(5)}


def test_curves_agree_with_exact_tables() -> None:
    ours = curve_of([(LEFT, RIGHT), (RIGHT, LEFT)], None)
    tables = [
        ({k: fraction(m) for k, m in one.items()}, {k: fraction(m) for k, m in other.items()})
        for one, other in ((LEFT, RIGHT), (RIGHT, LEFT))
    ]
    exact = privacy_curve_of(tables)
    for epsilon in ("0", "1/10", "1/2", "1", "3/2", "2"):
        mine, theirs = ours.delta(epsilon), exact.delta(epsilon=epsilon)
        assert mine.lower <= theirs.upper
        assert theirs.lower <= mine.upper
        assert mine.width < Fraction(1, 10**40)
    for delta in ("1/100", "1/10", "1/4"):
        mine, theirs = ours.epsilon(delta), exact.epsilon(delta=delta)
        assert mine.lower <= theirs.upper
        assert theirs.lower <= mine.upper
        assert mine.width < Fraction(1, 10**15)


def test_a_missing_output_is_never_enough() -> None:
    ours = curve_of([({0: weight(1)}, {0: weight(Fraction(1, 2)), 1: weight(Fraction(1, 2))})], None)
    assert ours.epsilon(0).upper <= Fraction(7, 10)
    other = curve_of([({0: weight(Fraction(1, 2)), 1: weight(Fraction(1, 2))}, {0: weight(1)})], None)
    assert other.epsilon("1/4").upper == float("inf")
    assert other.epsilon("1/2").upper == 0


def test_exponentials() -> None:
    half = Quotient.power(1)
    ours = curve_of([({1: half, 0: 1 - half}, {1: weight(1)})], Exponential(2))
    assert ours.delta(0).lower <= Fraction("0.39346934028736657640") <= ours.delta(0).upper + Fraction(1, 10**19)


def test_refusals() -> None:
    with pytest.raises(InvalidParameter, match="open"):
        curve_of([({0: UNKNOWN}, {0: weight(1)})], Between(Fraction(0), Fraction(1)))
    with pytest.raises(InvalidParameter, match="no two laws"):
        curve_of([], None)
    for bad in (-1, float("nan"), 10**9):
        with pytest.raises(InvalidParameter):
            curve_of([(LEFT, RIGHT)], None).delta(bad)


def test_the_least_epsilon_is_found_where_bisection_meets_it() -> None:
    """It is exactly 1/2, and no ball tells exp(1/2) from itself."""
    text = "def f(x: each(1, whole(0, 1))):\n    return x + discrete_laplace(2)\n"
    least = analyze(text).epsilon_at(0)
    assert least.lower <= Fraction(1, 2) <= least.upper
    assert least.width < Fraction(1, 10**12)
