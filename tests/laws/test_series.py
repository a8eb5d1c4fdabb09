"""The two small series contain the truth, also when they are cut too early."""

from decimal import Decimal
from fractions import Fraction

import mpmath
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from privately.laws import series
from privately.laws.series import minus_log_complement, one_minus_exp
from privately.rounding import Enclosure
from tests.rounding.truth import encloses, real, truth

TIGHT = 1e-57
PROPER = st.fractions(min_value=Fraction(1, 10**6), max_value=1 - Fraction(1, 10**6), max_denominator=10**9)
SHRINK = st.integers(0, 1000)


def gap(y: Fraction) -> Fraction:
    return truth(lambda: -mpmath.expm1(-real(y)))


def log(s: Fraction) -> Fraction:
    return truth(lambda: -mpmath.log1p(-real(s)))


@given(PROPER, SHRINK, st.integers(0, 3))
@example(Fraction(1, 2), 0, 0)
def test_one_minus_exp_contains_the_truth(part: Fraction, shrink: int, grow: int) -> None:
    y = part * 10**grow / Fraction(10) ** shrink
    assert encloses(one_minus_exp(y), gap(y), width=TIGHT)


@given(PROPER, SHRINK)
@example(Fraction(1, 4), 0)
def test_minus_log_complement_contains_the_truth(part: Fraction, shrink: int) -> None:
    s = part / Fraction(10) ** shrink
    assert encloses(minus_log_complement(s), log(s), width=TIGHT)


@pytest.mark.parametrize("negligible", ["0.3", "1e-3", "1e-20"])
def test_a_series_cut_early_is_wide_but_right(negligible: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(series, "NEGLIGIBLE", Decimal(negligible))
    for part in (Fraction(1, 2), Fraction(1, 4), Fraction(1, 100)):
        assert encloses(one_minus_exp(part), gap(part))
        assert encloses(minus_log_complement(min(part, Fraction(1, 4))), log(min(part, Fraction(1, 4))))
    assert not encloses(one_minus_exp(Fraction(1, 2)), gap(Fraction(1, 2)), width=1e-30)


def test_forgetting_the_remainder_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(series, "NEGLIGIBLE", Decimal("1e-20"))
    monkeypatch.setattr(series, "widened", lambda centre, error: centre)
    assert not encloses(one_minus_exp(Fraction(1, 2)), gap(Fraction(1, 2)))


def test_widening_goes_both_ways() -> None:
    found = series.widened(Enclosure.of(1), Decimal("0.25"))
    assert (found.lower, found.upper) == (Decimal("0.75"), Decimal("1.25"))
