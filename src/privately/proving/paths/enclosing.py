"""The law of any program's output between two ends: draws are cut into cells, and all states are carried along at once.

Values are exact where they can be and ranges where not (ranges.py). A guard that a range leaves open is followed both
ways: what is reached so has happened at most so often, and perhaps never. Loops are followed until almost nothing goes
on; for the rest one state stands for all that the loop can still make of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from flint import arb, ctx

from privately.errors import NotSupported, PrivatelyError
from privately.proving.language.liveness import needed, needed_by, needed_by_loop
from privately.proving.language.meaning import UNSET, Evaluator, State, canonical, evaluator, spending, truth
from privately.proving.language.program import Program
from privately.proving.language.syntax import (
    Assign,
    Assume,
    Block,
    Expression,
    If,
    Return,
    Sample,
    Statement,
    Value,
    While,
    assigned,
    free_variables,
)
from privately.proving.paths.cells import Cell, cells
from privately.proving.paths.events import Comparison, Condition, Event, entries_of, shape_of
from privately.proving.paths.measuring import interval
from privately.proving.paths.ranges import ANYTHING, RANGED, Range, every, hull, is_vague, widened
from privately.rounding import Interval

BITS = 80
SMALLEST = 64
"""States rarer than 2 to the minus this are lumped, and loops followed until no more goes on."""

LONGEST = 20_000
MOST_UNSURE_ROUNDS = 64
WIDENED_AFTER = 2
MOST_WIDENINGS = 100
FEW = 50


@dataclass(frozen=True, slots=True)
class Mass:
    """What is surely there, and what may be there besides."""

    sure: arb
    unsure: arb

    def __add__(self, other: Mass) -> Mass:
        return Mass(self.sure + other.sure, self.unsure + other.unsure)

    def __mul__(self, share: arb) -> Mass:
        return Mass(self.sure * share, self.unsure * share)

    def doubted(self) -> Mass:
        """All of it perhaps."""
        return Mass(arb(0), self.sure + self.unsure)


Weighted: TypeAlias = dict[State, Mass]
Outputs: TypeAlias = dict[Value, Mass]
Step: TypeAlias = Callable[[Weighted, Outputs], Weighted]


class TooMuchWork(NotSupported):
    """More states than are allowed, or no time left."""


@dataclass(frozen=True)
class Enclosed:
    """Outputs, some of them with ranges in them, and how often each comes, surely and perhaps."""

    outputs: Outputs

    def probability(self, event: Event) -> Interval:
        """Two ends around the probability of an event; exactly 0 and 0 only if nothing may be in it.

        Theorem: the probability of the event lies in the interval.
        Reference: Cousot-Cousot 1977 (over-approximation); Moore 1966 (interval arithmetic)
        Proof: docs/theory/refuting.md#cells
        Checked-by: tests/proving/paths/test_enclosing.py::test_laws_lie_between_the_two_ends
        """
        low, high = arb(0), arb(0)
        with ctx.workprec(BITS):
            for output, mass in self.outputs.items():
                inside = contained(event, output)
                if inside is not False:
                    high += mass.sure + mass.unsure
                    low += mass.sure if inside else 0
        if high.is_zero():
            return Interval(0, 0)
        upper = interval(high).upper
        return Interval(min(interval(low).lower, upper), upper, method="ball arithmetic")


def contained(event: Event, output: Value) -> bool | None:
    """Whether an output with ranges in it is in the event: surely, surely not, or None."""
    if is_shapeless(output):
        return None
    if shape_of(output) != event.shape:
        return False
    entries = entries_of(output)
    sure = True
    for condition in event.conditions:
        met = _meets(condition, entries)
        if met is False:
            return False
        sure = sure and met is True
    return sure or None


def _meets(condition: Condition, entries: tuple[Value, ...]) -> bool | None:
    total: Value = -condition.bound
    for place, weight in condition.weights:
        total = total + weight * entries[place]
    answers = set(every(lambda: _compared(total, condition.comparison)))
    return answers.pop() if len(answers) == 1 else None


def _compared(total: Value, comparison: Comparison) -> bool:
    match comparison:
        case "==":
            return total.is_zero() if isinstance(total, Range) else bool(total == 0)
        case ">":
            return bool(total > 0)
        case ">=":
            return bool(total >= 0)
        case "<":
            return bool(total < 0)
        case "<=":
            return bool(total <= 0)


def is_shapeless(output: Value) -> bool:
    """Whether it holds a value of which nothing is known, not even whether it is a list."""
    return any(map(is_shapeless, output)) if isinstance(output, tuple) else output is ANYTHING


def enclosed_law(
    program: Program,
    inputs: Mapping[str, Value],
    *,
    fineness: int,
    smallest: int = SMALLEST,
    most_states: int = 200_000,
    too_late: Callable[[], bool] = lambda: False,
) -> Enclosed:
    """The law of the output for these inputs, with draws cut into about so many cells each."""
    with ctx.workprec(BITS):
        work = _Work(most_states, too_late, arb(2) ** -smallest)
        with spending(work.spend):
            return _Follower(program, inputs, fineness, work).law()


class _Work:
    """States that may still be looked at, whether there is time, and what is too rare to be looked at."""

    def __init__(self, states: int, too_late: Callable[[], bool], negligible: arb) -> None:
        self.left, self.too_late, self.negligible = states, too_late, negligible
        self.next_look = states

    def spend(self, states: int) -> None:
        self.left -= states
        if self.left < 0:
            raise TooMuchWork("more states than are followed.", hint="Take smaller inputs.")
        if self.left < self.next_look:
            self.next_look = self.left - 200
            if self.too_late():
                raise TooMuchWork("states that take too long to follow.", hint="Take smaller inputs.")

    def is_over(self, going: Weighted, rounds: int) -> bool:
        """Whether next to nothing goes on in a loop, or only what may not be there, for long."""
        sure = sum((mass.sure for mass in going.values()), arb(0))
        unsure = sum((mass.unsure for mass in going.values()), arb(0))
        rare = unsure < self.negligible or rounds > MOST_UNSURE_ROUNDS
        return bool(sure < self.negligible and rare)

    def swept(self, states: Weighted) -> Weighted:
        """Next to impossible states become one that stands for all of them."""
        if len(states) < FEW:
            return states
        kept: Weighted = {}
        small: Weighted = {}
        for state, mass in states.items():
            _add(small if mass.sure + mass.unsure < self.negligible else kept, state, mass)
        if small:
            _add(kept, _joined(small), _total(small))
        return kept


class _Follower:
    """A program compiled to steps from weighted states to weighted states."""

    def __init__(self, program: Program, inputs: Mapping[str, Value], fineness: int, work: _Work) -> None:
        self.fineness, self.work = fineness, work
        changing = assigned(program.body)
        self.known = {name: value for name, value in inputs.items() if name not in changing}
        self.slots = {name: slot for slot, name in enumerate(sorted(changing))}
        self.start = tuple(inputs.get(name, UNSET) for name in self.slots)
        self.lost = arb(0)
        self.coarse = False
        self.drawn: dict[tuple[object, ...], list[Cell]] = {}
        self.step = self.block(program.body, frozenset())

    def law(self) -> Enclosed:
        out: Outputs = {}
        rest = self.step({self.start: Mass(arb(1), arb(0))}, out)
        for mass in rest.values():
            if not mass.sure.is_zero():
                raise NotSupported("the program can end without an output.", hint="Return a value on every way.")
            self.lost += mass.unsure
        if not self.lost.is_zero():
            _add(out, ANYTHING, Mass(arb(0), self.lost))
        return Enclosed(out)

    def read(self, states: Weighted, value: Evaluator) -> Iterator[tuple[State, Mass, Value]]:
        """Every state with each value that it may have. A state that is too vague to go on may end anyhow."""
        for state, mass in states.items():
            self.work.spend(1)
            try:
                found = list(dict.fromkeys(every(lambda: value(state))))  # noqa: B023 - called at once
            except TooMuchWork:
                raise
            except (NotSupported, OverflowError):
                if not mass.sure.is_zero() and not is_vague(state):
                    raise
                self.lost += mass.sure + mass.unsure
                continue
            share = mass if len(found) == 1 else mass.doubted()
            for one in found:
                yield state, share, one

    def compiled(self, expression: Expression) -> Evaluator:
        return evaluator(expression, self.slots, self.known, RANGED)

    def tested(self, expression: Expression) -> Evaluator:
        value = self.compiled(expression)
        return lambda state: truth(value(state))

    def block(self, block: Block, after: frozenset[str]) -> Step:
        steps: list[Step] = []
        for statement in reversed(block):
            steps.append(self.located(statement, after))
            after = needed_by(statement, after)
        steps.reverse()

        def run(states: Weighted, out: Outputs) -> Weighted:
            for step in steps:
                if not states:
                    break
                states = step(states, out)
            return states

        return run

    def located(self, statement: Statement, after: frozenset[str]) -> Step:
        """Errors say the line."""
        step, line = self.statement(statement, after), statement.line

        def run(states: Weighted, out: Outputs) -> Weighted:
            try:
                return step(states, out)
            except PrivatelyError as error:
                if line and not error.message.startswith("line "):
                    error.message = f"line {line}: {error.message}"
                    error.args = (f"{error.message} {error.hint}".strip(),)
                raise

        return run

    def statement(self, statement: Statement, after: frozenset[str]) -> Step:
        match statement:
            case Assign(name, value):
                return self.assign(name, self.compiled(value), after)
            case Sample(name, law, arguments):
                return self.sample(name, law, tuple(map(self.compiled, arguments)), after)
            case If(condition, then, otherwise):
                return self.branch(self.tested(condition), (then, otherwise), after)
            case While():
                return self.loop(statement, after)
            case Return(value):
                return self.output(self.compiled(value))
            case Assume(condition):
                return self.assume(self.tested(condition))
            case _:
                return lambda states, _: states

    def kept(self, names: frozenset[str]) -> Callable[[State], State]:
        """The state with these variables alone: no others are read any more."""
        slots = [name in names for name in self.slots]
        if all(slots):
            return lambda state: state
        return lambda state: tuple(one if keep else UNSET for one, keep in zip(state, slots, strict=True))

    def assign(self, name: str, value: Evaluator, after: frozenset[str]) -> Step:
        slot, kept = self.slots[name], self.kept(after)

        def run(states: Weighted, _: Outputs) -> Weighted:
            found: Weighted = {}
            for state, mass, new in self.read(states, value):
                _add(found, kept((*state[:slot], new, *state[slot + 1 :])), mass)
            return found

        return run

    def sample(self, name: str, law: str, arguments: tuple[Evaluator, ...], after: frozenset[str]) -> Step:
        slot, kept = self.slots[name], self.kept(after)

        def run(states: Weighted, _: Outputs) -> Weighted:
            found: Weighted = {}
            for state, mass, given in self.read(states, lambda state: tuple(one(state) for one in arguments)):
                for value, share in self.cells(law, given, vague=is_vague(state) or is_vague(given)):
                    self.work.spend(1)
                    _add(found, kept((*state[:slot], value, *state[slot + 1 :])), mass * share)
            return self.work.swept(found)

        return run

    def cells(self, law: str, given: tuple[Value, ...], *, vague: bool) -> list[Cell]:
        key = (law, given, self.coarse)
        if key not in self.drawn:
            try:
                self.drawn[key] = cells(law, given, 0 if self.coarse else self.fineness)
            except NotSupported:
                if not vague:
                    raise
                self.drawn[key] = [(ANYTHING, arb(1))]
        return self.drawn[key]

    def branch(self, test: Evaluator, blocks: tuple[Block, Block], after: frozenset[str]) -> Step:
        steps = [self.block(block, after) for block in blocks]
        clears = [self.kept(needed(block, after)) for block in blocks]

        def run(states: Weighted, out: Outputs) -> Weighted:
            sides: tuple[Weighted, Weighted] = ({}, {})
            for state, mass, holds in self.read(states, test):
                side = 0 if holds else 1
                _add(sides[side], clears[side](state), mass)
            joined = steps[0](sides[0], out)
            for state, mass in steps[1](sides[1], out).items():
                _add(joined, state, mass)
            return joined

        return run

    def output(self, value: Evaluator) -> Step:
        def run(states: Weighted, out: Outputs) -> Weighted:
            for _, mass, found in self.read(states, value):
                self.work.spend(len(found) // 4 if isinstance(found, tuple) else 0)
                _add(out, canonical(found), mass)
            return {}

        return run

    def assume(self, test: Evaluator) -> Step:
        def run(states: Weighted, _: Outputs) -> Weighted:
            if not all(map(test, states)):  # one state: nothing was drawn before
                raise NotSupported("an assumption does not hold for this input.")
            return states

        return run

    def loop(self, loop: While, after: frozenset[str]) -> Step:
        head = needed_by_loop(free_variables(loop.condition), loop.body, after)
        parts = _Loop(
            self.tested(loop.condition),
            self.block(loop.body, head),
            self.kept(needed(loop.body, head)),
            self.kept(after),
        )

        def run(states: Weighted, out: Outputs) -> Weighted:
            ends: Weighted = {}
            before: Weighted = {}
            going: Weighted = {}
            for number in range(LONGEST):
                going = self.going(parts, states, ends)
                if not going:
                    return ends
                if self.coarse or self.work.is_over(going, number):
                    break
                entered = self.work.swept(parts.entered(going))
                if len(entered) == 1 and entered.keys() == before.keys() and self.again(parts, entered, out, ends):
                    return ends
                before = entered
                states = parts.body(entered, out)
            self.rest(parts, going, out, ends)
            return ends

        return run

    def going(self, loop: _Loop, states: Weighted, ends: Weighted) -> Weighted:
        """The states that go on; the others are added to `ends`."""
        found: Weighted = {}
        for state, mass, goes_on in self.read(states, loop.test):
            _add(found if goes_on else ends, state if goes_on else loop.leave(state), mass)
        return found

    def again(self, loop: _Loop, entered: Weighted, out: Outputs, ends: Weighted) -> bool:
        """Whether one state comes back alone, round by round: then it comes 1/(1 - how likely that is) times."""
        ((state, mass),) = entered.items()
        inside: Outputs = {}
        outside: Weighted = {}
        lost = self.lost
        back = loop.entered(self.going(loop, loop.body({state: Mass(arb(1), arb(0))}, inside), outside))
        share = back.get(state, Mass(arb(0), arb(1)))
        if len(back) > 1 or not (mass.unsure.is_zero() and share.unsure.is_zero() and share.sure < 1):
            return False
        if self.lost is not lost:
            self.lost = lost
            return False
        times = mass.sure / (1 - share.sure)
        for table, found in ((out, inside), (ends, outside)):
            for key, part in found.items():
                _add(table, key, part * times)
        return True

    def rest(self, loop: _Loop, going: Weighted, out: Outputs, ends: Weighted) -> None:
        """What a loop can still make of these states: one state that stands for all that it ever meets."""
        mass = _total(going)
        before, self.coarse = (self.lost, self.coarse), True
        head = _joined(going)
        for number in range(MOST_WIDENINGS):
            inside: Outputs = {}
            ways = {holds for _, _, holds in self.read({head: mass}, loop.test)}
            after = loop.body(loop.entered({head: mass}), inside) if True in ways else {}
            grown = _joined({head: mass, **after})
            if grown == head:
                break
            head = grown if number < WIDENED_AFTER else tuple(map(widened, head, grown))
        else:
            raise TooMuchWork("a loop of which no end is seen.")
        lost, self.coarse = self.lost is not before[0], before[1]
        self.lost = before[0] + mass.unsure if lost else before[0]
        for value in inside:
            _add(out, value, mass)
        if False in ways:
            _add(ends, loop.leave(head), mass)


@dataclass(frozen=True)
class _Loop:
    """The parts of a loop: its test, a round, and what states forget before a round and at the end."""

    test: Evaluator
    body: Step
    enter: Callable[[State], State]
    leave: Callable[[State], State]

    def entered(self, going: Weighted) -> Weighted:
        """The states at the start of a round."""
        found: Weighted = {}
        for state, mass in going.items():
            _add(found, self.enter(state), mass)
        return found


def _total(states: Weighted) -> Mass:
    return sum(states.values(), Mass(arb(0), arb(0))).doubted()


def _joined(states: Weighted) -> State:
    return tuple(UNSET if set(entries) == {UNSET} else hull(entries) for entries in zip(*states, strict=True))


def _add(table: dict[Value, Mass], key: Value, mass: Mass) -> None:
    old = table.get(key)
    table[key] = mass if old is None else old + mass
