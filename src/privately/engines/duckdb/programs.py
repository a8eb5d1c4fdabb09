"""What a worker is told to do: texts for DuckDB, and how their rows are counted.

It stands apart from what writes the texts, which a worker has no use for and would take long to load.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from privately.plans.types import Type

MOST_ROWS = 2**30
"""Of so many rows at most the first of every unit are chosen by sorting words; a larger table has to be prepared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """How a key's groups are numbered: 0 is NULL, others in turn; without a size, by a dictionary of those found."""

    text: str
    size: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BinsText:
    """How rows are counted in bins: by one number per row, if groups can be numbered, or else by grouping."""

    place: int
    bins: int
    value: str
    rows: str
    grouped: str
    codes: tuple[Code, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What a tally takes from the number of a row: the digit at a place (None: the row itself), counted or added up."""

    kind: Literal["count", "sum", "bins"]
    digit: int | None = None
    low: int = 0
    bins: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """How rows are chosen and counted outside DuckDB, by one number for each that holds all that counts of it.

    `rows` are units and the digits of the number, in the mixed base `sizes`: that of the group, and one for each value
    that is counted or added up, less its entry in `lows`; NULL is 0. A row without a group is in that numbered
    `rest`; if there is none (0), it counts nowhere and is 0. `before` makes the types that the text needs. No more rows
    than those `expected` are, or it takes longer.
    """

    before: tuple[str, ...]
    rows: str
    key: tuple[int, ...]
    most: int
    sizes: tuple[int, ...]
    lows: tuple[int, ...]
    groups: tuple[tuple[str | int | bool | None, ...], ...]
    parts: tuple[Part, ...]
    rest: int = 0
    expected: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Histogram:
    """How rows are counted in bins, and in nothing else, for groups that are listed: none need be looked for.

    `rows` has a column for each key, the place of the row's group among the `sizes` of it that are listed, and one for
    each tally, with the number of the bin. A place that is NULL is the entry in `rests`; if that is None, a row counts
    nowhere. A listed group that is not asked for is None among the `groups`.
    """

    before: tuple[str, ...]
    rows: str
    sizes: tuple[int, ...]
    rests: tuple[int | None, ...]
    groups: tuple[tuple[str | int | bool | None, ...] | None, ...]
    bins: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Total:
    """Where the total of a tally is: in a column, or in what DuckDB gathers there for an average.

    `doubles` are whole numbers that were added up as doubles: each of them is `factor` steps, above the `low` ones of
    every row that was added.
    """

    column: int
    kind: Literal["whole", "count", "value", "doubles"] = "whole"
    factor: float = 1.0
    low: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Direct:
    """How groups are counted at once, if what rows are grouped by is a key already, or not one of its `words`.

    Only groups count of which every key is one of those that are `asked` for, if these are listed.
    """

    text: str
    words: tuple[tuple[str, ...] | None, ...]
    asked: tuple[tuple[str | int | bool | None, ...] | None, ...]
    totals: tuple[Total, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """All that is asked of the engine for one aggregation: the groups with their tallies, and the bins.

    `first` is kept as the table `grouped`, of which `groups` works out the keys. In one text, DuckDB would move the
    condition on the keys to every row. With a `choice`, a `histogram` or a `direct` way there need be no `groups`:
    the first two can do without, and who counts directly says so if sums of doubles may have been rounded.
    """

    groups: str = ""
    types: tuple[Type, ...]
    tallies: int
    bins: tuple[BinsText, ...] = ()
    first: str = "SELECT 1 AS one"
    choice: Choice | None = None
    histogram: Histogram | None = None
    direct: Direct | None = None
