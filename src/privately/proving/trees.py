"""The tree of a finite program's draws: what can be drawn, how likely, and which output follows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from privately.proving.analysis import plain
from privately.proving.exact.places import Between
from privately.proving.exact.sampling import Finer, outcomes
from privately.proving.exact.tails import ENDLESS
from privately.proving.exact.weights import ONE, Weight
from privately.proving.language.program import Program
from privately.proving.language.syntax import Sample, Value
from privately.proving.running import Draw, Run, TooManyRounds

MOST_LEAVES = 64
MOST_ROUNDS = 10_000


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
        except (_TooMany, TooManyRounds):
            return None


class _TooMany(Exception):
    """More ways than a person looks at."""


class _Asked(Exception):
    """A draw that has not been made yet."""

    def __init__(self, line: int, law: str, options: list[tuple[Value, Weight]]) -> None:
        super().__init__()
        self.line, self.law, self.options = line, law, options


class _Grower:
    """Runs the program again for every prefix of draws."""

    def __init__(self, program: Program, inputs: Mapping[str, Value], unit: int, place: Between | None) -> None:
        self.program, self.inputs, self.unit, self.place = program, inputs, unit, place
        self.leaves = 0

    def grow(self, made: tuple[Value, ...] = (), mass: Weight = ONE) -> Node | Leaf:
        """What follows these draws."""
        if len(made) > MOST_LEAVES:
            raise _TooMany
        try:
            output = Run(self.program, self.inputs, self.choosing(made), most_rounds=MOST_ROUNDS).output()
        except _Asked as asked:
            branches = tuple(
                (value, plain(share), self.grow((*made, value), mass * share)) for value, share in asked.options
            )
            return Node(asked.line, asked.law, branches)
        self.leaves += 1
        if self.leaves > MOST_LEAVES:
            raise _TooMany
        return Leaf(output, plain(mass))

    def choosing(self, made: tuple[Value, ...]) -> Draw:
        """These draws; who draws more is asked which."""
        left = iter(made)

        def draw(sample: Sample, arguments: tuple[Value, ...]) -> Value:
            for value in left:
                return value
            if sample.law in ENDLESS:
                raise _TooMany
            raise _Asked(sample.line, sample.law, outcomes(sample.law, arguments, self.unit, self.place))

        return draw
