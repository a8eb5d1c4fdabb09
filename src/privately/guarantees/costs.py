"""What adds up when mechanisms are combined: the additive coordinates of each kind of guarantee.

epsilon and delta, rho and delta, mu squared, or the bound at each order. Sequential composition sums them;
parallel composition sums the largest few.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias

from privately.errors import MixedNeighbors, NoSuchRule
from privately.guarantees.guarantee import Guarantee
from privately.guarantees.kinds import ZCDP, ApproxDP, ApproxZCDP, GaussianDP, PureDP, RenyiDP
from privately.guarantees.neighbors import Neighbors
from privately.rounding import MAX_BITS, Enclosure, tidy

Coordinate: TypeAlias = str | Fraction
Costs: TypeAlias = Mapping[Coordinate, Fraction]


def common_neighbors(statements: Sequence[Guarantee]) -> Neighbors:
    """The neighbours they share, or MixedNeighbors."""
    found = list(dict.fromkeys(statement.neighbors for statement in statements))
    if len(found) > 1:
        raise MixedNeighbors(*found, hint="Bring them to the same neighbours first, e.g. by add_remove_to_replace.")
    return found[0]


def common_kind(statements: Sequence[Guarantee]) -> type[Guarantee]:
    """The kind in which all can be added, or NoSuchRule. PureDP is ApproxDP with delta 0, ZCDP likewise."""
    kinds = {type(statement) for statement in statements}
    for wider, narrower in ((ApproxDP, PureDP), (ApproxZCDP, ZCDP)):
        if kinds == {wider, narrower}:
            return wider
    if len(kinds) > 1:
        names = " with ".join(sorted(kind.__name__ for kind in kinds))
        raise NoSuchRule(premise=names, wanted="one guarantee", hint="Convert them to one kind first.")
    return kinds.pop()


def costs(statement: Guarantee, kind: type[Guarantee]) -> dict[Coordinate, Fraction]:
    """The coordinates of a statement, read as one of `kind`."""
    numbers = statement.parameters
    if isinstance(statement, GaussianDP):
        return {"mu": numbers["mu"] ** 2}
    if isinstance(statement, RenyiDP):
        return dict(numbers["bounds"])
    found: dict[Coordinate, Fraction] = dict(numbers.items())
    if kind in (ApproxDP, ApproxZCDP):
        found.setdefault("delta", Fraction(0))
    return found


def from_costs(kind: type[Guarantee], found: Costs, neighbors: Neighbors) -> Guarantee:
    """The statement of `kind` with these coordinates."""
    if kind is GaussianDP:
        return GaussianDP(mu=root_up(found["mu"]), neighbors=neighbors)
    if kind is RenyiDP:
        bounds = [(order, tidy(bound)) for order, bound in found.items() if isinstance(order, Fraction)]
        if not bounds:
            raise NoSuchRule(premise="RenyiDP without a common order", wanted="RenyiDP")
        return RenyiDP(bounds=bounds, neighbors=neighbors)
    numbers = {str(name): tidy(value) for name, value in found.items()}
    if "delta" in numbers:
        numbers["delta"] = min(numbers["delta"], Fraction(1))
    return kind(**numbers, neighbors=neighbors)  # type: ignore[call-arg]  # each kind takes its own numbers


def add_up(values: Iterable[Fraction]) -> Fraction:
    """The exact sum; rounded up on the way only when it has become very long."""
    total = Fraction(0)
    for value in values:
        total += value
        if total.denominator.bit_length() > 4 * MAX_BITS:
            total = tidy(total)
    return total


def shared_coordinates(listed: Sequence[Costs]) -> list[Coordinate]:
    """The coordinates that all have, in the order of the first."""
    return [name for name in listed[0] if all(name in one for one in listed)]


def root_up(square: Fraction) -> Fraction:
    """A rational whose square is at least `square`; exact for squares of rationals."""
    top, bottom = math.isqrt(square.numerator), math.isqrt(square.denominator)
    if (top * top, bottom * bottom) == (square.numerator, square.denominator):
        return Fraction(top, bottom)
    return Enclosure.of(square).sqrt().claim()


def implies(premise: Guarantee, conclusion: Guarantee) -> bool:
    """Whether the conclusion says no more than the premise."""
    kind = type(conclusion)
    embeds = type(premise) is kind or (type(premise), kind) in ((PureDP, ApproxDP), (ZCDP, ApproxZCDP))
    if not embeds or not premise.neighbors.covers(conclusion.neighbors):
        return False
    have, want = costs(premise, kind), costs(conclusion, kind)
    return all(name in have and value >= have[name] for name, value in want.items())
