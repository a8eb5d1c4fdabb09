"""Expressions as DuckDB text. A field is a column that is named after its number alone."""

from __future__ import annotations

from privately.engines.duckdb.functions import write
from privately.engines.duckdb.literals import literal
from privately.plans import Call, Constant, Expression, Field, Identity


def column_of(identity: Identity) -> str:
    """How a value of the row is called in the text; no name that people gave is ever used.

    >>> column_of(Identity(number=7, name="cost"))
    'c7'
    """
    return f"c{identity.number}"


def expression_text(expression: Expression) -> str:
    """The text of an expression over columns that are called so."""
    match expression:
        case Constant():
            return literal(expression.value, expression.known.type)
        case Field():
            return column_of(expression.identity)
        case Call():
            return write(expression, [expression_text(argument) for argument in expression.arguments])
