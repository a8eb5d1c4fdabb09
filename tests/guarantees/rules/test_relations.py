"""Steps from a table to its groups keep what they say of a unit; steps that look at other rows do not."""

from collections import Counter
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

from privately.errors import InvalidParameter, NoSuchRule
from privately.guarantees import Groups, Neighbors, PureDP, Rows, rules
from tests.guarantees.rules.small_units import all_groups, farthest, rows_counted, stated

PERSON = Neighbors.ADD_REMOVE.of_unit("person")
SCAN = rules.scan_rows(table="visits", neighbors=PERSON, rows=6, groups=4, rows_per_group=2)


def test_a_scan_says_what_a_unit_may_have() -> None:
    assert SCAN.conclusion == Rows(rows=6, groups=4, rows_per_group=2, neighbors=PERSON)
    free = rules.scan_rows(table="visits", neighbors=PERSON, rows=3)
    assert free.conclusion == Rows(rows=3, groups=3, rows_per_group=3, neighbors=PERSON)
    row = rules.scan_rows(table="visits", neighbors=Neighbors.REPLACE)
    assert row.conclusion == Rows(rows=1, groups=1, rows_per_group=1, neighbors=Neighbors.REPLACE)
    assert (row.rule, row.premises, dict(row.parameters)) == ("scan_rows", (), {"table": "visits"})


def test_filters_and_projections_change_nothing() -> None:
    kept = rules.filter_rows(SCAN, condition="(age > 30)")
    made = rules.project_rows(kept, values=["double = (age + age)"])
    assert kept.conclusion is made.conclusion is SCAN.conclusion
    assert [node.rule for node in made.nodes()] == ["scan_rows", "filter_rows", "project_rows"]


@pytest.mark.parametrize(
    ("keys", "groups", "listed"),
    [
        ([], 1, 1),
        ([("a", 2)], 2, 2),
        ([("a", 2), ("b", 3)], 4, 6),
        ([("a", 2), ("b", None)], 4, None),
        ([("a", None)], 4, None),
    ],
)
def test_groups(keys: Any, groups: int, listed: int | None) -> None:
    found = rules.group_rows(SCAN, keys=keys).conclusion
    assert found == Groups(rows=6, groups=groups, rows_per_group=2, listed=listed, neighbors=PERSON)


@pytest.mark.parametrize(
    ("rule", "given"),
    [
        ("filter_rows", {"condition": 1}),
        ("filter_rows", {"condition": "x" * 20_001}),
        ("project_rows", {"values": [None]}),
        ("group_rows", {"keys": [("a", 0)]}),
        ("group_rows", {"keys": [("a", 1.5)]}),
        ("group_rows", {"keys": [(7, 2)]}),
        ("group_rows", {"keys": [("a", 10**9), ("b", 2)]}),
        ("group_rows", {"keys": [("a", 1)] * 1001}),
    ],
)
def test_bad_steps(rule: str, given: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter):
        rules.RULES[rule](SCAN, **given)
    with pytest.raises(InvalidParameter, match="table"):
        rules.scan_rows(table=None, neighbors=PERSON)  # type: ignore[arg-type]


def test_steps_come_in_order() -> None:
    grouped = rules.group_rows(SCAN)
    late: list[Callable[[], object]] = [
        lambda: rules.filter_rows(grouped, condition="x"),
        lambda: rules.project_rows(grouped, values=[]),
        lambda: rules.group_rows(grouped),
    ]
    for step in late:
        with pytest.raises(NoSuchRule, match="Rows"):
            step()


def test_steps_are_no_guarantees() -> None:
    with pytest.raises(InvalidParameter, match="not a Derivation"):
        rules.sequential(SCAN)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="not a Stability"):
        rules.filter_rows(rules.suppose(PureDP(epsilon=1)), condition="x")  # type: ignore[arg-type]


# --- false twins ----------------------------------------------------------------------------------------------------

Table = tuple[tuple[int, int], ...]
"""Rows (unit, value)."""


def moved(step: Callable[[Table], list[tuple[int, int]]]) -> int:
    """How many rows come or go behind a step, at most, if one unit of at most one row does."""
    found = 0
    for values in product(range(3), repeat=3):
        table = tuple(enumerate(values))
        for unit in range(3):
            without = tuple(row for row in table if row[0] != unit)
            before, after = Counter(step(table)), Counter(step(without))
            found = max(found, (before - after).total() + (after - before).total())
    return found


def test_honest_steps_move_what_they_say() -> None:
    assert moved(list) == 1
    assert moved(lambda table: [row for row in table if row[1] > 0]) == 1
    assert moved(lambda table: [(unit, 2 * value) for unit, value in table]) == 1


def test_scan_rows_twin_by_position_is_refuted() -> None:
    """If the first two rows of the table count, whoever leaves lets another one in."""
    assert moved(lambda table: list(table[:2])) > 1


def test_filter_rows_twin_that_looks_at_others_is_refuted() -> None:
    assert moved(lambda table: [row for row in table if row[1] == max((value for _, value in table), default=0)]) > 1


def test_project_rows_twin_that_ranks_is_refuted() -> None:
    assert moved(lambda table: [(unit, sum(other < value for _, other in table)) for unit, value in table]) > 1


@pytest.mark.parametrize("change", ["add_remove", "replace"])
def test_group_rows_twin_with_a_group_too_few_is_refuted(change: str) -> None:
    """Two groups are answered for, but one is said to be: then counts in both may move."""
    two = [stated(groups) for groups in all_groups([(2, 2, 1)]) if stated(groups).listed == 2]
    limits = next(one for one in two if one.neighbors.change == change)
    assert farthest(limits, [0], rows_counted)[0] > limits.rows_per_group * 1
