"""Expressions of a plan as people write them, for explanations. For eyes only: nothing reads these texts again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from privately.plans.describing import SIGNS
from privately.plans.expressions import Call, Constant, Expression, Field

_LOOSEST, _OR, _AND, _NOT, _COMPARED, _SUM, _PRODUCT, _SIGN, _TIGHTEST = range(9)

_MORE_SIGNS = {"like": "LIKE", "concatenate": "||", "modulo": "%"}
_STRENGTHS = {
    "or": _OR,
    "and": _AND,
    "add": _SUM,
    "subtract": _SUM,
    "concatenate": _SUM,
    "multiply": _PRODUCT,
    "divide": _PRODUCT,
    "modulo": _PRODUCT,
}
_BETWEEN: Mapping[str, tuple[str, int]] = {
    name: (sign.upper(), _STRENGTHS.get(name, _COMPARED)) for name, sign in (SIGNS | _MORE_SIGNS).items()
}
"""Signs that stand between their operands, and how tightly they bind."""


def described(expression: Expression) -> str:
    """The expression for people.

    >>> from privately.plans import call, constant
    >>> described(call("less", call("multiply", call("add", constant(1), constant(2)), constant(3)), constant(10)))
    '(1 + 2) * 3 < 10'
    """
    return _text(expression, _LOOSEST)


def _text(expression: Expression, around: int) -> str:
    match expression:
        case Field(identity=identity):
            return identity.name
        case Constant(value=value):
            return _constant(value)
        case Call(function=name, arguments=arguments) if name in _BETWEEN and len(arguments) > 1:
            sign, strength = _BETWEEN[name]
            first, *others = arguments
            # a - (b - c) and (a = b) = c need their parentheses; the first operand of + or * does not
            within = strength + 1 if strength == _COMPARED else strength
            shown = f" {sign} ".join([_text(first, within), *(_text(one, strength + 1) for one in others)])
            return f"({shown})" if strength < around else shown
        case Call(function=name, arguments=arguments) if name in _SHAPES:
            shown, strength = _SHAPES[name](arguments)
            return f"({shown})" if strength < around else shown
        case Call(function=name, arguments=arguments):
            return f"{name}({', '.join(described(argument) for argument in arguments)})"


def _constant(value: object) -> str:
    match value:
        case None:
            return "NULL"
        case bool():
            return str(value).upper()
        case str():
            return "'" + value.replace("'", "''") + "'"
    return str(value)


def _not(arguments: Sequence[Expression]) -> tuple[str, int]:
    (one,) = arguments
    if isinstance(one, Call) and one.function == "is_null":
        return f"{_text(one.arguments[0], _SUM)} IS NOT NULL", _COMPARED
    return f"NOT {_text(one, _NOT)}", _NOT


def _is_null(arguments: Sequence[Expression]) -> tuple[str, int]:
    return f"{_text(arguments[0], _SUM)} IS NULL", _COMPARED


def _in(arguments: Sequence[Expression]) -> tuple[str, int]:
    listed = ", ".join(described(one) for one in arguments[1:])
    return f"{_text(arguments[0], _SUM)} IN ({listed})", _COMPARED


def _negate(arguments: Sequence[Expression]) -> tuple[str, int]:
    return f"-{_text(arguments[0], _TIGHTEST)}", _SIGN


def _case(arguments: Sequence[Expression]) -> tuple[str, int]:
    pairs = zip(arguments[:-1:2], arguments[1::2], strict=True)
    branches = " ".join(f"WHEN {described(when)} THEN {described(then)}" for when, then in pairs)
    return f"CASE {branches} ELSE {described(arguments[-1])} END", _TIGHTEST


_SHAPES: Mapping[str, Callable[[Sequence[Expression]], tuple[str, int]]] = {
    "not": _not,
    "is_null": _is_null,
    "in": _in,
    "negate": _negate,
    "case": _case,
}

__all__ = ["described"]
