"""All that one unit can have in a few groups, and how far its coming, going or changing moves what is counted."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations_with_replacement
from typing import Any

from privately.guarantees import Groups, Neighbors, Stability, rules

Row = tuple[int, int | None]
Unit = tuple[Row, ...]
Numbers = Counter[Any]
Distances = tuple[int, int, int]

LIMITS = [(1, 1, 1), (2, 2, 2), (2, 1, 2), (2, 2, 1), (3, 2, 2), (3, 3, 1), (3, 1, 3), (3, 2, 3)]
PEOPLE = (Neighbors.ADD_REMOVE.of_unit("person"), Neighbors.REPLACE.of_unit("person"))


def all_groups(limits: Sequence[tuple[int, int, int]] = LIMITS) -> Iterator[Stability]:
    """Groups of a table, of which one, two or an unknown number are answered for."""
    for neighbors in PEOPLE:
        for rows, groups, per_group in limits:
            scanned = rules.scan_rows(
                table="t", neighbors=neighbors, rows=rows, groups=groups, rows_per_group=per_group
            )
            for listed in (1, 2, None):
                yield rules.group_rows(scanned, keys=[("part", listed)])


def stated(proof: Stability) -> Groups:
    assert isinstance(proof.conclusion, Groups)
    return proof.conclusion


def contributions(groups: Groups, values: Iterable[int | None], most: int = 3) -> list[Unit]:
    """Everything that a unit within these limits can have in the groups that are answered for: `most`, if unknown."""
    kinds = [(group, value) for group in range(groups.listed or most) for value in values]
    found = []
    for size in range(groups.rows + 1):
        for rows in combinations_with_replacement(kinds, size):
            in_groups = Counter(group for group, _ in rows)
            if len(in_groups) <= groups.groups and max(in_groups.values(), default=0) <= groups.rows_per_group:
                found.append(rows)
    return found


def farthest(
    groups: Groups, values: Iterable[int | None], tally: Callable[[Unit], Numbers], most: int = 3
) -> Distances:
    """L1, L2 squared and Linf of the largest moves between neighbours."""
    numbers = {frozenset(tally(unit).items()) for unit in contributions(groups, values, most)}
    others = numbers if groups.neighbors.change == "replace" else {frozenset()}
    moved = [distances(dict(one), dict(other)) for one in numbers for other in others]
    one, two, largest = (max(norm) for norm in zip(*moved, strict=True))
    return one, two, largest


def distances(one: dict[Any, int], other: dict[Any, int]) -> Distances:
    apart = [abs(one.get(place, 0) - other.get(place, 0)) for place in one.keys() | other.keys()] or [0]
    return sum(apart), sum(move**2 for move in apart), max(apart)


# --- tallies --------------------------------------------------------------------------------------------------------


def rows_counted(unit: Unit) -> Numbers:
    return Counter(group for group, _ in unit)


def values_counted(unit: Unit) -> Numbers:
    return Counter(group for group, value in unit if value is not None)


def units_counted(unit: Unit) -> Numbers:
    return Counter({group for group, _ in unit})


def steps_summed(unit: Unit) -> Numbers:
    total: Numbers = Counter()
    for group, value in unit:
        total[group] += value or 0
    return total


def bins_counted(unit: Unit) -> Numbers:
    return Counter(unit)


def pairs_summed(low: int, high: int, counted: str) -> Callable[[Unit], Numbers]:
    """A row without a value is nothing, or counted as one of 0."""

    def tally(unit: Unit) -> Numbers:
        total: Numbers = Counter()
        for group, value in unit:
            if value is not None or counted == "rows":
                total[group, "above"] += (value or 0) - low
                total[group, "below"] += high - (value or 0)
        return total

    return tally
