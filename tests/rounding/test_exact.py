"""Parameters come in exactly or not at all; bounds leave rounded to the safe side."""

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately.errors import InvalidParameter
from privately.rounding import LARGEST, MAX_BITS, decimal_text, rational, round_down, round_up, tidy, whole

RATIONALS = st.fractions(max_denominator=10**40) | st.builds(
    lambda mantissa, exponent: Fraction(mantissa) * Fraction(10) ** exponent,
    st.integers(-(10**30), 10**30),
    st.integers(-400, 400),
)


@pytest.mark.parametrize(
    ("value", "exact"),
    [
        (3, Fraction(3)),
        (0.1, Fraction(0.1)),
        ("0.1", Fraction(1, 10)),
        ("1/3", Fraction(1, 3)),
        (" -2.5e-3\n", Fraction(-1, 400)),
        ("5.", Fraction(5)),
        (".5", Fraction(1, 2)),
        ("+7E2", Fraction(700)),
        (Fraction(22, 7), Fraction(22, 7)),
        (Decimal("0.1"), Fraction(1, 10)),
        (Decimal("-0"), Fraction(0)),
        (5e-324, Fraction(5e-324)),
    ],
)
def test_rational_is_exact(value: Any, exact: Fraction) -> None:
    assert rational(value, "epsilon") == exact


@given(st.floats(allow_nan=False, allow_infinity=False) | st.fractions() | st.integers(-(2**4000), 2**4000))
def test_rational_keeps_its_value(value: float | Fraction) -> None:
    assert rational(value, "x") == Fraction(value)


BAD: list[Any] = [
    math.nan,
    math.inf,
    -math.inf,
    True,
    False,
    None,
    "",
    "many",
    "nan",
    "inf",
    "-inf",
    "1e99999",
    "1e9999",
    "1e-9999",
    "1/0",
    "1/",
    "1/2/3",
    "1_000",
    "0x10",
    "١",
    "1,5",
    "--1",
    "1" * 10_000,
    "0." + "1" * 10_000,
    10**10_000,
    -(10**10_000),
    Fraction(1, 10**10_000),
    Decimal("nan"),
    Decimal("snan"),
    Decimal("inf"),
    Decimal("1e100000"),
    1j,
    b"1",
    [1],
    {},
    object(),
]


@pytest.mark.parametrize("value", BAD, ids=lambda value: repr(type(value).__name__))
def test_rational_refuses_and_names_the_field(value: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        rational(value, "epsilon")
    assert caught.value.field == "epsilon"
    assert str(caught.value).startswith("epsilon: ")
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    "value", ["1e-100000", "1e1000000000", "-1E99999", "9" * 5000, ".5e-12345", Decimal("1e99999")]
)
def test_numbers_out_of_range_are_still_numbers(value: Any) -> None:
    with pytest.raises(InvalidParameter, match="is out of range: too long for 4096 bits"):
        rational(value, "x")


def test_texts_are_told_how_to_write_a_number() -> None:
    with pytest.raises(InvalidParameter) as caught:
        rational("1,5", "x")
    assert str(caught.value) == "x: '1,5' is not a number; write it as in 0.1, 1e-5 or 1/3."


def test_rational_keeps_its_range() -> None:
    assert rational(0, "x", minimum=0) == 0
    assert rational(1, "x", maximum=1) == 1
    assert rational(2 ** (MAX_BITS - 1), "x") == 2 ** (MAX_BITS - 1)
    with pytest.raises(InvalidParameter, match="x: -1 is below 0"):
        rational(-1, "x", minimum=0)
    with pytest.raises(InvalidParameter, match="x: 0 must be above 0"):
        rational(0, "x", above=0)
    with pytest.raises(InvalidParameter, match=r"x: '1\.1' is above 1"):
        rational("1.1", "x", maximum=1)
    with pytest.raises(InvalidParameter, match="too long"):
        rational(2**MAX_BITS, "x")


def test_whole_accepts_integers_in_range() -> None:
    assert [whole(k, "n") for k in (1, LARGEST)] == [1, LARGEST]
    assert whole(-3, "n", minimum=-3, maximum=0) == -3


@pytest.mark.parametrize(
    "value",
    [0, -1, LARGEST + 1, 10**10_000, 1.0, "1", True, None, math.nan, Fraction(1, 2), Decimal(1), 1j],
    ids=lambda value: type(value).__name__,
)
def test_whole_refuses_and_names_the_field(value: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        whole(value, "n")
    assert caught.value.field == "n"
    assert len(str(caught.value)) < 300


@given(RATIONALS, st.integers(1, 40))
def test_round_up_and_down_are_the_nearest_on_their_side(value: Fraction, digits: int) -> None:
    up, down = round_up(value, digits), round_down(value, digits)
    assert down <= value <= up
    assert round_up(up, digits) == up
    assert round_down(down, digits) == down
    assert up - down <= max(abs(up), abs(down)) / Fraction(10) ** (digits - 1)
    assert (up == down) == (up == value)
    if value > 0:
        unit = Fraction(10) ** (_log10(value) - digits + 1)
        assert up - value < unit
        assert value - down < unit


def _log10(value: Fraction) -> int:
    """The largest e with 10^e <= value."""
    exponent = len(str(value.numerator)) - len(str(value.denominator))
    while Fraction(10) ** exponent > value:
        exponent -= 1
    while Fraction(10) ** (exponent + 1) <= value:
        exponent += 1
    return exponent


@given(RATIONALS)
def test_round_up_mirrors_round_down(value: Fraction) -> None:
    assert round_up(-value) == -round_down(value)


def test_tidy_leaves_ordinary_numbers_alone() -> None:
    assert tidy(Fraction(1, 3)) == Fraction(1, 3)
    assert tidy(Fraction(1, 2 ** (MAX_BITS // 2 - 1))) == Fraction(1, 2 ** (MAX_BITS // 2 - 1))


@given(st.integers(2**2100, 2**3000), st.integers(2**2100, 2**3000))
def test_tidy_rounds_long_numbers_up(above: int, below: int) -> None:
    value = Fraction(above, below)
    short = tidy(value)
    assert value <= short <= value * (1 + Fraction(1, 10**299))


@given(RATIONALS, st.integers(1, 28))
def test_decimal_text_rounds_as_told(value: Fraction, digits: int) -> None:
    assert Fraction(decimal_text(value, digits, ROUND_CEILING)) == round_up(value, digits)
    assert Fraction(decimal_text(value, digits, ROUND_FLOOR)) == round_down(value, digits)


def test_decimal_text_is_plain_where_it_can_be() -> None:
    assert decimal_text(Fraction(1, 4), 7, ROUND_FLOOR) == "0.25"
    assert decimal_text(Fraction(1200), 2, ROUND_FLOOR) == "1200"
    assert decimal_text(Fraction(1, 10**9), 7, ROUND_FLOOR) == "1e-9"
    assert decimal_text(math.inf, 7, ROUND_CEILING) == "inf"
    assert decimal_text(Fraction(0), 7, ROUND_CEILING) == "0"
