"""All neighbours of a small table, among those that can be made of its rows and of a few others."""

from collections.abc import Iterator
from dataclasses import dataclass

from privately.plans import Value
from tests.engines import reference
from tests.query.generated.odd_types import name_of
from tests.query.generated.tables import Declared, Rows


@dataclass(frozen=True)
class Family:
    """Tables of which any two are neighbours; or, if `alike`, which differ by rows of nobody: nothing may change."""

    tables: tuple[Rows, ...]
    alike: bool = False


def units_of(declared: Declared, rows: Rows) -> list[Value]:
    """To whom each row belongs: a value of the declared type, before anything is cut; None is nobody."""
    column = declared.table.unit.column
    if column is None:
        raise ValueError("rows are their own units")
    place = [one.name for one in declared.table.columns].index(column)
    kind = declared.table.columns[place].type
    return [reference.converted(kind, name_of(kind, declared.found[place], row[place])) for row in rows]


def families(declared: Declared) -> list[Family]:
    """Every table that is a neighbour of the rows, with what it is a neighbour of."""
    named = declared.table.unit.column is not None
    found = list(_of_units(declared) if named else _of_rows(declared))
    return [one for one in found if len(one.tables) > 1]


def _of_rows(declared: Declared) -> Iterator[Family]:
    rows = declared.rows
    without = {_key(rows[:at] + rows[at + 1 :]): rows[:at] + rows[at + 1 :] for at in range(len(rows))}
    if declared.table.unit.change == "add_remove":
        yield from (Family((rows, fewer)) for fewer in without.values())
        yield from (Family((rows, rows + bundle)) for bundle in declared.bundles)
    else:
        yield from (Family((rows, *(fewer + one for one in declared.bundles))) for fewer in without.values())


def _of_units(declared: Declared) -> Iterator[Family]:
    rows, units = declared.rows, units_of(declared, declared.rows)
    pairs = list(zip(units, rows, strict=True))
    people = {unit: None for unit in units if unit is not None}
    nobody = tuple(row for unit, row in pairs if unit is not None)
    if nobody != rows:
        yield Family((rows, nobody), alike=True)
    for person in people:
        others = tuple(row for unit, row in pairs if unit != person)
        here = set(units) - {person}
        fresh = [one for one in declared.bundles if not here & set(units_of(declared, one))]
        if declared.table.unit.change == "add_remove":
            yield Family((rows, others))
        else:
            yield Family((rows, *(others + one for one in fresh)))
    if declared.table.unit.change == "add_remove":
        strangers = [one for one in declared.bundles if not set(units) & set(units_of(declared, one))]
        yield from (Family((rows, rows + one)) for one in strangers)


def _key(rows: Rows) -> str:
    return repr(sorted(map(repr, rows)))
