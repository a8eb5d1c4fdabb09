"""The tree of a finite program's draws: what can be drawn, how likely, and which output follows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from privately.errors import NotSupported
from privately.proving.analysis import plain
from privately.proving.exact.places import Between
from privately.proving.exact.sampling import Finer, outcomes
from privately.proving.exact.tails import ENDLESS
from privately.proving.exact.weights import ONE, Weight
from privately.proving.language.meaning import UNSET, Evaluator, canonical, evaluator, truth
from privately.proving.language.program import Program
from privately.proving.language.syntax import (
    Assign,
    Assume,
    Block,
    Expression,
    If,
    Return,
    Sample,
    Value,
    While,
    assigned,
)

MOST_LEAVES = 64


@dataclass(frozen=True, slots=True)
class Leaf:
    """An output, with the probability of the way to it."""

    output: Value
    mass: Weight


@dataclass(frozen=True, slots=True)
class Node:
    """A draw: the line, what is drawn, and what follows each outcome."""

    line: int
    law: str
    branches: tuple[tuple[Value, Weight, Node | Leaf], ...]


def tree(program: Program, inputs: Mapping[str, Value], *, place: Between | None = None) -> Node | Leaf | None:
    """All ways of one run; None if they are too many to look at."""
    unit = 1
    while True:
        try:
            return _Grower(program, inputs, unit, place).grow()
        except Finer as finer:
            unit = finer.denominator
        except _TooMany:
            return None


class _TooMany(Exception):
    """More ways than a person looks at."""


class _Asked(Exception):
    """A draw that has not been made yet."""

    def __init__(self, line: int, law: str, options: list[tuple[Value, Weight]]) -> None:
        super().__init__()
        self.line, self.law, self.options = line, law, options


class _Returned(Exception):
    def __init__(self, value: Value) -> None:
        super().__init__()
        self.value = value


class _Grower:
    """Runs the program again for every prefix of draws."""

    def __init__(self, program: Program, inputs: Mapping[str, Value], unit: int, place: Between | None) -> None:
        self.program, self.unit, self.place = program, unit, place
        changing = sorted(assigned(program.body))
        self.slots = {name: slot for slot, name in enumerate(changing)}
        self.known = {name: value for name, value in inputs.items() if name not in self.slots}
        self.start = [inputs.get(name, UNSET) for name in changing]
        self.readers: dict[int, Evaluator] = {}
        self.leaves = self.steps = 0

    def grow(self, made: tuple[Value, ...] = (), mass: Weight = ONE) -> Node | Leaf:
        """What follows these draws."""
        if len(made) > MOST_LEAVES:
            raise _TooMany
        try:
            self.replay(made)
        except _Returned as returned:
            self.leaves += 1
            if self.leaves > MOST_LEAVES:
                raise _TooMany from None
            return Leaf(canonical(returned.value), plain(mass))
        except _Asked as asked:
            branches = tuple(
                (value, plain(share), self.grow((*made, value), mass * share)) for value, share in asked.options
            )
            return Node(asked.line, asked.law, branches)
        raise NotSupported("the program can end without an output.")

    def replay(self, made: tuple[Value, ...]) -> None:
        self.state, self.draws = list(self.start), iter(made)
        self.block(self.program.body)

    def value(self, expression: Expression) -> Value:
        if id(expression) not in self.readers:
            self.readers[id(expression)] = evaluator(expression, self.slots, self.known)
        return self.readers[id(expression)](tuple(self.state))

    def block(self, block: Block) -> None:  # noqa: C901 - a case a statement
        for statement in block:
            self.steps += 1
            if self.steps > 200_000:
                raise _TooMany
            match statement:
                case Assign(name, value):
                    self.state[self.slots[name]] = self.value(value)
                case Sample(name):
                    self.state[self.slots[name]] = self.drawn(statement)
                case If(condition, then, otherwise):
                    self.block(then if truth(self.value(condition)) else otherwise)
                case While(condition, body):
                    while truth(self.value(condition)):
                        self.block(body)
                case Return(value):
                    raise _Returned(self.value(value))
                case Assume(condition):
                    if not truth(self.value(condition)):
                        raise NotSupported("an assumption does not hold for this input.")

    def drawn(self, sample: Sample) -> Value:
        for value in self.draws:
            return value
        if sample.law in ENDLESS:
            raise _TooMany
        given = tuple(self.value(one) for one in sample.arguments)
        raise _Asked(sample.line, sample.law, outcomes(sample.law, given, self.unit, self.place))
