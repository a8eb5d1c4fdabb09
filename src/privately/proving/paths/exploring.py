"""All ways through a program, with its noise (and, if wanted, its inputs) left open.

Coins and other laws with finitely many outcomes fork with their weights; a guard on a value that depends on noise forks
into two, each with a linear constraint. Ways whose constraints contradict one another are dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from random import Random
from typing import Any

from privately.errors import NotSupported, PrivatelyError
from privately.proving.exact.sampling import outcomes
from privately.proving.exact.states import Excluded
from privately.proving.exact.weights import fraction
from privately.proving.language.laws import LAWS
from privately.proving.language.meaning import truth
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
)
from privately.proving.paths.affine import (
    Affine,
    Constraint,
    NotAffine,
    symbol_form,
)
from privately.proving.paths.evaluating import Coin, Impossible, Reading, State
from privately.proving.paths.linear import point
from privately.proving.paths.noise import Noise, noise

MOST_PATHS = 4_096
MOST_STEPS = 400_000
LONGEST = 20_000
MOST_DECISIONS = 400
"""Paths, statements on all of them, statements on one, forks on one: beyond, the program is refused."""


@dataclass(frozen=True)
class Path:
    """One way: it is taken if the coins fall so (`weight`, `coins`) and the noise meets all constraints."""

    output: Value
    weight: Fraction
    coins: tuple[Coin, ...]
    noises: tuple[Noise, ...]
    constraints: tuple[Constraint, ...]


@dataclass(frozen=True)
class Exploration:
    """All ways, and what the program assumes of inputs that were left open."""

    paths: tuple[Path, ...]
    assumptions: tuple[Constraint, ...]


def _never() -> bool:
    return False


def explore(
    program: Program,
    inputs: Mapping[str, Value],
    *,
    known: Iterable[Constraint] = (),
    most_paths: int = MOST_PATHS,
    too_late: Callable[[], bool] = _never,
    wanted: Callable[[Mapping[str, Value]], bool] | None = None,
) -> Exploration:
    """All ways for these inputs; entries may be affine forms over strings, of which `known` says what is certain. When
    it is too late, the program is refused like one with too many ways. States with variables that are not `wanted` are
    not followed.

    Theorem: on every way the output is the one that the program gives for any noise that meets the constraints; of two
    ways at most one is taken; and with probability one some way is taken.
    Reference: King 1976 (symbolic execution)
    Proof: docs/theory/refuting.md#paths
    Checked-by: tests/proving/paths/test_exploring.py::test_paths_say_what_runs_do
    """
    return _Explorer(program, tuple(known), most_paths, too_late, wanted).explored(inputs)


def some_paths(
    program: Program, inputs: Mapping[str, Value], known: Iterable[Constraint], count: int, too_late: Callable[[], bool]
) -> Exploration:
    """Some of the ways, picked at random, where there are too many: to look for events, never to measure them."""
    explorer = _Explorer(program, tuple(known), count, too_late, None)
    return explorer.explored(inputs, Random(0))  # noqa: S311 - any choice will do


@dataclass(frozen=True, slots=True)
class _Jump:
    """If the condition fails (or there is none), go there."""

    condition: Expression | None
    target: int
    line: int = field(default=0, compare=False)


class TooManyPaths(NotSupported):
    """There are more ways than are followed."""


class NoOutput(NotSupported):
    """Some way through the program ends without an output."""


def _flattened(block: Block, code: list[Any]) -> None:
    """Blocks as one list of instructions with jumps."""
    for statement in block:
        match statement:
            case If(condition, then, otherwise):
                start = len(code)
                code.append(None)
                _flattened(then, code)
                if otherwise:
                    leave = len(code)
                    code.append(None)
                    code[start] = _Jump(condition, len(code), statement.line)
                    _flattened(otherwise, code)
                    code[leave] = _Jump(None, len(code))
                else:
                    code[start] = _Jump(condition, len(code), statement.line)
            case While(condition, body):
                start = len(code)
                code.append(None)
                _flattened(body, code)
                code.append(_Jump(None, start))
                code[start] = _Jump(condition, len(code), statement.line)
            case Hint():
                pass
            case _:
                code.append(statement)


class _Explorer:
    """Follows all ways, depth first."""

    def __init__(
        self,
        program: Program,
        known: tuple[Constraint, ...],
        most_paths: int,
        too_late: Callable[[], bool],
        wanted: Callable[[Mapping[str, Value]], bool] | None,
    ) -> None:
        self.too_late = too_late
        self.wanted = wanted
        self.code: list[Any] = []
        _flattened(program.body, self.code)
        self.known = known
        self.most_paths = most_paths
        self.steps = 0
        self.paths: list[Path] = []
        self.assumptions: dict[Constraint, None] = {}

    def explored(self, inputs: Mapping[str, Value], chance: Random | None = None) -> Exploration:
        start = point(self.known)
        if start is None:
            raise NotSupported("what is known of the inputs contradicts itself.")
        waiting = [State(0, dict(inputs), start)]
        while waiting and (chance is None or len(self.paths) < self.most_paths):
            if chance is not None:
                waiting.append(waiting.pop(chance.randrange(len(waiting))))
            state = waiting.pop()
            while state is not None:
                following = self.advanced(state)
                if chance is not None:
                    chance.shuffle(following)
                waiting += following[1:]
                state = following[0] if following else None  # type: ignore[assignment]  # the inner loop ends
        return Exploration(tuple(self.paths), tuple(self.assumptions))

    def advanced(self, state: State) -> list[State]:
        """All states after one instruction."""
        if state.place >= len(self.code):
            raise NoOutput("the program can end without an output.", hint="Return a value on every way.")
        self.steps += 1
        if self.steps > MOST_STEPS or state.steps > LONGEST or state.decisions > MOST_DECISIONS:
            raise TooManyPaths("a loop that does not end soon enough.", hint="Take smaller inputs.")
        if self.too_late():
            raise TooManyPaths("paths that take too long to follow.", hint="Take smaller inputs.")
        instruction = self.code[state.place]
        try:
            return self.executed(instruction, replace(state, steps=state.steps + 1))
        except PrivatelyError as error:
            if instruction.line and not error.message.startswith("line "):
                error.message = f"line {instruction.line}: {error.message}"
                error.args = (f"{error.message} {error.hint}".strip(),)
            raise

    def executed(self, instruction: Any, state: State) -> list[State]:
        match instruction:
            case _Jump():
                return self.jumped(instruction, state)
            case Assign(name, value):
                found = [
                    _stored(after, name, result)
                    for after, result in self.every(state, lambda reading: reading.value(value))
                ]
                wanted = self.wanted
                return found if wanted is None else [after for after in found if wanted(after.variables)]
            case Sample(name, law, arguments):
                given = self.every(state, lambda reading: tuple(reading.value(one) for one in arguments))
                return [one for after, values in given for one in self.drawn(after, name, law, values)]
            case Return(value):
                for after, result in self.every(state, lambda reading: reading.value(value)):
                    self.returned(after, result)
                return []
            case Assume(condition):
                return self.assumed(state, condition)
        raise NotSupported(f"the statement {instruction!r} is unknown.")

    def jumped(self, jump: _Jump, state: State) -> list[State]:
        test = jump.condition
        if test is None:
            return [replace(state, place=jump.target)]
        return [
            replace(after, place=after.place + 1 if holds_here else jump.target)
            for after, holds_here in self.every(state, lambda reading: truth(reading.value(test)))
        ]

    def returned(self, state: State, output: Value) -> None:
        self.paths.append(Path(output, state.weight, state.coins, state.noises, state.constraints))
        for one in state.assumptions:
            self.assumptions[one] = None
        if len(self.paths) > self.most_paths:
            raise TooManyPaths(f"more than {self.most_paths} paths.", hint="Take smaller inputs.")

    def assumed(self, state: State, condition: Expression) -> list[State]:
        ways = self.every(state, lambda reading: truth(reading.value(condition)))
        good = [after for after, fine in ways if fine]
        if not good:
            raise Excluded("an assumption does not hold for this input.")
        new = [one for after in good for one in after.constraints[len(state.constraints) :]]
        if any(isinstance(symbol, int) for one in new for symbol in one.form.terms):
            raise NotSupported("an assumption about noise.", hint="Assume things of inputs only.")
        if len(good) > 1:
            raise NotAffine("an assumption that is no conjunction.")
        return [replace(good[0], place=state.place + 1, assumptions=(*state.assumptions, *new))]

    def drawn(self, state: State, name: str, law: str, values: tuple[Value, ...]) -> list[State]:
        if any(isinstance(one, Affine) for one in values):
            raise NotAffine(f"the {LAWS[law].parameters[0]} of {law} depends on noise or on inputs.")
        if law == "flip_exp":
            return _coins(state, name, values[0])
        if LAWS[law].support == "finite":
            return [
                replace(_stored(state, name, value), weight=state.weight * fraction(mass))
                for value, mass in outcomes(law, values, 1)
            ]
        number = len(state.noises)
        new = noise(law, values)
        after = replace(_stored(state, name, symbol_form(number)), noises=(*state.noises, new))
        if not new.one_sided:
            return [after]
        support = Constraint(symbol_form(number), ">" if new.continuous else ">=")
        return [
            replace(after, constraints=(*state.constraints, support), witness={**state.witness, number: Fraction(1)})
        ]

    def every(self, state: State, read: Callable[[Reading], Any]) -> list[tuple[State, Any]]:
        """What `read` gives, for every way in which its guards can fall."""
        found: list[tuple[State, Any]] = []
        waiting: list[tuple[int, ...]] = [()]
        while waiting:
            reading = Reading(state, self.known, waiting.pop())
            try:
                result = read(reading)
            except Impossible:
                waiting += reading.others
                continue
            waiting += reading.others
            found.append((reading.state, result))
            if len(found) > self.most_paths:
                raise TooManyPaths(f"more than {self.most_paths} paths.", hint="Take smaller inputs.")
        return found


def _stored(state: State, name: str, value: Value) -> State:
    return replace(state, place=state.place + 1, variables={**state.variables, name: value})


def _coins(state: State, name: str, exponent: Value) -> list[State]:
    exact = Fraction(exponent)
    if exact < 0:
        raise NotSupported(f"a coin with probability exp({-exact}), which is above 1.")
    faces = (True, False) if exact else (True,)
    return [
        replace(_stored(state, name, face), coins=(*state.coins, (exact, face)) if exact else state.coins)
        for face in faces
    ]
