"""Programs as data: the one form that every front end gives and every analysis reads.

A program is a list of statements over variables. Values are exact: whole numbers, fractions, truth values, and lists of
them, which are never changed in place (appending makes a longer list). Randomness enters by `Sample` alone.

expression  Constant | Variable | Apply(operator, operands) | Each(element for variable in source if condition)
statement   Assign | Sample | If | While | Return | Assume | Hint
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeAlias

Value: TypeAlias = Any
"""int, Fraction, bool, or a tuple of values."""

OPERATORS = {
    "+": 2,
    "-": 2,
    "*": 2,
    "/": 2,
    "//": 2,
    "%": 2,
    "**": 2,
    "negative": 1,
    "==": 2,
    "!=": 2,
    "<": 2,
    "<=": 2,
    ">": 2,
    ">=": 2,
    "in": 2,
    "and": 2,
    "or": 2,
    "not": 1,
    "if": 3,
    "xor": 2,
    "absolute": 1,
    "least": None,
    "largest": None,
    "total": 1,
    "list": None,
    "length": 1,
    "item": 2,
    "part": 3,
    "joined": 2,
    "replaced": 3,
    "without": 2,
    "repeated": 2,
    "numbers": 2,
    "function": None,
}
"""Each operator with how many operands it takes; None: any number. `if` is (condition, then, otherwise);
`item` (list, place); `part` (list, first, end); `replaced` (list, place, value); `without` (list, place);
`repeated` (list, times); `numbers` (first, end); `function` (name of an unknown public function, its operands)."""


@dataclass(frozen=True, slots=True)
class Constant:
    """A number or truth value that stands in the text."""

    value: int | Fraction | bool | str


@dataclass(frozen=True, slots=True)
class Variable:
    """What a name holds."""

    name: str


@dataclass(frozen=True, slots=True)
class Apply:
    """An operator and its operands. `and`, `or` and `if` look at no more of them than they need."""

    operator: str
    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Each:
    """The list of `element` for each member of `source` that meets `condition`."""

    element: Expression
    variable: str
    source: Expression
    condition: Expression


Expression: TypeAlias = Constant | Variable | Apply | Each


@dataclass(frozen=True, slots=True)
class Assign:
    """name := value."""

    name: str
    value: Expression
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Sample:
    """name := $ law(arguments), independent of all else."""

    name: str
    law: str
    arguments: tuple[Expression, ...]
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class If:
    """Either this or that."""

    condition: Expression
    then: Block
    otherwise: Block
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class While:
    """Again and again, as long as the condition holds."""

    condition: Expression
    body: Block
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Return:
    """The output; nothing after it runs."""

    value: Expression
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Assume:
    """Inputs for which this fails are none of ours."""

    condition: Expression
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Hint:
    """What an author says to a prover: `invariant` of the loop around it, or how a sample is to be aligned."""

    kind: str
    arguments: tuple[Expression, ...]
    line: int = field(default=0, compare=False)


Statement: TypeAlias = Assign | Sample | If | While | Return | Assume | Hint
Block: TypeAlias = tuple[Statement, ...]

TRUE = Constant(value=True)
FALSE = Constant(value=False)


def subexpressions(expression: Expression) -> Iterator[Expression]:
    """The expression and all its parts, from outside in."""
    yield expression
    match expression:
        case Apply(_, operands):
            for operand in operands:
                yield from subexpressions(operand)
        case Each(element, _, source, condition):
            for part in (element, source, condition):
                yield from subexpressions(part)


def free_variables(expression: Expression) -> frozenset[str]:
    """The names whose values it depends on."""
    match expression:
        case Constant():
            return frozenset()
        case Variable(name):
            return frozenset({name})
        case Apply(_, operands):
            return frozenset().union(*map(free_variables, operands))
        case Each(element, variable, source, condition):
            return free_variables(source) | ((free_variables(element) | free_variables(condition)) - {variable})


def expressions_of(statement: Statement) -> tuple[Expression, ...]:
    """Those that the statement itself evaluates, not those of the blocks in it."""
    match statement:
        case Assign(_, value) | Return(value):
            return (value,)
        case Sample(_, _, arguments) | Hint(_, arguments):
            return arguments
        case If(condition) | While(condition) | Assume(condition):
            return (condition,)


def blocks_of(statement: Statement) -> tuple[Block, ...]:
    """The blocks inside a statement."""
    match statement:
        case If(_, then, otherwise):
            return (then, otherwise)
        case While(_, body):
            return (body,)
        case _:
            return ()


def statements(block: Block) -> Iterator[Statement]:
    """All statements of a block, those inside others too, in the order of the text."""
    for statement in block:
        yield statement
        for inner in blocks_of(statement):
            yield from statements(inner)


def assigned(block: Block) -> frozenset[str]:
    """All names that get a value somewhere in the block."""
    return frozenset(one.name for one in statements(block) if isinstance(one, (Assign, Sample)))
