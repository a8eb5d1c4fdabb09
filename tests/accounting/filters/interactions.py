"""All ways to question a filter on a menu of tiny mechanisms, with the exact laws of what comes out.

A mechanism is a pair of laws, one for each of two neighbouring data sets. A strategy decides after every answer which
mechanism of the menu to run next, or to stop; `interactions` lists the pairs of laws of the histories of all strategies
that the filter lets through. Nothing here knows why a filter should be right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any, Protocol

from privately.errors import BudgetExhausted
from privately.guarantees import ZCDP, ApproxDP, ApproxZCDP, Guarantee, Neighbors
from tests.guarantees.enumeration import Pair, mixture
from tests.guarantees.rules.refutation import strongest

History = tuple[tuple[int, Any], ...]
"""Which mechanism of the menu was run, and what it answered; again and again."""


class Spending(Protocol):
    """A filter, or what takes itself for one."""

    def spend(self, cost: Guarantee, /) -> Spending: ...


@dataclass(frozen=True)
class Dish:
    """A mechanism and a guarantee that is true of it."""

    pair: Pair
    cost: Guarantee


def response(ratio: int | Fraction) -> Pair:
    """Randomized response: the truth is `ratio` times as likely as the lie."""
    lie = 1 / (Fraction(ratio) + 1)
    return {"0": 1 - lie, "1": lie}, {"0": lie, "1": 1 - lie}


def lopsided(often: Fraction, seldom: Fraction) -> Pair:
    """A bell that rings with one of two probabilities."""
    return {"0": 1 - often, "1": often}, {"0": 1 - seldom, "1": seldom}


def revealing(pair: Pair, delta: Fraction) -> Pair:
    """Tells everything with probability delta."""
    first, second = ({f"it was {i}": Fraction(1)} for i in range(2))
    return mixture([(delta, first), (1 - delta, pair[0])]), mixture([(delta, second), (1 - delta, pair[1])])


def dish(kind: type[Guarantee], pair: Pair, delta: Fraction = Fraction(0)) -> Dish:
    """A mechanism with nearly its strongest guarantee; for ApproxZCDP, made to reveal all with probability delta."""
    here = Neighbors.ADD_REMOVE
    if kind is ApproxZCDP:
        rho = strongest(ZCDP, [pair], here).parameters["rho"]
        return Dish(revealing(pair, delta), ApproxZCDP(rho=rho, delta=delta))
    choice = {"delta": delta} if kind is ApproxDP else {}
    return Dish(pair, strongest(kind, [pair], here, **choice))


def interactions(budget: Spending, menu: Sequence[Dish], steps: int) -> list[Pair]:
    """The laws of the histories of every strategy of at most so many steps."""
    found: list[Pair] = [({(): Fraction(1)}, {(): Fraction(1)})]
    if steps == 0:
        return found
    for place, chosen in enumerate(menu):
        try:
            following = budget.spend(chosen.cost)
        except BudgetExhausted:
            continue
        continued = interactions(following, menu, steps - 1)
        answers = list(dict.fromkeys([*chosen.pair[0], *chosen.pair[1]]))
        choices = product(continued, repeat=len(answers))
        found.extend(_joined(place, chosen.pair, dict(zip(answers, rest, strict=True))) for rest in choices)
    return found


def one_after_another(budget: Spending, menu: Sequence[Dish], steps: int) -> list[Pair]:
    """The laws of those strategies that do not look at the answers."""
    found: list[Pair] = [({(): Fraction(1)}, {(): Fraction(1)})]
    if steps == 0:
        return found
    for place, chosen in enumerate(menu):
        try:
            following = budget.spend(chosen.cost)
        except BudgetExhausted:
            continue
        answers = [*chosen.pair[0], *chosen.pair[1]]
        continued = one_after_another(following, menu, steps - 1)
        found.extend(_joined(place, chosen.pair, dict.fromkeys(answers, rest)) for rest in continued)
    return found


def regrouped(pairs: Sequence[Pair], function: Callable[[History], Any]) -> Iterator[Pair]:
    """The laws of a function of the history."""
    for pair in pairs:
        first, second = (
            mixture((mass, {function(history): Fraction(1)}) for history, mass in law.items()) for law in pair
        )
        yield first, second


def _joined(place: int, pair: Pair, rest: dict[Any, Pair]) -> Pair:
    first, second = (
        {
            ((place, answer), *after): mass * then
            for answer, mass in law.items()
            for after, then in rest[answer][side].items()
        }
        for side, law in enumerate(pair)
    )
    return first, second
