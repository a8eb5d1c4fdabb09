"""Histograms that show only what reaches a threshold: their laws, and the data sets that differ by one unit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, product

from privately.laws import RoundedNormal
from tests.guarantees.enumeration import Law, joint
from tests.guarantees.rules.integer_sums import ONE, laplace, laplace_at_least, window

Counts = tuple[int, ...]
HIDDEN = "hidden"


@dataclass(frozen=True)
class Histogram:
    """`width` is q, or the deviation of rounded normal noise; from `most` above the threshold on all is one outcome."""

    noise: str
    width: Fraction
    threshold: int
    most: int = 3

    def law(self, counts: Counts) -> Law:
        """The noisy counts that are shown; a key without any unit never is."""
        return joint([self.of_key(count) for count in counts])

    def of_key(self, count: int) -> Law:
        return _of_key(self, count)


@lru_cache(maxsize=10_000)
def _of_key(histogram: Histogram, count: int) -> Law:
    shown = range(histogram.threshold, histogram.threshold + histogram.most)
    if count == 0:
        return {HIDDEN: ONE}
    if histogram.noise == "rounded_gaussian":
        law = window(RoundedNormal(standard_deviation=histogram.width), count, shown)
        return {HIDDEN if outcome == "below" else outcome: mass for outcome, mass in law.items()}
    q = histogram.width
    return {
        HIDDEN: 1 - laplace_at_least(count, q).at(shown[0]),
        **{value: laplace(count, q).at(value) for value in shown},
        "above": laplace_at_least(count, q).at(shown[-1] + 1),
    }


def one_unit_more(keys: int, universe: int, highest: int, *, rows: int = 1) -> Iterator[tuple[Counts, Counts]]:
    """All counts up to `highest`, and what they are with one more unit that has up to `keys` of the keys.

    `rows` is how much it adds to each of its keys: 1, unless rows are counted falsely in place of units.
    """
    for before in product(range(highest + 1), repeat=universe):
        for size in range(1, keys + 1):
            for own in combinations(range(universe), size):
                yield before, tuple(count + rows * (key in own) for key, count in enumerate(before))


def nothing_new(before: Counts, after: Counts, law: Law) -> dict[object, Fraction]:
    """The part of the law of `after` in which keys that `before` does not have stay hidden."""
    new = [key for key, count in enumerate(before) if count == 0 and after[key]]
    return {outcome: mass for outcome, mass in law.items() if all(outcome[key] == HIDDEN for key in new)}
