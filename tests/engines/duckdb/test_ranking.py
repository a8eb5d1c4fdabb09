"""Which rows count depends on the unit's own rows alone."""

from itertools import permutations
from typing import Any

import pytest

from privately.engines.duckdb.ranking import first_groups, first_rows, keyed
from privately.errors import InvalidParameter
from tests.engines.duckdb.inside import KEY, connection_with

_ROWS = [
    ("ann", "a", 1),
    ("ann", "b", 2),
    ("ann", "b", 2),
    ("ann", None, 3),
    ("bob", "a", 1),
    ("bob", "a", 4),
    ("eve", "b", 2),
]
_COLUMNS = [("u", "VARCHAR"), ("g", "VARCHAR"), ("x", "BIGINT")]


def _kept(rows: list[Any], text: str) -> dict[str, list[Any]]:
    with connection_with(_COLUMNS, rows) as connection:
        found: dict[str, list[Any]] = {}
        for row in connection.execute(text).fetchall():
            found.setdefault(row[0], []).append(row)
    return {unit: sorted(members, key=repr) for unit, members in found.items()}


@pytest.mark.parametrize("most", [1, 2, 3])
def test_choice_depends_on_the_unit_alone(most: int) -> None:
    text = first_rows("SELECT * FROM t", KEY, ["u"], ["g", "x"], most)
    whole = _kept(_ROWS, text)
    for unit, members in whole.items():
        own = [row for row in _ROWS if row[0] == unit]
        assert len(members) == min(most, len(own))
        for order in list(permutations(own))[:8]:
            assert _kept(list(order), text) == {unit: members}


@pytest.mark.parametrize("most", [1, 2])
def test_choice_of_groups_depends_on_the_unit_alone(most: int) -> None:
    text = first_groups("SELECT * FROM t", KEY, "u", ["g"], most)
    whole = _kept(_ROWS, text)
    for unit, members in whole.items():
        own = [row for row in _ROWS if row[0] == unit]
        groups = {row[1] for row in members}
        assert len(groups) == min(most, len({row[1] for row in own}))
        assert members == sorted((row for row in own if row[1] in groups), key=repr)
        assert _kept(own[::-1], text) == {unit: members}


def test_without_groups_all_rows_stay() -> None:
    assert first_groups("SELECT * FROM t", KEY, "u", [], 1) == "SELECT * FROM t"


def test_another_key_chooses_other_rows() -> None:
    rows = [("ann", "a", number) for number in range(1000)]
    one, other = (
        _kept(rows, first_rows("SELECT * FROM t", key, ["u"], ["g", "x"], 100))["ann"] for key in (KEY, KEY[::-1])
    )
    shared = len(set(one) & set(other))
    assert shared < 50, "of 100 of 1000, about 10 are shared by chance"


def test_keys_have_their_length() -> None:
    with pytest.raises(InvalidParameter):
        keyed(b"short", ["u"])


def test_rows_that_are_alike_count_as_often_as_others() -> None:
    """Of nine alike and another one two count: the other one with probability 2/10."""
    rows = [(f"unit {number}", "a", int(place == 0)) for number in range(1000) for place in range(10)]
    found = _kept(rows, first_rows("SELECT * FROM t", KEY, ["u"], ["g", "x"], 2))
    assert all(len(members) == 2 for members in found.values())
    assert 140 < sum(row[2] for members in found.values() for row in members) < 260, "200, with a deviation of 13"
