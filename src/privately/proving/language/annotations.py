"""What the annotation of a parameter says, read from its text: nothing is evaluated."""

from __future__ import annotations

import ast
from fractions import Fraction
from typing import Any

from privately.errors import InvalidParameter
from privately.proving.language import declarations
from privately.proving.language.refusals import refusal


def declared(annotation: ast.expr) -> Any:
    """The meaning of an annotation: a neighbourhood, a domain, the word private, or nothing."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            annotation = ast.copy_location(ast.parse(annotation.value, mode="eval").body, annotation)
        except SyntaxError:
            raise refusal(annotation, "this annotation is unknown.") from None
    match annotation:
        case ast.Name(id="private"):
            return "private"
        case ast.Name(id="positive"):
            return declarations.POSITIVE
        case ast.Name(id="int" | "float" | "Fraction" | "bool" | "public"):
            return None
        case ast.Call(func=ast.Name(id=word), args=arguments, keywords=[]) if word in declarations.WORDS:
            values = [declared(one) if isinstance(one, ast.Call) else _literal(one) for one in arguments]
            try:
                reader: Any = declarations.WORDS[word]
                return reader(*values)
            except (TypeError, InvalidParameter) as error:
                raise refusal(annotation, f"{word}: {error}") from None
    raise refusal(annotation, "this annotation is unknown.", f"Use {', '.join(declarations.WORDS)}.")


def _literal(node: ast.expr) -> Any:
    match node:
        case ast.Constant(value=int() | float() | str() as value):
            return repr(value) if isinstance(value, float) else value  # 0.1 is a tenth, as in the body
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -Fraction(_literal(operand))
        case ast.BinOp(left=left, op=ast.Div(), right=right) if _literal(right):
            return Fraction(_literal(left)) / Fraction(_literal(right))
    raise refusal(node, "give a number.")
