"""Totals are never too small, and short however long one goes on."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from privately.accounting.filters.sums import EXACT_BITS, GRID, added, lowered, shortened

LONG = st.builds(Fraction, st.integers(0, 10**1200), st.integers(1, 10**1200))


@given(LONG)
def test_shortened_is_just_above(value: Fraction) -> None:
    short = shortened(value)
    assert 0 <= short - value < Fraction(1, GRID)
    assert short.denominator <= 2**EXACT_BITS
    if value.denominator < 2**EXACT_BITS:
        assert short == value


@given(LONG)
def test_lowered_is_just_below(value: Fraction) -> None:
    assert 0 <= value - lowered(value) < Fraction(1, GRID)


def test_the_grid_is_the_finest_power_of_ten() -> None:
    assert GRID.bit_length() <= EXACT_BITS < (10 * GRID).bit_length()


def test_tenths_add_up_exactly_and_still_do_once_rounded() -> None:
    assert added([Fraction(1, 10)] * 10) == 1
    awkward = added(Fraction(1, n) for n in range(1, 700))
    assert awkward.denominator == GRID or GRID % awkward.denominator == 0
    assert added([awkward, *[Fraction(1, 10)] * 10]) == awkward + 1
    assert added([awkward, *[Fraction(0.1)] * 10]) == awkward + 10 * Fraction(0.1)


def test_unrelated_denominators_stay_short() -> None:
    summands = [Fraction(1, 10**6 + n) for n in range(2000)]
    total = Fraction(0)
    for one in summands:
        total = shortened(total + one)
        assert total.denominator.bit_length() <= EXACT_BITS
    assert 0 <= total - sum(summands) < Fraction(len(summands), GRID)
