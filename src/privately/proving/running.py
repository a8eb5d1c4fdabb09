"""Running a program once, exactly as it was analysed: the same statements, with real draws or with given ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, TypeAlias

from privately.errors import InvalidParameter, NotSupported
from privately.proving.language.declarations import exact_value
from privately.proving.language.meaning import UNSET, Evaluator, canonical, evaluator, simple, truth
from privately.proving.language.program import Program
from privately.proving.language.syntax import (
    Assign,
    Assume,
    Block,
    Expression,
    Hint,
    If,
    Return,
    Sample,
    Value,
    While,
    assigned,
    free_variables,
)
from privately.proving.primitives import draw
from privately.proving.reading import Source, read_program

Draw: TypeAlias = Callable[[Sample, tuple[Value, ...]], Value]
"""Where draws come from: the statement and its arguments in, a value out."""

MOST_ROUNDS = 10_000_000
"""Of all loops of a run together."""


def run(program: Source, inputs: Mapping[str, Any]) -> Value:
    """The output of one run, for a value of every input. TooManyRounds after 10,000,000 rounds."""
    read = read_program(program)
    return Run(read, _checked(read, inputs), drawn).output()


def _checked(program: Program, inputs: Mapping[str, Any]) -> dict[str, Value]:
    """All inputs and no others, as exact values."""
    if not isinstance(inputs, Mapping):
        raise InvalidParameter("inputs", 'give a dictionary by the names of inputs, such as {"x": ...}.')
    names = {one.name for one in program.parameters}
    for name in sorted(names.symmetric_difference(map(str, inputs))):
        raise InvalidParameter("inputs", f"{name!r} is missing." if name in names else f"there is no input {name!r}.")
    return {name: exact_value(value, name) for name, value in inputs.items()}


def drawn(sample: Sample, arguments: tuple[Value, ...]) -> Value:
    """A real draw."""
    value = draw(sample.law, arguments)
    if isinstance(value, list):
        return tuple(value)
    return simple(Fraction(value)) if isinstance(value, float) else value


class TooManyRounds(NotSupported):
    """A run whose loops go on for longer than anybody waits: it has no output, and what it drew is gone."""


class _Finished(Exception):
    def __init__(self, value: Value) -> None:
        super().__init__()
        self.value = value


class Run:
    """One run, with draws from anywhere."""

    def __init__(
        self, program: Program, inputs: Mapping[str, Value], draw: Draw, *, most_rounds: int | None = None
    ) -> None:
        changing = sorted(assigned(program.body))
        self.body, self.draw = program.body, draw
        self.public = {one.name for one in program.public} - set(changing)
        self.slots = {name: slot for slot, name in enumerate(changing)}
        self.known = {name: value for name, value in inputs.items() if name not in self.slots}
        self.state = [inputs.get(name, UNSET) for name in changing]
        self.rounds = 0
        self.most_rounds = MOST_ROUNDS if most_rounds is None else most_rounds
        self.readers: dict[int, Evaluator] = {}

    def output(self) -> Value:
        """Runs it."""
        try:
            self.block(self.body)
        except _Finished as finished:
            return canonical(finished.value)
        raise NotSupported("the program ended without an output.", hint="Return a value on every way.")

    def value(self, expression: Expression) -> Value:
        """What an expression is now."""
        if id(expression) not in self.readers:
            self.readers[id(expression)] = evaluator(expression, self.slots, self.known)
        return self.readers[id(expression)](tuple(self.state))

    def block(self, block: Block) -> None:  # noqa: C901 - a case a statement
        """Goes on by these statements."""
        for statement in block:
            match statement:
                case Assign(name, value):
                    self.state[self.slots[name]] = self.value(value)
                case Sample(name, _, arguments):
                    given = tuple(self.value(one) for one in arguments)
                    self.state[self.slots[name]] = self.draw(statement, given)
                case If(condition, then, otherwise):
                    self.block(then if truth(self.value(condition)) else otherwise)
                case While(condition, body):
                    while truth(self.value(condition)):
                        self.rounds += 1
                        if self.rounds > self.most_rounds:
                            raise TooManyRounds(f"line {statement.line}: more than {self.most_rounds} rounds.")
                        self.block(body)
                case Return(value):
                    raise _Finished(self.value(value))
                case Assume(condition):
                    if not truth(self.value(condition)):
                        raise InvalidParameter("inputs", "an assumption of the program does not hold.")
                case Hint():
                    self.said(statement)

    def said(self, hint: Hint) -> None:
        """What cannot be evaluated ends the run, as in Python; but nothing is evaluated that is not public."""
        for one in hint.arguments if hint.kind == "invariant" else ():
            if free_variables(one) <= self.public:
                self.value(one)
