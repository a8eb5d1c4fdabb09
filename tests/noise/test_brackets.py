"""Brackets contain the truth (mpmath, with more digits), at any precision, and are narrow."""

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from math import isqrt
from pathlib import Path
from types import ModuleType
from typing import Any

import mpmath
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from privately.laws import DiscreteExponential, DiscreteGaussian, DiscreteLaplace, Geometric, Law, RoundedNormal
from privately.noise import brackets
from privately.noise.brackets import (
    Bracket,
    exp_minus,
    gaussian_tails,
    minus_log_complement,
    normal_tail,
    power,
    quotient,
    ratio,
)
from privately.noise.inversion import Cumulative
from privately.noise.samplers import (
    _exponential_decay,
    _geometric_decay,
    discrete_gaussian,
    half_gaussian,
    one_sided,
    rounded_normal,
    two_sided,
)
from tests.rounding.truth import real, truth

WIDEST = 4
SLACK = Fraction(1, 2**64)
BITS = st.sampled_from([1, 2, 3, 64, 96, 128, 1000, 2000]) | st.integers(1, 2000)


def contains(found: Bracket, value: Fraction, bits: int) -> bool:
    """Whether the value, good to 2^-64 of a unit, is inside."""
    scaled = value * 2**bits
    return bool(found.lower <= scaled + SLACK and scaled - SLACK <= found.upper)


def fits(found: Bracket, value: Fraction, bits: int) -> bool:
    return contains(found, value, bits) and found.upper - found.lower <= WIDEST


def to_bits(formula: Callable[[], Any], bits: int) -> Fraction:
    """A value below a hundred, to well beyond so many bits."""
    return truth(formula, bits * 302 // 1000 + 60)


def decay(x: Fraction, bits: int) -> Fraction:
    return Fraction(0) if x > bits + 64 else to_bits(lambda: mpmath.exp(-real(x)), bits)


def tail(x: Fraction, bits: int) -> Fraction:
    return Fraction(0) if x * x > 2 * bits + 128 else to_bits(lambda: mpmath.erfc(real(x) / mpmath.sqrt(2)) / 2, bits)


def log(p: Fraction, bits: int) -> Fraction:
    return to_bits(lambda: -mpmath.log1p(-real(p)), bits)


def sums(c: Fraction, count: int, bits: int) -> list[Fraction]:
    """The sums of exp(-c j^2/2) over j >= n for all n < count, each term by itself."""
    last = max(count, isqrt(int((2 * bits + 200) / c)) + 2)
    terms = [decay(c * j * j / 2, bits) for j in range(last)]
    found = [sum(terms[count:], Fraction(0))]
    for term in reversed(terms[:count]):
        found.append(found[-1] + term)
    return found[:0:-1]


@st.composite
def up_to(draw: st.DrawFn, limit: Callable[[int, int], Fraction]) -> tuple[Fraction, int]:
    """Bits, and an argument of any size, often right at limit(bits, e), which is good to 2^-e."""
    bits = draw(BITS)
    ordinary = st.fractions(min_value=0, max_value=limit(bits, 10) + 1, max_denominator=10**9)
    tiny = st.builds(lambda n, e: Fraction(n, 2**e), st.integers(0, 2**40), st.integers(40, 4000))
    edge = st.builds(lambda n, e: limit(bits, e) + Fraction(n, 2**e), st.integers(-1, 1), st.integers(1, 4000))
    huge = st.builds(lambda e: Fraction(2) ** e + Fraction(1, 3), st.integers(1, 4000))
    return draw(ordinary | tiny | edge | huge), bits


@given(up_to(lambda bits, _: Fraction(bits)))
@example((Fraction(0), 1))
@example((Fraction(0), 2000))
@example((Fraction(1), 1))
@example((1 - Fraction(1, 2**4000), 1))
@example((2000 - Fraction(1, 2**4000), 2000))
def test_exp_minus_contains_the_truth(case: tuple[Fraction, int]) -> None:
    x, bits = case
    assert fits(exp_minus(x, bits), decay(x, bits), bits)


@settings(max_examples=50)
@given(up_to(lambda bits, e: Fraction(isqrt(2 * bits << 2 * e), 2**e)))
@example((Fraction(0), 1))
@example((Fraction(0), 2000))
@example((Fraction(2), 2))
@example((2 - Fraction(1, 2**4000), 2))
@example((Fraction(60), 1800))
@example((60 - Fraction(1, 2**4000), 1800))
def test_normal_tail_contains_the_truth(case: tuple[Fraction, int]) -> None:
    x, bits = case
    assert fits(normal_tail(x, bits), tail(x, bits), bits)


@given(
    st.fractions(min_value=0, max_value=1, max_denominator=10**9)
    | st.builds(lambda e: 1 - Fraction(1, 2**e), st.integers(0, 200)),
    st.integers(0, 200) | st.builds(lambda n, e: n << e, st.integers(1, 9), st.integers(0, 80)),
    BITS,
)
@example(Fraction(0), 0, 1)
@example(Fraction(1), 2**80, 2000)
@example(1 - Fraction(1, 2**60), 2**62, 2000)
def test_power_contains_the_truth(base: Fraction, exponent: int, bits: int) -> None:
    negligible = (1 - base) * exponent > bits + 64
    true = Fraction(0) if negligible else to_bits(lambda: real(base) ** exponent, bits + 100)
    assert fits(power(base, exponent, bits), true, bits)


@given(st.fractions(min_value=0, max_value=1, max_denominator=10**6), st.integers(0, 40), BITS)
def test_powers_that_need_no_rounding_are_exact(base: Fraction, exponent: int, bits: int) -> None:
    found, exact = power(base, exponent, bits), base**exponent * 2**bits
    assert found.lower <= exact <= found.upper
    assert exact.denominator > 1 or base.denominator & (base.denominator - 1) or found.lower == found.upper


@given(st.fractions(min_value=Fraction(1, 10**6), max_value=Fraction(1, 2)), st.integers(0, 3000), BITS)
@example(Fraction(1, 2), 0, 1)
@example(Fraction(1, 2), 0, 2000)
def test_minus_log_complement_contains_the_truth(part: Fraction, shrink: int, bits: int) -> None:
    p = part / 2**shrink
    assert fits(minus_log_complement(p, bits), log(p, bits), bits)


@settings(max_examples=25)
@given(st.fractions(min_value=Fraction(1, 20), max_value=2, max_denominator=1000), st.integers(1, 400))
@example(Fraction(1, 4096), 96)
@example(Fraction(1, 4096), 1)
@example(Fraction(1, 1024), 300)
@example(Fraction(10**6), 64)
@example(Fraction(10**6), 2000)
@example(Fraction(1), 2000)
@example(Fraction(1500), 600)
def test_gaussian_tails_contain_the_truth(c: Fraction, bits: int) -> None:
    found = gaussian_tails(c, bits)
    true = sums(c, len(found), bits)
    assert all(fits(one, value, bits) for one, value in zip(found, true, strict=True))
    assert found[-1].upper <= 2
    assert sums(c, len(found) + 1, bits)[-1] * 2**bits < 1


@given(st.fractions(max_denominator=10**30), BITS)
def test_a_ratio_is_right_to_the_last_bit(x: Fraction, bits: int) -> None:
    found = ratio(x, bits)
    assert found.lower <= x * 2**bits <= found.upper
    assert found.upper - found.lower == ((x * 2**bits).denominator > 1)


UNIT = st.fractions(min_value=0, max_value=1, max_denominator=10**9)


@given(UNIT, st.integers(0, 3), st.fractions(min_value=Fraction(1, 10), max_value=100), st.integers(0, 3), BITS)
def test_quotients_and_complements_contain_the_truth(
    part: Fraction, above: int, bottom: Fraction, below: int, bits: int
) -> None:
    """Whatever the brackets of both parts are."""
    bits += 8
    x, y = ratio(part * bottom, bits), ratio(bottom, bits)
    top, base = Bracket(max(x.lower - below, 0), x.upper + above), Bracket(y.lower - above, y.upper + below)
    found = quotient(top, base, bits)
    assert found.lower <= part * 2**bits <= found.upper <= 2**bits
    turned = found.complement(bits)
    assert turned.lower <= (1 - part) * 2**bits <= turned.upper
    assert turned.complement(bits) == found


@pytest.mark.parametrize("bits", [1, 2, 10, 64, 500, 4000])
def test_constants_contain_the_truth(bits: int) -> None:
    assert fits(brackets._pi(bits), to_bits(lambda: +mpmath.pi, bits), bits)
    assert fits(brackets._inverse_root_two_pi(bits), to_bits(lambda: 1 / mpmath.sqrt(2 * mpmath.pi), bits), bits)
    assert contains(brackets._arctan_of_inverse(5, bits), to_bits(lambda: mpmath.acot(5), bits), bits)
    assert contains(brackets._arctan_of_inverse(239, bits), to_bits(lambda: mpmath.acot(239), bits), bits)


@given(UNIT, st.integers(1, 100))
@example(Fraction(1, 2**8), 30)
def test_the_exponential_series_contains_the_truth(part: Fraction, bits: int) -> None:
    r = ratio(part / 16, bits)
    found = brackets._exp_series(r, bits)
    assert found.lower <= 2**bits / decay(Fraction(r.lower, 2**bits), bits) + SLACK
    assert found.upper >= 2**bits / decay(Fraction(r.upper, 2**bits), bits) - SLACK


SOURCE = Path(brackets.__file__).read_text(encoding="utf-8")
PARTS = [Fraction(n, d) for d in (1, 2, 7, 64) for n in range(1, 14)] + [Fraction(1, 2**n) for n in range(3, 16)]
FEW_BITS = (24, 31, 40)
FAULTS = {
    "exp: lower end too high": ("lower = lower * lower >> working", "lower = (lower * lower >> working) + 3"),
    "exp: upper end rounded down": ("upper = -(-upper * upper >> working)", "upper = upper * upper >> working"),
    "exp: quotient rounded down": (
        "upper = -(-(1 << 2 * working) // grown.lower)",
        "upper = (1 << 2 * working) // grown.lower",
    ),
    "exp: cut off too early": ("if x >= bits:", "if 2 * x >= bits:"),
    "exp series: remainder forgotten": ("total_above + 2)", "total_above)"),
    "exp series: terms rounded up": (
        "below = (below * r.lower >> bits) // n",
        "below = below * r.lower // (n << bits) + 1",
    ),
    "log: remainder forgotten": ("upper + 2)", "upper)"),
    "log: terms rounded down": ("upper += -(-term.upper // n)", "upper += term.upper // n"),
    "log: terms rounded up": ("lower += term.lower // n", "lower += -(-term.lower // n)"),
    "normal: cut off too early": ("if square >= 2 * bits:", "if square >= bits:"),
    "normal: remainder forgotten": ("total_above + 2 * above)", "total_above)"),
    "normal: series stopped too early": (" or square.upper > odd + 1 << bits - 1:", " and above > x.upper:"),
    "normal: ends exchanged": (
        "half - middle.upper, 0), half - middle.lower",
        "half - middle.lower, 0), half - middle.upper",
    ),
    "pi: errors forgotten": ("Bracket(total - odd - 1, total + odd + 1)", "Bracket(total, total)"),
    "root: rounded down": ("isqrt(-(-(1 << 4 * bits - 1) // pi.lower)) + 1", "isqrt((1 << 4 * bits - 1) // pi.upper)"),
    "product: lower end rounded up": ("x.lower * y.lower >> bits", "-(-x.lower * y.lower >> bits)"),
    "product: upper end rounded down": ("-(-x.upper * y.upper >> bits)", "x.upper * y.upper >> bits"),
    "shortening: lower end rounded up": ("x.lower >> bits,", "-(-x.lower >> bits),"),
    "shortening: upper end rounded down": ("-(-x.upper >> bits))", "x.upper >> bits)"),
    "ratio: lower end rounded up": ("scaled // x.denominator, -", "-(-scaled // x.denominator), -"),
    "ratio: upper end rounded down": ("-(-scaled // x.denominator))", "scaled // x.denominator)"),
}


def rewritten(*changes: tuple[str, str]) -> ModuleType:
    """The module, with some of its text replaced."""
    text = SOURCE
    for old, new in changes:
        assert text.count(old) == 1, f"{old!r} is no longer written once in brackets.py: plant the fault anew"
        text = text.replace(old, new)
    module = ModuleType("rewritten")
    exec(compile(text, brackets.__file__, "exec"), module.__dict__)
    return module


UNGUARDED = ("GUARD = 32", "GUARD = 0")
"""Without spare bits every single rounding shows, and brackets must still be right: they only get wider."""


@lru_cache
def cases() -> list[tuple[str, tuple[Any, ...], Fraction, int]]:
    """Function, arguments, truth and bits, where the arguments say it all."""
    found: list[tuple[str, tuple[Any, ...], Fraction, int]] = []
    for bits in FEW_BITS:
        found += [("exp_minus", (x, bits), decay(x, bits), bits) for x in [*PARTS, Fraction(20), Fraction(bits)]]
        found += [("normal_tail", (x, bits), tail(x, bits), bits) for x in [*PARTS[:39], Fraction(bits - 1, 4)]]
        found += [("minus_log_complement", (x, bits), log(x, bits), bits) for x in PARTS if x <= Fraction(1, 2)]
        found += [("power", (x, n, bits), x**n, bits) for x in PARTS if x < 1 for n in (1, 2, 3, 11)]
        found += [("_exp_series", (ratio(x, bits), bits), 1 / decay(x, bits), bits) for x in PARTS if dyadic(x)]
        found += [("_pi", (bits,), to_bits(lambda: +mpmath.pi, bits), bits)]
        found += [("_inverse_root_two_pi", (bits,), to_bits(lambda: 1 / mpmath.sqrt(2 * mpmath.pi), bits), bits)]
        for c in (Fraction(1, 50), Fraction(1, 4), Fraction(1), Fraction(5)):
            found += [("nth_tail", (c, bits, n), value, bits) for n, value in enumerate(sums(c, 50, bits))]
        found += [
            ("_odd_series", odd_arguments(x, bits), odd_sum(x, bits), bits) for x in (*range(1, 7), Fraction(1, 2**12))
        ]
    return found


def dyadic(x: Fraction) -> bool:
    return x <= Fraction(1, 16) and x.denominator & (x.denominator - 1) == 0


def odd_arguments(x: Fraction | int, bits: int) -> tuple[Bracket, Bracket, int]:
    return ratio(Fraction(x), bits), ratio(Fraction(x * x), bits), bits


def odd_sum(x: Fraction | int, bits: int) -> Fraction:
    return to_bits(
        lambda: mpmath.exp(real(x * x) / 2) * mpmath.sqrt(mpmath.pi / 2) * mpmath.erf(real(x) / mpmath.sqrt(2)),
        bits + 60,
    )


def wrong(module: ModuleType) -> list[str]:
    """The functions that leave the truth outside somewhere."""

    def nth_tail(c: Fraction, bits: int, n: int) -> Bracket:
        found = module.gaussian_tails(c, bits)
        return found[n] if n < len(found) else Bracket(0, found[-1].upper)

    module.__dict__["nth_tail"] = lru_cache(nth_tail)
    return sorted(
        {
            name
            for name, arguments, value, bits in cases()
            if not contains(getattr(module, name)(*arguments), value, bits)
        }
    )


@pytest.mark.parametrize("guard", [0, 1, 2, 5, 32])
def test_brackets_are_right_whatever_the_spare_bits(guard: int) -> None:
    assert wrong(rewritten(("GUARD = 32", f"GUARD = {guard}"))) == []


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_noticed(fault: str) -> None:
    assert wrong(rewritten(UNGUARDED, FAULTS[fault])) != []


@pytest.mark.parametrize("remainder", ["", "0", "-(-term.upper * step.upper // (1 << working))"])
def test_gaussian_tails_need_their_remainder(remainder: str) -> None:
    """It is smaller than what rounding to the bits asked for adds, so it only shows before that."""
    bits, c, written = 64, Fraction(1, 200), "-(-term.upper * step.upper // ((1 << working) - step.upper))"
    shortening = (
        "tails.append(_shortened(Bracket(lower, upper), working - bits))",
        "tails.append(Bracket(lower, upper))",
    )
    found = rewritten(shortening, (written, remainder or written)).gaussian_tails(c, bits)
    fine = bits + 2 * brackets.GUARD
    right = [contains(one, value, fine) for one, value in zip(found, sums(c, len(found), fine), strict=True)]
    assert all(right) == (remainder == "")


def pairs() -> list[tuple[Cumulative, Law]]:
    """What samplers invert, and the law it is meant to be, which is computed in decimals by other formulas."""
    found: list[tuple[Cumulative, Law]] = []
    for scale in map(Fraction, ("1/1000", "1/50", "1/3", "1", "7/3", "64")):
        decay = _exponential_decay(scale)
        found += [
            (two_sided(decay), DiscreteLaplace(scale=scale)),
            (one_sided(decay), DiscreteExponential(scale=scale)),
        ]
        found += [(rounded_normal(scale), RoundedNormal(standard_deviation=scale))]
        found += [(discrete_gaussian(scale**2), DiscreteGaussian(variance=scale**2))]
    for success in map(Fraction, ("999/1000", "1/2", "1/3", "1/64")):
        found += [(one_sided(_geometric_decay(success)), Geometric(success=success))]
    return found


PAIRS = {str(law): (cumulative, law) for cumulative, law in pairs()}
OUTCOMES = [0, 1, 2, 3, 5, 10, 20, 30, 64, 100, 200, 350, 600, 1000]


def meets(cumulative: Cumulative, law: Law, k: int, bits: int) -> bool:
    """Whether the bracket of F(k) and the interval of the law have a point in common, and the bracket is narrow."""
    bracket, interval = cumulative.bracket(k, bits), law.cdf(k)
    common = bracket.lower <= interval.upper * 2**bits and interval.lower * 2**bits <= bracket.upper
    return common and bracket.upper - bracket.lower <= 2 * WIDEST


@pytest.mark.parametrize("name", PAIRS)
def test_distribution_functions_agree_with_the_laws(name: str) -> None:
    cumulative, law = PAIRS[name]
    least = -max(OUTCOMES) if cumulative.lowest is None else cumulative.lowest
    chosen = [k for k in {*OUTCOMES, *(-k for k in OUTCOMES)} if k >= least]
    assert all(meets(cumulative, law, k, bits) for k in chosen for bits in (16, 96, 180, 300))


@pytest.mark.parametrize("name", PAIRS)
def test_a_shifted_outcome_is_noticed(name: str) -> None:
    cumulative, law = PAIRS[name]
    shifted = Cumulative(bracket=lambda k, bits: cumulative.bracket(k - 1, bits))
    assert not meets(shifted, law, 0, 96)


@pytest.mark.parametrize("c", [Fraction(1, 4000), Fraction(1, 1024), Fraction(1, 7)])
@pytest.mark.parametrize("bits", [1, 96, 200])
def test_the_law_of_bins_is_half_a_gaussian(c: Fraction, bits: int) -> None:
    cumulative, true = half_gaussian(c), sums(c, 400, bits + 20)
    for k in range(0, 399, 7):
        assert fits(cumulative.bracket(k, bits), 1 - true[k + 1] / true[0], bits)


@pytest.mark.slow
@pytest.mark.parametrize("bits", [5000, 20000])
def test_brackets_of_many_bits(bits: int) -> None:
    for x in (Fraction(1, 3), Fraction(7), Fraction(60)):
        assert fits(exp_minus(x, bits), decay(x, bits), bits)
        assert fits(normal_tail(x, bits), tail(x, bits), bits)
        assert fits(minus_log_complement(1 / (5 + x), bits), log(1 / (5 + x), bits), bits)
        assert fits(power(1 - 1 / (5 + x), 10**6, bits), to_bits(lambda: real(1 - 1 / (5 + x)) ** 10**6, bits), bits)  # noqa: B023
