"""What is claimed of a question, held against the numbers of all neighbours."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

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


def _vector(numbers: Numbers, at: int) -> Counter[Any]:
    found: Counter[Any] = Counter()
    for group, tallies in numbers.items():
        if isinstance(tallies[at], dict):
            found.update({(group, place): count for place, count in tallies[at].items()})
        else:
            found[group] = tallies[at]
    return found


def claims(question: Question, tables: Sequence[Numbers]) -> Iterator[Claim]:
    """Every tally, and every pair of two-sided sums."""
    aggregation = question.aggregation
    unit = scan_of(aggregation.source).table.unit.within(aggregation.listed_groups)
    times = 1 if unit.change == "add_remove" else 2
    for at, (identity, tally) in enumerate(aggregation.tallies):
        norms = (stability.sensitivity(aggregation, tally, norm).value for norm in NORMS)
        places = times * (unit.most_rows if isinstance(tally, BinCounts) else unit.most_groups)
        yield Claim(f"{type(tally).__name__} {identity.name}", [_vector(one, at) for one in tables], places, *norms)
    order = [identity for identity, _ in aggregation.tallies]
    for use in uses.uses(question):
        if isinstance(use, uses.TwoSided):
            total, count = order.index(use.total), order.index(use.count)
            pairs = [_pairs(numbers, total, count, use) for numbers in tables]
            largest = stability.pair_sensitivity(aggregation, use.high - use.low, "Linf").value
            yield Claim("pair", pairs, 2 * times * unit.most_groups, use.moves[0].value, use.moves[1].value, largest)


def _pairs(numbers: Numbers, total: int, count: int, use: uses.TwoSided) -> Counter[Any]:
    found: Counter[Any] = Counter()
    for group, tallies in numbers.items():
        found[group, "above"] = tallies[total] - use.low * tallies[count]
        found[group, "below"] = use.high * tallies[count] - tallies[total]
    return found


def violations(
    question: Question, families: Sequence[tuple[Family, Sequence[int]]], tables: Sequence[Numbers]
) -> list[str]:
    """All that is wrong with the numbers, in words."""
    found = []
    listed = list(claims(question, tables))
    for family, numbers in families:
        for one, other in combinations(sorted(set(numbers)), 2):
            if family.alike:
                if tables[one] != tables[other]:
                    found.append("rows of nobody count")
                continue
            for claim in listed:
                broken = claim.broken(one, other)
                if broken:
                    found.append(f"{claim.what}: {broken}")
    pairs = [value for claim in listed if claim.what == "pair" for one in claim.entries for value in one.values()]
    return [*found, *(["a two-sided sum is negative"] if any(value < 0 for value in pairs) else [])]
