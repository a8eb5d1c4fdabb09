"""Numbers in Python texts are what is written: 0.1 is a tenth, and all digits count."""

from __future__ import annotations

import ast
import re
from fractions import Fraction
from functools import lru_cache

from privately.errors import InvalidParameter
from privately.proving.language.meaning import MOST_BITS
from privately.proving.language.refusals import refusal
from privately.rounding import rational


def decimal_in(source: str, node: ast.Constant) -> Fraction:
    """The number that a float in a text is meant to be."""
    written = _lines(source)[node.lineno - 1][node.col_offset : node.end_col_offset]
    text = written.decode().replace("_", "")
    try:
        return rational(text, "number")
    except InvalidParameter:
        raise refusal(node, f"the number {text[:20]} is too long.") from None


@lru_cache(maxsize=2)
def _lines(source: str) -> tuple[bytes, ...]:
    """The lines as Python counts them, and their bytes as it counts columns."""
    return tuple(line.encode() for line in re.split(r"\r\n|\r|\n", source))


def checked_length(node: ast.Constant, value: int) -> int:
    """A whole number of the text, if it is one that values may be."""
    if value.bit_length() > MOST_BITS:
        raise refusal(node, f"a number of {value.bit_length()} bits is too long.")
    return value
