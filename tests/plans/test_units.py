"""How much of a table one unit can be, by trying everything."""

import re
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest

from privately.errors import InvalidParameter
from privately.guarantees import Neighbors
from privately.plans import Unit

LIMITS = [(r, g, m) for r in range(1, 7) for g in range(1, r + 1) for m in range(1, r + 1)]


def counts(rows: int, groups: int, per_group: int) -> Iterator[tuple[int, ...]]:
    """What a unit's rows can be in each group."""
    for one in product(range(per_group + 1), repeat=groups):
        if sum(one) <= rows:
            yield one


@pytest.mark.parametrize(("rows", "groups", "per_group"), LIMITS)
def test_counts_of_a_unit(rows: int, groups: int, per_group: int) -> None:
    unit = Unit(column="person", rows=rows, groups=groups, rows_per_group=per_group)
    listed = list(counts(rows, groups, per_group))
    assert unit.most_groups == max(sum(count > 0 for count in one) for one in listed)
    assert unit.most_rows == max(sum(one) for one in listed)
    assert unit.squares == max(sum(count**2 for count in one) for one in listed)
    assert unit.most_in_a_group == max(max(one) for one in listed)


@pytest.mark.parametrize(
    ("limits", "groups", "said"),
    [
        ((4, 4, 4), None, "Of one person at most 4 rows count."),
        ((4, 4, 4), 2, "Of one person at most 4 rows count."),
        ((3, 2, 1), 1, "Of one person at most 1 row counts."),
        ((3, 2, 1), 0, "Of one person at most 1 row counts."),
        ((3, 2, 1), None, "Of one person at most 2 rows count, at most 1 in each group."),
        ((3, 2, 2), None, "Of one person at most 3 rows count, in at most 2 groups, at most 2 in each."),
        ((6, 2, 4), 2, "Of one person at most 6 rows count, at most 4 in each group."),
        ((6, 1, 4), 5, "Of one person at most 4 rows count, in one group."),
        ((6, 1, 6), None, "Of one person at most 6 rows count, in one group."),
    ],
)
def test_limits_in_words(limits: tuple[int, int, int], groups: int | None, said: str) -> None:
    rows, most, per_group = limits
    assert Unit(column="person", rows=rows, groups=most, rows_per_group=per_group).note(groups) == said


@pytest.mark.parametrize(("rows", "groups", "per_group"), LIMITS)
def test_what_is_said_of_a_unit_is_all_that_limits_it(rows: int, groups: int, per_group: int) -> None:
    """Counts in groups that keep to the words are the counts that keep to the limits."""
    unit = Unit(column="person", rows=rows, groups=groups, rows_per_group=per_group)
    for public in (1, 2, 3):
        said = unit.in_words(public)
        most, *_ = [int(one) for one in re.findall(r"at most (\d+) row", said)]
        within = [int(one) for one in re.findall(r"in at most (\d+) group", said)] + [1] * ("in one group" in said)
        each = [int(one) for one in re.findall(r"at most (\d+) in each", said)]
        for one in product(range(rows + 2), repeat=public):
            busy = sum(count > 0 for count in one)
            kept = sum(one) <= rows and busy <= groups and max(one) <= per_group
            as_said = sum(one) <= most and all(busy <= few for few in within) and all(max(one) <= few for few in each)
            assert kept == as_said, (said, one)


@pytest.mark.parametrize(
    "false",
    [
        lambda unit: unit.most_rows,
        lambda unit: unit.most_rows**2 // unit.most_groups,
        lambda unit: unit.groups * unit.rows_per_group,
        lambda unit: unit.rows_per_group**2,
        lambda unit: unit.most_rows // unit.rows_per_group * unit.rows_per_group**2,
    ],
)
def test_false_sums_of_squares_are_refuted(false: Any) -> None:
    units = [
        (limits, Unit(column="p", rows=limits[0], groups=limits[1], rows_per_group=limits[2])) for limits in LIMITS
    ]
    assert any(false(unit) < max(sum(c**2 for c in one) for one in counts(*limits)) for limits, unit in units)


def test_a_row_is_one_row() -> None:
    unit = Unit()
    assert (unit.most_groups, unit.most_rows, unit.squares, unit.most_in_a_group) == (1, 1, 1, 1)
    assert unit.neighbors == Neighbors.ADD_REMOVE
    assert Unit(change="replace").neighbors == Neighbors.REPLACE
    assert unit.within(1) is unit


def test_a_unit_has_any_number_of_rows_in_the_file() -> None:
    assert Unit(column="person", rows=3).neighbors == Neighbors.ADD_REMOVE.of_unit("person")


def test_fewer_groups() -> None:
    unit = Unit(column="person", rows=6, rows_per_group=2, change="replace")
    assert unit.within(None) is unit
    assert unit.within(9) is unit
    assert unit.within(2) == Unit(column="person", rows=6, groups=2, rows_per_group=2, change="replace")
    assert unit.within(1).most_rows == 2


@pytest.mark.parametrize(
    "given",
    [
        {"rows": 2},
        {"groups": 1},
        {"rows_per_group": 1},
        {"column": "p", "rows": 0},
        {"column": "p", "rows": 1.5},
        {"column": "p", "rows": True},
        {"column": "p", "rows": 10**10},
        {"column": "p", "rows": 2, "groups": 3},
        {"column": "p", "rows": 2, "groups": 0},
        {"column": "p", "rows": 2, "rows_per_group": 3},
        {"column": "p", "rows": 2, "rows_per_group": 0},
        {"column": "p", "change": "swap"},
        {"column": ""},
        {"column": 7},
    ],
)
def test_bad_units(given: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter):
        Unit(**given)
