"""Whose privacy is at stake, and how much of a table one of them can be."""

from __future__ import annotations

from dataclasses import dataclass

from privately.errors import InvalidParameter
from privately.guarantees import Groups, Neighbors
from privately.guarantees.neighbors import Change
from privately.rounding import whole

MOST_ROWS = 10**9


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class Unit:
    """A row, or all rows that a `column` gives to one person, of which so many count.

    `rows` of a unit count in all; in a question with groups, at most in `groups` of them, at most `rows_per_group` in
    each. What is more is left out, chosen by a keyed hash of the rows themselves.

    >>> Unit(column="patient_id", rows=6, rows_per_group=2).most_groups
    6
    """

    column: str | None
    rows: int
    groups: int
    rows_per_group: int
    change: Change

    def __init__(
        self,
        *,
        column: str | None = None,
        rows: int = 1,
        groups: int | None = None,
        rows_per_group: int | None = None,
        change: Change = "add_remove",
    ) -> None:
        if column is None and (rows, groups, rows_per_group) != (1, None, None):
            raise InvalidParameter("unit", "a row is one row in one group.", hint="Name the column that tells people.")
        if column is not None:
            Neighbors(change=change).of_unit(column)
        most = whole(rows, "rows", minimum=1, maximum=MOST_ROWS)
        members = {
            "column": column,
            "rows": most,
            "groups": most if groups is None else whole(groups, "groups", minimum=1, maximum=most),
            "rows_per_group": most if rows_per_group is None else whole(rows_per_group, "rows_per_group", maximum=most),
            "change": Neighbors(change=change).change,
        }
        for name, value in members.items():
            object.__setattr__(self, name, value)

    @property
    def neighbors(self) -> Neighbors:
        """What the guarantees of answers are about: a unit with any number of rows in the file, for few count."""
        base = Neighbors(change=self.change)
        return base if self.column is None else base.of_unit(self.column)

    def within(self, groups: int | None) -> Unit:
        """The same unit in a question that has no more than so many groups."""
        if self.column is None or groups is None or groups >= self.groups:
            return self
        return Unit(
            column=self.column, rows=self.rows, groups=groups, rows_per_group=self.rows_per_group, change=self.change
        )

    def in_words(self, groups: int | None, ends: tuple[str, str] = ("", "")) -> str:
        """What of one unit counts in a question with so many groups, by all limits together.

        `ends` follow upon the number of rows: the first if it is one.

        >>> Unit(column="patient_id", rows=6, groups=2, rows_per_group=4).in_words(None)
        'at most 6 rows, in at most 2 groups, at most 4 in each'
        """
        here = self.within(None if groups is None else max(groups, 1))
        rows, most = here.most_rows, here.most_groups
        told = [f"at most {rows:,} row{ends[0]}" if rows == 1 else f"at most {rows:,} rows{ends[1]}"]
        if most < (rows if groups is None else min(rows, groups)):
            told.append(f"in at most {most:,} groups" if most > 1 else "in one group")
        if most > 1 and here.most_in_a_group < rows:
            told.append(f"at most {here.most_in_a_group:,} in each{' group' * (len(told) == 1)}")
        return ", ".join(told)

    def note(self, groups: int | None) -> str:
        """The same as a sentence.

        >>> Unit(column="patient_id", rows=6, rows_per_group=1).note(1)
        'Of one patient_id at most 1 row counts.'
        """
        return f"Of one {self.column} {self.in_words(groups, (' counts', ' count'))}."

    @property
    def most_groups(self) -> int:
        """In how many groups one unit can be: L0."""
        return min(self.groups, self.rows)

    @property
    def most_rows(self) -> int:
        """How many rows of one unit count over all groups: L1 of the counts."""
        return self._counts.most_rows

    @property
    def squares(self) -> int:
        """The largest sum of squares of a unit's counts in the groups: L2 squared."""
        return self._counts.squares

    @property
    def _counts(self) -> Groups:
        return Groups(
            rows=self.rows,
            groups=self.groups,
            rows_per_group=self.rows_per_group,
            listed=None,
            neighbors=self.neighbors,
        )

    @property
    def most_in_a_group(self) -> int:
        """How many rows of one unit count in one group: Linf."""
        return min(self.rows_per_group, self.rows)
