"""Sums of exp(-j^2/(2v)) against plain sums in mpmath, and against an integral where plain sums are too long."""

from decimal import Decimal
from fractions import Fraction
from math import isqrt
from typing import Any

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privately.laws import gaussian_sums
from privately.laws.gaussian_sums import _bernoulli, _direct_sum, _smooth_sum, half_sum, whole_sum
from tests.rounding.truth import encloses, real, truth

TIGHT = 1e-48


def plain_sum(n: int, v: Fraction) -> Fraction:
    """Term after term, until they no longer count."""

    def formula() -> Any:
        ratio, shrinking = mpmath.exp(-real((2 * n + 1) / (2 * v))), mpmath.exp(-real(1 / v))
        total = term = mpmath.mpf(1)
        while term > mpmath.mpf(10) ** -135:
            term *= ratio
            ratio *= shrinking
            total += term
        return total * mpmath.exp(-real(n * n / (2 * v)))

    return truth(formula, 150)


def by_integral(n: int, v: Fraction) -> Fraction:
    """The Abel-Plana formula, cut at height 42: what is left out is below exp(-2 pi 41) of the first term."""

    def formula() -> Any:
        slope, curvature = real(n / v), real(1 / v)

        def wave(y: Any) -> Any:
            return mpmath.exp(y * y * curvature / 2) * mpmath.sin(slope * y) / mpmath.expm1(2 * mpmath.pi * y)

        integral = mpmath.quad(wave, list(range(43)))
        spread = mpmath.sqrt(2 * mpmath.pi * real(v))
        tail = spread * mpmath.erfc(n / mpmath.sqrt(2 * real(v))) / 2
        return tail + mpmath.exp(-real(n * n / (2 * v))) * (mpmath.mpf(1) / 2 + 2 * integral)

    return truth(formula)


@given(st.fractions(min_value=Fraction(1, 100), max_value=50, max_denominator=1000))
def test_whole_sum_contains_the_truth(v: Fraction) -> None:
    assert encloses(whole_sum(v), 1 + 2 * plain_sum(1, v), width=1e-57)


def test_both_forms_of_the_whole_sum_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each side of Poisson's formula, used where the other one would be."""
    for limit in (Fraction(0), Fraction(10**9)):
        monkeypatch.setattr(gaussian_sums, "_DUAL_ABOVE", limit)
        for v in (Fraction(1, 9), Fraction(1, 4), Fraction(3)):
            assert encloses(whole_sum(v), 1 + 2 * plain_sum(1, v), width=1e-55)


def test_whole_sum_of_huge_and_tiny_variances() -> None:
    assert encloses(whole_sum(Fraction(2**4000)), truth(lambda: mpmath.sqrt(2 * mpmath.pi * 2**4000)), width=1e-57)
    assert whole_sum(Fraction(1, 2**4000)).contains(1)


@given(st.fractions(min_value=Fraction(1, 100), max_value=100, max_denominator=1000), st.integers(1, 400))
def test_direct_sum_contains_the_truth(v: Fraction, far: int) -> None:
    n = 1 + isqrt(far * far * int(100 * v) // 4000)
    assert encloses(_direct_sum(n, v), plain_sum(n, v), width=1e-50)


@settings(max_examples=40)
@given(
    st.fractions(min_value=100, max_value=5000, max_denominator=100),
    st.fractions(min_value=0, max_value=Fraction(1, 2), max_denominator=1000),
)
def test_smooth_sum_contains_the_truth(v: Fraction, part: Fraction) -> None:
    n = max(1, int(part * v))
    assert encloses(_smooth_sum(n, v), plain_sum(n, v), width=TIGHT)


@pytest.mark.thinned(2)
@pytest.mark.parametrize("exponent", [20, 80])
@pytest.mark.parametrize("steps", [0, *(pytest.param(steps, marks=pytest.mark.slow) for steps in (3, 20)), 60])
def test_smooth_sum_of_huge_variances(exponent: int, steps: int) -> None:
    v = Fraction(2**exponent) * Fraction(10, 9)
    n = 1 + steps * 2 ** (exponent // 2)
    assert encloses(half_sum(n, v), by_integral(n, v), width=TIGHT)


@pytest.mark.slow
def test_the_integral_is_a_fair_judge() -> None:
    for n, v in ((1, Fraction(4000)), (1500, Fraction(4000))):
        assert abs(by_integral(n, v) / plain_sum(n, v) - 1) < Fraction(1, 10**105)


@pytest.mark.parametrize("order", [1, 2, 3, 8, 20])
def test_any_order_encloses(order: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the proof says: the remainder bound holds at every order, useful or not."""
    monkeypatch.setattr(gaussian_sums, "_ORDER", order)
    for n, v in ((1, Fraction(100)), (49, Fraction(100)), (30, Fraction(900))):
        found = _smooth_sum(n, v)
        assert encloses(found, plain_sum(n, v))
        assert order > 8 or not encloses(found, plain_sum(n, v), width=1e-45)


def test_forgetting_a_remainder_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gaussian_sums, "_ORDER", 8)
    monkeypatch.setattr(gaussian_sums, "widened", lambda centre, error: centre)
    assert not encloses(_smooth_sum(30, Fraction(100)), plain_sum(30, Fraction(100)))


@pytest.mark.parametrize("negligible", ["10", "0.1", "1e-5", "1e-30"])
def test_sums_cut_early_are_wide_but_right(negligible: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gaussian_sums, "NEGLIGIBLE", Decimal(negligible))
    for v in (Fraction(1, 5), Fraction(1, 4), Fraction(7), Fraction(90)):
        assert encloses(whole_sum(v), 1 + 2 * plain_sum(1, v))
        for n in (1, 4, 70):
            assert encloses(_direct_sum(n, v), plain_sum(n, v))


def test_both_methods_agree_where_they_meet() -> None:
    v = Fraction(100)
    for n in (1, 10, 49, 50):
        smooth, direct = _smooth_sum(n, v), _direct_sum(n, v)
        assert smooth.lower <= direct.upper
        assert direct.lower <= smooth.upper


def test_bernoulli_numbers() -> None:
    assert [_bernoulli(m) for m in (0, 2, 4, 6, 12)] == [
        1,
        Fraction(1, 6),
        Fraction(-1, 30),
        Fraction(1, 42),
        Fraction(-691, 2730),
    ]
    assert all(_bernoulli(m) == Fraction(*map(int, mpmath.bernfrac(m))) for m in range(2, 97, 2))
