"""Couplings: two distributions drawn together, so that a relation between the outcomes holds for certain.

mu1, mu2   the distributions `left` and `right`, on A and on B
R          a relation: a set of pairs (a, b), or a predicate of a and b
R*         its lifting: mu1 R* mu2 when some joint distribution inside R has the marginals mu1 and mu2
R(S)       all that the members of S are related to

Definitions and proofs are in docs/theory/couplings.md. Every function here takes subdistributions (sums of at
most 1), as seed 000 does for the lifting.
"""

from __future__ import annotations

import reprlib
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import lcm
from typing import Generic, Literal, TypeAlias, TypeVar, cast

from privately.errors import InvalidParameter
from privately.guarantees.distances import subdistribution
from privately.rounding import Number

A = TypeVar("A", bound=Hashable)
B = TypeVar("B", bound=Hashable)
Relation: TypeAlias = AbstractSet[tuple[A, B]] | Callable[[A, B], bool]
Joint: TypeAlias = dict[tuple[A, B], Fraction]
Side: TypeAlias = Literal["left", "right"]

EDGES = 64
"""Pairs that a search passes in the time in which a relation is asked about one."""

_ZERO = Fraction(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class CouplingFault:
    """One way in which a joint distribution fails: a marginal that is wrong, or mass outside the relation.

    `outcome` is the pair when `part` is "support"; then `wanted` is 0.
    """

    part: Literal["left", "right", "support"]
    outcome: Hashable
    wanted: Fraction
    found: Fraction

    def __str__(self) -> str:
        shown = reprlib.repr(self.outcome)
        if self.part == "support":
            return f"{shown} has probability {self.found} but is not in the relation"
        return f"the {self.part} marginal of {shown} is {self.found}, not {self.wanted}"


def coupling_faults(
    joint: Mapping[tuple[A, B], Number],
    left: Mapping[A, Number],
    right: Mapping[B, Number],
    relation: Relation[A, B],
) -> tuple[CouplingFault, ...]:
    """Everything that keeps `joint` from being an R-coupling of `left` and `right`; empty when it is one.

    >>> coin, joint = {0: "1/2", 1: "1/2"}, {(0, 1): "1/2", (1, 1): "1/2"}
    >>> [str(fault) for fault in coupling_faults(joint, coin, {1: 1}, lambda a, b: a == b)]
    ['(0, 1) has probability 1/2 but is not in the relation']
    """
    exact = subdistribution(joint, name="joint")
    _check_pairs(exact, "joint")
    holds = _predicate(relation)
    outside = ((pair, mass) for pair, mass in exact.items() if not holds(*pair))
    faults = [CouplingFault(part="support", outcome=pair, wanted=_ZERO, found=mass) for pair, mass in outside]
    sums: tuple[dict[Hashable, Fraction], dict[Hashable, Fraction]] = ({}, {})
    for pair, mass in exact.items():
        for marginal, outcome in zip(sums, pair, strict=True):
            marginal[outcome] = marginal.get(outcome, _ZERO) + mass
    faults += _marginal_faults("left", sums[0], subdistribution(left, name="left"))
    faults += _marginal_faults("right", sums[1], subdistribution(right, name="right"))
    return tuple(faults)


def is_coupling(
    joint: Mapping[tuple[A, B], Number],
    left: Mapping[A, Number],
    right: Mapping[B, Number],
    relation: Relation[A, B],
) -> bool:
    """Whether `joint` has exactly these marginals and no mass outside the relation."""
    return not coupling_faults(joint, left, right, relation)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lifted(Generic[A, B]):
    """The two are in the lifting, as `coupling` shows."""

    coupling: Joint[A, B]


@dataclass(frozen=True, slots=True, kw_only=True)
class NotLifted:
    """No coupling exists: `witness`, a set on this side, has more `mass` than all that it is related to."""

    side: Side
    witness: frozenset[Hashable]
    mass: Fraction
    image_mass: Fraction


def lifting(
    left: Mapping[A, Number],
    right: Mapping[B, Number],
    relation: Relation[A, B],
    *,
    spend: Callable[[int], object] | None = None,
) -> Lifted[A, B] | NotLifted:
    """Decides mu1 R* mu2, with a coupling or with a set that proves there is none. Who bounds the work is told, by
    `spend`, how many pairs are about to be looked at.

    >>> lifting({0: "1/2", 1: "1/2"}, {1: "1/2", 2: "1/2"}, lambda a, b: a < b)
    Lifted(coupling={(0, 1): Fraction(1, 2), (1, 2): Fraction(1, 2)})
    >>> lifting({0: "1/2", 1: "1/2"}, {1: "2/3", 2: "1/3"}, lambda a, b: a < b)
    NotLifted(side='left', witness=frozenset({1}), mass=Fraction(1, 2), image_mass=Fraction(1, 3))

    Theorem: mu1 R* mu2 exactly when both have the same mass and mu1(S) <= mu2(R(S)) for every set S.
    Reference: Strassen 1965; in the finite case Ford-Fulkerson 1956, searched for as by Edmonds-Karp 1972
    Proof: docs/theory/couplings.md#lifting
    Checked-by: tests/guarantees/test_couplings.py::test_lifting_agrees_with_all_subsets
    """
    exact_left, exact_right = subdistribution(left, name="left"), subdistribution(right, name="right")
    if spend is not None:
        spend(len(exact_left) * len(exact_right))
    related = _related(exact_left, exact_right, relation)
    unit = lcm(*(mass.denominator for mass in (*exact_left.values(), *exact_right.values())))
    transport = _Transport(_whole(exact_left, unit), _whole(exact_right, unit), related)
    stuck = transport.fill(spend)
    if stuck:
        image = {b for a in stuck for b in related[a]}
        return NotLifted(
            side="left", witness=frozenset(stuck), mass=_mass(exact_left, stuck), image_mass=_mass(exact_right, image)
        )
    if any(transport.wanted.values()):  # all of the left is placed, so the right has more mass
        everything = frozenset(exact_right)
        return NotLifted(
            side="right",
            witness=everything,
            mass=_mass(exact_right, everything),
            image_mass=_mass(exact_left, exact_left),
        )
    flow = ((a, b, amount) for b, sources in transport.flow.items() for a, amount in sources.items())
    return Lifted(coupling={(a, b): Fraction(amount, unit) for a, b, amount in flow})


def maximal_coupling(left: Mapping[A, Number], right: Mapping[A, Number]) -> Joint[A, A]:
    """A coupling under which the two outcomes are equal as often as possible.

    >>> maximal_coupling({0: "1/2", 1: "1/2"}, {0: "1/4", 1: "3/4"})
    {(0, 0): Fraction(1, 4), (1, 1): Fraction(1, 2), (0, 1): Fraction(1, 4)}

    Theorem: every coupling has Pr[a != b] >= Delta(mu1, mu2), the statistical distance; this one attains it.
    Reference: Levin-Peres-Wilmer 2009, Proposition 4.7
    Proof: docs/theory/couplings.md#maximal-coupling
    Checked-by: tests/guarantees/test_couplings.py::test_maximal_coupling_attains_the_statistical_distance
    """
    spare, room = subdistribution(left, name="left"), subdistribution(right, name="right")
    if sum(spare.values()) != sum(room.values()):
        raise InvalidParameter("right", "a coupling needs two distributions of the same mass.")
    coupling = {(x, x): min(mass, room[x]) for x, mass in spare.items() if x in room}
    for (x, _), mass in coupling.items():
        spare[x] -= mass
        room[x] -= mass
    coupling.update(_in_order(spare, room))
    return coupling


def _in_order(spare: dict[A, Fraction], room: dict[A, Fraction]) -> Iterator[tuple[tuple[A, A], Fraction]]:
    """Fills the room with what is spare, first come first served; both have the same mass and are used up."""
    takers = deque(room)
    for giver, mass in spare.items():
        left = mass
        while left:
            taker = takers[0]
            amount = min(left, room[taker])
            if amount:
                yield (giver, taker), amount
            left -= amount
            room[taker] -= amount
            if not room[taker]:
                takers.popleft()


class _Transport(Generic[A, B]):
    """How much of each left outcome goes where on the right, in whole numbers, grown along shortest paths."""

    def __init__(self, spare: dict[A, int], wanted: dict[B, int], related: dict[A, list[B]]) -> None:
        self.spare = spare
        self.wanted = wanted
        self.related = related
        self.flow: dict[B, dict[A, int]] = {b: {} for b in wanted}

    def fill(self, spend: Callable[[int], object] | None = None) -> set[A]:
        """Places all that can be placed; the left outcomes that the rest could come from, if any is left."""
        for a, targets in self.related.items():
            for b in targets:
                self._place([(a, b)])
        while True:
            path, reached = self._search()
            if spend is not None:
                spend(sum(len(self.related[a]) for a in reached) // EDGES)
            if not path:
                return reached
            self._place(path)

    def _search(self) -> tuple[list[tuple[A, B]], set[A]]:
        """A shortest path from a left outcome with something to spare to a right outcome that wants some.

        It is listed as steps (a, b); between two of them, flow that came to b from the next a is undone.
        """
        queue = deque(a for a, spare in self.spare.items() if spare)
        reached = set(queue)
        origin: dict[B, A] = {}
        undone: dict[A, B] = {}
        while queue:
            a = queue.popleft()
            for b in self.related[a]:
                if b in origin:
                    continue
                origin[b] = a
                if self.wanted[b]:
                    return _walk_back(b, origin, undone), reached
                sources = [source for source in self.flow[b] if source not in reached]
                undone.update(dict.fromkeys(sources, b))
                reached.update(sources)
                queue.extend(sources)
        return [], reached

    def _place(self, path: list[tuple[A, B]]) -> None:
        undone = [(following[0], step[1]) for step, following in pairwise(path)]
        first, last = path[0][0], path[-1][1]
        amount = min([self.spare[first], self.wanted[last], *(self.flow[b][a] for a, b in undone)])
        if not amount:
            return
        self.spare[first] -= amount
        self.wanted[last] -= amount
        for a, b in path:
            self.flow[b][a] = self.flow[b].get(a, 0) + amount
        for a, b in undone:
            self.flow[b][a] -= amount
            if not self.flow[b][a]:
                del self.flow[b][a]


def _walk_back(b: B, origin: dict[B, A], undone: dict[A, B]) -> list[tuple[A, B]]:
    path = [(origin[b], b)]
    while path[-1][0] in undone:
        previous = undone[path[-1][0]]
        path.append((origin[previous], previous))
    return path[::-1]


def _related(left: dict[A, Fraction], right: dict[B, Fraction], relation: Relation[A, B]) -> dict[A, list[B]]:
    holds = _predicate(relation)
    if not isinstance(relation, AbstractSet):
        return {a: [b for b in right if holds(a, b)] for a in left}
    _check_pairs(relation, "relation")
    related: dict[A, list[B]] = {a: [] for a in left}
    for a, b in relation:
        if a in left and b in right:
            related[a].append(b)
    place = {b: index for index, b in enumerate(right)}
    for targets in related.values():  # a set has no order of its own that would be the same in every run
        targets.sort(key=place.__getitem__)
    return related


def _predicate(relation: Relation[A, B]) -> Callable[[A, B], bool]:
    if isinstance(relation, AbstractSet):
        return lambda a, b: (a, b) in relation
    if not callable(relation):
        raise InvalidParameter("relation", "give a set of pairs (a, b), or a function of a and b.")
    return relation


def _check_pairs(pairs: Iterable[object], name: str) -> None:
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise InvalidParameter(name, f"{reprlib.repr(pair)} is not a pair (a, b).")


def _marginal_faults(
    part: Side, found: dict[Hashable, Fraction], wanted: Mapping[A, Fraction]
) -> Iterator[CouplingFault]:
    for outcome in dict.fromkeys((*wanted, *found)):
        real, claimed = wanted.get(cast("A", outcome), _ZERO), found.get(outcome, _ZERO)
        if claimed != real:
            yield CouplingFault(part=part, outcome=outcome, wanted=real, found=claimed)


def _whole(table: dict[A, Fraction], unit: int) -> dict[A, int]:
    return {x: mass.numerator * (unit // mass.denominator) for x, mass in table.items()}


def _mass(table: dict[A, Fraction], outcomes: Iterable[A]) -> Fraction:
    return sum((table[x] for x in outcomes), _ZERO)
