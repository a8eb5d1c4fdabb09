"""All ways through a program, with its noise (and, if wanted, its inputs) left open.

Coins and other laws with finitely many outcomes fork with their weights; a guard on a value that depends on noise forks
into two, each with a linear constraint. Ways whose constraints contradict one another are dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, TypeAlias

from privately.errors import NotSupported, PrivatelyError
from privately.proving.exact.sampling import outcomes
from privately.proving.exact.states import Excluded
from privately.proving.exact.weights import fraction
from privately.proving.language.laws import LAWS
from privately.proving.language.meaning import FUNCTIONS, UNSET, truth
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
    Value,
    Variable,
    While,
)
from privately.proving.paths.affine import (
    Affine,
    Constraint,
    Exact,
    NotAffine,
    Relation,
    Symbol,
    constant_of,
    holds,
    symbol_form,
    terms_of,
)
from privately.proving.paths.linear import point
from privately.proving.paths.noise import Noise, noise

MOST_PATHS = 4_096
MOST_STEPS = 400_000
LONGEST = 20_000
MOST_DECISIONS = 400
"""Paths, statements on all of them, statements on one, forks on one: beyond, the program is refused."""

Coin: TypeAlias = tuple[Fraction, bool]
"""A coin that shows heads with probability exp(-first), and whether it did."""


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
) -> Exploration:
    """All ways for these inputs; entries may be affine forms over strings, of which `known` says what is certain. When
    it is too late, the program is refused like one with too many ways.

    Theorem: on every way the output is the one that the program gives for any noise that meets the constraints; of two
    ways at most one is taken; and with probability one some way is taken.
    Reference: King 1976 (symbolic execution)
    Proof: docs/theory/refuting.md#paths
    Checked-by: tests/proving/paths/test_exploring.py::test_paths_say_what_runs_do
    """
    return _Explorer(program, tuple(known), most_paths, too_late).explored(inputs)


@dataclass(frozen=True)
class _State:
    """Where one way is: the next instruction, the variables, what has been met; and a point that meets all of it."""

    place: int
    variables: Mapping[str, Value]
    witness: Mapping[Symbol, Fraction]
    weight: Fraction = Fraction(1)
    coins: tuple[Coin, ...] = ()
    noises: tuple[Noise, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    assumptions: tuple[Constraint, ...] = ()
    steps: int = 0
    decisions: int = 0


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


class _Impossible(Exception):
    """No noise leads here."""


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
        self, program: Program, known: tuple[Constraint, ...], most_paths: int, too_late: Callable[[], bool]
    ) -> None:
        self.too_late = too_late
        self.code: list[Any] = []
        _flattened(program.body, self.code)
        self.known = known
        self.most_paths = most_paths
        self.steps = 0
        self.paths: list[Path] = []
        self.assumptions: dict[Constraint, None] = {}

    def explored(self, inputs: Mapping[str, Value]) -> Exploration:
        start = point(self.known)
        if start is None:
            raise NotSupported("what is known of the inputs contradicts itself.")
        waiting = [_State(0, dict(inputs), start)]
        while waiting:
            state = waiting.pop()
            while state is not None:
                following = self.advanced(state)
                waiting += following[1:]
                state = following[0] if following else None  # type: ignore[assignment]  # the inner loop ends
        return Exploration(tuple(self.paths), tuple(self.assumptions))

    def advanced(self, state: _State) -> list[_State]:
        """All states after one instruction."""
        if state.place >= len(self.code):
            raise NoOutput("the program can end without an output.", hint="Return a value on every way.")
        self.steps += 1
        if self.steps > MOST_STEPS or state.steps > LONGEST or state.decisions > MOST_DECISIONS:
            raise NotSupported("a loop that does not end soon enough.", hint="Take smaller inputs.")
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

    def executed(self, instruction: Any, state: _State) -> list[_State]:
        match instruction:
            case _Jump():
                return self.jumped(instruction, state)
            case Assign(name, value):
                return [
                    _stored(after, name, result)
                    for after, result in self.every(state, lambda reading: reading.value(value))
                ]
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

    def jumped(self, jump: _Jump, state: _State) -> list[_State]:
        test = jump.condition
        if test is None:
            return [replace(state, place=jump.target)]
        return [
            replace(after, place=after.place + 1 if holds_here else jump.target)
            for after, holds_here in self.every(state, lambda reading: truth(reading.value(test)))
        ]

    def returned(self, state: _State, output: Value) -> None:
        self.paths.append(Path(output, state.weight, state.coins, state.noises, state.constraints))
        for one in state.assumptions:
            self.assumptions[one] = None
        if len(self.paths) > self.most_paths:
            raise TooManyPaths(f"more than {self.most_paths} paths.", hint="Take smaller inputs.")

    def assumed(self, state: _State, condition: Expression) -> list[_State]:
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

    def drawn(self, state: _State, name: str, law: str, values: tuple[Value, ...]) -> list[_State]:
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

    def every(self, state: _State, read: Callable[[_Reading], Any]) -> list[tuple[_State, Any]]:
        """What `read` gives, for every way in which its guards can fall."""
        found: list[tuple[_State, Any]] = []
        waiting: list[tuple[int, ...]] = [()]
        while waiting:
            reading = _Reading(state, self.known, waiting.pop())
            try:
                result = read(reading)
            except _Impossible:
                waiting += reading.others
                continue
            waiting += reading.others
            found.append((reading.state, result))
            if len(found) > self.most_paths:
                raise TooManyPaths(f"more than {self.most_paths} paths.", hint="Take smaller inputs.")
        return found


def _stored(state: _State, name: str, value: Value) -> _State:
    return replace(state, place=state.place + 1, variables={**state.variables, name: value})


def _coins(state: _State, name: str, exponent: Value) -> list[_State]:
    exact = Fraction(exponent)
    if exact < 0:
        raise NotSupported(f"a coin with probability exp({-exact}), which is above 1.")
    faces = (True, False) if exact else (True,)
    return [
        replace(_stored(state, name, face), coins=(*state.coins, (exact, face)) if exact else state.coins)
        for face in faces
    ]


class _Reading:
    """One evaluation of an expression, with the guards in it decided as told, and further ones noted."""

    def __init__(self, state: _State, known: tuple[Constraint, ...], decided: tuple[int, ...]) -> None:
        self.state = state
        self.known = known
        self.decided = decided
        self.made: tuple[int, ...] = ()
        self.others: list[tuple[int, ...]] = []

    def value(self, expression: Expression) -> Value:
        match expression:
            case Constant(value):
                return value
            case Variable(name):
                return self.variable(name)
            case Each():
                return self.each(expression)
            case Apply("and", (left, right)):
                return truth(self.value(left)) and truth(self.value(right))
            case Apply("or", (left, right)):
                return truth(self.value(left)) or truth(self.value(right))
            case Apply("if", (condition, then, otherwise)):
                return self.value(then if truth(self.value(condition)) else otherwise)
            case Apply(operator, operands):
                return self.applied(operator, tuple(map(self.value, operands)))

    def variable(self, name: str) -> Value:
        value = self.state.variables.get(name, UNSET)
        if value is UNSET:
            raise NotSupported(f"{name!r} has no value.", hint="Give one: public={...}.")
        return value

    def each(self, each: Each) -> Value:
        source = FUNCTIONS["joined"](self.value(each.source), ())
        outer = self.state.variables
        result = []
        for one in source:
            self.state = replace(self.state, variables={**outer, each.variable: one})
            if truth(self.value(each.condition)):
                result.append(self.value(each.element))
        self.state = replace(self.state, variables=outer)
        return tuple(result)

    def applied(self, operator: str, operands: tuple[Value, ...]) -> Value:
        if not any(map(_is_open, operands)):
            return FUNCTIONS[operator](*operands)
        match operator:
            case "<" | "<=" | ">" | ">=":
                return self.compared(operator, *operands)
            case "==":
                return self.equal(*operands)
            case "!=":
                return not self.equal(*operands)
            case "in":
                return any(self.equal(operands[0], one) for one in operands[1])
            case "absolute":
                return operands[0] if self.compared(">=", operands[0], 0) else -operands[0]
            case "least" | "largest":
                return self.extreme("<" if operator == "least" else ">", operands)
            case "item" | "part" | "without" if any(map(_is_open, operands[1:])):
                raise NotAffine("a place in a list that depends on noise or on inputs.")
            case "numbers" | "repeated" | "xor" | "//" | "%":
                raise NotAffine(f"{operator!r} of a value that depends on noise or on inputs.")
            case _:
                return FUNCTIONS[operator](*operands)

    def extreme(self, better: str, operands: tuple[Value, ...]) -> Value:
        several = operands[0] if len(operands) == 1 else operands
        best = several[0]
        for one in several[1:]:
            if self.compared(better, one, best):
                best = one
        return best

    def compared(self, operator: str, left: Value, right: Value) -> bool:
        difference = FUNCTIONS["-"](*((left, right) if operator in {">", ">="} else (right, left)))
        return self.decide(difference, ">" if operator in {"<", ">"} else ">=")

    def equal(self, left: Value, right: Value) -> bool:
        if isinstance(left, tuple) or isinstance(right, tuple):
            if not isinstance(left, tuple) or not isinstance(right, tuple) or len(left) != len(right):
                return False
            return all(self.equal(a, b) for a, b in zip(left, right, strict=True))
        if not isinstance(left, Affine) and not isinstance(right, Affine):
            return bool(left == right)
        return self.decide(FUNCTIONS["-"](left, right), "==")

    def decide(self, value: Affine | Exact, relation: Relation) -> bool:
        """Which way a guard falls here; the other ways are noted for later."""
        if not isinstance(value, Affine):
            return holds(value, relation)
        continuous = self.continuous(value)
        if relation == "==" and continuous:
            return False
        if continuous:
            relation = ">"
        constraint = Constraint(value, relation)
        if relation == "==":
            ways = [constraint, Constraint(value, ">"), Constraint(-value, ">")]
        else:
            opposite = Constraint(-value, ">") if continuous else constraint.negated()
            ways = [constraint, opposite]
        return self.chosen(ways) == 0

    def continuous(self, value: Affine) -> bool:
        noises = self.state.noises
        return any(isinstance(symbol, int) and noises[symbol].continuous for symbol in value.terms)

    def chosen(self, ways: list[Constraint]) -> int:
        """The number of the way that is taken."""
        step = len(self.made)
        if step < len(self.decided):
            way = self.decided[step]
            if not self.entered(ways[way]):
                raise _Impossible
        else:
            way = next((one for one in range(len(ways)) if self.entered(ways[one])), -1)
            if way < 0:
                raise _Impossible
            self.others += [(*self.made, other) for other in range(way + 1, len(ways))]
        self.made = (*self.made, way)
        return way

    def entered(self, constraint: Constraint) -> bool:
        """Adds the constraint, if some noise meets it together with all others."""
        state = self.state
        here = constraint.form
        value = constant_of(here) + sum(
            factor * state.witness.get(symbol, Fraction(0)) for symbol, factor in terms_of(here).items()
        )
        witness = state.witness
        if not holds(value, constraint.relation):
            found = point(_joined((*self.known, *state.constraints), constraint))
            if found is None:
                return False
            witness = {**witness, **found}
        self.state = replace(
            state,
            constraints=(*state.constraints, constraint),
            witness=witness,
            decisions=state.decisions + 1,
        )
        return True


def _joined(constraints: Sequence[Constraint], new: Constraint) -> list[Constraint]:
    """The new one, and all that hang together with it: of the others the point that was known still holds."""
    symbols, near, apart = set(new.form.terms), [new], list(constraints)
    while True:
        added = [one for one in apart if not symbols.isdisjoint(one.form.terms)]
        if not added:
            return near
        apart = [one for one in apart if symbols.isdisjoint(one.form.terms)]
        near += added
        symbols.update(symbol for one in added for symbol in one.form.terms)


def _is_open(value: Value) -> bool:
    return isinstance(value, Affine) or (isinstance(value, tuple) and any(map(_is_open, value)))
