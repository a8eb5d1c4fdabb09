"""What any engine does: it says what it holds, counts, and keeps a copy that is quicker to count.

Nothing but whole numbers leaves an engine at the time of a question. Whatever it finds wrong with the data it says when
a table is opened or prepared, to the owner; a question that it cannot finish ends in one and the same text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from privately.errors import EngineFailed, InvalidParameter
from privately.plans.types import Type, Value

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from privately.plans.aggregates import Aggregation


MOST_SLOTS = 2**25
"""How many counts in bins a question keeps in arrays at once, for all groups, bins and tallies together."""


class Bins(Mapping[int, int]):
    """How many rows are in each bin that has any, by the number of the bin.

    Without `places` the counts are of all bins in turn, also of those that are empty.
    """

    def __init__(self, places: npt.NDArray[np.int64] | None, counts: npt.NDArray[np.integer[Any]]) -> None:
        self.places = places
        self.counts = counts
        self._found: dict[int, int] | None = None

    def _dictionary(self) -> dict[int, int]:
        if self._found is None:
            places = range(len(self.counts)) if self.places is None else self.places.tolist()
            pairs = zip(places, self.counts.tolist(), strict=True)
            self._found = {place: count for place, count in pairs if count or self.places is not None}
        return self._found

    def __getitem__(self, place: int) -> int:
        return self._dictionary()[place]

    def __iter__(self) -> Iterator[int]:
        return iter(self._dictionary())

    def __len__(self) -> int:
        return len(self._dictionary())

    def __repr__(self) -> str:
        return f"Bins({self._dictionary()!r})"


Group: TypeAlias = tuple[Value, ...]
Counts: TypeAlias = dict[Group, tuple[int | Bins, ...]]
"""For every group that has a row: a whole number, or the counts in bins, for every tally in turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a question may take. Unless they are given, they follow from the plan: reaching them is a fault."""

    seconds: float = 600.0
    memory: int = 4 * 2**30
    threads: int = 2

    def __post_init__(self) -> None:
        if not (0 < self.seconds <= 10**6 and 2**26 <= self.memory <= 2**50 and 0 < self.threads <= 1024):
            raise InvalidParameter("limits", "are out of their range.", hint="Give at least 64 MB, a second, a thread.")


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnReport:
    """What the owner is told of a column: how many values were missing, did not fit, or were brought to a bound."""

    name: str
    null: int
    unfit: int
    clamped: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TableReport:
    """What the owner, and nobody else, is told of a table: exact counts of rows, units, and what was left out."""

    rows: int
    counted: int
    units: int
    without_unit: int
    columns: tuple[ColumnReport, ...]
    left_out: int = 0
    """Lines of a text that are no rows."""

    def notes(self) -> tuple[str, ...]:
        """What is worth a second look, in words."""
        found = [*([] if self.rows else ["the table is empty."]), *left_out_note(self.left_out)]
        if self.without_unit:
            found.append(f"{self.without_unit:,} rows name no unit; they will not count.")
        if self.counted < self.rows - self.without_unit:
            found.append(f"{self.rows - self.without_unit - self.counted:,} rows are more than their unit may have.")
        for column in self.columns:
            if self.rows and column.null == self.rows:
                found.append(f"{column.name} is NULL in every row.")
            if column.unfit:
                found.append(f"{column.name} has {column.unfit:,} values that are not as declared; they become NULL.")
            if column.clamped:
                found.append(
                    f"{column.name} has {column.clamped:,} values beyond its bounds; they are brought to them."
                )
        return tuple(found)


def left_out_note(lines: int) -> tuple[str, ...]:
    """That lines of a text are no rows, if any are not, and what to do about it."""
    if not lines:
        return ()
    what = "1 line is" if lines == 1 else f"{lines:,} lines are"
    told = f"{what} left out, with more or fewer cells than there are columns (or more than 2 MB)."
    return (f"{told} If they should count, repair them in the file and open it again.",)


class Engine(Protocol):
    """Where the tables are."""

    def schema(self, table: str) -> Mapping[str, Type | None]:
        """The columns that the source of a table has, with the type that fits each (None if there is none)."""

    def run(self, aggregation: Aggregation, limits: Limits | None) -> Counts:
        """The tallies for every group that has rows, within limits that follow from the plan unless they are given.

        Its errors hold no data.
        """

    def prepare(self, table: str, path: Path) -> TableReport:
        """Writes a copy that is quicker to count, and tells the owner what became of the values."""


def failed() -> EngineFailed:
    """The one thing that is said when a question could not be finished, whatever the reason."""
    hint = "The charge is kept, since data was touched. Ask for less at once, or let the owner look at the data."
    return EngineFailed("the engine could not finish this question.", hint=hint)
