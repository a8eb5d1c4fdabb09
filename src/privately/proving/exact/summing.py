"""Loops that add to a sum and do not look at it: the sum is carried as a polynomial in the weights (series.py)."""

from __future__ import annotations

from flint import fmpq

from privately.proving.exact.accumulators import accumulator, added_to
from privately.proving.exact.following import STATE, Follower, Outputs, Shortcut, Step, Weighted, add
from privately.proving.exact.series import UNIT, CannotSum, Product, Series
from privately.proving.exact.tails import Undecided
from privately.proving.exact.weights import Weight
from privately.proving.language.liveness import needed_by
from privately.proving.language.meaning import Evaluator, State, truth
from privately.proving.language.syntax import Assign, Statement, Value, While


class SumFollower(Follower):
    """Follows programs, and sums by their polynomials where it can."""

    def shortcut(self, loop: While, head: frozenset[str], after: frozenset[str]) -> Shortcut | None:
        """The loop with its sum in the weights; the variable is 0 in all states."""
        name = accumulator(loop, after)
        if name is None:
            return None
        slot, test = self.slots[name], self.compiled(loop.condition)
        body = _Inside(self, name).block(loop.body, head)

        def run(states: Weighted) -> Weighted | None:
            try:
                ends = self.series(_starts(states, slot), test, body)
            except (CannotSum, Undecided):
                return None
            return {
                (*state[:slot], value, *state[slot + 1 :]): mass
                for state, series in ends.items()
                for value, mass in series.terms()
            }

        return run

    def series(self, whole: dict[State, Product], test: Evaluator, body: Step) -> dict[State, Series]:
        """Round by round, to the states in which the loop ends."""
        ends: dict[State, Series] = {}
        seen: set[State] = set()
        while whole:
            arriving: dict[State, list[tuple[Product, Series]]] = {}
            for state, product in whole.items():
                if not truth(test(state)):
                    self.budget.spend(product.cost())
                    add(ends, state, product.expanded())
                    continue
                if state in seen:
                    raise CannotSum
                seen.add(state)
                for following, share in body({state: UNIT}, {}).items():
                    arriving.setdefault(following, []).append((product, share))
            for parts in arriving.values():
                self.budget.spend(sum(STATE + share.cost() for _, share in parts))
                if any(product is not parts[0][0] for product, _ in parts):
                    self.budget.spend(sum(product.cost() for product, _ in parts))
            whole = {state: _gathered(parts) for state, parts in arriving.items()}
        return ends


def _starts(states: Weighted, slot: int) -> dict[State, Product]:
    """States without their sums, which go into the weights."""
    found: dict[State, Series] = {}
    for state, mass in states.items():
        add(found, (*state[:slot], 0, *state[slot + 1 :]), UNIT.shifted(_integer(state[slot])) * _rational(mass))
    return {state: Product(start=series) for state, series in found.items()}


class _Inside(Follower):
    """The same steps, but adding to one variable multiplies the weight by a power of x."""

    def __init__(self, whole: Follower, name: str) -> None:
        self.unit, self.place, self.slots, self.known = whole.unit, whole.place, whole.slots, whole.known
        self.budget, self.tidy = whole.budget, whole.tidy
        self.name = name

    def draws(self, law: str, given: tuple[Value, ...]) -> list[tuple[Value, Weight]]:
        """Weights are rational here."""
        return [(value, _rational(mass)) for value, mass in super().draws(law, given)]

    def parts(self, state: State, undecided: Undecided) -> list[tuple[State, Weight]]:
        """And no state is split."""
        del state, undecided
        raise CannotSum

    def statement(self, statement: Statement, after: frozenset[str]) -> Step:
        if not isinstance(statement, Assign) or statement.name != self.name:
            return super().statement(statement, after)
        added = added_to(statement.value, self.name)
        if added is None:
            raise CannotSum
        amount = self.compiled(added)
        clear = self.cleared(needed_by(statement, after), after | {self.name})

        def run(states: dict[State, Series], _: Outputs) -> dict[State, Series]:
            result: dict[State, Series] = {}
            for state, series in states.items():
                add(result, clear(state), series.shifted(_integer(amount(state))))
            return result

        return run


def _gathered(parts: list[tuple[Product, Series]]) -> Product:
    """The sum of products; those that share all but the last factor need not be multiplied out."""
    first, total = parts[0]
    if all(product is first for product, _ in parts):
        for _, share in parts[1:]:
            total = total + share
        return first.times(total)
    whole = first.expanded() * total
    for product, share in parts[1:]:
        whole = whole + product.expanded() * share
    return Product(start=whole)


def _integer(value: Value) -> int:
    if isinstance(value, int):
        return int(value)
    raise CannotSum


def _rational(mass: Weight) -> fmpq:
    if isinstance(mass, fmpq):
        return mass
    raise CannotSum
