"""Whose change a guarantee protects."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from privately.errors import InvalidParameter
from privately.rounding import whole

Change = Literal["add_remove", "replace"]
_VERBS = {"add_remove": "adding or removing", "replace": "replacing"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbors:
    """Two data sets are neighbours when they differ by at most `size` changes.

    A change adds or removes (or replaces) one row; with a `unit`, all the rows of one unit, such as a person, who has
    at most `max_rows` rows (None: any number).

    >>> Neighbors.ADD_REMOVE
    Neighbors(change='add_remove', size=1, unit=None, max_rows=None)
    >>> print(Neighbors.REPLACE.of_unit("patient_id", max_rows=3))
    replacing one patient_id of at most 3 rows
    """

    ADD_REMOVE: ClassVar[Neighbors]
    REPLACE: ClassVar[Neighbors]

    change: Change = "add_remove"
    size: int = 1
    unit: str | None = None
    max_rows: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.change, str) or self.change not in _VERBS:
            raise InvalidParameter("change", f"{self.change!r} is neither 'add_remove' nor 'replace'.")
        object.__setattr__(self, "size", whole(self.size, "size"))
        if self.unit is not None and not (isinstance(self.unit, str) and _is_name(self.unit)):
            raise InvalidParameter("unit", "must be the name of the column that identifies a unit.")
        if self.max_rows is not None:
            object.__setattr__(self, "max_rows", whole(self.max_rows, "max_rows"))
            if self.unit is None:
                raise InvalidParameter("max_rows", "belongs to a unit; name the unit too.")

    def of_unit(self, unit: str, *, max_rows: int | None = None) -> Neighbors:
        """The same change, of all the rows of one unit."""
        return replace(self, unit=unit, max_rows=max_rows)

    def times(self, size: int) -> Neighbors:
        """The same change, made `size` times as often."""
        return replace(self, size=self.size * whole(size, "size"))

    def covers(self, other: Neighbors) -> bool:
        """Whether every pair of neighbours of `other` is a pair of neighbours here."""
        if not isinstance(other, Neighbors):
            raise InvalidParameter("neighbors", f"{other!r} is not a Neighbors.")
        fewer_rows = self.max_rows is None or (other.max_rows is not None and other.max_rows <= self.max_rows)
        same_kind = (self.change, self.unit) == (other.change, other.unit)
        return same_kind and other.size <= self.size and fewer_rows

    def __str__(self) -> str:
        number = "one" if self.size == 1 else f"up to {self.size}"
        plural = "s" if self.size > 1 and self.unit is None else ""
        rows = f" of at most {self.max_rows} rows" if self.max_rows is not None else ""
        return f"{_VERBS[self.change]} {number} {self.unit or 'row'}{plural}{rows}"


Neighbors.ADD_REMOVE = Neighbors(change="add_remove")
Neighbors.REPLACE = Neighbors(change="replace")


def _is_name(text: str) -> bool:
    """Not empty, not endless, and with no half of a character."""
    return 0 < len(text) <= 1000 and not any("\ud800" <= letter <= "\udfff" for letter in text)
