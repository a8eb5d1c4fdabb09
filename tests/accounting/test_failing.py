"""The probability of at least one failure, between its two ends."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately.accounting.failing import LONGEST, failing

probabilities = st.fractions(min_value=0, max_value=Fraction(99, 100), max_denominator=1000)


@given(st.dictionaries(probabilities, st.integers(1, 20), max_size=4))
def test_short_ones_are_exact(failures: dict[Fraction, int]) -> None:
    kept = Fraction(1)
    for probability, times in failures.items():
        kept *= (1 - probability) ** times
    assert failing(failures) == (1 - kept, 1 - kept)


@pytest.mark.parametrize(
    ("probability", "times"),
    [(Fraction(1, 3), 10**6), (Fraction(1, 10**6), 10**7), (Fraction(1, 10**13), 10**12)]
    + [(Fraction(1, 10**k), 10**12) for k in (19, 20, 21, 25, 32, 33, 60, 300)]
    + [(Fraction(7, 3**60), 10**5), (Fraction(10**40 - 1, 10**40), 10**3)],
)
def test_long_ones_contain_the_truth(probability: Fraction, times: int) -> None:
    lower, upper = failing({probability: times, Fraction(1, 10**500): 10})
    with mpmath.workdps(1000):
        kept = mpmath.log1p(-mpmath.mpf(probability.numerator) / probability.denominator) * times
        truth = -mpmath.expm1(kept + 10 * mpmath.log1p(-(mpmath.mpf(10) ** -500)))
        assert (
            mpmath.mpf(lower.numerator) / lower.denominator <= truth <= mpmath.mpf(upper.numerator) / upper.denominator
        )
    assert lower <= upper <= 1
    assert upper - lower <= lower / 10**30


def test_the_same_value_on_both_sides_of_the_limit() -> None:
    """Just short enough to be exact, and just too long."""
    probability = Fraction(1, 2**40)
    times = LONGEST // 41
    exact, same = failing({probability: times})
    assert exact == same
    lower, upper = failing({probability: times, Fraction(1, 2**4000): 1})
    assert lower < upper
    assert abs(exact - lower) < exact / 10**30


def test_certain_and_no_failures() -> None:
    assert failing({}) == (Fraction(0), Fraction(0))
    assert failing({Fraction(1): 1, Fraction(1, 3): 10**12}) == (Fraction(1), Fraction(1))
    assert failing({Fraction(0): 10**12}) == (Fraction(0), Fraction(0))
