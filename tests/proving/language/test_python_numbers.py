"""Decimals as they are written."""

import ast
from fractions import Fraction

import pytest

from privately.errors import NotSupported
from privately.proving.language import python_numbers
from privately.proving.language.python_numbers import decimal_in
from privately.proving.language.pythonic import read_python


def constant(text: str) -> ast.Constant:
    node = ast.parse(text, mode="eval").body
    assert isinstance(node, ast.Constant)
    return node


def test_all_digits_count() -> None:
    for text in ("0.1", "1.00000000000000000001", "1_0.5e-3", "1e-400"):
        assert decimal_in(text, constant(text)) == Fraction(text)
    with pytest.raises(NotSupported, match="too long"):
        decimal_in("1e-99999999", constant("1e-99999999"))


def test_annotations_and_bodies_read_the_same_number() -> None:
    text = "def f(x: each(0.99999999999999999999, whole(0, 1))):\n    return x\n"
    (private,) = read_python(text).private
    assert private.neighborhood is not None
    assert private.neighborhood.distance == 1 - Fraction(1, 10**20)


def test_columns_and_lines_are_those_of_python() -> None:
    text = "def f(x: replaced(0, 1)):\r\n\f    'é'; y = [0.25, 'é' == 1, 0.5] if 0 else 0\r    return 0.125\n"
    numbers = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant)]
    floats = [node for node in numbers if isinstance(node.value, float)]
    assert sorted(decimal_in(text, node) for node in floats) == [Fraction(1, 8), Fraction(1, 4), Fraction(1, 2)]


def test_a_text_is_split_into_lines_once() -> None:
    before = python_numbers._lines.cache_info().misses
    read_python(f"def f(x: replaced(0, 1)):\n    y = [{'0.5,' * 500}]\n    return x\n")
    assert python_numbers._lines.cache_info().misses == before + 1
