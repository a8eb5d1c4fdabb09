"""Steps from a table to its groups: what each must say of a unit, to the last row."""

from typing import Any

import pytest

from tests.certificates.checker.building import REPLACE, ROW, Plain, assume, node, run, statement
from tests.certificates.checker.rules.tables import PERSON, keyed, limits, noisy, refused, scan, sensitivity


def rest(neighbors: Plain = PERSON, first: int = 1) -> list[Plain]:
    """Groups, a count and noise behind the node before `first`."""
    grouped = keyed(scan(neighbors)) | {"premises": [first - 1]}
    counted = node("count_rows", [first], sensitivity(6, neighbors=neighbors), {"argument": None})
    return [grouped, counted, noisy(first + 1, neighbors)]


def step(rule: str, found: Plain | None = None, parameters: Plain | None = None) -> Plain:
    said: Plain = {"filter_rows": {"condition": "(age > 3)"}, "project_rows": {"values": ["y = (x + 1)", "z = x"]}}
    given = said[rule] if parameters is None else parameters
    return node(rule, [0], scan()["conclusion"] if found is None else found, given)


def test_a_chain_of_steps() -> None:
    report = run(scan(), step("filter_rows"), step("project_rows") | {"premises": [1]}, *rest(first=3))
    assert report.rules[:3] == ("count_rows", "discrete_laplace", "filter_rows")
    assert not report.claimed


@pytest.mark.parametrize(
    ("field", "scanned"),
    [
        ("rows", scan(ROW, 2, 1, 1)),
        ("rows", scan(REPLACE, 2, 2, 2)),
        ("groups", scan(PERSON, 3, 4, 1)),
        ("rows_per_group", scan(PERSON, 3, 3, 4)),
        ("neighbors", scan({**PERSON, "size": 2})),
        ("neighbors", scan({**PERSON, "max_rows": 6})),
        ("rows", scan(PERSON, 0, 0, 0)),
        ("rows", scan(PERSON, 10**9 + 1, 1, 1)),
        ("groups", scan(PERSON, 3, True, 1)),
        ("rows_per_group", scan(PERSON, 3, 3, None)),  # type: ignore[arg-type]
    ],
)
def test_wrong_scans(field: str, scanned: Plain) -> None:
    refused(f"nodes[0].conclusion.{field}", scanned, *rest(scanned["conclusion"]["neighbors"]))


@pytest.mark.parametrize("rule", ["filter_rows", "project_rows"])
@pytest.mark.parametrize("name", ["rows", "groups", "rows_per_group"])
@pytest.mark.parametrize("by", [-1, 1])
def test_nothing_changes_row_by_row(rule: str, name: str, by: int) -> None:
    found = scan()["conclusion"]
    wrong = step(rule, {**found, name: found[name] + by})
    assert f"must be {found[name]}" in refused(f"nodes[1].conclusion.{name}", scan(), wrong, *rest(first=2))
    other = step(rule, {**found, "neighbors": {**PERSON, "unit": "doctor"}})
    refused("nodes[1].conclusion.neighbors", scan(), other, *rest(first=2))


@pytest.mark.parametrize(
    ("rule", "parameters", "field"),
    [
        ("filter_rows", {}, "parameters"),
        ("filter_rows", {"condition": None}, "parameters.condition"),
        ("filter_rows", {"condition": "x" * 20_001}, "parameters.condition"),
        ("project_rows", {"values": "x"}, "parameters.values"),
        ("project_rows", {"values": ["x", 1]}, "parameters.values[1]"),
    ],
)
def test_wrong_descriptions(rule: str, parameters: Plain, field: str) -> None:
    refused(f"nodes[1].{field}", scan(), step(rule, parameters=parameters), *rest(first=2))


def grouping(keys: Any, groups: int, listed: int | None, change: Plain | None = None) -> list[Plain]:
    found = {**limits("Groups", PERSON, 6, groups, 2, listed=listed), **(change or {})}
    grouped = node("group_rows", [0], found, {"keys": keys})
    return [scan(), grouped, node("count_units", [1], sensitivity(4)), noisy(2)]


def key(values: Any) -> Plain:
    return {"key": "part", "values": values}


@pytest.mark.parametrize(
    ("keys", "groups", "listed"),
    [
        ([], 1, 1),
        ([key(3)], 3, 3),
        ([key(3), key(5)], 4, 15),
        ([key(None)], 4, None),
        ([key(3), key(None)], 4, None),
        ([key(None), key(10**9), key(10**9)], 4, None),
        ([key(10**9)], 4, 10**9),
    ],
)
def test_groups(keys: Any, groups: int, listed: int | None) -> None:
    run(*grouping(keys, groups, listed))
    wrong = {"groups": groups - 1 or 2, "listed": 7 if listed is None else None, "rows": 5, "rows_per_group": 1}
    for name, value in wrong.items():
        refused(f"nodes[1].conclusion.{name}", *grouping(keys, groups, listed, {name: value}))
    if listed is not None:
        fewer = {"listed": listed - 1 or 2}
        refused("nodes[1].conclusion.listed", *grouping(keys, groups, listed, fewer))


@pytest.mark.parametrize(
    ("keys", "field"),
    [
        (None, ""),
        ([key(0)], "[0].values"),
        ([key(10**9 + 1)], "[0].values"),
        ([key(True)], "[0].values"),
        ([{"key": 1, "values": 1}], "[0].key"),
        ([{"key": "part"}], "[0]"),
        ([key(10**9), key(2)], ""),
        ([key(1)] * 1001, ""),
    ],
)
def test_wrong_keys(keys: Any, field: str) -> None:
    refused(f"nodes[1].parameters.keys{field}", *grouping(keys, 1, 1))


def test_steps_come_in_order() -> None:
    scanned = scan()
    again = node("filter_rows", [1], scan()["conclusion"], {"condition": "x"})
    reason = refused("nodes[2].premises[0]", scanned, keyed(scanned), again, *rest(first=3))
    assert reason == "is Groups, which the rule does not take"
    twice = keyed(scanned) | {"premises": [1]}
    refused("nodes[2].premises[0]", scanned, keyed(scanned), twice, *rest(first=2)[1:])


def test_steps_are_no_guarantees() -> None:
    refused("nodes[0].conclusion.kind", scan())
    pure = statement("PureDP", PERSON, epsilon=1)
    refused("nodes[1].premises[0]", scan(), node("sequential", [0], pure, {"counts": [1]}))
    refused("nodes[1].premises[0]", scan(), node("weaken", [0], pure))
    refused("nodes[1].premises[0]", assume(pure), step("filter_rows"), *rest(first=2))
    refused("nodes[0].conclusion.kind", assume(scan()["conclusion"]), *rest())
    refused("nodes[0].conclusion.kind", scan() | {"conclusion": pure}, *rest())
