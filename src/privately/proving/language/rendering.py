"""Expressions and programs as text, for people and for comparing programs."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from privately.proving.language.syntax import (
    Apply,
    Assign,
    Assume,
    Block,
    Constant,
    Each,
    Expression,
    Hint,
    If,
    Return,
    Sample,
    Statement,
    Variable,
    While,
)

_LEVELS = {
    "or": 1, "and": 2, "not": 3, "==": 4, "!=": 4, "<": 4, "<=": 4, ">": 4, ">=": 4, "in": 4, "joined": 5,
    "+": 6, "-": 6, "xor": 6, "*": 7, "/": 7, "//": 7, "%": 7, "repeated": 7, "negative": 8, "**": 9,
}  # fmt: skip
_SIGNS = {"joined": "++", "repeated": "*"}
_HIGHEST = 10
_NAMES = {"absolute": "abs", "least": "min", "largest": "max", "total": "sum", "length": "len", "numbers": "range"}


def rendered(expression: Expression, level: int = 0) -> str:
    """An expression as a person would write it.

    >>> rendered(Apply("*", (Apply("+", (Variable("a"), Constant(1))), Variable("b"))))
    '(a + 1) * b'
    """
    match expression:
        case Constant(value):
            return _constant(value, level)
        case Variable(name):
            return _name(name)
        case Each(element, variable, source, condition):
            rest = "" if condition == Constant(value=True) else f" if {rendered(condition)}"
            return f"[{rendered(element)} for {_name(variable)} in {rendered(source, _HIGHEST)}{rest}]"
        case Apply(operator, operands) if operator in _LEVELS:
            return _infix(operator, operands, level)
        case Apply(operator, operands):
            return _other(operator, operands, level)


def _name(name: str) -> str:
    """Names inside brackets carry a number of ours before their own."""
    return name.lstrip("#0123456789") or name


def _constant(value: object, level: int) -> str:
    text = str(value)
    if isinstance(value, Fraction) or text.startswith("-"):
        return f"({text})" if level > 0 else text
    return text


def _infix(operator: str, operands: tuple[Expression, ...], level: int) -> str:
    own = _LEVELS[operator]
    if len(operands) == 1:
        sign = "not " if operator == "not" else "-"
        text = f"{sign}{rendered(operands[0], own)}"
    else:
        left, right = operands
        text = f"{rendered(left, own)} {_SIGNS.get(operator, operator)} {rendered(right, own + 1)}"
    return f"({text})" if own < level else text


def _other(operator: str, operands: tuple[Expression, ...], level: int) -> str:
    texts = [rendered(one) for one in operands]
    match operator:
        case "if":
            condition, then, otherwise = (rendered(one, 1) for one in operands)
            return _wrapped(f"{then} if {condition} else {otherwise}", level)
        case "list":
            return f"[{', '.join(texts)}]"
        case "item":
            return f"{rendered(operands[0], _HIGHEST)}[{texts[1]}]"
        case "part":
            return f"{rendered(operands[0], _HIGHEST)}[{texts[1]}:{texts[2]}]"
        case "replaced":
            return f"{rendered(operands[0], _HIGHEST)}[{texts[1]} := {texts[2]}]"
        case "without":
            return f"{rendered(operands[0], _HIGHEST)} without [{texts[1]}]"
        case "function":
            return f"{texts[0]}({', '.join(texts[1:])})"
        case _:
            return f"{_NAMES[operator]}({', '.join(texts)})"


def _wrapped(text: str, level: int) -> str:
    return f"({text})" if level else text


def rendered_block(block: Block) -> str:
    """Statements, one a line, in the words of the While language."""
    return "\n".join(_lines(block, ""))


def _lines(block: Block, indent: str) -> Iterator[str]:
    for statement in block:
        yield from (f"{indent}{line}" for line in _statement(statement))


def _statement(statement: Statement) -> Iterator[str]:
    match statement:
        case Assign(name, value):
            yield f"{name} := {rendered(value)}"
        case Sample(name, law, arguments):
            yield f"{name} := $ {law}({', '.join(map(rendered, arguments))})"
        case If(condition, then, otherwise):
            yield f"if {rendered(condition)} then"
            yield from _lines(then, "  ")
            if otherwise:
                yield "else"
                yield from _lines(otherwise, "  ")
        case While(condition, body):
            yield f"while {rendered(condition)}"
            yield from _lines(body, "  ")
        case Return(value):
            yield f"return {rendered(value)}"
        case Assume(condition):
            yield f"assume {rendered(condition)}"
        case Hint(kind, arguments):
            yield f"{kind} {', '.join(map(rendered, arguments))}"
