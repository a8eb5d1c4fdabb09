"""What is shown of a number never promises more than the number."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately.cli.account.numbers import counted, ends, options, per_hundred, plain, right_guesses, rounded, sentence
from privately.errors import InvalidParameter
from privately.rounding import Interval

ENDS = st.fractions(min_value=0, max_value=300) | st.builds(
    lambda digits, power: Fraction(digits, 10**power), st.integers(0, 10**20), st.integers(0, 150)
)


@given(ENDS, ENDS)
def test_shown_ends_lie_outside(one: Fraction, other: Fraction) -> None:
    interval = Interval(min(one, other), max(one, other))
    low, high = ends(interval)
    assert Fraction(low) <= interval.lower
    assert Fraction(high) >= interval.upper
    shown = Fraction(high) - Fraction(low)
    assert shown <= 3 * interval.width + interval.upper / 10**6


@given(ENDS, ENDS)
def test_floats_lie_outside(one: Fraction, other: Fraction) -> None:
    interval = Interval(min(one, other), max(one, other))
    found = plain(interval)
    assert found["lower"] is not None
    assert found["upper"] is not None
    assert Fraction(found["lower"]) <= interval.lower
    assert Fraction(found["upper"]) >= interval.upper


def test_both_ends_have_the_same_places() -> None:
    assert ends(Interval(Fraction("9.84199791"), Fraction("9.84199999"))) == ("9.841997", "9.842000")
    assert ends(Interval(Fraction("2.02838061e-8"), Fraction("2.02838099e-8"))) == ("2.0283806e-8", "2.0283810e-8")
    assert ends(Interval(0, Fraction("1.25"))) == ("0", "1.25")
    assert ends(Interval(1, Fraction("1.25"))) == ("1.00", "1.25")
    assert ends(Interval(Fraction(1, 3), Fraction(1, 3)))[0] == "0.333333333333333"


@pytest.mark.parametrize(
    ("interval", "expected"),
    [
        (Interval(math.inf, math.inf), "is infinite"),
        (Interval(1, math.inf), "is at least 1, and no upper end was found"),
        (Interval(1, 2), "is between 1 and 2"),
        (Interval(Fraction(1, 10**30), Fraction(1, 10**30)), "is 1e-30"),
    ],
)
def test_sentences(interval: Interval, expected: str) -> None:
    assert sentence(interval) == expected


def test_infinity_is_null() -> None:
    assert plain(Interval(1, math.inf)) == {"lower": 1.0, "upper": None}


def test_the_least_float_is_not_passed() -> None:
    found = plain(Interval(0, Fraction(1, 10**400)))
    assert found == {"lower": 0.0, "upper": 5e-324}


@given(st.fractions(min_value=0, max_value=60))
def test_an_even_guess_rises_no_further(epsilon: Fraction) -> None:
    truth = 1 / (1 + math.exp(-epsilon))
    assert truth - 1e-12 <= right_guesses(epsilon) <= min(1.0, truth + 1e-12)
    shown = float(per_hundred(right_guesses(epsilon))) / 100
    assert truth - 1e-12 <= shown <= truth + 0.1001 * (1 - truth) + 1e-8


def test_certainty() -> None:
    assert per_hundred(right_guesses(math.inf)) == "100"
    assert per_hundred(right_guesses(Fraction(0))) == "50"


@given(st.floats(1e-9, 1e9), st.integers(1, 17))
def test_rounding_goes_where_it_is_told(value: float, digits: int) -> None:
    assert (
        Fraction(rounded(value, digits, upward=False))
        <= Fraction(value)
        <= Fraction(rounded(value, digits, upward=True))
    )


def test_whole_numbers() -> None:
    assert counted("1e4", "steps") == 10_000
    with pytest.raises(InvalidParameter, match=r"steps: 1\.5 is not a whole number"):
        counted("1.5", "steps")


def test_complaints_name_the_option() -> None:
    def complain() -> None:
        raise InvalidParameter("times", "is odd.", hint="Try another.")

    with pytest.raises(InvalidParameter, match=r"^--steps: is odd. Try another.$"), options({"times": "--steps"}):
        complain()
    with pytest.raises(InvalidParameter, match=r"^times: is odd."), options({"rate": "--rate"}):
        complain()


@given(st.fractions(min_value=0, max_value=9), st.fractions(min_value=0, max_value=1))
def test_delta_counts_in_full(epsilon: Fraction, delta: Fraction) -> None:
    """Of the worst pair: everything is told with probability delta, else a randomized response."""
    even = 1 / (1 + math.exp(-epsilon))
    truth = float(delta) + (1 - float(delta)) * even
    assert right_guesses(epsilon, delta) == pytest.approx(truth, abs=1e-12)
    assert right_guesses(epsilon, delta) >= truth - 1e-15
