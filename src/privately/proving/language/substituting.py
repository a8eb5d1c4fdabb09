"""Other expressions in the place of variables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from privately.proving.language.syntax import (
    Apply,
    Assign,
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


def substituted(value: Expression, values: Mapping[str, Expression]) -> Expression:
    """The expression with variables replaced by what they hold."""
    match value:
        case Variable(name):
            return values.get(name, value)
        case Apply(operator, operands):
            return Apply(operator, tuple(substituted(one, values) for one in operands))
        case Each(element, variable, source, condition):
            inner = {name: one for name, one in values.items() if name != variable}
            return Each(
                substituted(element, inner), variable, substituted(source, values), substituted(condition, inner)
            )
        case _:
            return value


def with_reads(statement: Statement, values: Mapping[str, Expression]) -> Statement:
    """The statement with the variables that it reads replaced; what it assigns keeps its name."""
    match statement:
        case Assign(_, value) | Return(value):
            return replace(statement, value=substituted(value, values))
        case Sample(_, _, arguments) | Hint(_, arguments):
            return replace(statement, arguments=tuple(substituted(one, values) for one in arguments))
        case If(condition, then, otherwise):
            return replace(
                statement,
                condition=substituted(condition, values),
                then=tuple(with_reads(one, values) for one in then),
                otherwise=tuple(with_reads(one, values) for one in otherwise),
            )
        case While(condition, body):
            return replace(
                statement,
                condition=substituted(condition, values),
                body=tuple(with_reads(one, values) for one in body),
            )
        case _:
            return replace(statement, condition=substituted(statement.condition, values))
