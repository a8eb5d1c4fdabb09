"""Which variables still matter: states that differ in no other are one state."""

from __future__ import annotations

from privately.proving.language.syntax import (
    Assign,
    Assume,
    Block,
    Hint,
    If,
    Return,
    Sample,
    Statement,
    While,
    free_variables,
)


def needed(block: Block, after: frozenset[str]) -> frozenset[str]:
    """The variables that the block, or what comes after it, may read."""
    for statement in reversed(block):
        after = needed_by(statement, after)
    return after


def needed_by(statement: Statement, after: frozenset[str]) -> frozenset[str]:
    """The same for one statement."""
    match statement:
        case Assign(name, value):
            return (after - {name}) | free_variables(value)
        case Sample(name, _, arguments):
            return (after - {name}).union(*map(free_variables, arguments))
        case If(condition, then, otherwise):
            return needed(then, after) | needed(otherwise, after) | free_variables(condition)
        case While(condition, body):
            return needed_by_loop(free_variables(condition), body, after)
        case Return(value):
            return free_variables(value)
        case Assume(condition):
            return after | free_variables(condition)
        case Hint():
            return after


def needed_by_loop(condition: frozenset[str], body: Block, after: frozenset[str]) -> frozenset[str]:
    """The least set that holds before every round."""
    before = condition | after
    while True:
        grown = before | needed(body, before)
        if grown == before:
            return before
        before = grown
