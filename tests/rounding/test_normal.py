"""The normal distribution is enclosed, in the centre and far out."""

from decimal import Context, Decimal, Inexact, localcontext
from fractions import Fraction
from typing import Any

import mpmath
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from privately.errors import InvalidParameter
from privately.rounding import Enclosure, erfc, mills_ratio, normal_cdf, normal_density, normal_quantile
from privately.rounding import normal as module
from tests.rounding.truth import encloses, real, truth

POINTS = st.fractions(min_value=-70, max_value=70, max_denominator=10**12)


def cdf(x: Fraction) -> Fraction:
    return truth(lambda: mpmath.erfc(-real(x) / mpmath.sqrt(2)) / 2)


def ratio(x: Fraction) -> Fraction:
    def formula() -> Any:
        return mpmath.erfc(real(x) / mpmath.sqrt(2)) / 2 * mpmath.sqrt(2 * mpmath.pi) * mpmath.exp(real(x) ** 2 / 2)

    return truth(formula)


@given(POINTS)
@example(Fraction(0))
@example(Fraction(4))
@example(Fraction(-4))
@example(Fraction(-3999999, 1000000))
@example(Fraction(1, 10**80))
def test_cdf_contains_the_truth(x: Fraction) -> None:
    assert encloses(normal_cdf(x), cdf(x), width=1e-49)


@given(st.fractions(min_value=-4, max_value=4, max_denominator=10**12))
def test_central_cdf_is_tight(x: Fraction) -> None:
    assert encloses(normal_cdf(x), cdf(x), width=1e-53)


@given(st.fractions(min_value=4, max_value=10**6, max_denominator=10**12))
def test_mills_ratio_contains_the_truth(x: Fraction) -> None:
    assert encloses(mills_ratio(x), ratio(x), width=1e-49)


@settings(max_examples=10)
@given(st.fractions(min_value=Fraction(1, 100), max_value=4, max_denominator=10**6))
def test_mills_ratio_contains_the_truth_where_it_converges_slowly(x: Fraction) -> None:
    assert encloses(mills_ratio(x), ratio(x))


@pytest.mark.parametrize("depth", [1, 2, 3, 7])
def test_any_depth_of_the_fraction_encloses(depth: int) -> None:
    """What the proof says: cutting anywhere is right, deep or not."""
    x = Fraction(5, 2)
    tail = Enclosure(Decimal(0), (Enclosure.of(depth) / x).upper)
    for k in range(depth - 1, 0, -1):
        tail = k / (x + tail)
    assert encloses(1 / (x + tail), ratio(x))


def test_mills_ratio_needs_a_positive_argument() -> None:
    for bad in (0, -1):
        with pytest.raises(InvalidParameter, match="x: "):
            mills_ratio(bad)


@given(POINTS)
def test_density_contains_the_truth(x: Fraction) -> None:
    assert encloses(normal_density(x), truth(lambda: mpmath.npdf(real(x))), width=1e-54)


@given(POINTS, POINTS)
def test_cdf_of_an_enclosure_covers_both_ends(first: Fraction, second: Fraction) -> None:
    low, high = sorted((first, second))
    found = normal_cdf(Enclosure(Enclosure.of(low).lower, Enclosure.of(high).upper))
    for x in (low, (low + high) / 2, high):
        assert encloses(found, cdf(x))


@given(POINTS)
def test_cdf_and_its_mirror_add_up_to_one(x: Fraction) -> None:
    assert (normal_cdf(x) + normal_cdf(-x)).contains(1)


@given(st.fractions(min_value=-40, max_value=40, max_denominator=10**12))
def test_erfc_contains_the_truth(x: Fraction) -> None:
    assert encloses(erfc(x), truth(lambda: mpmath.erfc(real(x))), width=1e-49)


def test_cdf_far_out() -> None:
    assert encloses(normal_cdf(-1000), cdf(Fraction(-1000)), width=1e-50)
    assert normal_cdf(-(10**30)).lower == 0
    assert normal_cdf(-(10**30)).upper < Decimal("1e-1000000")
    assert normal_cdf(10**30).upper == 1


@settings(max_examples=25)
@given(st.fractions(min_value=Fraction(1, 10**12), max_value=1 - Fraction(1, 10**12), max_denominator=10**12))
@example(Fraction(1, 2))
@example(Fraction(1, 10**299))
@example(1 - Fraction(1, 10**100))
@example(Fraction(1, 2) + Fraction(1, 10**20))
def test_quantile_contains_the_truth(p: Fraction) -> None:
    """Checked by the cumulative function, which mpmath knows: it is monotone."""
    found = normal_quantile(p)
    lower, upper = Fraction(found.lower), Fraction(found.upper)
    assert cdf(lower) <= p <= cdf(upper)
    assert upper - lower <= max(abs(lower), abs(upper)) * Fraction(1e-20)


def test_quantile_beyond_the_range_of_floats_contains_the_truth() -> None:
    for p in (Fraction(1, 10**400), Fraction(1, 10**1000)):
        found = normal_quantile(p)
        assert cdf(Fraction(found.lower)) <= p <= cdf(Fraction(found.upper))


@pytest.mark.parametrize("bad", [0, 1, -1, 2, "x", None, float("nan")])
def test_quantile_refuses(bad: Any) -> None:
    with pytest.raises(InvalidParameter, match="probability: "):
        normal_quantile(bad)


def test_pi() -> None:
    assert encloses(module.PI, truth(lambda: mpmath.pi), width=1e-58)


@given(st.fractions(min_value=-4, max_value=4, max_denominator=10**6))
def test_the_callers_precision_does_not_matter(x: Fraction) -> None:
    module._cdf_at.cache_clear()
    with localcontext(Context(prec=3)):
        assert encloses(normal_cdf(x), cdf(x))


def test_quantile_is_tight_beyond_the_range_of_floats() -> None:
    found = normal_quantile(Fraction(1, 10**400))
    assert Fraction(found.upper) - Fraction(found.lower) < Fraction(1, 10**20)


def test_quantile_close_to_one_half(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = 0

    def counted(x: Any) -> Enclosure:
        nonlocal calls
        calls += 1
        assert calls < 1000
        return normal_cdf(x)

    monkeypatch.setattr(module, "normal_cdf", counted)
    found = normal_quantile(Fraction(1, 2) + Fraction(1, 10**50))
    assert 0 < found.lower <= Decimal("2.5066282746310005e-50") <= found.upper


def test_the_callers_traps_do_not_matter() -> None:
    module._cdf_at.cache_clear()
    with localcontext(Context(prec=3, traps=[Inexact])):
        normal_cdf(Fraction(15, 11))
