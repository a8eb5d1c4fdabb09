"""Decimals as they are written."""

import ast
from fractions import Fraction

import pytest

from privately.errors import NotSupported
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
