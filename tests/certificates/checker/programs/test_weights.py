"""Intervals hold the number, fingerprints tell different ones apart, and nobody can choose them."""

import mpmath
import pytest

from privately.certificates.checker.programs.exact import Beyond, fraction
from privately.certificates.checker.programs.weights import Decay, Field, Weight, _is_prime
from tests.certificates.checker.building import assert_encloses

FIELD = Field(6, b"a test", 256)


def test_arithmetic_holds_the_numbers() -> None:
    half, power = FIELD.rational(fraction(1, 2)), FIELD.power(4)
    exact = mpmath.exp(mpmath.mpf(-2) / 3)
    for weight, number in (
        (FIELD.plus(half, power), exact + mpmath.mpf(1) / 2),
        (FIELD.times(half, power), exact / 2),
        (FIELD.over(power, half), 2 * exact),
        (FIELD.shares(Decay(2, 3, 4))[0], 2 * exact / 3),
        (FIELD.shares(Decay(2, 3, 4))[1], 1 - 2 * exact / 3),
    ):
        assert_encloses(weight.interval, number, 230)


def test_fingerprints_follow_the_same_laws() -> None:
    p = FIELD.prime
    half, power = FIELD.rational(fraction(1, 2)), FIELD.power(4)
    assert half.mark * 2 % p == 1
    assert power.mark == pow(FIELD.point, 4, p)
    assert FIELD.over(FIELD.times(half, power), half).mark == power.mark
    assert (FIELD.shares(Decay(1, 1, 4))[1].mark + power.mark) % p == 1
    assert FIELD.times(FIELD.power(2), FIELD.power(2)).mark == power.mark
    assert FIELD.plus(half, power).mark != power.mark


def test_the_field_depends_on_all_that_is_claimed() -> None:
    other = Field(6, b"another test", 256)
    assert other.prime != FIELD.prime
    assert other.point != FIELD.point
    assert FIELD.prime.bit_length() == 256
    assert 1 < FIELD.point < FIELD.prime
    again = Field(6, b"a test", 2048)
    assert (again.prime, again.point) == (FIELD.prime, FIELD.point)


def test_primes_are_told_from_others() -> None:
    assert _is_prime(2**255 - 19)
    assert _is_prime(FIELD.prime)
    assert not _is_prime((2**127 - 1) * (2**89 - 1))
    assert not _is_prime(3 * (2**255 - 19))
    carmichael = 1590231231043178376951698401
    assert not _is_prime(carmichael)


def test_what_has_no_fingerprint_is_refused() -> None:
    with pytest.raises(Beyond, match="fingerprint"):
        FIELD.rational(fraction(1, FIELD.prime))
    with pytest.raises(Beyond, match="0 is divided"):
        FIELD.over(FIELD.one, Weight(FIELD.one.interval, 0))
    with pytest.raises(Beyond, match="multiple"):
        FIELD.exponent(fraction(1, 4))
    assert FIELD.exponent(fraction(1, 3)) == 2
