"""How much of a law is where: states and outputs with what is surely there, and what may be there besides."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from flint import arb, ctx

from privately.proving.language.meaning import UNSET, State
from privately.proving.language.syntax import Value
from privately.proving.paths.events import Comparison, Condition, Event, entries_of, shape_of
from privately.proving.paths.measuring import interval
from privately.proving.paths.ranges import ANYTHING, Range, alike, hull
from privately.rounding import Interval

BITS = 80


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
    if len(condition.weights) == 1 and condition.weights[0][1] == 1:
        return _compared(entries[condition.weights[0][0]], condition.comparison, condition.bound)
    total: Value = 0
    for place, weight in condition.weights:
        total = total + weight * entries[place]
    return _compared(total, condition.comparison, condition.bound)


def _compared(value: Value, comparison: Comparison, bound: Fraction) -> bool | None:
    """How all numbers of a range (or a number) compare with a bound; None if not all alike."""
    inner = isinstance(value, Range) and value.open
    low, high = (value.low, value.high) if isinstance(value, Range) else (value, value)
    if comparison == "==":
        return low == bound if low == high else None if value.has(bound) else False
    if comparison in {">", "<="}:
        sure, never = low > bound or (inner and low == bound), high <= bound
    else:
        sure, never = low >= bound, high < bound or (inner and high == bound)
    if not sure and not never:
        return None
    return bool(sure) is (comparison in {">", ">="})


def is_shapeless(output: Value) -> bool:
    """Whether it holds a value of which nothing is known, not even whether it is a list."""
    return any(map(is_shapeless, output)) if isinstance(output, tuple) else output is ANYTHING


def add_either(table: Weighted, ways: list[Weighted], mass: Mass | None) -> None:
    """What became of one state where both answers to a question are possible. If it is nearly the same either way, and
    nothing was lost, all its mass is there."""
    states = [state for way in ways for state in way]
    if mass is not None and all(len(way) == 1 for way in ways) and alike(*states):
        add(table, hull(states), mass)
        return
    for way in ways:
        for state, share in way.items():
            add(table, state, share)


def total(states: Weighted) -> Mass:
    """All of it, perhaps."""
    return sum(states.values(), Mass(arb(0), arb(0))).doubted()


def joined(states: Weighted) -> State:
    """One state that stands for all of these."""
    return tuple(UNSET if set(entries) == {UNSET} else hull(entries) for entries in zip(*states, strict=True))


def add(table: dict[Value, Mass], key: Value, mass: Mass) -> None:
    """Adds to what is there."""
    old = table.get(key)
    table[key] = mass if old is None else old + mass
