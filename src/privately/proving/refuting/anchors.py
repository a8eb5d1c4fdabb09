"""Numbers of which a program speaks, near which its inputs are worth trying."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from privately.proving.language.program import Program
from privately.proving.language.syntax import (
    Apply,
    Assume,
    Constant,
    Expression,
    Sample,
    Variable,
    expressions_of,
    statements,
    subexpressions,
)

MOST_ANCHORS = 4
NEAR = 4
"""What lies so near to zero is tried anyhow."""

DECIDING = {"<", "<=", ">", ">=", "==", "!=", "least", "largest"}


def anchors(program: Program, public: Mapping[str, Any], *, small: bool = False) -> tuple[Fraction, ...]:
    """Numbers in assumptions, and larger ones (or small ones, too) with which something is compared, or at which it is
    cut off."""
    found = dict.fromkeys(number for one in program.assumptions for number in _assumed(one.condition, public))
    deciding = list(_deciding(program, public))
    for number in deciding:
        if abs(number) > NEAR:
            found |= {number: None, -number: None}
    if small:
        found |= dict.fromkeys(number for number in deciding if number and abs(number) <= NEAR)
    return tuple(found)[:MOST_ANCHORS]


def _assumed(condition: Expression, public: Mapping[str, Any]) -> Iterator[Fraction]:
    """All numbers but places, and what lengths are compared with."""
    match condition:
        case Apply("and" | "or" | "not", operands):
            pass
        case Apply(operator, operands) if operator != "item" and not _measures(condition):
            pass
        case _:
            yield from _numbers([condition], public)
            return
    for one in operands:
        yield from _assumed(one, public)


def _deciding(program: Program, public: Mapping[str, Any]) -> Iterator[Fraction]:
    for statement in statements(program.body):
        if isinstance(statement, (Assume, Sample)):
            continue
        for whole in expressions_of(statement):
            for part in subexpressions(whole):
                if isinstance(part, Apply) and part.operator in DECIDING and not _measures(part):
                    yield from _numbers(part.operands, public)


def _measures(expression: Expression) -> bool:
    return any(isinstance(one, Apply) and one.operator == "length" for one in subexpressions(expression))


def _numbers(operands: Iterable[Expression], public: Mapping[str, Any]) -> Iterator[Fraction]:
    for one in operands:
        value: Any = None
        match one:
            case Constant(value) | Apply("negative", (Constant(value),)):
                pass
            case Variable(name):
                value = public.get(name)
            case _:
                pass
        if isinstance(value, (int, Fraction)) and not isinstance(value, bool):
            yield Fraction(value)
