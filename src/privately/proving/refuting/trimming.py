"""Programs without what changes nothing: certain conditions, loops that never go round, values that nobody reads.

A coin that nobody reads doubles the ways to follow, and a condition that always holds hides how the output grows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction

from privately.errors import PrivatelyError
from privately.proving.exact.sampling import outcomes
from privately.proving.language.laws import LAWS
from privately.proving.language.liveness import needed_by, needed_by_loop
from privately.proving.language.meaning import evaluator, ordered, truth
from privately.proving.language.program import Program
from privately.proving.language.syntax import (
    Assign,
    Block,
    Constant,
    Expression,
    Hint,
    If,
    Return,
    Sample,
    Statement,
    Value,
    Variable,
    While,
    assigned,
    free_variables,
)
from privately.proving.paths.noise import noise

_NUMBERS = (int, Fraction)


def trimmed(program: Program, public: Mapping[str, object]) -> Program:
    """The program for these public values, of which those that are no numbers are left open.

    Theorem: for every input with these public values the law of outputs is the same, and statements that are left out
    would not have failed.
    Reference: none; a branch that is never taken, and a value that is computed without fail and never read
    Proof: docs/theory/refuting.md#trimmed-programs
    Checked-by: tests/proving/refuting/test_trimming.py::test_trimmed_programs_have_the_same_law
    """
    names = {one.name for one in program.public}
    known = {name: value for name, value in public.items() if name in names and isinstance(value, _NUMBERS)}
    return replace(program, body=_read(_decided(program.body, known), frozenset()))


def _decided(block: Block, known: dict[str, Value]) -> Block:
    """Without branches that are never taken, and with numbers for what is known; `known` is brought up to date."""
    found: list[Statement] = []
    for statement in block:
        match statement:
            case Assign(name, value):
                number = _number(value, known)
                found.append(statement if number is None else replace(statement, value=Constant(number)))
                known.pop(name, None)
                if number is not None:
                    known[name] = number
            case Sample(name, _, arguments):
                found.append(replace(statement, arguments=tuple(_with_numbers(arguments, known))))
                known.pop(name, None)
            case If():
                found += _branches(statement, known)
            case While(condition, body):
                if _truth(condition, known) is False:
                    continue
                _forget(assigned(body), known)
                found.append(replace(statement, body=_decided(body, dict(known))))
            case Hint():
                continue
            case _:
                found.append(statement)
        if found and isinstance(found[-1], Return):
            break
    return tuple(found)


def _branches(statement: If, known: dict[str, Value]) -> Block:
    certain = _truth(statement.condition, known)
    if certain is not None:
        return _decided(statement.then if certain else statement.otherwise, known)
    then, otherwise = (_decided(one, dict(known)) for one in (statement.then, statement.otherwise))
    _forget(assigned(statement.then) | assigned(statement.otherwise), known)
    return (replace(statement, then=then, otherwise=otherwise),)


def _read(block: Block, after: frozenset[str]) -> Block:
    """Without values that nobody reads, as far as it is certain that computing them does not fail."""
    found: list[Statement] = []
    copies = _copies(block)
    for place, statement in reversed(list(enumerate(block))):
        kept: Statement = statement
        match statement:
            case Assign(name) | Sample(name) if name not in after and (place in copies or _cannot_fail(statement)):
                continue
            case If(_, then, otherwise):
                kept = replace(statement, then=_read(then, after), otherwise=_read(otherwise, after))
            case While(condition, body):
                kept = replace(statement, body=_read(body, needed_by_loop(free_variables(condition), body, after)))
        found.append(kept)
        after = needed_by(kept, after)
    return tuple(reversed(found))


def _copies(block: Block) -> set[int]:
    """Where a variable gets what another holds that has a value: the block has given it one before."""
    found: set[int] = set()
    given: set[str] = set()
    for place, statement in enumerate(block):
        if isinstance(statement, (Assign, Sample)):
            if (
                isinstance(statement, Assign)
                and isinstance(statement.value, Variable)
                and statement.value.name in given
            ):
                found.add(place)
            given.add(statement.name)
    return found


def _cannot_fail(statement: Assign | Sample) -> bool:
    """Whether it reads nothing, and can be carried out."""
    if isinstance(statement, Assign):
        return _value(statement.value, {}) is not None
    values = tuple(_number(one, {}) for one in statement.arguments)
    try:
        if statement.law == "flip_exp":
            return None not in values and ordered(values[0]) >= 0
        if LAWS[statement.law].support == "finite":
            return None not in values and bool(outcomes(statement.law, values, 1))
        return None not in values and bool(noise(statement.law, values))
    except PrivatelyError:
        return False


def _forget(names: Iterable[str], known: dict[str, Value]) -> None:
    for name in names:
        known.pop(name, None)


def _with_numbers(values: Iterable[Expression], known: Mapping[str, Value]) -> Iterable[Expression]:
    for one in values:
        number = _number(one, known)
        yield one if number is None else Constant(number)


def _truth(condition: Expression, known: Mapping[str, Value]) -> bool | None:
    """None if it is not certain, or fails."""
    value = _value(condition, known)
    try:
        return None if value is None else truth(value)
    except PrivatelyError:
        return None


def _number(value: Expression, known: Mapping[str, Value]) -> Value | None:
    found = _value(value, known)
    return found if isinstance(found, _NUMBERS) else None


def _value(value: Expression, known: Mapping[str, Value]) -> Value | None:
    """What it is, if it reads only what is known; None if it fails, too."""
    if not free_variables(value) <= known.keys():
        return None
    try:
        return evaluator(value, {}, known)(())
    except PrivatelyError:
        return None
