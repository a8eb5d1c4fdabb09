import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately.certificates.checker.accounting.numbers import (
    BITS,
    exp_above,
    fixed_above,
    from_fixed,
    log,
    lower,
    upper,
)
from privately.certificates.checker.intervals import Interval, Undecided, enclose
from tests.certificates.checker.building import assert_encloses, mpf, rational

numbers = st.fractions("1/1000000", 10**9)


def end(x: Interval) -> mpmath.mpf:
    assert x.low == x.high
    return mpmath.ldexp(x.low, x.exponent)


@given(numbers, st.integers(0, 2**40))
def test_logarithms(value: int, vague: int) -> None:
    exact = enclose(rational(value), BITS)
    if value != 1:
        assert_encloses(log(exact), mpmath.log(mpf(value)), 150)
    wide = Interval(exact.low, exact.high + vague, exact.exponent, BITS)
    top = log(wide)
    assert mpmath.ldexp(top.high, top.exponent) >= mpmath.log(mpmath.ldexp(wide.high, wide.exponent))


def test_no_logarithm_of_nothing() -> None:
    with pytest.raises(Undecided):
        log(Interval(0, 1, 0, BITS))


@given(st.fractions(-(10**6), 9000))
def test_upper_bounds_of_powers(x: int) -> None:
    found = end(exp_above(enclose(rational(x), BITS)))
    assert found >= mpmath.exp(mpf(x))
    assert found <= max(mpmath.exp(mpf(x)), mpmath.exp(-5000)) * (1 + mpmath.ldexp(1, -200))


@given(st.integers(-(10**40), 10**40), st.integers(0, 10**10), st.integers(-400, 20))
def test_ends(low: int, width: int, exponent: int) -> None:
    x = Interval(low, low + width, exponent, BITS)
    assert end(lower(x)) == mpmath.ldexp(low, exponent)
    assert end(upper(x)) == mpmath.ldexp(low + width, exponent)
    above = from_fixed(fixed_above(x))
    assert end(above) >= end(upper(x)) > end(above) - mpmath.ldexp(1, -192)
