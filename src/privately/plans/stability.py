"""How far the whole numbers of an aggregation can move when a unit comes, goes or changes."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

from privately.errors import NotSupported
from privately.guarantees import Sensitivity
from privately.guarantees.costs import root_up
from privately.plans.aggregates import Aggregation, BinCounts, StepSum, Tally, UnitCount
from privately.plans.relations import Filter, Project, Relation, Scan, scan_of
from privately.plans.units import Unit

Norm: TypeAlias = Literal["L1", "L2", "Linf"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """How far one unit moves numbers of which there may be several in a group, such as counts in bins.

    In terms of rows: L0 in `groups`, L1 in `rows`, L2 squared in `squares`, Linf in `largest`.
    """

    groups: int
    rows: int
    squares: int
    largest: int


def change_of(unit: Unit) -> Change:
    """A unit that is added or removed moves what it has; one that is replaced, what two have.

    Theorem: rows of two neighbours differ by the rows of one unit (add_remove) or of two (replace, the old one and the
        new one), so that L0, L1 and L2 squared of counts are at most twice those of one unit, and Linf is the same:
        counts are never negative, |a - b| <= max(a, b), and (a - b)^2 <= a^2 + b^2.
    Reference: McSherry 2009 (stability); the constants are elementary
    Proof: docs/theory/stability.md#units
    Checked-by: tests/plans/test_stability.py::test_all_neighbours_of_small_tables
    """
    times = _times(unit)
    return Change(
        groups=times * unit.most_groups,
        rows=times * unit.most_rows,
        squares=times * unit.squares,
        largest=unit.most_in_a_group,
    )


def rows_stay_apart(relation: Relation) -> bool:
    """Whether every row of the relation comes from one row of the table, and from that alone.

    Theorem: filters and projections by functions of a row keep this, and with it the number of rows that a unit moves.
    Reference: McSherry 2009, section 3 (Where and Select are 1-stable)
    Proof: docs/theory/stability.md#row-by-row
    Checked-by: tests/plans/test_stability.py::test_all_neighbours_of_small_tables
    """
    return isinstance(relation, Scan) or (isinstance(relation, (Filter, Project)) and rows_stay_apart(relation.source))


def sensitivity(aggregation: Aggregation, tally: Tally, norm: Norm) -> Sensitivity:
    """How far a tally's numbers, of all groups together, can move.

    Theorem: each row that comes or goes moves one group's number by at most the tally's reach; counts of units move by
        1 in each group that a unit is in; counts in bins are counts of finer groups. Where there is one number for each
        of K groups, none of them moves by more than Linf, so L1 is at most K Linf and L2 squared K Linf^2.
    Reference: elementary
    Proof: docs/theory/stability.md#tallies
    Checked-by: tests/plans/test_stability.py::test_all_neighbours_of_small_tables
    """
    unit = _unit(aggregation)
    change, entries = change_of(unit), aggregation.listed_groups
    match tally:
        case UnitCount():
            moves = _Moves(rows=change.groups, squares=change.groups, largest=1).among(entries)
        case BinCounts():
            moves = _Moves(rows=change.rows, squares=change.squares, largest=change.largest)
        case _:
            reach, span, signs = tally.reach, tally.reach, 1
            if isinstance(tally, StepSum) and tally.low < 0 < tally.high and unit.change == "replace":
                span, signs = tally.high - tally.low, 2  # (a - b)^2 <= 2 a^2 + 2 b^2 if signs may differ
            squares = signs * change.squares * reach**2
            moves = _Moves(rows=change.rows * reach, squares=squares, largest=change.largest * span).among(entries)
    return moves.sensitivity(norm, unit)


def pair_sensitivity(aggregation: Aggregation, width: int, norm: Norm) -> Sensitivity:
    """How far two-sided sums, of all groups together, can move, where low and high are `width` steps apart.

    Theorem: a row adds x - low and high - x, neither of them negative, which are `width` together; so a unit with r
        rows in a group adds r width in L1, and at most (r width)^2 in L2 squared.
    Reference: elementary
    Proof: docs/theory/stability.md#two-sided-sums
    Checked-by: tests/query/test_uses.py::test_pairs_of_all_small_tables
    """
    unit = _unit(aggregation)
    change = change_of(unit)
    moves = _Moves(rows=change.rows * width, squares=change.squares * width**2, largest=change.largest * width)
    return moves.sensitivity(norm, unit)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Moves:
    """L1, L2 squared and Linf."""

    rows: int
    squares: int
    largest: int

    def among(self, entries: int | None) -> _Moves:
        """The same if there are only so many numbers."""
        if entries is None:
            return self
        rows, squares = min(self.rows, entries * self.largest), min(self.squares, entries * self.largest**2)
        return _Moves(rows=rows, squares=squares, largest=self.largest)

    def sensitivity(self, norm: Norm, unit: Unit) -> Sensitivity:
        values = {"L1": Fraction(self.rows), "L2": root_up(Fraction(self.squares)), "Linf": Fraction(self.largest)}
        return Sensitivity(value=values[norm], norm=norm, neighbors=unit.neighbors)


def _unit(aggregation: Aggregation) -> Unit:
    if not rows_stay_apart(aggregation.source):
        raise NotSupported("rows that are made of several rows.")
    return scan_of(aggregation.source).table.unit.within(aggregation.listed_groups)


def _times(unit: Unit) -> int:
    return 1 if unit.change == "add_remove" else 2
