"""Loops that may come back to where they were: how often each state is visited, by solving linear equations."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import TypeVar

from privately.errors import NotSupported
from privately.proving.exact.budgets import NotFinite
from privately.proving.exact.weights import ONE, ZERO, Quotient, Weight, cost
from privately.proving.language.meaning import note_divisor

S = TypeVar("S", bound=Hashable)

MOST_TOGETHER = 300
"""States that may all lead back to one another."""


def visits(
    entry: Mapping[S, Weight], steps: Mapping[S, Mapping[S, Weight]], spend: Callable[[int], None] = lambda _: None
) -> dict[S, Weight]:
    """v(s) = entry(s) + sum of v(r) steps(r, s): the expected number of visits of every state in `steps`.

    Theorem: if from every state some exit is reached, these equations have one solution, the expected number of visits.
    Reference: Kemeny-Snell 1960, Theorem 3.2.1
    Proof: docs/theory/programs.md#loops
    Checked-by: tests/proving/exact/test_chains.py::test_visits_solve_their_equations
    """
    arriving: dict[S, Weight] = {state: entry.get(state, ZERO) for state in steps}
    found: dict[S, Weight] = {}
    for component in components(steps):
        solved = _solved(component, arriving, steps, spend)
        found.update(solved)
        inside = set(component)
        for state, mass in solved.items():
            for after, step in steps[state].items():
                if after not in inside:
                    arriving[after] = arriving[after] + mass * step
    return found


def _solved(
    component: list[S],
    arriving: Mapping[S, Weight],
    steps: Mapping[S, Mapping[S, Weight]],
    spend: Callable[[int], None],
) -> dict[S, Weight]:
    """The states of one component lead to one another: elimination without rounding."""
    if len(component) == 1 and component[0] not in steps[component[0]]:
        return {component[0]: arriving[component[0]]}
    if len(component) > MOST_TOGETHER:
        raise NotFinite(f"a loop with more than {MOST_TOGETHER} states that lead back to one another.")
    size = range(len(component))
    rows: list[list[Weight]] = [
        [(ONE if i == j else ZERO) - steps[component[j]].get(component[i], ZERO) for j in size]
        + [arriving[component[i]]]
        for i in size
    ]
    for column in size:
        pivot = next((row for row in range(column, len(rows)) if rows[row][column]), None)
        if pivot is None:
            raise NotSupported("a loop that never ends.", hint="Every round must have a way out.")
        rows[column], rows[pivot] = rows[pivot], rows[column]
        head = rows[column][column]
        if isinstance(head, Quotient):
            note_divisor(head)  # where the open parameter makes it zero, some state has no way out
        rows[column] = [one / head if one else one for one in rows[column]]
        filled = [(place, one) for place, one in enumerate(rows[column]) if one]
        spend(sum(1 + _cost(one) for _, one in filled) // 4)
        for other in size:
            factor = rows[other][column]
            if other != column and factor:
                spend((len(filled) * (1 + _cost(factor) + _cost(filled[-1][1]))) // 4)
                for place, one in filled:
                    rows[other][place] = rows[other][place] - factor * one
    return {state: rows[i][-1] for i, state in enumerate(component)}


def _cost(value: Weight) -> int:
    """Elimination makes dense weights, of which lowest terms take the square of the length."""
    length = cost(value)
    return length + (length * length >> 4)


def components(steps: Mapping[S, Mapping[S, Weight]]) -> list[list[S]]:
    """States that lead to one another, together, and before those that they lead to (Tarjan 1972, no recursion)."""
    number: dict[S, int] = {}
    lowest: dict[S, int] = {}
    waiting: list[S] = []
    on_stack: set[S] = set()
    found: list[list[S]] = []
    for root in steps:
        if root in number:
            continue
        work = [(root, iter(steps[root]))]
        number[root] = lowest[root] = len(number)
        waiting.append(root)
        on_stack.add(root)
        while work:
            state, following = work[-1]
            for after in following:
                if after not in number:
                    number[after] = lowest[after] = len(number)
                    waiting.append(after)
                    on_stack.add(after)
                    work.append((after, iter(steps[after])))
                    break
                if after in on_stack:
                    lowest[state] = min(lowest[state], number[after])
            else:
                work.pop()
                if work:
                    lowest[work[-1][0]] = min(lowest[work[-1][0]], lowest[state])
                if lowest[state] == number[state]:
                    cut = _from(waiting, state)
                    found.append(waiting[cut:])
                    on_stack.difference_update(waiting[cut:])
                    del waiting[cut:]
    return found[::-1]


def _from(waiting: list[S], state: S) -> int:
    place = len(waiting) - 1
    while waiting[place] != state:
        place -= 1
    return place
