"""Statements about a table and what is computed of it: how much of it one unit is. Sensitivity is one of them too.

r, g, m   of a unit at most r rows count, in at most g groups, at most m in each
K         the number of groups, where it is public
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from privately.errors import InvalidParameter
from privately.guarantees.neighbors import Neighbors
from privately.guarantees.sensitivity import Sensitivity
from privately.rounding import whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Rows of a table, each made of one row: of a unit at most `rows` count; in groups, so many of them in so many.

    A row that is protected alone counts once.

    >>> print(Rows(rows=3, groups=2, rows_per_group=2, neighbors=Neighbors.ADD_REMOVE.of_unit("person")))
    at most 3 rows, in at most 2 groups, at most 2 in each, adding or removing one person
    """

    rows: int
    groups: int
    rows_per_group: int
    neighbors: Neighbors

    def __post_init__(self) -> None:
        most = whole(self.rows, "rows")
        _check_limits(self, most, most)
        if self.neighbors.unit is None and most != 1:
            raise InvalidParameter("rows", "must be 1 where a row is protected.", hint="Name the unit.")

    def __str__(self) -> str:
        return _text(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Groups:
    """The same once rows are in groups: `listed` is how many groups are answered for, None if that is not public."""

    rows: int
    groups: int
    rows_per_group: int
    listed: int | None
    neighbors: Neighbors

    def __post_init__(self) -> None:
        most = whole(self.rows, "rows")
        listed = None if self.listed is None else whole(self.listed, "listed")
        _check_limits(self, most, most if listed is None else min(most, listed))

    @property
    def most_rows(self) -> int:
        """L1 of the numbers of rows that a unit has in the groups.

        Theorem: with at most r rows, in at most g groups, at most m in each, the counts of a unit have
            L0 <= g, L1 <= min(r, g m), Linf <= m, and L2^2 is largest when groups are filled up one after the other.
        Reference: elementary (majorisation)
        Proof: docs/theory/stability.md#units
        Checked-by: tests/guarantees/test_stability.py::test_counts_of_a_unit
        """
        return min(self.rows, self.groups * self.rows_per_group)

    @property
    def squares(self) -> int:
        """L2 squared of them."""
        full, rest = divmod(self.most_rows, self.rows_per_group)
        return full * self.rows_per_group**2 + rest**2

    def __str__(self) -> str:
        said = "groups that are not public" if self.listed is None else f"{self.listed} groups"
        return f"{said}: {_text(self)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreSpread:
    """Between neighbours, the largest change of a score is at most so much above the smallest, over all candidates."""

    value: Fraction
    neighbors: Neighbors

    def __str__(self) -> str:
        return f"scores move at most {self.value} apart, {self.neighbors}"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitKeys:
    """Numbers of distinct units by key: a unit has at most so many keys, and counts once in each."""

    keys: int
    neighbors: Neighbors

    def __str__(self) -> str:
        return f"counts of units by key, at most {self.keys} keys each, {self.neighbors}"


Statement: TypeAlias = Rows | Groups | Sensitivity | ScoreSpread | UnitKeys


def _check_limits(stated: Rows | Groups, rows: int, groups: int) -> None:
    neighbors = stated.neighbors
    whole(stated.groups, "groups", maximum=groups)
    whole(stated.rows_per_group, "rows_per_group", maximum=rows)
    if not isinstance(neighbors, Neighbors):
        raise InvalidParameter("neighbors", f"{neighbors!r} is not a Neighbors, such as Neighbors.REPLACE.")
    if neighbors.size != 1 or neighbors.max_rows is not None:
        raise InvalidParameter("neighbors", "must be about one row, or one unit of whatever number of rows.")


def _text(stated: Rows | Groups) -> str:
    rows = "one row" if stated.rows == 1 else f"at most {stated.rows} rows"
    limits = f", in at most {stated.groups} groups, at most {stated.rows_per_group} in each" if stated.rows > 1 else ""
    return f"{rows}{limits}, {stated.neighbors}"
