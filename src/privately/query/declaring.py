"""Tables as their owner declares them: in Python, or in a TOML file beside the data."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from privately.errors import InvalidParameter
from privately.plans import Column, Unit

_TABLE = {
    "name",
    "lineage",
    "unit",
    "max_rows_per_unit",
    "max_groups_per_unit",
    "max_rows_per_unit_and_group",
    "change",
}
_SPELT_OUT = {
    "rows": "max_rows_per_unit",
    "groups": "max_groups_per_unit",
    "rows_per_group": "max_rows_per_unit_and_group",
}
_COLUMN = {"type", "bounds", "step", "resolution", "categories", "length", "nullable"}
Declaration = Mapping[str, Any]


def columns_of(declared: Mapping[str, Column | str | Declaration]) -> tuple[Column, ...]:
    """Columns from a mapping: to a Column, to the name of a type, or to what a Column takes.

    >>> columns_of({"ward": "text", "age": {"type": "integer", "bounds": (0, 120)}})[1].bounds
    Range(lower=Fraction(0, 1), upper=Fraction(120, 1))
    """
    if not isinstance(declared, Mapping) or not declared:
        raise InvalidParameter("columns", 'declare them: {"age": {"type": "integer", "bounds": (0, 120)}}.')
    found = tuple(_column(name, one) for name, one in declared.items())
    for column in found:
        _check_categories(column)
    return found


def unit_of(
    column: str | None,
    *,
    rows: int | None = None,
    groups: int | None = None,
    rows_per_group: int | None = None,
    change: str = "add_remove",
) -> Unit:
    """Whose privacy is at stake; a column that names people needs to say how many of their rows count."""
    if change not in ("add_remove", "replace"):
        raise InvalidParameter("change", "must be 'add_remove' or 'replace'.")
    kind: Any = change
    if column is None:
        if (rows, groups, rows_per_group) != (None, None, None):
            raise InvalidParameter("unit", "name the column that tells people apart: unit='patient_id'.")
        return Unit(change=kind)
    if rows is None:
        hint = "Of people with more rows, that many are chosen by a keyed hash: max_rows_per_unit=3."
        raise InvalidParameter("max_rows_per_unit", f"say how many rows of one {column} may count.", hint=hint)
    try:
        return Unit(column=column, rows=rows, groups=groups, rows_per_group=rows_per_group, change=kind)
    except InvalidParameter as fault:
        field = _SPELT_OUT.get(fault.field, fault.field)
        raise InvalidParameter(field, fault.message.partition(": ")[2], hint=fault.hint) from None


def read_declaration(path: Path) -> tuple[Declaration, tuple[Column, ...]]:
    """The table and the columns that a TOML file declares; InvalidParameter names what is wrong in it."""
    import tomllib

    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as fault:
        raise InvalidParameter("declaration", f"cannot read {path}: {fault}.") from None
    unknown = sorted(set(data) - {"table", "columns"})
    table, columns = data.get("table", {}), data.get("columns", {})
    if unknown or not isinstance(table, dict) or not isinstance(columns, dict):
        raise InvalidParameter("declaration", f"{path} has the sections [table] and [columns.<name>], and no others.")
    _check_members(table, _TABLE, f"[table] of {path}")
    return table, columns_of(columns)


def _column(name: str, declared: Column | str | Declaration) -> Column:
    if isinstance(declared, Column):
        return declared
    if isinstance(declared, str):
        return Column(name=name, type=declared)
    if not isinstance(declared, Mapping) or "type" not in declared:
        raise InvalidParameter(f"columns.{name}", 'say its type: {"type": "integer"}.')
    _check_members(declared, _COLUMN, f"columns.{name}")
    members = dict(declared)
    if isinstance(members.get("bounds"), list):
        members["bounds"] = tuple(members["bounds"])
    try:
        return Column(name=name, **members)
    except InvalidParameter as fault:
        raise InvalidParameter(f"columns.{name}.{fault.field}", fault.message.partition(": ")[2]) from None


def _check_categories(column: Column) -> None:
    """Passes if a value can be of every category: what is too long, or beyond the bounds, is changed before."""
    for value in column.categories or ():
        if isinstance(value, str) and len(value) > column.length:
            told = f"one has {len(value)} characters, of which {column.length} count."
            raise InvalidParameter(f"columns.{column.name}.categories", told, hint=f"Declare length={len(value)}.")
        if column.bounds is not None and value not in column.bounds:
            told, hint = f"{value!r} is beyond the bounds.", "Leave out the bounds, or the category."
            raise InvalidParameter(f"columns.{column.name}.categories", told, hint=hint)


def _check_members(found: Mapping[str, Any], known: set[str], where: str) -> None:
    unknown = sorted(set(found) - known)
    if unknown:
        raise InvalidParameter(where, f"has no {unknown[0]!r}; there are {', '.join(sorted(known))}.")
