"""From a table to groups of its rows: what each step says of how much of it one unit is."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TypeAlias

from privately.errors import InvalidParameter
from privately.guarantees.derivations import Stability
from privately.guarantees.neighbors import Neighbors
from privately.guarantees.rules.sealing import state, stated
from privately.guarantees.stability import Groups, Rows
from privately.rounding import LARGEST, whole

LONGEST_TEXT = 20_000
MOST_KEYS = 1_000

GroupKey: TypeAlias = tuple[str, int | None]
"""What rows are grouped by, in words; and how many values of it are listed, None if they are not public."""


def scan_rows(
    *, table: str, neighbors: Neighbors, rows: int = 1, groups: int | None = None, rows_per_group: int | None = None
) -> Stability:
    """The rows of a table that count, chosen among those of each unit by what these are and nothing else.

    Theorem: neighbours differ by one unit (add_remove), or have one unit of different rows (replace). If of every unit
        so many rows count as its own rows alone decide, the rows that count differ by at most `rows` rows of that
        unit, or by so many that leave and so many that enter; in groups, by at most what the bounds on groups say.
    Reference: McSherry 2009 (stability); Wilson-et-al 2020 (contribution bounds)
    Proof: docs/theory/stability.md#units
    Checked-by: tests/plans/test_stability.py::test_all_neighbours_of_small_tables,
        tests/plans/test_stability.py::test_a_choice_by_position_is_noticed
    """
    found = Rows(
        rows=rows,
        groups=rows if groups is None else groups,
        rows_per_group=rows if rows_per_group is None else rows_per_group,
        neighbors=neighbors,
    )
    return state("scan_rows", [], found, parameters={"table": text(table, "table")})


def filter_rows(premise: Stability, *, condition: str) -> Stability:
    """The rows for which a condition holds that looks at one row at a time.

    Theorem: whether a row is kept depends on that row alone, so that no more rows come or go than before.
    Reference: McSherry 2009, section 3 (Where is 1-stable)
    Proof: docs/theory/stability.md#row-by-row
    Checked-by: tests/plans/test_stability.py::test_all_neighbours_of_small_tables
    """
    found = stated(premise, Rows, wanted="some of the rows")
    return state("filter_rows", [premise], found, parameters={"condition": text(condition, "condition")})


def project_rows(premise: Stability, *, values: Sequence[str]) -> Stability:
    """New values for each row, made of that row alone.

    Theorem: each row becomes one row, of the same unit.
    Reference: McSherry 2009, section 3 (Select is 1-stable)
    Proof: docs/theory/stability.md#row-by-row
    Checked-by: tests/plans/test_stability.py::test_all_neighbours_of_small_tables
    """
    found = stated(premise, Rows, wanted="values of rows")
    return state("project_rows", [premise], found, parameters={"values": [text(one, "values") for one in values]})


def group_rows(premise: Stability, *, keys: Sequence[GroupKey] = ()) -> Stability:
    """Rows in groups by keys, each a function of a row; without keys, one group of all rows.

    Theorem: where numbers are released for K listed groups and no others, a unit is in at most K of them.
    Reference: elementary
    Proof: docs/theory/stability.md#groups
    Checked-by: tests/plans/test_stability.py::test_all_neighbours_of_small_tables
    """
    rows = stated(premise, Rows, wanted="groups of rows")
    if len(keys) > MOST_KEYS:
        raise InvalidParameter("keys", f"must be at most {MOST_KEYS}.")
    sizes = [None if values is None else whole(values, "values") for _, values in keys]
    listed = None if None in sizes else prod(size for size in sizes if size is not None)
    found = Groups(
        rows=rows.rows,
        groups=rows.groups if listed is None else min(rows.groups, listed),
        rows_per_group=rows.rows_per_group,
        listed=None if listed is None else whole(listed, "keys", maximum=LARGEST),
        neighbors=rows.neighbors,
    )
    written = [{"key": text(key, "key"), "values": size} for (key, _), size in zip(keys, sizes, strict=True)]
    return state("group_rows", [premise], found, parameters={"keys": written})


def text(value: object, field: str) -> str:
    """A description for those who read the certificate; nothing rests on it."""
    if not isinstance(value, str) or len(value) > LONGEST_TEXT:
        raise InvalidParameter(field, f"must be a text of at most {LONGEST_TEXT:,} characters.")
    return value
