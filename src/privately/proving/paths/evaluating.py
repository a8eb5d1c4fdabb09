"""One evaluation of an expression with draws and inputs left open: values are forms, and guards are decided as told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor
from typing import TypeAlias

from privately.errors import NotSupported
from privately.proving.language.meaning import FUNCTIONS, UNSET, truth
from privately.proving.language.syntax import Apply, Constant, Each, Expression, Value, Variable
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
from privately.proving.paths.linear import excluded, point
from privately.proving.paths.noise import Noise
from privately.proving.paths.whole_parts import defining, whole_part

Coin: TypeAlias = tuple[Fraction, bool]
"""A coin that shows heads with probability exp(-first), and whether it did."""


@dataclass(frozen=True)
class State:
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


class Impossible(Exception):
    """No noise leads here."""


class Reading:
    """One evaluation of an expression, with the guards in it decided as told, and further ones noted."""

    def __init__(self, state: State, known: tuple[Constraint, ...], decided: tuple[int, ...]) -> None:
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
            case "==" | "!=":
                return self.equal(*operands) is (operator == "==")
            case "in":
                return any(self.equal(operands[0], one) for one in operands[1])
            case "absolute":
                return operands[0] if self.compared(">=", operands[0], 0) else -operands[0]
            case "least" | "largest":
                return self.extreme("<" if operator == "least" else ">", operands)
            case "item" | "part" | "without" if any(map(_is_open, operands[1:])):
                raise NotAffine("a place in a list that depends on noise or on inputs.")
            case "//" if self.is_noisy(operands[0]):
                return self.rounded(FUNCTIONS["/"](*operands))
            case "numbers" | "repeated" | "xor" | "//" | "%":
                raise NotAffine(f"{operator!r} of a value that depends on noise or on inputs.")
            case _:
                return FUNCTIONS[operator](*operands)

    @staticmethod
    def is_noisy(value: Value) -> bool:
        """Whether draws are in it, and not inputs alone."""
        return isinstance(value, Affine) and any(isinstance(symbol, int) for symbol in value.terms)

    def rounded(self, value: Affine) -> Affine:
        """The whole part of a form with noise in it: one more symbol, and what is certain of it."""
        state, number = self.state, len(self.state.noises)
        part = whole_part(value, state.noises)
        here = value.constant + sum(f * state.witness.get(s, Fraction(0)) for s, f in value.terms.items())
        self.state = replace(
            state,
            noises=(*state.noises, part),
            constraints=(*state.constraints, *defining(number, part)),
            witness={**state.witness, number: Fraction(floor(here))},
        )
        return symbol_form(number)

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
                raise Impossible
        else:
            way = next((one for one in range(len(ways)) if self.entered(ways[one])), -1)
            if way < 0:
                raise Impossible
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
            others = (*self.known, *state.constraints)
            found = _moved(witness, (constraint, *others))
            if found is None and not excluded(constraint, others):
                found = point(_joined(others, constraint))
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


def _moved(witness: Mapping[Symbol, Fraction], constraints: Sequence[Constraint]) -> dict[Symbol, Fraction] | None:
    """Another value of one symbol of the first constraint with which all hold, if there is one: most guards ask
    something of a draw that is new, and need no simplex method."""
    for symbol in reversed(constraints[0].form.terms):
        value = _between(symbol, witness, [one for one in constraints if symbol in one.form.terms])
        if value is not None:
            return {symbol: value}
    return None


def _between(symbol: Symbol, witness: Mapping[Symbol, Fraction], constraints: Sequence[Constraint]) -> Fraction | None:
    """A value of the symbol away from all edges, the other symbols being as they are."""
    low: Fraction | None = None
    high: Fraction | None = None
    for one in constraints:
        if one.relation == "==":
            return None
        terms, rest = one.form.terms, one.form.constant
        factor = terms[symbol]
        if len(terms) > 1:
            rest += sum(f * witness.get(s, 0) for s, f in terms.items() if s != symbol)
        edge = rest if factor == -1 else -rest / factor
        if factor > 0:
            low = edge if low is None else max(low, edge)
        else:
            high = edge if high is None else min(high, edge)
    if low is None:
        return None if high is None else Fraction(floor(high) - 1)
    above = Fraction(floor(low) + 1)
    if high is None or above < high:
        return above
    return (low + high) / 2 if low < high else None


def _joined(constraints: Sequence[Constraint], new: Constraint) -> list[Constraint]:
    """The new one, and all that hang together with it: of the others the point that was known still holds."""
    places: dict[Symbol, list[int]] = {}
    for place, one in enumerate(constraints):
        for symbol in one.form.terms:
            places.setdefault(symbol, []).append(place)
    near: set[int] = set()
    waiting = list(new.form.terms)
    while waiting:
        for place in places.pop(waiting.pop(), ()):
            if place not in near:
                near.add(place)
                waiting += constraints[place].form.terms
    return [new, *(constraints[place] for place in sorted(near))]


def _is_open(value: Value) -> bool:
    return isinstance(value, Affine) or (isinstance(value, tuple) and any(map(_is_open, value)))
