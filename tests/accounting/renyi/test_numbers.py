"""One formula for floats and enclosures, and the forms in which bounds are kept."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately.accounting.renyi import numbers
from privately.rounding import Enclosure

positive = st.fractions(min_value=Fraction(1, 10**6), max_value=10**6)


@given(st.lists(st.tuples(positive, st.fractions(min_value=-500, max_value=500)), min_size=1, max_size=5))
def test_both_kinds_agree(terms: list[tuple[Fraction, Fraction]]) -> None:
    rough = numbers.log_mix([(float(weight), float(exponent)) for weight, exponent in terms])
    exact = numbers.log_mix([(Enclosure.of(weight), Enclosure.of(exponent)) for weight, exponent in terms])
    assert rough == pytest.approx(float(exact.upper), rel=1e-9, abs=1e-9)
    assert float(exact.upper - exact.lower) < 1e-50


@pytest.mark.parametrize("x", [1e-9, 0.5, 3.0, 600.0])
def test_functions_of_both_kinds(x: float) -> None:
    exact = Enclosure.of(Fraction(x))
    for function in (numbers.exp, numbers.expm1, numbers.log, numbers.log_one_minus_exp):
        assert function(x) == pytest.approx(float(function(exact).upper), rel=1e-12)


def test_floats_stay_within_their_range() -> None:
    assert math.isfinite(numbers.exp(1e9))
    assert math.isfinite(numbers.expm1(1e9))


@given(positive)
def test_bounds_are_short_and_not_below(value: Fraction) -> None:
    found = numbers.short(value / 7)
    assert isinstance(found, Fraction)
    assert value / 7 <= found <= value / 7 * (1 + Fraction(1, 10**39))
    assert numbers.short(math.inf) == math.inf


@given(st.fractions(min_value=Fraction(1, 256), max_value=10**9))
def test_floats_above_have_a_float_above_them_by_one(c: Fraction) -> None:
    found = numbers.float_above(c)
    assert Fraction(found) >= c
    assert Fraction(found) - c <= max(c, Fraction(1)) / 2**38
    assert Fraction(found + 1) == Fraction(found) + 1
