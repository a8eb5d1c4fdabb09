"""Exact values, and typed refusals where there is none."""

from fractions import Fraction
from typing import Any

import pytest

from privately.errors import NotSupported
from privately.proving.exact.weights import UNKNOWN
from privately.proving.language.meaning import FUNCTIONS, UNSET, evaluator, shown, truth
from privately.proving.language.syntax import OPERATORS, Apply, Constant, Each, Variable


def value(operator: str, *operands: Any) -> Any:
    names = {f"v{place}": place for place in range(len(operands))}
    return evaluator(Apply(operator, tuple(map(Variable, names))), names, {})(tuple(operands))


def test_every_operator_has_a_meaning() -> None:
    lazy = {"and", "or", "if"}
    assert set(OPERATORS) == set(FUNCTIONS) | lazy


@pytest.mark.parametrize(
    ("operator", "operands", "expected"),
    [
        ("/", (1, 3), Fraction(1, 3)),
        ("/", (4, 2), 2),
        ("//", (-7, 2), -4),
        ("%", (-7, 2), 1),
        ("**", (2, -1), Fraction(1, 2)),
        ("xor", ((1, 0), (1, 1)), (0, 1)),
        ("if", (True, 1, UNSET), 1),
        ("and", (False, UNSET), False),
        ("or", (1, UNSET), True),
        ("item", ((5, 6), -1), 6),
        ("part", ((5, 6, 7), 1, 9), (6, 7)),
        ("replaced", ((5, 6), 0, 1), (1, 6)),
        ("without", ((5, 6), 1), (5,)),
        ("numbers", (2, 5), (2, 3, 4)),
        ("total", ((1, Fraction(1, 2)),), Fraction(3, 2)),
        ("least", ((3, 1),), 1),
        ("largest", (3, 1), 3),
        ("in", (2, (1, 2)), True),
        ("repeated", ((0,), 3), (0, 0, 0)),
    ],
)
def test_values(operator: str, operands: tuple[Any, ...], expected: Any) -> None:
    assert value(operator, *operands) == expected


@pytest.mark.parametrize(
    ("operator", "operands", "message"),
    [
        ("/", (1, 0), "division by zero"),
        ("%", (1, 0), "division by zero"),
        ("**", (0, -1), "division by zero"),
        ("**", (2, 10**6), "without bounds"),
        ("*", (2**60_000, 2**60_000), "without bounds"),
        ("item", ((1,), 1), "no entry 1"),
        ("item", (3, 0), "no list"),
        ("+", (1, (2,)), "no number"),
        ("not", (2,), "neither true nor false"),
        ("<", (UNKNOWN, 1), "left open"),
        ("==", (UNKNOWN, 1), "left open"),
        ("least", ((),), "of nothing"),
        ("numbers", (0, 10**9), "more than"),
        ("repeated", ((0,), 10**9), "more than"),
        ("item", ((1,), Fraction(1, 2)), "not whole"),
        ("xor", ((1,), (1, 0)), "different lengths"),
        ("function", ("f", 1), "nothing is known"),
        ("+", (UNSET, 1), "before it has a value"),
    ],
)
def test_refusals(operator: str, operands: tuple[Any, ...], message: str) -> None:
    with pytest.raises(NotSupported, match=message):
        value(operator, *operands)


def test_lists_over_a_name_do_not_disturb_others() -> None:
    inner = Each(
        Apply("+", (Variable("n"), Variable("k"))), "n", Variable("xs"), Apply("<", (Constant(1), Variable("n")))
    )
    assert evaluator(inner, {"xs": 0, "k": 1}, {})(((1, 2, 3), 10)) == (12, 13)
    assert evaluator(inner, {"k": 0}, {"xs": (4,)})((1,)) == (5,)


def test_truth_and_short_texts() -> None:
    assert truth(Fraction(1)) is True
    assert len(shown(tuple(range(1000)))) == 60
    with pytest.raises(NotSupported, match="'z' has no value"):
        evaluator(Variable("z"), {}, {})(())


def test_equality_looks_into_lists() -> None:
    same, among = FUNCTIONS["=="], FUNCTIONS["in"]
    assert same((1, (True, 2)), (1, (1, 2)))
    assert not same((1, 2), (1, 2, 3))
    assert among((1, 2), ((3, 4), (1, 2)))
    assert not among(4, (1, 2, 3))
    with pytest.raises(NotSupported, match="left open"):
        same((1, UNKNOWN), (1, 2))
    with pytest.raises(NotSupported, match="left open"):
        among(2, (1, UNKNOWN))


def test_what_is_open_is_not_named_in_messages() -> None:
    assert shown(UNKNOWN + 1) == "a number that is still open"
    assert shown((Fraction(1, 2), UNKNOWN)) == "[1/2, a number that is still open]"
    with pytest.raises(NotSupported, match="a number that is still open is neither true nor false"):
        truth(UNKNOWN)
