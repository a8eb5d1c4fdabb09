"""Running a program once, exactly as it was analysed: the same statements, with real draws."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from privately.errors import InvalidParameter, NotSupported
from privately.proving.language.meaning import UNSET, canonical, evaluator, simple, truth
from privately.proving.language.program import Program
from privately.proving.language.syntax import (
    Assign,
    Assume,
    Block,
    Hint,
    If,
    Return,
    Sample,
    Value,
    While,
    assigned,
)
from privately.proving.primitives import SAMPLERS

MOST_ROUNDS = 10_000_000


class _Finished(Exception):
    def __init__(self, value: Value) -> None:
        super().__init__()
        self.value = value


def run(program: Program, inputs: Mapping[str, Value]) -> Value:
    """The output of one run. Inputs are exact values, lists are tuples."""
    return _Runner(program, inputs).output()


class _Runner:
    def __init__(self, program: Program, inputs: Mapping[str, Value]) -> None:
        changing = sorted(assigned(program.body))
        self.body = program.body
        self.slots = {name: slot for slot, name in enumerate(changing)}
        self.known = {name: value for name, value in inputs.items() if name not in self.slots}
        self.state = [inputs.get(name, UNSET) for name in changing]
        self.rounds = 0
        self.readers: dict[int, object] = {}

    def output(self) -> Value:
        try:
            self.block(self.body)
        except _Finished as finished:
            return canonical(finished.value)
        raise NotSupported("the program ended without an output.", hint="Return a value on every way.")

    def value(self, expression: object) -> Value:
        key = id(expression)
        if key not in self.readers:
            self.readers[key] = evaluator(expression, self.slots, self.known)  # type: ignore[arg-type]
        return self.readers[key](tuple(self.state))  # type: ignore[operator]

    def block(self, block: Block) -> None:  # noqa: C901 - a case a statement
        for statement in block:
            match statement:
                case Assign(name, value):
                    self.state[self.slots[name]] = self.value(value)
                case Sample(name, law, arguments):
                    self.state[self.slots[name]] = _drawn(law, [self.value(one) for one in arguments])
                case If(condition, then, otherwise):
                    self.block(then if truth(self.value(condition)) else otherwise)
                case While(condition, body):
                    while truth(self.value(condition)):
                        self.rounds += 1
                        if self.rounds > MOST_ROUNDS:
                            raise NotSupported(f"line {statement.line}: more than {MOST_ROUNDS} rounds.")
                        self.block(body)
                case Return(value):
                    raise _Finished(self.value(value))
                case Assume(condition):
                    if not truth(self.value(condition)):
                        raise InvalidParameter("inputs", "an assumption of the program does not hold.")
                case Hint():
                    pass


def _drawn(law: str, arguments: list[Value]) -> Value:
    drawn = SAMPLERS[law](*arguments)
    if isinstance(drawn, list):
        return tuple(drawn)
    return simple(Fraction(drawn)) if isinstance(drawn, float) else drawn
