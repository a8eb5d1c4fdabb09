"""The geometric law: exact where fractions are short, enclosed beyond, certain at ties."""

from fractions import Fraction
from typing import Any

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately.errors import InvalidParameter
from privately.laws import Geometric
from tests.laws.checks import BAD_PARAMETERS, check_bad_questions, check_consistent, known
from tests.rounding.truth import real, truth

CHANCES = st.fractions(min_value=Fraction(1, 1000), max_value=1, max_denominator=1000)
TIGHT = 1e-54


@given(CHANCES, st.integers(0, 200))
def test_short_fractions_are_exact(success: Fraction, k: int) -> None:
    law = Geometric(success=success)
    failure = 1 - success
    assert tuple(law.pmf(k)) == (success * failure**k,) * 2
    assert tuple(law.tail(k)) == (failure ** (k + 1),) * 2
    assert tuple(law.cdf(k)) == (1 - failure ** (k + 1),) * 2


@given(
    st.fractions(min_value=Fraction(1, 10**6), max_value=Fraction(99, 100), max_denominator=10**9),
    st.integers(0, 60),
    st.fractions(min_value=0, max_value=2000, max_denominator=1000),
)
def test_contains_the_truth(part: Fraction, shrink: int, steps: Fraction) -> None:
    success = part / Fraction(10) ** shrink
    law, k = Geometric(success=success), round(steps / success)

    def log_tail(n: int) -> Any:
        return n * mpmath.log1p(-real(success))

    for found, value in (
        (law.pmf(k), truth(lambda: real(success) * mpmath.exp(log_tail(k)))),
        (law.tail(k), truth(lambda: mpmath.exp(log_tail(k + 1)))),
        (law.cdf(k), truth(lambda: -mpmath.expm1(log_tail(k + 1)))),
    ):
        assert known(found, value, TIGHT)
    check_consistent(law, [k, 0])


@given(st.fractions(min_value=Fraction(1, 50), max_value=Fraction(49, 50), max_denominator=50), st.integers(0, 600))
def test_quantile_at_equality(success: Fraction, k: int) -> None:
    """A probability that the law takes exactly, and its two nearest neighbours."""
    law = Geometric(success=success)
    exact = 1 - (1 - success) ** (k + 1)
    if exact.denominator.bit_length() > 4000:
        return
    assert law.quantile(exact) == k
    assert law.interval(exact) == k
    beside = Fraction(1, 2**4090)
    if (exact + beside).denominator.bit_length() <= 4096:
        assert law.quantile(exact + beside) == k + 1
        assert law.quantile(exact - beside) == k


def test_success_may_be_certain() -> None:
    law = Geometric(success=1)
    assert tuple(law.pmf(0)) == tuple(law.cdf(10**30)) == (1, 1)
    assert tuple(law.pmf(5)) == tuple(law.tail(0)) == (0, 0)
    assert law.quantile("0.99") == law.interval("0.99") == 0


def test_nothing_lies_below_zero() -> None:
    law = Geometric(success="1/3")
    assert tuple(law.pmf(-1)) == tuple(law.cdf(-1)) == (0, 0)
    assert tuple(law.tail(-1)) == (1, 1)


def test_far_out() -> None:
    for success in ("1/3", Fraction(1, 10**30), 1 - Fraction(1, 10**30), Fraction(1, 10**1000)):
        check_consistent(Geometric(success=success), [0, 1, 1000, 10**30, 10**99])


@pytest.mark.parametrize("bad", [*(bad for bad in BAD_PARAMETERS), 2, "1.0001"], ids=lambda value: type(value).__name__)
def test_bad_chances_are_named(bad: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        Geometric(success=bad)
    assert caught.value.field == "success"


def test_bad_questions_are_named() -> None:
    check_bad_questions(Geometric(success="1/3"))
