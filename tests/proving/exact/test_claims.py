"""Claims in words."""

import re
from fractions import Fraction

import pytest

from privately.errors import InvalidParameter
from privately.proving.exact.claims import read_claim
from privately.proving.exact.weights import UNKNOWN, weight


@pytest.mark.parametrize(
    ("text", "factor", "exponent"),
    [
        ("0", 1, 0),
        ("epsilon", 1, Fraction(1, 2)),
        ("2*size*epsilon", 1, 3),
        ("ln(3)", 3, 0),
        ("2*ln(3) + epsilon", 9, Fraction(1, 2)),
        ("ln(3) - ln(2)", Fraction(3, 2), 0),
        ("-epsilon + 1", 1, Fraction(1, 2)),
        ("epsilon/4 + 0.25", 1, Fraction(3, 8)),
        ("size^2", 1, 9),
        ("log(1/(1/3))", 3, 0),
    ],
)
def test_formulas(text: str, factor: object, exponent: object) -> None:
    claim = read_claim(text, {"epsilon": Fraction(1, 2), "size": 3})
    assert claim.factor == weight(Fraction(str(factor)))
    assert claim.exponent == exponent
    assert str(claim) == text


def test_an_open_parameter_stands_inside_logarithms() -> None:
    assert read_claim("ln((2-p)/(1-p))", {"p": UNKNOWN}).factor == (2 - UNKNOWN) / (1 - UNKNOWN)
    with pytest.raises(InvalidParameter, match=r"outside ln"):
        read_claim("p", {"p": UNKNOWN})


@pytest.mark.parametrize(
    "text",
    ["", "x", "ln(0)", "ln(-1)", "1/0", "ln(2)*ln(3)", "ln(ln(2))", "0.5*ln(2)", "f(1)", "1 if 1 else 2", "1+", "True",
     "2**9999", "1" * 2000, "__import__('os')", "1e9999", "1e999999999"],
)  # fmt: skip
def test_the_rest_is_refused(text: str) -> None:
    with pytest.raises(InvalidParameter):
        read_claim(text, {})


def test_all_digits_of_a_claim_count() -> None:
    assert read_claim("0.49999999999999999999", {}).exponent == Fraction(1, 2) - Fraction(1, 10**20)
    assert read_claim("2^3*0.1 + 1_0.0", {}).exponent == Fraction(54, 5)


def test_errors_quote_what_was_written() -> None:
    for text, part in (("1e999999999", "'1e999999999'"), ("2*0.5//3", "'2*0.5//3'"), ("1 + 2.50 % 2", "'2.50 % 2'")):
        with pytest.raises(InvalidParameter, match=re.escape(part)):
            read_claim(text, {})


def test_decimals_that_are_no_floats_are_numbers() -> None:
    assert read_claim(" 1e400 ", {}).exponent == 10**400
