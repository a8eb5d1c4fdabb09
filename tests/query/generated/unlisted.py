"""Groups that nobody listed: what shows them, and what is then counted of those that were shown."""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, permutations

from privately.mechanisms import ThresholdedHistogram
from privately.plans import Question
from privately.query import allocation, listing, uses
from privately.query.allocation import Budget
from tests.query.generated.claims import Claim, broken, violations
from tests.query.generated.counting import Numbers, counted
from tests.query.generated.neighbours import Family
from tests.query.generated.tables import Declared, Rows

BUDGET = Budget(currency="epsilon", amount=Fraction(1), delta=Fraction(1, 50))
Families = Sequence[tuple[Family, Sequence[int]]]


def wrong_groups(
    declared: Declared, question: Question, families: Families, tables: Sequence[Rows], *, which: int
) -> list[str]:
    """All that does not hold of groups that nobody listed; `which` of them are shown, by its bits."""
    first = listing.listing_of(question)
    if first is None:
        return []
    units = counted(declared, first.aggregation, tables)
    found = _of_units(question, families, units)
    keys = list(dict.fromkeys(group for one in units for group in one))
    shown = [key for at, key in enumerate(keys) if which >> at & 1] or keys[:1]
    if not shown:
        return found
    needed = {identity for identity, _ in question.aggregation.tallies}
    second = listing.restricted(question, shown, needed)
    groups = listing.groups_of(question, listing.in_order(shown))
    later = violations(question, families, counted(declared, second, tables), groups)
    return [*found, *(f"of groups that were shown: {one}" for one in later)]


def _of_units(question: Question, families: Families, units: Sequence[Numbers]) -> list[str]:
    """Numbers of units move as claimed, and what only one of two neighbours has is shown no more often than delta."""
    use = next(one for one in uses.uses(question) if isinstance(one, uses.Listed))
    times = 1 if use.moves[0].neighbors.change == "add_remove" else 2
    vectors = [Counter({group: number for group, (number,) in one.items()}) for one in units]
    claim = Claim("units", vectors, times * use.keys, use.moves[0].value, use.moves[1].value, Fraction(1))
    (histogram,) = allocation.allocated([use], 1, BUDGET)[0].mechanisms
    assert isinstance(histogram, ThresholdedHistogram)
    found = []
    for family, numbers in families:
        places = sorted(set(numbers))
        if not family.alike:
            found += [one for pair in combinations(places, 2) for one in broken([claim], *pair)]
        for one, other in permutations(places, 2):
            missing = [vectors[one][key] for key in vectors[one] if key not in vectors[other]]
            if likely(histogram, missing) > (BUDGET.delta or 0):
                found.append("groups of one unit are shown too often")
    return found


def likely(histogram: ThresholdedHistogram, numbers: Sequence[int]) -> Fraction:
    """How likely it is that any of the groups with these numbers of units is shown: exactly, rounded up."""
    hidden = Fraction(1)
    for number in numbers:
        hidden *= 1 - min(Fraction(histogram.law.tail(histogram.threshold - number - 1).upper), Fraction(1))
    return 1 - hidden
