"""Every operation encloses the truth, and narrowly."""

import math
from collections.abc import Callable
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from typing import Any

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately.rounding import Enclosure, log_sum_exp
from privately.rounding import enclosure as module
from privately.rounding.enclosure import DIGITS, Value
from tests.rounding.truth import DIGITS as MANY
from tests.rounding.truth import encloses, real, truth

TIGHT = 1e-57
ORDINARY = st.fractions(min_value=-1000, max_value=1000, max_denominator=10**20)
POSITIVE = st.fractions(min_value=Fraction(1, 10**6), max_value=10**6, max_denominator=10**20)
WILD = st.builds(
    lambda mantissa, exponent: Fraction(mantissa) * Fraction(10) ** exponent,
    st.integers(-(10**80), 10**80),
    st.integers(-300, 300),
)


def check_arithmetic(a: Fraction, b: Fraction) -> None:
    x, y = Enclosure.of(a), Enclosure.of(b)
    assert encloses(x, a, width=1e-59)
    assert x.contains(a)
    assert encloses(-x, -a)
    assert encloses(x + y, a + b)
    assert encloses(x - y, a - b)
    assert encloses(x * y, a * b, width=TIGHT)
    if b != 0:
        assert encloses(x / y, a / b, width=TIGHT)
    assert encloses(x**3, a**3, width=TIGHT)
    if a != 0:
        assert encloses(x**-2, a**-2, width=TIGHT)


def check_functions(a: Fraction) -> None:
    x = Enclosure.of(a)
    assert encloses(x.exp(), truth(lambda: mpmath.exp(real(a))), width=1e-55)
    if a > 0:
        assert encloses(x.sqrt(), truth(lambda: mpmath.sqrt(real(a))), width=TIGHT)
        assert encloses(x.log(), truth(lambda: mpmath.log(real(a))), width=None if 0.5 < a < 2 else TIGHT)


@given(WILD, WILD)
def test_arithmetic_contains_the_truth(a: Fraction, b: Fraction) -> None:
    check_arithmetic(a, b)


@given(ORDINARY, ORDINARY)
def test_sums_of_exact_numbers_stay_exact(a: Fraction, b: Fraction) -> None:
    short, other = Fraction(round(a * 1000), 1000), Fraction(round(b * 1000), 1000)
    total = Enclosure.of(short) + other
    assert Fraction(total.lower) == Fraction(total.upper) == short + other


@given(ORDINARY, ORDINARY, ORDINARY, ORDINARY)
def test_wide_operands_are_covered_at_every_corner(a: Fraction, b: Fraction, c: Fraction, d: Fraction) -> None:
    """All values between the ends count, whatever their signs."""
    (a, b), (c, d) = sorted((a, b)), sorted((c, d))
    x = Enclosure(Enclosure.of(a).lower, Enclosure.of(b).upper)
    y = Enclosure(Enclosure.of(c).lower, Enclosure.of(d).upper)
    for left in (a, (a + b) / 2, b):
        for right in (c, (c + d) / 2, d):
            assert (x + y).contains(left + right)
            assert (x - y).contains(left - right)
            assert (x * y).contains(left * right)
            if y.lower > 0 or y.upper < 0:
                assert (x / y).contains(left / right)


@given(ORDINARY, st.integers(0, 30))
def test_powers_contain_the_truth(a: Fraction, exponent: int) -> None:
    assert encloses(Enclosure.of(a) ** exponent, a**exponent, width=1e-55)


@given(ORDINARY)
def test_functions_contain_the_truth(a: Fraction) -> None:
    check_functions(a)


@given(st.fractions(min_value=Fraction(1, 10**6), max_value=1), st.integers(1, 200))
def test_functions_near_their_fixed_points(offset: Fraction, exponent: int) -> None:
    """exp near 0 and ln near 1, where rounding would be easiest to get wrong."""
    tiny = offset / 10**exponent
    assert encloses(Enclosure.of(tiny).exp(), truth(lambda: mpmath.exp(real(tiny))), width=TIGHT)
    assert encloses(Enclosure.of(-tiny).exp(), truth(lambda: mpmath.exp(-real(tiny))), width=TIGHT)
    near = Fraction(round((1 + tiny) * 10**55), 10**55)
    if near != 1:
        assert encloses(Enclosure.of(near).log(), truth(lambda: mpmath.log(real(near))), width=TIGHT)


def test_exact_values_are_exact() -> None:
    one = Enclosure.of(1)
    assert (one.exp() / one.exp()).contains(1)
    assert Enclosure.of(0).exp().lower == Enclosure.of(0).exp().upper == 1
    assert one.log().lower == one.log().upper == 0


@given(st.integers(0, 10**30), st.integers(-40, 40))
def test_roots_of_squares_are_exact(root: int, exponent: int) -> None:
    exact = Fraction(root) * Fraction(10) ** exponent
    found = Enclosure.of(exact * exact).sqrt()
    assert Fraction(found.lower) == Fraction(found.upper) == exact


@given(POSITIVE)
def test_roots_contain_the_truth_by_exact_squares(a: Fraction) -> None:
    root = Enclosure.of(a).sqrt()
    assert Fraction(root.lower) ** 2 <= a <= Fraction(root.upper) ** 2


def test_roots_of_enclosures_that_reach_below_zero() -> None:
    found = Enclosure(Decimal(-1), Decimal(4)).sqrt()
    assert (found.lower, found.upper) == (Decimal(0), Decimal(2))


def log_of(value: Decimal) -> Any:
    _, digits, exponent = value.as_tuple()
    return mpmath.log(int("".join(map(str, digits)))) + int(exponent) * mpmath.log(10)


@pytest.mark.parametrize("power", [-(10**17), -(10**16) - 1, -(10**9), 10**9, 10**16 + 1, 10**17])
def test_exp_at_extreme_arguments(power: int) -> None:
    with mpmath.workdps(MANY):
        found = Enclosure.of(power).exp()
        lower, upper = log_of(found.lower), log_of(found.upper)
    assert lower < power < upper
    assert upper - lower < mpmath.mpf(10) ** (2 - DIGITS)


def test_exp_beyond_the_extremes() -> None:
    found = Enclosure.of(-(10**30)).exp()
    assert found.lower == 0
    assert 0 < found.upper <= Enclosure.of(-(10**17)).exp().upper
    with pytest.raises(OverflowError):
        Enclosure.of(10**30).exp()
    assert Enclosure(Decimal(-(10**30)), Decimal(0)).exp().upper == 1


def test_what_has_no_value_is_an_error() -> None:
    zero_inside = Enclosure(Decimal(-1), Decimal(1))
    with pytest.raises(ZeroDivisionError):
        _ = 1 / zero_inside
    with pytest.raises(ZeroDivisionError):
        Enclosure.of(0).log()
    with pytest.raises(ZeroDivisionError):
        _ = Enclosure.of(0) ** -1


@given(st.lists(ORDINARY, min_size=1, max_size=8), st.integers(-(10**6), 10**6))
def test_log_sum_exp_contains_the_truth(terms: list[Fraction], shift: int) -> None:
    shifted = [term + shift for term in terms]

    def formula() -> Any:
        top = real(max(shifted))
        return top + mpmath.log(mpmath.fsum(mpmath.exp(real(term) - top) for term in shifted))

    found = log_sum_exp([Enclosure.of(term) for term in shifted])
    value = truth(formula)
    assert encloses(found, value)
    assert Fraction(found.upper) - Fraction(found.lower) <= (1 + max(abs(term) for term in shifted)) * Fraction(1e-57)


def test_log_sum_exp_does_not_overflow() -> None:
    assert encloses(log_sum_exp([Enclosure.of(10**20)] * 2), truth(lambda: mpmath.mpf(10) ** 20 + mpmath.log(2)))


@given(WILD.filter(lambda value: value > 0))
def test_claims_are_short_and_just_above_the_truth(value: Fraction) -> None:
    claim = Enclosure.of(value).claim()
    assert value * (1 + Fraction(1, 10**20)) <= claim
    assert claim <= value * (1 + Fraction(1, 10**14) + Fraction(1, 10**19))
    mantissa = str(claim.numerator * 10**400 // claim.denominator).strip("0")
    assert len(mantissa) <= 15


def test_claims_at_the_ends() -> None:
    assert Enclosure.of(0).claim() == Enclosure.of(-3).claim() == 0
    assert Enclosure(Decimal(0), Decimal("1e-5000")).claim() >= Fraction(1, 10**1000)
    with pytest.raises(OverflowError):
        Enclosure(Decimal(0), Decimal("1e5000")).claim()


def test_reports_widen_what_is_too_small_or_too_large() -> None:
    small, large = Decimal("1e-1001"), Decimal("1e1001")
    assert tuple(Enclosure(small, small).interval()) == (0, Fraction(1, 10**1000))
    assert tuple(Enclosure(-small, -small).interval()) == (-Fraction(1, 10**1000), 0)
    assert tuple(Enclosure(large, large).interval()) == (10**1000, math.inf)
    assert tuple(Enclosure(-large, -large).interval()) == (-math.inf, -(10**1000))
    assert Enclosure.of(2).interval("told").method == "told"
    assert tuple(Enclosure(Decimal("1e-1000"), Decimal("1e1000")).interval()) == (Fraction(1, 10**1000), 10**1000)


@given(ORDINARY)
def test_clipping_keeps_the_truth(a: Fraction) -> None:
    found = Enclosure.of(a).clip(0, 1)
    assert found.contains(min(max(a, Fraction(0)), Fraction(1))) or encloses(
        found, min(max(a, Fraction(0)), Fraction(1))
    )
    assert 0 <= found.lower <= found.upper <= 1


def test_the_callers_context_does_not_matter() -> None:
    with localcontext(Context(prec=3)):
        check_arithmetic(Fraction(22, 7), Fraction(-355, 113))
        check_functions(Fraction(22, 7))


def swap_contexts(patch: pytest.MonkeyPatch) -> None:
    up, down = module.UP, module.DOWN
    patch.setattr(module, "UP", down)
    patch.setattr(module, "DOWN", up)


def forget_to_widen(patch: pytest.MonkeyPatch) -> None:
    def nearest(value: Decimal, *, below: bool) -> Decimal:
        return (module.DOWN if below else module.UP).exp(value)

    patch.setattr(module, "_exp", nearest)


def round_to_nearest(patch: pytest.MonkeyPatch) -> None:
    nearest = Context(prec=DIGITS, traps=[])
    patch.setattr(module, "UP", nearest)
    patch.setattr(module, "DOWN", nearest)


def divide_inward(patch: pytest.MonkeyPatch) -> None:
    def of(value: Value) -> Enclosure:
        if isinstance(value, Enclosure):
            return value
        return Enclosure(
            module.UP.divide(value.numerator, value.denominator), module.UP.divide(value.numerator, value.denominator)
        )

    patch.setattr(Enclosure, "of", of)


@pytest.mark.parametrize("fault", [swap_contexts, forget_to_widen, round_to_nearest, divide_inward])
def test_the_properties_have_teeth(
    fault: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each planted inward rounding is caught by the very checks that the properties above run."""
    samples = [Fraction(22, 7), Fraction(1, 3), Fraction(-5, 11), Fraction(123, 457)]

    def check() -> None:
        for a in samples:
            check_arithmetic(a, samples[0])
            check_functions(a)

    check()
    fault(monkeypatch)
    with pytest.raises(AssertionError):
        check()
