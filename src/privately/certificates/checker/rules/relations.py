"""From a table to groups of its rows: how much of it one unit is, step by step.

A unit is a row, or all rows that one person has. Of a unit so many rows count, in so many groups, so many in each.
"""

from typing import Any

from ..schema import LARGEST_INTEGER, Invalid, array, integer, members, text
from .step import Rule, Step, read_text

KEYS = 1_000

ROWS = frozenset({"Rows"})
GROUPS = frozenset({"Groups"})
_LIMITS = ("rows", "groups", "rows_per_group")


def _scan_rows(step: Step) -> None:
    """Where a row is protected there is one of it. Neighbours are one change apart, of any number of rows."""
    neighbors, stated = step.claim.neighbors, step.claim.stated
    if neighbors.size != 1 or neighbors.max_rows is not None:
        raise Invalid("conclusion.neighbors", "must be about one row, or one unit of any number of rows")
    for name in ("groups", "rows_per_group"):
        if stated[name] > stated["rows"]:
            raise Invalid(f"conclusion.{name}", "is more than the rows that count")
    if neighbors.unit is None and stated["rows"] != 1:
        raise Invalid("conclusion.rows", "must be 1 where a row is protected")


def _same_limits(step: Step) -> None:
    """What looks at one row at a time leaves all limits as they were."""
    for name in _LIMITS:
        _require_equal(step, name, step.stated(name))


def _group_rows(step: Step) -> None:
    """A unit is in no more groups than are listed, if they are."""
    listed: int | None = 1
    for key in step.parameters["keys"]:
        listed = None if listed is None or key["values"] is None else listed * key["values"]
        if listed is not None and listed > LARGEST_INTEGER:
            raise Invalid("parameters.keys", "make more than 10^9 groups")
    groups = step.stated("groups")
    _require_equal(step, "rows", step.stated("rows"))
    _require_equal(step, "groups", groups if listed is None else min(groups, listed))
    _require_equal(step, "rows_per_group", step.stated("rows_per_group"))
    _require_equal(step, "listed", listed)


def _require_equal(step: Step, name: str, expected: int | None) -> None:
    if step.claim.stated[name] != expected:
        raise Invalid(f"conclusion.{name}", f"must be {'null' if expected is None else expected}")


def _read_values(value: object, field: str) -> list[str]:
    return [text(item, f"{field}[{i}]") for i, item in enumerate(array(value, field))]


def _read_keys(value: object, field: str) -> list[dict[str, Any]]:
    listed = array(value, field)
    if len(listed) > KEYS:
        raise Invalid(field, f"must be at most {KEYS}")
    return [_read_key(item, f"{field}[{i}]") for i, item in enumerate(listed)]


def _read_key(value: object, field: str) -> dict[str, Any]:
    raw = members(value, _KEY, field)
    text(raw["key"], f"{field}.key")
    if raw["values"] is not None:
        integer(raw["values"], f"{field}.values", least=1)
    return raw


_KEY = frozenset({"key", "values"})

RULES = {
    "scan_rows": Rule(_scan_rows, premises=0, parameters={"table": read_text}, gives=ROWS),
    "filter_rows": Rule(_same_limits, premises=1, parameters={"condition": read_text}, takes=ROWS, gives=ROWS),
    "project_rows": Rule(_same_limits, premises=1, parameters={"values": _read_values}, takes=ROWS, gives=ROWS),
    "group_rows": Rule(_group_rows, premises=1, parameters={"keys": _read_keys}, takes=ROWS, gives=GROUPS),
}
