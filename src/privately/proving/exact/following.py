"""Statements as functions from weighted states to weighted states; equal states are merged.

A state holds only variables that still matter, so different ways to the same future are one. A loop is followed round
by round; if it comes back to a state it has seen, its states form a chain, and how often each is visited is solved for
(chains.py). Noise without end stays in the states as it is until it is compared (tails.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import TypeAlias

from privately.errors import NotSupported, PrivatelyError
from privately.proving.exact.budgets import Budget
from privately.proving.exact.chains import visits
from privately.proving.exact.places import Between
from privately.proving.exact.sampling import NotFinite
from privately.proving.exact.sets import apart
from privately.proving.exact.tails import (
    ENDLESS,
    LONGEST,
    Tail,
    Undecided,
    Uneven,
    drawn,
    fresh,
    renamed,
    residues,
    split,
    variables,
    writable,
)
from privately.proving.exact.weights import ONE, Weight, cost
from privately.proving.language.liveness import needed, needed_by, needed_by_loop
from privately.proving.language.meaning import (
    UNSET,
    Evaluator,
    OpenNumber,
    State,
    canonical,
    closed,
    evaluator,
    spending,
    truth,
)
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
    Statement,
    Value,
    While,
    assigned,
    free_variables,
)
from privately.proving.primitives import draw

Weighted: TypeAlias = dict[State, Weight]
Outputs: TypeAlias = dict[Value, Weight]
Step: TypeAlias = Callable[[Weighted, Outputs], Weighted]
Shortcut: TypeAlias = Callable[[Weighted], Weighted | None]
"""The states after a loop, or None where the long way has to be taken."""

STATE, OUTCOME, SPLITTING, NOISE, VALUES = 3, 4, 400, 40, 4
"""Steps of work: to look at a state, to draw one outcome, to split a state, for each noise in it, and how many of them
the units are in which values are counted (meaning.py)."""


class Excluded(NotSupported):
    """An input for which an assumption of the program fails."""


class Follower:
    """A program compiled to steps."""

    def __init__(
        self, program: Program, inputs: Mapping[str, Value], unit: int, place: Between | None, budget: Budget
    ) -> None:
        self.unit = unit
        self.place = place
        self.budget = budget
        changing = assigned(program.body)
        self.known = {name: value for name, value in inputs.items() if name not in changing}
        self.slots = {name: slot for slot, name in enumerate(sorted(changing))}
        self.start = tuple(inputs.get(name, UNSET) for name in self.slots)
        self.tidy = renamed if any(one.law in ENDLESS for one in program.samples) else _untouched
        self.step = self.block(program.body, frozenset())

    def law(self) -> Outputs:
        out: Outputs = {}
        with spending(lambda units: self.budget.spend(VALUES * units)):
            rest = self.step({self.start: ONE}, out)
        if rest:
            raise NotSupported("the program can end without an output.", hint="Return a value on every way.")
        found: Outputs = apart(out)
        return found

    def settled(self, states: Weighted, value: Evaluator) -> Iterator[tuple[State, Weight, Value]]:
        """Every state with its value; states that have no one value are split until they do."""
        self.budget.spend(_price(states))
        for state, mass in states.items():
            waiting, splits = [(state, mass)], 0
            while waiting:
                part, share = waiting.pop()
                try:
                    found = value(part)
                except Undecided as undecided:
                    splits += 1
                    self.budget.spend(cost(share))
                    if splits > LONGEST:
                        raise NotFinite(f"a comparison with more than {LONGEST} values of a tail.") from None
                    waiting += [(one, writable(share * chance)) for one, chance in self.parts(part, undecided)]
                else:
                    yield part, share, found

    def parts(self, state: State, undecided: Undecided) -> list[tuple[State, Weight]]:
        """Where a comparison needs more of a tail."""
        self.budget.spend(SPLITTING + NOISE * sum(1 for _ in variables(state)))
        if isinstance(undecided, Uneven):
            return residues(state, undecided.one, undecided.period)
        return split(state, undecided.gap)

    def draws(self, law: str, given: tuple[Value, ...]) -> list[tuple[Value, Weight]]:
        """All outcomes of a law with their weights, if a run gets past this draw."""
        found = drawn(law, given, self.unit, self.place)
        if not any(isinstance(one, OpenNumber) for one in given):
            draw(law, given)
        return found

    def tested(self, states: Weighted, test: Evaluator) -> Weighted:
        """The same states, split so that the test has one answer in each."""
        found: Weighted = {}
        for state, mass, _ in self.settled(states, test):
            add(found, self.tidy(state), mass)
        return found

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
        if not line:
            return step

        def run(states: Weighted, out: Outputs) -> Weighted:
            try:
                return step(states, out)
            except PrivatelyError as error:
                if not error.message.startswith("line "):
                    error.message = f"line {line}: {error.message}"
                    error.args = (f"{error.message} {error.hint}".strip(),)
                raise

        return run

    def statement(self, statement: Statement, after: frozenset[str]) -> Step:
        match statement:
            case Assign(name, value):
                return self.assign(name, self.compiled(value), self.dropped(statement, after))
            case Sample(name, law, arguments):
                return self.sample(name, law, tuple(map(self.compiled, arguments)), self.dropped(statement, after))
            case If(condition, then, otherwise):
                return self.branch(condition, then, otherwise, after)
            case While():
                return self.loop(statement, after)
            case Return(value):
                return self.output(self.compiled(value))
            case Assume(condition):
                return self.assume(self.compiled(condition))
            case Hint():
                return lambda states, _: states

    def compiled(self, expression: Expression) -> Evaluator:
        return evaluator(expression, self.slots, self.known)

    def dropped(self, statement: Assign | Sample, after: frozenset[str]) -> tuple[int, ...]:
        """The slots that nobody reads any more."""
        before = needed_by(statement, after) | {statement.name}
        return self.places(before - after)

    def places(self, names: frozenset[str]) -> tuple[int, ...]:
        return tuple(self.slots[name] for name in names if name in self.slots)

    def cleared(self, before: frozenset[str], after: frozenset[str]) -> Callable[[State], State]:
        gone = self.places(before - after)

        def clear(state: State) -> State:
            kept = list(state)
            for slot in gone:
                kept[slot] = UNSET
            return self.tidy(tuple(kept))

        return clear if gone else self.tidy

    def assign(self, name: str, value: Evaluator, gone: tuple[int, ...]) -> Step:
        slot = self.slots[name]

        def run(states: Weighted, _: Outputs) -> Weighted:
            after: Weighted = {}
            for state, mass, found in self.settled(states, value):
                changed = list(state)
                changed[slot] = found
                for one in gone:
                    changed[one] = UNSET
                add(after, self.tidy(tuple(changed)), mass)
            return after

        return run

    def sample(self, name: str, law: str, arguments: tuple[Evaluator, ...], gone: tuple[int, ...]) -> Step:
        slot = self.slots[name]
        known: dict[tuple[Value, ...], list[tuple[Value, Weight]]] = {}

        def run(states: Weighted, _: Outputs) -> Weighted:
            after: Weighted = {}
            for state, mass, given in self.settled(states, lambda state: tuple(one(state) for one in arguments)):
                if given not in known:
                    known[given] = self.draws(law, given)
                self.budget.spend(len(known[given]) * (OUTCOME + cost(mass)))
                changed = list(state)
                for one in gone:
                    changed[one] = UNSET
                for value, share in known[given]:
                    if slot not in gone:
                        changed[slot] = fresh(value, state)
                    add(after, self.tidy(tuple(changed)), mass * share)
            return after

        return run

    def branch(self, condition: Expression, then: Block, otherwise: Block, after: frozenset[str]) -> Step:
        test = self.compiled(condition)
        steps = self.block(then, after), self.block(otherwise, after)
        start = free_variables(condition) | needed(then, after) | needed(otherwise, after)
        clears = self.cleared(start, needed(then, after)), self.cleared(start, needed(otherwise, after))

        def run(states: Weighted, out: Outputs) -> Weighted:
            sides: tuple[Weighted, Weighted] = ({}, {})
            for state, mass, found in self.settled(states, test):
                side = 0 if truth(found) else 1
                add(sides[side], clears[side](state), mass)
            joined = steps[0](sides[0], out)
            for state, mass in steps[1](sides[1], out).items():
                add(joined, state, mass)
            return joined

        return run

    def output(self, value: Evaluator) -> Step:
        def run(states: Weighted, out: Outputs) -> Weighted:
            for _, mass, found in self.settled(states, value):
                add(out, self.tidy((canonical(closed(found)),))[0], mass)
            return {}

        return run

    def assume(self, condition: Evaluator) -> Step:
        def run(states: Weighted, _: Outputs) -> Weighted:
            if not all(truth(condition(state)) for state in states):  # one state: nothing was drawn before
                raise Excluded("an assumption does not hold for this input.")
            return states

        return run

    def loop(self, loop: While, after: frozenset[str]) -> Step:
        head = needed_by_loop(free_variables(loop.condition), loop.body, after)
        test, body = self.compiled(loop.condition), self.block(loop.body, head)
        leave = self.cleared(head, after)
        shorter = self.shortcut(loop, head, after)

        def run(states: Weighted, out: Outputs) -> Weighted:
            found = None if shorter is None else shorter(states)
            return _left(self.rounds(states, out, test, body) if found is None else found, leave)

        return run

    def shortcut(self, loop: While, head: frozenset[str], after: frozenset[str]) -> Shortcut | None:
        """Another way through a loop, if there is one."""
        del loop, head, after
        return None

    def rounds(self, states: Weighted, out: Outputs, test: Evaluator, body: Step) -> Weighted:
        """Round by round, all states together, unless one comes again."""
        entry, found = dict(states), dict[Value, Weight]()
        ends: Weighted = {}
        seen: set[State] = set()
        while states:
            states = self.tested(states, test)
            going = {state: mass for state, mass in states.items() if truth(test(state))}
            for state, mass in states.items():
                if state not in going:
                    add(ends, state, mass)
            if not seen.isdisjoint(going):
                return self.chain(entry, out, test, body)
            seen.update(going)
            self.budget.spend(sum(map(_size, going)))
            states = body(going, found)
        for value, mass in found.items():
            add(out, value, mass)
        return ends

    def chain(self, entry: Weighted, out: Outputs, test: Evaluator, body: Step) -> Weighted:
        """Every state once, with where it leads; then how often each is visited."""
        steps: dict[State, Weighted] = {}
        given: dict[State, Outputs] = {}
        entry = self.tested(entry, test)
        waiting = list(entry)
        while waiting:
            state = waiting.pop()
            if state in steps:
                continue
            steps[state], given[state] = {}, {}
            if truth(test(state)):
                self.budget.spend(_size(state))
                steps[state] = self.tested(body({state: ONE}, given[state]), test)
                waiting += steps[state]
        times = visits(entry, steps, self.budget.spend)
        ends: Weighted = {}
        for state, mass in times.items():
            for value, share in given[state].items():
                add(out, value, mass * share)
            if not truth(test(state)):
                add(ends, state, mass)
        return ends


def _untouched(state: State) -> State:
    return state


def _left(states: Weighted, leave: Callable[[State], State]) -> Weighted:
    after: Weighted = {}
    for state, mass in states.items():
        add(after, leave(state), mass)
    return after


def _price(states: Weighted) -> int:
    """What a statement costs for all states, as the first and the last of them tell."""
    if not states:
        return 0
    ends = next(iter(states.items())), next(reversed(states.items()))
    return len(states) * max(STATE + _size(state) // 2 + cost(mass) // 4 for state, mass in ends)


def _size(state: State) -> int:
    """What a state costs to keep: long lists, long numbers and sums of many noises count."""
    return 4 + sum(map(_length, state)) // 8


def _length(value: Value) -> int:
    if isinstance(value, int):
        return value.bit_length() // 512
    if isinstance(value, tuple):
        return len(value)
    if isinstance(value, Fraction):
        return 24 + value.denominator.bit_length() // 8
    return 128 * len(value.factors) if isinstance(value, Tail) else 0


def add(table: dict[Value, Weight], key: Value, mass: Weight) -> None:
    """More weight for a key."""
    old = table.get(key)
    table[key] = mass if old is None else old + mass
