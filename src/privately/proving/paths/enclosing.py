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
from privately.proving.paths.masses import BITS, Enclosed, Mass, Outputs, Weighted, add, add_either, joined, total
from privately.proving.paths.ranges import ANYTHING, RANGED, alike, every, hull, is_vague, widened

SMALLEST = 64
"""States rarer than 2 to the minus this are lumped, and loops followed until no more goes on."""

MOST_STATES = 600_000
LONGEST = 20_000
MOST_UNSURE_ROUNDS = 64
WIDENED_AFTER = 2
MOST_WIDENINGS = 100
FEW = 50


Step: TypeAlias = Callable[[Weighted, Outputs], Weighted]


class TooMuchWork(NotSupported):
    """More states than are allowed, or no time left."""


def enclosed_law(
    program: Program,
    inputs: Mapping[str, Value],
    *,
    fineness: int,
    smallest: int = SMALLEST,
    most_states: int = MOST_STATES,
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
            add(small if mass.sure + mass.unsure < self.negligible else kept, state, mass)
        if small:
            add(kept, joined(small), total(small))
        return kept


@dataclass(frozen=True)
class _Reader:
    """What an expression is in a state, and the slots on which that depends."""

    read: Evaluator
    slots: tuple[int, ...]


def _overlapping(found: list[Value]) -> list[Value]:
    """Different values; one that stands for all if they overlap."""
    if len(found) == 1:
        return found
    different = list(dict.fromkeys(found))
    return [hull(different)] if all(map(alike, different, different[1:])) else different


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
            add(out, ANYTHING, Mass(arb(0), self.lost))
        return Enclosed(out)

    def read(self, states: Weighted, value: _Reader) -> Iterator[tuple[State, Mass, Value]]:
        """Every state with each value that it may have. A state that is too vague to go on may end anyhow."""
        for state, mass, found in self.read_all(states, value):
            share = mass if len(found) == 1 else mass.doubted()
            for one in found:
                yield state, share, one

    def read_all(self, states: Weighted, value: _Reader) -> Iterator[tuple[State, Mass, list[Value]]]:
        """Every state with all values that it may have; those that overlap are one."""
        known: dict[State, list[Value]] = {}
        for state, mass in states.items():
            self.work.spend(1)
            key = tuple([state[slot] for slot in value.slots])
            found = known.get(key)
            if found is None:
                try:
                    found = _overlapping(every(lambda: value.read(state)))  # noqa: B023 - called at once
                except TooMuchWork:
                    raise
                except (NotSupported, OverflowError):
                    if not mass.sure.is_zero() and not is_vague(state):
                        raise
                    self.lost += mass.sure + mass.unsure
                    continue
                known[key] = found
            yield state, mass, found

    def compiled(self, expression: Expression) -> _Reader:
        return self.reader((expression,), evaluator(expression, self.slots, self.known, RANGED))

    def compiled_all(self, expressions: tuple[Expression, ...]) -> _Reader:
        each = [evaluator(one, self.slots, self.known, RANGED) for one in expressions]
        return self.reader(expressions, lambda state: tuple(one(state) for one in each))

    def tested(self, expression: Expression) -> _Reader:
        value = evaluator(expression, self.slots, self.known, RANGED)
        return self.reader((expression,), lambda state: truth(value(state)))

    def reader(self, expressions: tuple[Expression, ...], read: Evaluator) -> _Reader:
        names = frozenset[str]().union(*map(free_variables, expressions))
        return _Reader(read, tuple(slot for name, slot in self.slots.items() if name in names))

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
                return self.sample(name, law, self.compiled_all(arguments), after)
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
        gone = [slot for name, slot in self.slots.items() if name not in names]
        if not gone:
            return lambda state: state

        def cleared(state: State) -> State:
            left = list(state)
            for slot in gone:
                left[slot] = UNSET
            return tuple(left)

        return cleared

    def assign(self, name: str, value: _Reader, after: frozenset[str]) -> Step:
        slot, kept = self.slots[name], self.kept(after)

        def run(states: Weighted, _: Outputs) -> Weighted:
            found: Weighted = {}
            for state, mass, new in self.read(states, value):
                add(found, kept((*state[:slot], new, *state[slot + 1 :])), mass)
            return found

        return run

    def sample(self, name: str, law: str, arguments: _Reader, after: frozenset[str]) -> Step:
        slot, kept, is_read = self.slots[name], self.kept(after), name in after

        def run(states: Weighted, _: Outputs) -> Weighted:
            found: Weighted = {}
            for state, mass, given in self.read(states, arguments):
                left = kept(state)
                before, behind = left[:slot], left[slot + 1 :]
                for value, share in self.cells(law, given, vague=is_vague(state) or is_vague(given)):
                    self.work.spend(1)
                    add(found, (*before, value if is_read else UNSET, *behind), mass * share)
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

    def branch(self, test: _Reader, blocks: tuple[Block, Block], after: frozenset[str]) -> Step:
        steps = [self.block(block, after) for block in blocks]
        clears = [self.kept(needed(block, after)) for block in blocks]
        plain = all(map(_only_assigns, blocks))

        def run(states: Weighted, out: Outputs) -> Weighted:
            sides: tuple[Weighted, Weighted] = ({}, {})
            after_all: Weighted = {}
            for state, mass, answers in self.read_all(states, test):
                if len(answers) == 1:
                    side = 0 if answers[0] else 1
                    add(sides[side], clears[side](state), mass)
                    continue
                doubt = mass.doubted()
                if not plain:
                    for side in (0, 1):
                        add(sides[side], clears[side](state), doubt)
                    continue
                lost = self.lost
                ways = [steps[side]({clears[side](state): doubt}, out) for side in (0, 1)]
                add_either(after_all, ways, mass if self.lost is lost else None)
            for side in (0, 1):
                for state, mass in steps[side](sides[side], out).items():
                    add(after_all, state, mass)
            return after_all

        return run

    def output(self, value: _Reader) -> Step:
        def run(states: Weighted, out: Outputs) -> Weighted:
            for _, mass, found in self.read(states, value):
                self.work.spend(len(found) // 4 if isinstance(found, tuple) else 0)
                add(out, canonical(found), mass)
            return {}

        return run

    def assume(self, test: _Reader) -> Step:
        def run(states: Weighted, _: Outputs) -> Weighted:
            if not all(map(test.read, states)):  # one state: nothing was drawn before
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
            vague: Weighted = {}
            for number in range(LONGEST):
                going = self.going(parts, states, ends, None if self.coarse else vague)
                if not going:
                    break
                if self.coarse or self.work.is_over(going, number):
                    break
                entered = self.work.swept(parts.entered(going))
                if len(entered) == 1 and entered.keys() == before.keys() and self.again(parts, entered, out, ends):
                    going = {}
                    break
                before = entered
                states = parts.body(entered, out)
            for state, mass in going.items():
                add(vague, state, mass)
            if vague:
                self.rest(parts, vague, out, ends)
            return ends

        return run

    def going(self, loop: _Loop, states: Weighted, ends: Weighted, vague: Weighted | None = None) -> Weighted:
        """The states that go on; the others are added to `ends`. Those that may not be there, and of which it is open
        whether they go on, would count again in every round: they are put aside."""
        found: Weighted = {}
        for state, mass, answers in self.read_all(states, loop.test):
            if len(answers) > 1 and vague is not None and mass.sure.is_zero():
                add(vague, state, mass)
                continue
            for goes_on in answers:
                share = mass if len(answers) == 1 else mass.doubted()
                add(found if goes_on else ends, state if goes_on else loop.leave(state), share)
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
                add(table, key, part * times)
        return True

    def rest(self, loop: _Loop, going: Weighted, out: Outputs, ends: Weighted) -> None:
        """What a loop can still make of these states: one state that stands for all that it ever meets."""
        mass = total(going)
        before, self.coarse = (self.lost, self.coarse), True
        head = joined(going)
        for number in range(MOST_WIDENINGS):
            inside: Outputs = {}
            ways = {holds for _, _, holds in self.read({head: mass}, loop.test)}
            after = loop.body(loop.entered({head: mass}), inside) if True in ways else {}
            grown = joined({head: mass, **after})
            if grown == head:
                break
            head = grown if number < WIDENED_AFTER else tuple(map(widened, head, grown))
        else:
            raise TooMuchWork("a loop of which no end is seen.")
        lost, self.coarse = self.lost is not before[0], before[1]
        self.lost = before[0] + mass.unsure if lost else before[0]
        for value in inside:
            add(out, value, mass)
        if False in ways:
            add(ends, loop.leave(head), mass)


@dataclass(frozen=True)
class _Loop:
    """The parts of a loop: its test, a round, and what states forget before a round and at the end."""

    test: _Reader
    body: Step
    enter: Callable[[State], State]
    leave: Callable[[State], State]

    def entered(self, going: Weighted) -> Weighted:
        """The states at the start of a round."""
        found: Weighted = {}
        for state, mass in going.items():
            add(found, self.enter(state), mass)
        return found


def _only_assigns(block: Block) -> bool:
    """Whether the block does nothing but change variables."""
    return all(
        isinstance(one, Assign) or (isinstance(one, If) and _only_assigns(one.then) and _only_assigns(one.otherwise))
        for one in block
    )
