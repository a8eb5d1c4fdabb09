"""Stirling's series against mpmath."""

from fractions import Fraction

import pytest
from mpmath import mp

from privately.accounting.closed_forms import factorials
from tests.accounting.closed_forms.true_profiles import holds, many_digits


@pytest.mark.parametrize("n", [0, 1, 2, 57, 199, 200, 201, 1000, 10**6, 10**9, 10**15])
def test_log_factorials(n: int) -> None:
    found = factorials.log_factorial(n)
    with many_digits():
        truth = mp.loggamma(n + 1)
        assert holds(truth, Fraction(found.lower), Fraction(found.upper))
    assert found.upper - found.lower <= Fraction(1, 10**40)


def test_too_short_a_series_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(factorials, "_BERNOULLI", (*factorials._BERNOULLI[:4], (10, Fraction(-174611, 330))))
    found = factorials.log_factorial.__wrapped__(200)
    with many_digits():
        assert not holds(mp.loggamma(201), Fraction(found.lower), Fraction(found.upper))
