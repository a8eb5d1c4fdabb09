"""Signs at exp(-1/d), and on a stretch."""

from fractions import Fraction

import pytest
from mpmath import exp, mp, mpf

from privately.proving.exact.places import Between, Exponential, at
from privately.proving.exact.weights import UNKNOWN, weight

T = UNKNOWN


@pytest.mark.parametrize("unit", [1, 2, 7])
def test_signs_agree_with_many_digits(unit: int) -> None:
    place = Exponential(unit)
    with mp.workdps(60):
        t = exp(mpf(-1) / unit)
        near = Fraction(int(t * 10**40), 10**40)
        for value, number in [
            (T - weight(near), t - mpf(near.numerator) / near.denominator),
            (weight(near) - T, mpf(near.numerator) / near.denominator - t),
            ((T * T - 2) / (T - 3), (t * t - 2) / (t - 3)),
            (T / (T - 1), t / (t - 1)),
        ]:
            assert place.sign(value) == (1 if number > 0 else -1)
    assert place.sign(T - T) == 0
    assert place.sign(weight(Fraction(-1, 2))) == -1
    assert place.nonnegative(T - T)


def test_stretches_between_zeros() -> None:
    place = Between(Fraction(-2), Fraction(2))
    values = [(T * T - 2) * (2 * T - 1) / (T + 1)]
    edges = [str(right) for _, _, right in place.stretches(values)]
    assert edges == ["about -1.41421", "-1", "1/2", "about 1.41421", "2"]
    assert len(place.samples(values)) == 5


def test_a_narrow_dip_below_zero_is_seen() -> None:
    place = Between(Fraction(0), Fraction(1))
    dip = (T - weight(Fraction(1, 3))) * (T - weight(Fraction(1, 3) + Fraction(1, 10**12)))
    assert not place.nonnegative(dip)
    assert place.nonnegative(dip * dip)
    irrational = (T * T - weight(Fraction(1, 2))) * (T - weight(Fraction(70710678118, 10**11)))
    assert not place.nonnegative(irrational)


def test_values_at_a_point() -> None:
    assert at((T + 1) / T, Fraction(1, 2)) == 3
    assert at(weight(Fraction(2, 3)), Fraction(1, 2)) == Fraction(2, 3)
