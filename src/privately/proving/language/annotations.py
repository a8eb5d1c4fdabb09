"""What the annotation of a parameter says, read from its text: nothing is evaluated."""

from __future__ import annotations

import ast
from fractions import Fraction
from typing import Any

from privately.errors import InvalidParameter
from privately.proving.language import declarations
from privately.proving.language.python_numbers import decimal_in
from privately.proving.language.refusals import refusal

DEEPEST = 4
"""Signs and strokes inside one another, in a number."""


def declared(annotation: ast.expr, source: str) -> Any:
    """The meaning of an annotation: a neighbourhood, a domain, the word private, or nothing."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        source = annotation.value
        try:
            annotation = ast.copy_location(ast.parse(source, mode="eval").body, annotation)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise refusal(annotation, "this annotation is unknown.") from None
    match annotation:
        case ast.Name(id="private"):
            return "private"
        case ast.Name(id="positive"):
            return declarations.POSITIVE
        case ast.Name(id="int" | "float" | "Fraction" | "bool" | "public"):
            return None
        case ast.Call(func=ast.Name(id=word), args=arguments, keywords=[]) if word in declarations.WORDS:
            values = [
                declared(one, source) if isinstance(one, ast.Call) else _literal(one, source) for one in arguments
            ]
            try:
                reader: Any = declarations.WORDS[word]
                return reader(*values)
            except (TypeError, InvalidParameter) as error:
                raise refusal(annotation, f"{word}: {error}") from None
    raise refusal(annotation, "this annotation is unknown.", f"Use {', '.join(declarations.WORDS)}.")


def _literal(node: ast.expr, source: str) -> Any:
    """A number, or a text that a declaration reads itself."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else _number(node, source)


def _number(node: ast.expr, source: str, depth: int = 0) -> Any:
    match node:
        case ast.Constant(value=float()):
            return decimal_in(source, node)
        case ast.Constant(value=int() as value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=operand) if depth < DEEPEST:
            return -Fraction(_number(operand, source, depth + 1))
        case ast.BinOp(left=left, op=ast.Div(), right=right) if depth < DEEPEST:
            above, below = _number(left, source, depth + 1), _number(right, source, depth + 1)
            if below:
                return Fraction(above) / Fraction(below)
    raise refusal(node, "give a number.", "Such as -3, 0.5 or 1/3.")
