from fractions import Fraction

import mpmath
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from privately.certificates.checker.elementary import (
    OutOfReach,
    exponential,
    exponential_minus_one,
    log_two,
    logarithm,
    tanh_of_half,
)
from privately.certificates.checker.intervals import Interval, Undecided, enclose
from tests.certificates.checker.building import assert_encloses, mpf, rational

BITS = st.sampled_from([64, 128, 256, 512])
exponents = st.fractions(min_value=-10_000, max_value=10_000, max_denominator=10**40)
tiny = st.builds(lambda a, k: a / Fraction(10) ** k, st.fractions(-1, 1, max_denominator=10**20), st.integers(0, 300))


@pytest.mark.parametrize("places", [10, 64, 200, 1000])
def test_log_two(places: int) -> None:
    below = log_two(places)
    assert below <= mpmath.ldexp(mpmath.log(2), places) < below + 2


@given(exponents, BITS)
def test_exponential(x: Fraction, bits: int) -> None:
    assert_encloses(exponential(enclose(rational(x), bits + 16)), mpmath.exp(mpf(x)), bits)


@given(exponents | tiny, BITS)
def test_exponential_minus_one(x: Fraction, bits: int) -> None:
    assume(x)
    assert_encloses(exponential_minus_one(enclose(rational(x), bits + 16)), mpmath.expm1(mpf(x)), bits)


@given(exponents | tiny, BITS)
def test_tanh_of_half(x: Fraction, bits: int) -> None:
    assume(x > 0)
    assert_encloses(tanh_of_half(enclose(rational(x), bits + 20)), mpmath.tanh(mpf(x) / 2), bits)


@given(st.fractions(min_value=0, max_value=10**30, max_denominator=10**30) | tiny.map(lambda t: 1 + t), BITS)
def test_logarithm(y: Fraction, bits: int) -> None:
    assume(y > 0)
    if y == 1:
        assert logarithm(rational(1), bits).low == logarithm(rational(1), bits).high == 0
    else:
        assert_encloses(logarithm(rational(y), bits), mpmath.log(mpf(y)), bits - 5)


@given(exponents, st.fractions(0, Fraction(1, 2), max_denominator=10**20), st.fractions(0, 1))
def test_a_vague_exponent_still_holds_every_point(x: Fraction, width: Fraction, share: Fraction) -> None:
    assume(x + width <= 10_000)
    low, high = enclose(rational(x), 200), enclose(rational(x + width), 200)
    exponent = min(low.exponent, high.exponent)
    vague = Interval(low.low << (low.exponent - exponent), high.high << (high.exponent - exponent), exponent, 500)
    for function, truth in ((exponential, mpmath.exp), (exponential_minus_one, mpmath.expm1)):
        found = function(vague)
        value = truth(mpf(x + width * share))
        scale = mpmath.ldexp(1, found.exponent)
        assert found.low * scale <= value <= found.high * scale


@pytest.mark.parametrize("x", [10_001, -10_001, 10**9, Fraction(10**4) + Fraction(1, 10**6)])
def test_large_exponents_are_out_of_reach(x: Fraction) -> None:
    with pytest.raises(OutOfReach):
        exponential(enclose(rational(x), 128))


def test_the_largest_exponents_are_within_reach() -> None:
    assert_encloses(exponential(enclose(rational(10_000), 128)), mpmath.exp(10_000), 100)
    assert_encloses(exponential(enclose(rational(-10_000), 128)), mpmath.exp(-10_000), 100)


def test_too_vague_exponents_are_undecided() -> None:
    with pytest.raises(Undecided):
        exponential(Interval(0, 3, 0, 128))


@pytest.mark.parametrize("y", [0, -1])
def test_logarithms_of_nothing_are_out_of_reach(y: int) -> None:
    with pytest.raises(OutOfReach):
        logarithm(rational(y), 128)
