"""All ways of a program at once: a block takes weighted states to weighted states, and gives outputs on the way.

A state has a value for every variable, None before it gets one and after it is forgotten; equal states are one, and
their weights are added. A state whose noise has to be compared is split (tails.py). A loop that comes back to a state
is solved by taking its states away one by one.
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product as every
from typing import Any

from ..work import Work
from .exact import Beyond, Fractional, Number, fraction, less, minus, over, sign, terms
from .operators import OPERATORS, integer, items, plain, short, truth
from .reading import Program
from .tails import Tail, Undecided, Uneven, noise, renamed, residues, split, unused
from .weights import Decay, Field, Weight

State = tuple[Any, ...]
States = dict[State, Weight]
Outputs = dict[Any, Weight]
Evaluator = Callable[[State], Any]
Outcomes = Callable[[Any, State], list[tuple[Any, Weight]]]

SPLITS = 2_000
"""Parts of one state for one expression."""

OUTCOMES = 100_000
COMING_BACK = 300
"""States of a loop that comes back."""

STATE, WEIGHT, PLACE, ENTRY, SPLIT, OPERATION, NOISE = 25, 5, 2, 5, 300, 45, 20
"""What it takes to look at a state, to add or multiply weights, to keep a state, to compare an entry, to split
a state, to apply an operator, to rename a noise, in units of work. Thirty million of them are about five seconds."""

ENDLESS = frozenset({"discrete_laplace", "discrete_exponential", "geometric"})
_CERTAIN = Decay(1, 1, 0)


class Excluded(Exception):
    """An assumption does not hold for this input."""


class Follower:
    """One program, ready to be followed from any input."""

    def __init__(self, program: Program, field: Field, work: Work) -> None:
        self.program = program
        self.field = field
        self.work = work
        self.endless = any(one[0] == "draw" and one[2] in ENDLESS for block in program.blocks for one in block)
        self.tidy = renamed if self.endless else _as_it_stands
        self.entry = 2 if self.endless else 1
        self.weight = WEIGHT + field.bits // 256
        self.compiled: list[Evaluator] = []
        for expression in program.expressions:
            self.compiled.append(self._evaluator(expression))

    def law(self, inputs: dict[int, Any]) -> Outputs:
        """Every output with its weight; outputs may hold tails, which stand for many."""
        start = tuple(inputs.get(place) for place in range(len(self.program.variables)))
        out: Outputs = {}
        if self.block(len(self.program.blocks) - 1, {start: self.field.one}, out):
            raise Beyond("the program can end without an output")
        return out

    def block(self, index: int, states: States, out: Outputs) -> States:
        for statement in self.program.blocks[index]:
            if not states:
                break
            states = self._statement(statement, states, out)
        return states

    def _statement(self, statement: list[Any], states: States, out: Outputs) -> States:  # noqa: C901 - a case a form
        match statement:
            case ["assign", place, value]:
                return self._changed(states, place, self.compiled[value], self._as_it_is)
            case ["draw", place, law, given]:
                return self._changed(states, place, self.compiled[given], partial(self._drawn, law))
            case ["if", condition, then, otherwise]:
                yes, no = self._sides(states, self.compiled[condition])
                joined = self.block(then, yes, out)
                for state, weight in self.block(otherwise, no, out).items():
                    self._add(joined, state, weight)
                return joined
            case ["while", condition, body]:
                return self._loop(self.compiled[condition], body, states, out)
            case ["return", value]:
                for _, weight, found in self._settled(states, self.compiled[value]):
                    self._add(out, self.tidy((found,))[0], weight)
                return {}
            case ["assume", condition]:
                if not all(truth(self.compiled[condition](state)) for state in states):
                    raise Excluded
                return states
            case ["forget", place]:
                return self._changed(states, place, lambda _: None, self._as_it_is)
        raise Beyond("a statement is not known")

    def _changed(self, states: States, place: int, value: Evaluator, outcomes: Outcomes) -> States:
        """Every state with each outcome in one place."""
        after: States = {}
        for state, weight, found in self._settled(states, value):
            faces = outcomes(found, state)
            if len(faces) > 1:
                self.work.spend(len(faces) * (STATE + self.weight + self._length(state)))
            for outcome, share in faces:
                changed = self.tidy((*state[:place], outcome, *state[place + 1 :]))
                self._add(after, changed, weight if share is self.field.one else self.field.times(weight, share))
        return after

    def _settled(self, states: States, value: Evaluator) -> Iterator[tuple[State, Weight, Any]]:
        """Every state with its value; a state that has no one value in parts that do."""
        for state, weight in states.items():
            waiting, splits = [(state, weight)], 0
            while waiting:
                part, share = waiting.pop()
                self.work.spend(STATE + self._length(part))
                try:
                    found = value(part)
                except Undecided as undecided:
                    splits += 1
                    if splits > SPLITS:
                        raise Beyond("a comparison takes too much of a tail") from None
                    self.work.spend(SPLIT)
                    for smaller, chance in self._parts(part, undecided):
                        waiting.append((smaller, self.field.times(share, chance)))
                else:
                    yield part, share, found

    def _parts(self, state: State, undecided: Undecided) -> list[tuple[State, Weight]]:
        if isinstance(undecided, Uneven):
            self.work.spend(undecided.period * SPLIT)
            return residues(state, undecided.one, undecided.period, self.field)
        return split(state, undecided.gap, self.field)

    def _length(self, state: State) -> int:
        """What it takes to copy, hash and rename a state, which is done whole."""
        noises = sum(len(one.parts) for one in state if isinstance(one, Tail)) if self.endless else 0
        return len(state) // 2 + self.entry * _entries(state) + NOISE * noises

    def _sides(self, states: States, test: Evaluator) -> tuple[States, States]:
        """Where a condition holds, and where not."""
        yes: States = {}
        no: States = {}
        for state, weight, found in self._settled(states, test):
            self._add(yes if truth(found) else no, self.tidy(state), weight)
        return yes, no

    def _loop(self, test: Evaluator, body: int, states: States, out: Outputs) -> States:
        """Round by round, unless a state comes again."""
        ends: States = {}
        given: Outputs = {}
        seen: set[State] = set()
        waiting = states
        while waiting:
            going, ended = self._sides(waiting, test)
            for state, weight in ended.items():
                self._add(ends, state, weight)
            if not seen.isdisjoint(going):
                return self._solved(test, body, states, out)
            seen.update(going)
            self.work.spend(PLACE * len(going))
            waiting = self.block(body, going, given)
        for value, weight in given.items():
            self._add(out, value, weight)
        return ends

    def _solved(self, test: Evaluator, body: int, states: States, out: Outputs) -> States:
        """Each state once with where one round leads; then states are taken away, last found first.

        Who led to a state that is taken away leads to where it leads when it does not come back to itself. As rows
        sum to 1, the chance of that is the sum of the others.
        """
        going, ended = self._sides(states, test)
        start: dict[Any, Weight] = {("end", state): weight for state, weight in ended.items()}
        start.update((("on", state), weight) for state, weight in going.items())
        rows: dict[Any, dict[Any, Weight]] = {}
        waiting = [key for key in start if key[0] == "on"]
        while waiting:
            key = waiting.pop()
            if key in rows:
                continue
            if len(rows) == COMING_BACK:
                raise Beyond(f"a loop with more than {COMING_BACK} states comes back")
            given: Outputs = {}
            on, off = self._sides(self.block(body, {key[1]: self.field.one}, given), test)
            parts = (("out", given), ("on", on), ("end", off))
            rows[key] = {(kind, one): weight for kind, found in parts for one, weight in found.items()}
            waiting += [("on", one) for one in on]
        for key in reversed(list(rows)):
            row = rows.pop(key)
            self._left(row, key)
            for other in (start, *rows.values()):
                weight = other.pop(key, None)
                if weight is not None:
                    self.work.spend(2 * self.weight * len(row))
                    for target, share in row.items():
                        self._add(other, target, self.field.times(weight, share))
        for (kind, one), weight in start.items():
            if kind == "out":
                self._add(out, one, weight)
        return {one: weight for (kind, one), weight in start.items() if kind == "end"}

    def _left(self, row: dict[Any, Weight], key: Any) -> None:
        """The row without coming back to itself."""
        if row.pop(key, None) is not None:
            if not row:
                raise Beyond("a loop never ends")
            first, *others = row.values()
            for one in others:
                first = self.field.plus(first, one)
            for target, weight in row.items():
                row[target] = self.field.over(weight, first)

    def _add(self, table: dict[Any, Weight], key: Any, weight: Weight) -> None:
        self.work.spend(self.weight)
        old = table.get(key)
        table[key] = weight if old is None else self.field.plus(old, weight)

    def _as_it_is(self, found: Any, _: State) -> list[tuple[Any, Weight]]:
        return [(found, self.field.one)]

    def _drawn(self, law: str, given: Any, state: State) -> list[tuple[Any, Weight]]:
        """All outcomes of a law with their weights; those without end as tails."""
        amount, field = plain(given), self.field
        if law == "flip":
            if sign(amount) < 0 or less(1, amount):
                raise Beyond("a probability is not between 0 and 1")
            chances = (1, amount), (0, minus(1, amount))
            return [(face, field.rational(chance)) for face, chance in chances if chance != 0]
        if law in {"uniform", "uniform_bits"}:
            faces = _faces(law, integer(amount))
            share = field.rational(fraction(1, len(faces)))
            return [(face, share) for face in faces]
        decay = self._decay(law, amount)
        if not decay.top or decay == _CERTAIN:
            return [(int(law == "flip_exp"), field.one)]
        more, rest = field.shares(decay)
        if law == "flip_exp":
            return [(1, more), (0, rest)]
        number = unused(state)
        if law != "discrete_laplace":
            return [(noise(number, decay), field.one)]
        middle, side = field.two_sided(decay)
        return [
            (0, middle),
            (noise(number, decay, 1), side),
            (noise(number, decay, -1, -1), side),
        ]

    def _decay(self, law: str, amount: Number) -> Decay:
        if law == "flip_exp":
            if sign(amount) < 0:
                raise Beyond("a probability is above 1")
            return Decay(1, 1, self.field.exponent(amount))
        if sign(amount) <= 0 or (law == "geometric" and less(1, amount)):
            raise Beyond("a law has no such size")
        if law == "geometric":
            return Decay(*terms(minus(1, amount)), 0)
        return Decay(1, 1, self.field.exponent(over(1, amount)))

    def _evaluator(self, expression: list[Any]) -> Evaluator:
        match expression:
            case ["number", value]:
                return lambda _: value
            case ["variable", place]:
                return lambda state: _known(state[place])
            case ["each", element, place, source, condition]:
                return self._each(self.compiled[element], place, self.compiled[source], self.compiled[condition])
            case ["and" | "or" as kind, one, other]:
                return self._either(self.compiled[one], self.compiled[other], stops=kind == "or")
            case ["if", condition, then, otherwise]:
                return self._chosen(*(self.compiled[one] for one in (condition, then, otherwise)))
            case [kind, *operands]:
                return self._applied(OPERATORS[kind][1], [self.compiled[one] for one in operands])
        raise Beyond("an expression is not known")

    def _either(self, first: Evaluator, second: Evaluator, *, stops: bool) -> Evaluator:
        def evaluate(state: State) -> Any:
            self.work.spend(OPERATION)
            found = truth(first(state))
            return int(found if found is stops else truth(second(state)))

        return evaluate

    def _chosen(self, test: Evaluator, yes: Evaluator, no: Evaluator) -> Evaluator:
        def evaluate(state: State) -> Any:
            self.work.spend(OPERATION)
            return yes(state) if truth(test(state)) else no(state)

        return evaluate

    def _applied(self, function: Callable[..., Any], operands: list[Evaluator]) -> Evaluator:
        def evaluate(state: State) -> Any:
            given = [one(state) for one in operands]
            self.work.spend(OPERATION + sum(map(_load, given)))
            return function(*given)

        return evaluate

    def _each(self, element: Evaluator, place: int, source: Evaluator, condition: Evaluator) -> Evaluator:
        def evaluate(state: State) -> Any:
            before, after = state[:place], state[place + 1 :]
            found = items(source(state))
            self.work.spend(OPERATION + len(found) * (OPERATION + len(state) // 4))
            inside = ((*before, one, *after) for one in found)
            return short(tuple(element(one) for one in inside if truth(condition(one))))

        return evaluate


def _as_it_stands(state: State) -> State:
    return state


def _entries(value: tuple[Any, ...]) -> int:
    """How long the lists in it are, in all."""
    return sum([len(one) + _entries(one) for one in value if isinstance(one, tuple)])


def _load(operand: Any) -> int:
    """What an operand adds to the work: entries of a list, noises of a sum, the square of the bits of a fraction."""
    if isinstance(operand, tuple):
        return ENTRY * len(operand)
    if isinstance(operand, Fractional):
        return operand.bottom.bit_length() ** 2 >> 14
    return STATE * len(operand.parts) if isinstance(operand, Tail) else 0


def _known(value: Any) -> Any:
    if value is None:
        raise Beyond("a variable has no value, or none any more")
    return value


def _faces(law: str, count: int) -> list[Any]:
    if law == "uniform" and 1 <= count <= OUTCOMES:
        return list(range(count))
    if law == "uniform_bits" and 0 <= count <= 16:
        return list(every((0, 1), repeat=count))
    raise Beyond("a uniform law has no outcomes, or too many")
