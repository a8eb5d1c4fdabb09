"""How much of a table one unit is, by trying everything."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest

from privately.errors import InvalidParameter
from privately.guarantees import Groups, Neighbors, Rows, ScoreSpread, UnitKeys

PERSON = Neighbors.ADD_REMOVE.of_unit("person")
LIMITS = [(r, g, m) for r in range(1, 7) for g in range(1, r + 1) for m in range(1, r + 1)]


def counts(rows: int, groups: int, per_group: int) -> Iterator[tuple[int, ...]]:
    """What a unit's rows can be in each group."""
    for one in product(range(per_group + 1), repeat=groups):
        if sum(one) <= rows:
            yield one


@pytest.mark.parametrize(("rows", "groups", "per_group"), LIMITS)
def test_counts_of_a_unit(rows: int, groups: int, per_group: int) -> None:
    stated = Groups(rows=rows, groups=groups, rows_per_group=per_group, listed=None, neighbors=PERSON)
    listed = list(counts(rows, groups, per_group))
    assert stated.groups == max(sum(count > 0 for count in one) for one in listed)
    assert stated.most_rows == max(sum(one) for one in listed)
    assert stated.squares == max(sum(count**2 for count in one) for one in listed)
    assert stated.rows_per_group == max(max(one) for one in listed)


@pytest.mark.parametrize(
    "given",
    [
        {"rows": 0},
        {"rows": 2.5},
        {"rows": 10**9 + 1},
        {"groups": 4},
        {"groups": 0},
        {"rows_per_group": 4},
        {"rows_per_group": True},
        {"neighbors": None},
        {"neighbors": PERSON.times(2)},
        {"neighbors": Neighbors.ADD_REMOVE.of_unit("person", max_rows=3)},
    ],
)
def test_bad_limits(given: dict[str, Any]) -> None:
    good: dict[str, Any] = {"rows": 3, "groups": 2, "rows_per_group": 2, "neighbors": PERSON}
    with pytest.raises(InvalidParameter):
        Rows(**good | given)
    with pytest.raises(InvalidParameter):
        Groups(**good | given, listed=None)
    with pytest.raises(InvalidParameter, match="groups"):
        Groups(**good, listed=1)
    with pytest.raises(InvalidParameter, match="listed"):
        Groups(**good, listed=0)


def test_a_row_is_one_row() -> None:
    assert Rows(rows=1, groups=1, rows_per_group=1, neighbors=Neighbors.REPLACE).rows == 1
    with pytest.raises(InvalidParameter, match="Name the unit"):
        Rows(rows=2, groups=1, rows_per_group=1, neighbors=Neighbors.REPLACE)


def test_statements_in_words() -> None:
    limits: dict[str, Any] = {"rows": 3, "groups": 2, "rows_per_group": 1, "neighbors": PERSON}
    said = "at most 3 rows, in at most 2 groups, at most 1 in each, adding or removing one person"
    assert str(Rows(**limits)) == said
    assert str(Groups(**limits, listed=4)) == f"4 groups: {said}"
    assert str(Groups(**limits, listed=None)) == f"groups that are not public: {said}"
    one = Rows(rows=1, groups=1, rows_per_group=1, neighbors=Neighbors.REPLACE)
    assert str(one) == "one row, replacing one row"
    assert "at most 2 keys each" in str(UnitKeys(keys=2, neighbors=PERSON))
    assert "6 apart" in str(ScoreSpread(value=6, neighbors=PERSON))  # type: ignore[arg-type]
