"""How far the whole numbers of an aggregation can move when a unit comes, goes or changes."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from privately.guarantees import Sensitivity
from privately.guarantees.costs import root_up
from privately.plans.aggregates import Aggregation, BinCounts, StepSum, Tally, UnitCount
from privately.plans.relations import Filter, Project, Relation, Scan, scan_of
from privately.plans.units import Unit


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """How much of one unit, at most, is in the groups of two neighbours together: see `Unit`."""

    groups: int
    rows: int
    squares: int
    largest: int


def change_of(unit: Unit) -> Change:
    """A unit that is added or removed moves what it has; one that is replaced, what two have.

    Theorem: rows of two neighbours differ by the rows of one unit (add_remove) or of two (replace, the old one and the
        new one), so that L0 and L1 of the counts are at most twice, and L2 at most the root of two times, that of one
        unit: counts are never negative, and (a - b)^2 <= a^2 + b^2.
    Reference: McSherry 2009 (stability); the constants are elementary
    Proof: docs/theory/stability.md#units
    Checked-by: tests/plans/test_stability.py::test_all_neighbours_of_small_tables
    """
    times = 1 if unit.change == "add_remove" else 2
    largest = min(unit.rows_per_group, unit.rows)
    return Change(
        groups=times * unit.most_groups,
        rows=times * unit.most_rows,
        squares=times * unit.squares,
        largest=times * largest,
    )


def rows_stay_apart(relation: Relation) -> bool:
    """Whether every row of the relation comes from one row of the table, and from that alone.

    Theorem: filters and projections by functions of a row keep this, and with it the number of rows that a unit moves.
    Reference: McSherry 2009, section 3 (Where and Select are 1-stable)
    Proof: docs/theory/stability.md#row-by-row
    Checked-by: tests/plans/test_stability.py::test_all_neighbours_of_small_tables
    """
    return isinstance(relation, Scan) or (isinstance(relation, (Filter, Project)) and rows_stay_apart(relation.source))


def sensitivity(aggregation: Aggregation, tally: Tally, norm: str) -> Sensitivity:
    """How far a tally's numbers, of all groups together, can move, in L1 or L2.

    Theorem: each row that comes or goes moves one group's number by at most the tally's reach; counts of units move by
        1 in each group that a unit is in; counts in bins are counts of finer groups.
    Reference: elementary
    Proof: docs/theory/stability.md#tallies
    Checked-by: tests/plans/test_stability.py::test_all_neighbours_of_small_tables
    """
    unit = scan_of(aggregation.source).table.unit
    change = change_of(unit)
    if isinstance(tally, UnitCount):
        moved, squares = Fraction(change.groups), Fraction(change.groups)
    elif isinstance(tally, BinCounts):
        moved, squares = Fraction(change.rows), Fraction(change.squares)
    else:
        moved, squares = Fraction(change.rows * tally.reach), Fraction(change.squares * tally.reach**2)
        if isinstance(tally, StepSum) and tally.low < 0 < tally.high and unit.change == "replace":
            squares *= 2  # (a - b)^2 <= 2 a^2 + 2 b^2, when a and b may have different signs
    value = moved if norm == "L1" else root_up(squares)
    return Sensitivity(value=value, norm="L1" if norm == "L1" else "L2", neighbors=unit.neighbors)
