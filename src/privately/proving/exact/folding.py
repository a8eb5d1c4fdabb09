"""Lists that are only added up, or counted, are held as their sum and their length.

`sum([flip() for v in x])` makes a list as long as x, and has as many states as there are lists; its sum has few.
What can fail in the program fails in the folded one too: every entry is still evaluated, and lists have a longest
length.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from privately.proving.language.meaning import LONGEST_LIST
from privately.proving.language.program import Program
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
    assigned,
    expressions_of,
    free_variables,
    statements,
    subexpressions,
)

Names = frozenset[str]
NOTHING: Names = frozenset()
ZERO = Constant(0)
FAILURE = Apply("item", (Apply("list", ()), ZERO))
"""An expression that nobody can evaluate."""

WRITTEN_OUT = 50
"""Entries that are added one by one; the sum of a longer list is asked for as such."""


@lru_cache(maxsize=64)
def folded(program: Program) -> Program:
    """The same program with sums and lengths in the places of such lists; itself if there are none.

    Theorem: where the folded program has an output on every way, so has the program, with the same law.
    Reference: Bird 1984 (fusion of a fold with the list that it consumes)
    Proof: docs/theory/programs.md#states
    Checked-by: tests/proving/exact/test_folding.py::test_folding_keeps_the_law
    """
    names = _only_added(program)
    lists = {one.name for one in statements(program.body) if isinstance(one, Assign) and _joins(one.value)}
    return replace(program, body=_block(program.body, names)) if names & lists else program


def _joins(value: Expression) -> bool:
    return any(isinstance(one, Apply) and one.operator == "joined" for one in subexpressions(value))


def _only_added(program: Program) -> Names:
    """The variables that are read by `total` and `length` alone, or to make others of them."""
    inside = list(statements(program.body))
    names = assigned(program.body) - {one.name for one in program.parameters}
    while True:
        spoilt = NOTHING.union(*(_spoilt(one, names) for one in inside))
        wanted = _added_somewhere(inside)
        if names <= wanted - spoilt:
            return names
        names = names & wanted - spoilt


def _added_somewhere(inside: list[Statement]) -> Names:
    """Those whose sum or length matters to somebody."""
    found = NOTHING.union(
        *(
            _parts(part.operands[0])
            for one in inside
            for value in expressions_of(one)
            for part in subexpressions(value)
            if isinstance(part, Apply) and part.operator in {"total", "length"}
        )
    )
    while True:
        more = found.union(*(_parts(one.value) for one in inside if isinstance(one, Assign) and one.name in found))
        if more == found:
            return found
        found = more


def _parts(value: Expression) -> Names:
    """The variables that a list is made of."""
    match value:
        case Variable(name):
            return frozenset({name})
        case Apply("joined", (left, right)) | Apply("if", (_, left, right)):
            return _parts(left) | _parts(right)
        case _:
            return NOTHING


def _spoilt(statement: Statement, names: Names) -> Names:
    """The variables that this statement uses as lists."""
    match statement:
        case Assign(name, value) if name in names:
            return _as_list(value) | (frozenset({name}) & _elements(value))
        case Sample(name):
            return frozenset({name}).union(*map(_as_value, statement.arguments))
        case Hint():
            return NOTHING
        case _:
            return NOTHING.union(*map(_as_value, expressions_of(statement)))


def _as_value(value: Expression) -> Names:
    """The variables that an expression looks at in full."""
    match value:
        case Constant():
            return NOTHING
        case Variable(name):
            return frozenset({name})
        case Apply("total" | "length", (Variable(),)):
            return NOTHING
        case Apply(_, operands):
            return NOTHING.union(*map(_as_value, operands))
        case Each(element, bound, source, condition):
            return frozenset({bound}) | _as_value(element) | _as_value(source) | _as_value(condition)


def _as_list(value: Expression) -> Names:
    """The same, where only its sum and its length matter."""
    match value:
        case Variable():
            return NOTHING
        case Apply("joined", (left, right)):
            return _as_list(left) | _as_list(right)
        case Apply("if", (condition, left, right)):
            return _as_value(condition) | _as_list(left) | _as_list(right)
        case _:
            return _as_value(value)


def _elements(value: Expression) -> Names:
    """The variables that entries and conditions depend on: sums and lengths are not assigned at the same time."""
    match value:
        case Variable():
            return NOTHING
        case Apply("joined", (left, right)):
            return _elements(left) | _elements(right)
        case Apply("if", (condition, left, right)):
            return free_variables(condition) | _elements(left) | _elements(right)
        case _:
            return free_variables(value)


def _block(block: Block, names: Names) -> Block:
    return tuple(changed for one in block for changed in _statement(one, names))


def _statement(statement: Statement, names: Names) -> Block:
    match statement:
        case Assign(name, value) if name in names:
            held = [(f"{name}:sum", _total(value, names)), (f"{name}:length", _length(value, names))]
            if _joins(value):
                held.append((f"{name}:length", _limited(Variable(f"{name}:length"))))
            return tuple(Assign(one, new, statement.line) for one, new in held)
        case Assign(name, value):
            return (Assign(name, _value(value, names), statement.line),)
        case Sample(name, law, arguments):
            return (Sample(name, law, tuple(_value(one, names) for one in arguments), statement.line),)
        case If(condition, then, otherwise):
            sides = _block(then, names), _block(otherwise, names)
            return (If(_value(condition, names), *sides, statement.line),)
        case While(condition, body):
            return (While(_value(condition, names), _block(body, names), statement.line),)
        case Return(value):
            return (Return(_value(value, names), statement.line),)
        case Assume():
            return (statement,)
        case Hint():
            return ()


def _value(value: Expression, names: Names) -> Expression:
    match value:
        case Apply("total", (Variable(name),)) if name in names:
            return Variable(f"{name}:sum")
        case Apply("length", (Variable(name),)) if name in names:
            return Variable(f"{name}:length")
        case Apply(operator, operands):
            return Apply(operator, tuple(_value(one, names) for one in operands))
        case Each(element, variable, source, condition):
            return Each(_value(element, names), variable, _value(source, names), _value(condition, names))
        case _:
            return value


def _total(whole: Expression, names: Names) -> Expression:
    match whole:
        case Variable(name) if name in names:
            return Variable(f"{name}:sum")
        case Apply("joined", (left, right)):
            return _plus(_total(left, names), _total(right, names))
        case Apply("if", (condition, left, right)):
            return Apply("if", (_value(condition, names), _total(left, names), _total(right, names)))
        case Apply("list", operands) if len(operands) <= WRITTEN_OUT:
            found: Expression = ZERO
            for one in operands:
                found = _plus(found, _value(one, names))
            return found
        case _:
            return Apply("total", (_value(whole, names),))


def _length(whole: Expression, names: Names) -> Expression:
    """Beside the sum, which evaluates all entries: so they may be left out here."""
    match whole:
        case Variable(name) if name in names:
            return Variable(f"{name}:length")
        case Apply("joined", (left, right)):
            return _plus(_length(left, names), _length(right, names))
        case Apply("if", (condition, left, right)):
            return Apply("if", (_value(condition, names), _length(left, names), _length(right, names)))
        case Apply("list", operands):
            return Constant(len(operands))
        case _:
            return Apply("length", (_value(whole, names),))


def _limited(length: Expression) -> Expression:
    """The length of a list, if there are lists of that length."""
    return Apply("if", (Apply("<=", (length, Constant(LONGEST_LIST))), length, FAILURE))


def _plus(left: Expression, right: Expression) -> Expression:
    return right if left == ZERO and isinstance(right, Apply) and right.operator == "+" else Apply("+", (left, right))
