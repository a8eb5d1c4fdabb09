"""Groups whose rows are divided among parts of the data: what some of them see of each part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations_with_replacement

from privately.accounting.events import Event, Group
from privately.accounting.grouped_samples.in_logs import law_either_way
from privately.accounting.grouped_samples.mixtures import Split
from privately.accounting.grouped_samples.normal_law import GroupSums, MixedRows
from privately.accounting.grouped_samples.seen import Seen
from privately.accounting.losses import Loss
from privately.accounting.roads import NotApplicable
from privately.accounting.shared_samples.lists import Parted
from privately.accounting.spreading import Side
from privately.accounting.terms import count

Way = tuple[tuple[int, Split], ...]
"""The place of each part that some rows meet, with the numbers of those that are removed and added there."""

_MOST_WAYS = 160


@dataclass(frozen=True)
class Divided:
    """A group of this size, whose rows are in several of these parts."""

    size: int
    parts: Sequence[Event]
    kept: dict[tuple[int, int], Seen] = field(default_factory=dict)

    def seen(self, place: int, rows: int) -> Seen:
        """What so many rows see of one part."""
        found = self.kept.get((place, rows))
        if found is None:
            found = self.kept[place, rows] = Seen.sampled_or_not(Group(event=self.parts[place], size=rows))
        return found

    def splits(self) -> list[Way]:
        """All ways to be in more than one part, one of them with samples; removed rows before added ones.

        Theorem: rows that come and go meet the parts that they belong to, which are independent: a_i removed rows and
            b_i added ones of part i see the product of the worst pairs of its splits, and it is reached.
        Reference: McSherry 2009, Theorem 4
        Proof: docs/theory/accounting/group_samples.md#rows-in-several-parts
        Checked-by: tests/accounting/grouped_samples/test_divided.py::test_rows_in_several_parts_by_enumeration
        """
        found: list[Way] = []
        for places in combinations_with_replacement(range(len(self.parts)), self.size):
            numbers = [(place, places.count(place)) for place in dict.fromkeys(places)]
            if len(numbers) > 1 and any(self.seen(*one).is_sampled for one in numbers):
                found += self._ways(numbers)
            if len(found) > _MOST_WAYS:
                raise NotApplicable("too many ways to divide the rows")
        return sorted(found, key=lambda way: sum(added for _, (_, added) in way))

    def _ways(self, numbers: Sequence[tuple[int, int]]) -> Iterator[Way]:
        """With so many rows in each part; without samples removed and added rows are seen alike."""
        if not numbers:
            yield ()
            return
        (place, rows), *others = numbers
        least = 0 if self.seen(place, rows).is_sampled else rows
        for rest in self._ways(others):
            for removed in range(rows, least - 1, -1):
                yield ((place, (removed, rows - removed)), *rest)

    def steps(self, way: Way) -> int:
        """How many, sampled or not."""
        return sum(self.seen(place, sum(split)).steps(split) for place, split in way)

    def parted(self, way: Way, side: Side, cells: int, rare: float) -> Parted:
        """Lists of what is noise on samples, laws of the rest, of all parts."""
        found, finite = Parted([], {}, Fraction(0)), Fraction(1)
        for place, split in way:
            one = self.seen(place, sum(split)).parted(split, side, cells, rare / len(way))
            found.lists.extend(one.lists)
            for law, times in one.laws.items():
                count(found.laws, law, times)
            finite *= 1 - one.infinite
        return Parted(found.lists, found.laws, 1 - finite, law_either_way)

    def sums(self, way: Way) -> GroupSums:
        """For the contour integral; NotApplicable where there is other noise than normal one."""
        rows: list[tuple[MixedRows, int]] = []
        laws: list[tuple[Loss, int]] = []
        for place, split in way:
            more, others = self.seen(place, sum(split)).summands(split)
            rows += more
            laws += others
        if not rows:
            raise NotApplicable("no noise on samples")
        return GroupSums(rows, laws)
