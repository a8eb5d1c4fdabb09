"""Sums that a loop adds to and does not look at."""

from __future__ import annotations

from privately.proving.language.syntax import (
    Apply,
    Assign,
    Expression,
    Return,
    Statement,
    Variable,
    While,
    assigned,
    expressions_of,
    free_variables,
    statements,
)


def accumulator(loop: While, after: frozenset[str]) -> str | None:
    """A variable that every assignment in the loop adds to, and that nothing else in the loop reads; one that is used
    afterwards. None if there is none, or if the loop can return or holds another."""
    inside = list(statements(loop.body))
    if any(isinstance(one, (Return, While)) for one in inside):
        return None
    for name in sorted(assigned(loop.body) & after):
        if name in free_variables(loop.condition):
            continue
        if all(_only_adds(one, name) for one in inside):
            return name
    return None


def _only_adds(statement: Statement, name: str) -> bool:
    if isinstance(statement, Assign) and statement.name == name:
        return added_to(statement.value, name) is not None
    if getattr(statement, "name", None) == name:
        return False
    return all(name not in free_variables(one) for one in expressions_of(statement))


def added_to(value: Expression, name: str) -> Expression | None:
    """What `name + something` adds, if the value has that form and the something does not read the name."""
    match value:
        case Apply("+", (Variable(own), added)) if own == name:
            return None if name in free_variables(added) else added
        case Apply("+", (added, Variable(own))) if own == name:
            return None if name in free_variables(added) else added
        case _:
            return None
