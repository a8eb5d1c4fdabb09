"""Programs as certificates hold them: flat lists of expressions and blocks, and where each variable is last needed.

The checker knows nothing of liveness: it is told where to forget a variable, and refuses a program that reads one
afterwards. So what is said there can cost it time, and never a wrong law.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from privately.errors import NotSupported
from privately.proving.language.liveness import needed, needed_by, needed_by_loop
from privately.proving.language.program import Parameter, Program
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
    Value,
    Variable,
    While,
    free_variables,
)


class Encoder:
    """One program, part by part."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.variables: dict[str, int] = {}
        self.expressions: dict[tuple[Any, ...], int] = {}
        self.blocks: list[list[list[Any]]] = []
        for one in program.parameters:
            self.place(one.name)
        self.block(program.body, frozenset())

    def data(self) -> dict[str, Any]:
        """All of it."""
        return {
            "variables": list(self.variables),
            "expressions": [list(one) for one in self.expressions],
            "blocks": self.blocks,
        }

    def private(self, parameter: Parameter, sizes: tuple[int, ...]) -> dict[str, Any]:
        """A private input with its neighbours."""
        neighborhood = parameter.neighborhood
        if neighborhood is None or neighborhood.domain is None:
            raise NotSupported(f"the values of {parameter.name!r} have no end.")
        domain, distance = neighborhood.domain, neighborhood.distance
        lengths = [domain.length] if domain.length is not None else sorted(set(sizes)) if parameter.is_list else None
        return {
            "variable": self.place(parameter.name),
            "change": neighborhood.change,
            "distance": None if distance is None else str(distance),
            "values": [str(one) for one in domain.members()],
            "lengths": lengths,
        }

    def public(self, known: Mapping[str, Value]) -> list[list[Any]]:
        """The values of public parameters that the program has."""
        return [[self.variables[name], _plain(value)] for name, value in known.items() if name in self.variables]

    def place(self, name: str) -> int:
        """The number of a variable."""
        return self.variables.setdefault(name, len(self.variables))

    def added(self, *expression: Any) -> int:
        """The number of an expression; equal ones have the same."""
        return self.expressions.setdefault(expression, len(self.expressions))

    def expression(self, value: Expression, bound: Mapping[str, int] | None = None) -> int:
        """The number of an expression, after those of its parts; `bound` names stand inside brackets."""
        inner = bound or {}
        match value:
            case Constant(str()):
                raise NotSupported("a function of which nothing is known.")
            case Constant(number):
                return self.added("number", str(Fraction(number)))
            case Variable(name):
                return self.added("variable", inner[name] if name in inner else self.place(name))
            case Each(element, name, source, condition):
                over = self.expression(source, inner)
                place = self.place(f"{name} in {len(self.variables)}")
                inside = {**inner, name: place}
                parts = self.expression(element, inside), place, over, self.expression(condition, inside)
                return self.added("each", *parts)
            case Apply(operator, operands):
                return self.added(operator, *(self.expression(one, inner) for one in operands))

    def block(self, block: Block, after: frozenset[str], gone: frozenset[str] = frozenset()) -> int:
        """The number of a block that first forgets some variables; `after` it these are needed."""
        found: list[list[Any]] = []
        for statement in reversed(block):
            found[:0] = self.statement(statement, after)
            after = needed_by(statement, after)
        self.blocks.append(self.forgotten(gone) + found)
        return len(self.blocks) - 1

    def forgotten(self, gone: frozenset[str]) -> list[list[Any]]:
        """Statements that forget."""
        return [["forget", self.place(name)] for name in sorted(gone)]

    def statement(self, statement: Statement, after: frozenset[str]) -> list[list[Any]]:
        """One statement, and what is forgotten after it."""
        before = needed_by(statement, after)
        match statement:
            case Assign(name, value):
                gone = self.forgotten((before | {name}) - after)
                return [["assign", self.place(name), self.expression(value)], *gone]
            case Sample(name, law, (argument,)):
                gone = self.forgotten((before | {name}) - after)
                return [["draw", self.place(name), law, self.expression(argument)], *gone]
            case If(condition, then, otherwise):
                sides = [self.block(one, after, before - needed(one, after)) for one in (then, otherwise)]
                return [["if", self.expression(condition), *sides]]
            case While(condition, body):
                head = needed_by_loop(free_variables(condition), body, after)
                number = self.block(body, head)
                return [["while", self.expression(condition), number], *self.forgotten(head - after)]
            case Return(value):
                return [["return", self.expression(value)]]
            case Assume(condition):
                return [["assume", self.expression(condition)]]
            case Hint():
                return []
        raise NotSupported("a draw that takes several numbers.")


def _plain(value: Value) -> Any:
    return [_plain(one) for one in value] if isinstance(value, tuple) else str(Fraction(value))
