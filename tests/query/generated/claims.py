"""What is claimed of a question, held against the numbers of all neighbours."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

from privately.engines.protocol import Group
from privately.guarantees.sensitivity import Norm
from privately.plans import BinCounts, Question, scan_of, stability
from privately.query import uses
from tests.plans.small import distances
from tests.query.generated.counting import Numbers
from tests.query.generated.neighbours import Family

NORMS: tuple[Norm, ...] = ("L1", "L2", "Linf")


@dataclass(frozen=True)
class Claim:
    """A vector of numbers that is released with noise, and how far neighbours may be apart in it."""

    what: str
    entries: Sequence[Counter[Any]]
    places: int
    one: Fraction
    two: Fraction
    largest: Fraction

    def broken(self, one: int, other: int) -> str:
        """Which norm two tables violate; '' if none."""
        first, second = self.entries[one], self.entries[other]
        moved = sum(first[key] != second[key] for key in first.keys() | second.keys())
        total, squares, most = distances(first, second)
        checks = {
            "L0": moved <= self.places,
            "L1": total <= self.one,
            "L2": squares <= self.two**2,
            "Linf": most <= self.largest,
        }
        return ", ".join(norm for norm, holds in checks.items() if not holds)


def _answered(numbers: Numbers, groups: Sequence[Group] | None) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """What is answered: the numbers of the groups that are listed, of each as often as it is; or of all."""
    if groups is None:
        yield from numbers.items()
    else:
        yield from ((place, numbers[group]) for place, group in enumerate(groups) if group in numbers)


def _vector(numbers: Numbers, at: int, groups: Sequence[Group] | None) -> Counter[Any]:
    found: Counter[Any] = Counter()
    for group, tallies in _answered(numbers, groups):
        if isinstance(tallies[at], dict):
            found.update({(group, place): count for place, count in tallies[at].items()})
        else:
            found[group] = tallies[at]
    return found


def claims(question: Question, tables: Sequence[Numbers], groups: Sequence[Group] | None = None) -> Iterator[Claim]:
    """Every tally, and every pair of two-sided sums; of these groups, of those of a public table, or of all."""
    aggregation = question.aggregation
    groups = aggregation.combinations if groups is None else groups
    unit = scan_of(aggregation.source).table.unit.within(aggregation.listed_groups)
    times = 1 if unit.change == "add_remove" else 2
    for at, (identity, tally) in enumerate(aggregation.tallies):
        norms = (stability.sensitivity(aggregation, tally, norm).value for norm in NORMS)
        places = times * (unit.most_rows if isinstance(tally, BinCounts) else unit.most_groups)
        yield Claim(
            f"{type(tally).__name__} {identity.name}", [_vector(one, at, groups) for one in tables], places, *norms
        )
    order = [identity for identity, _ in aggregation.tallies]
    for use in uses.uses(question):
        if isinstance(use, uses.TwoSided):
            total, count = order.index(use.total), order.index(use.count)
            pairs = [_pairs(numbers, total, count, use, groups) for numbers in tables]
            largest = stability.pair_sensitivity(aggregation, use.high - use.low, "Linf").value
            yield Claim("pair", pairs, 2 * times * unit.most_groups, use.moves[0].value, use.moves[1].value, largest)


def _pairs(
    numbers: Numbers, total: int, count: int, use: uses.TwoSided, groups: Sequence[Group] | None
) -> Counter[Any]:
    found: Counter[Any] = Counter()
    for group, tallies in _answered(numbers, groups):
        found[group, "above"] = tallies[total] - use.low * tallies[count]
        found[group, "below"] = use.high * tallies[count] - tallies[total]
    return found


def violations(
    question: Question,
    families: Sequence[tuple[Family, Sequence[int]]],
    tables: Sequence[Numbers],
    groups: Sequence[Group] | None = None,
) -> list[str]:
    """All that is wrong with the numbers, in words."""
    found = []
    listed = list(claims(question, tables, groups))
    for family, numbers in families:
        for one, other in combinations(sorted(set(numbers)), 2):
            if family.alike:
                if tables[one] != tables[other]:
                    found.append("rows of nobody count")
                continue
            found += broken(listed, one, other)
    pairs = [value for claim in listed if claim.what == "pair" for one in claim.entries for value in one.values()]
    return [*found, *(["a two-sided sum is negative"] if any(value < 0 for value in pairs) else [])]


def broken(listed: Sequence[Claim], one: int, other: int) -> list[str]:
    """The claims that two tables violate."""
    return [f"{claim.what}: {norms}" for claim in listed for norms in [claim.broken(one, other)] if norms]
