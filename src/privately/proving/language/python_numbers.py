"""Decimals in Python texts are what is written: 0.1 is a tenth, and all digits count."""

from __future__ import annotations

import ast
from fractions import Fraction

from privately.errors import InvalidParameter
from privately.proving.language.refusals import refusal
from privately.rounding import rational


def decimal_in(source: str, node: ast.Constant) -> Fraction:
    """The number that a float in a text is meant to be."""
    text = (ast.get_source_segment(source, node) or repr(node.value)).replace("_", "")
    try:
        return rational(text, "number")
    except InvalidParameter:
        raise refusal(node, f"the number {text[:20]} is too long.") from None
