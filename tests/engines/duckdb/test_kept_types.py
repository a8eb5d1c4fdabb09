"""Which type a column is kept in decides nothing: it may depend on one row, and the rows that count of all others not.

One missing cell makes doubles of a frame's whole numbers, one large number makes unsigned ones of all of them. Where
doubles could round they are refused.
"""

from collections.abc import Sequence
from typing import Any

import pytest

from privately.engines.duckdb.counting import count
from privately.engines.duckdb.emission import program
from privately.engines.duckdb.engine import quick_program
from privately.engines.protocol import Bins
from privately.plans import Aggregation, Identity, Key, Scan, Table, Tally, Unit, UnitCount
from tests.engines.duckdb.inside import KEY, connection_with, stored
from tests.engines.duckdb.test_choosing import COLUMNS, FOUND, IDENTITIES, question

ROWS = [
    (unit, ("a", "b", "it's", "z", None)[(3 * unit + visit) % 5], float(7 * unit % 50 + visit), 5 * visit + unit, True)
    for unit in range(12)
    for visit in range(5)
]
KINDS = [
    *((0, kind) for kind in ("INTEGER", "UTINYINT", "UBIGINT", "HUGEINT", "DECIMAL(20,0)", "VARCHAR")),
    *((1, kind) for kind in ("ENUM('z', 'it''s', 'b', 'a', 'y')",)),
    *((2, kind) for kind in ("FLOAT", "INTEGER", "DECIMAL(9,2)", "VARCHAR")),
    *((3, kind) for kind in ("INTEGER", "UBIGINT", "HUGEINT", "DECIMAL(20,0)", "DOUBLE", "FLOAT", "VARCHAR")),
]
UNITS = [
    Unit(column="who", rows=2),
    Unit(column="who", rows=3, groups=1),
    Unit(column="who", rows=3, rows_per_group=1),
]


def _asked(unit: Unit, listed: Sequence[str | None], *, people: bool) -> Aggregation:
    plain = question(3, by="ward", filtered=False)
    (key,) = plain.keys
    tallies: tuple[tuple[Identity, Tally], ...] = plain.tallies
    if people:
        tallies = (*tallies, (Identity(number=99, name="n"), UnitCount()))
    return Aggregation(
        source=Scan(table=Table(name="t", columns=COLUMNS, unit=unit), identities=IDENTITIES),
        keys=(Key(identity=key.identity, expression=key.expression, values=tuple(listed)),),
        tallies=tallies,
    )


def _counted(asked: Aggregation, found: Sequence[str]) -> dict[Any, tuple[Any, ...]]:
    assert isinstance(asked.source, Scan)
    declared = stored(asked.source.table, found)
    columns = [(column.name, kind) for column, kind in zip(COLUMNS, found, strict=True)]
    told = quick_program(asked, declared, KEY) or program(asked, declared, KEY)
    with connection_with(columns, ROWS) as connection:
        counts = count(connection, told)
    return {
        group: tuple(dict(one) if isinstance(one, Bins) else one for one in numbers)
        for group, numbers in counts.items()
    }


LISTED, WITH_NULL = ("a", "it's", "none of them"), ("a", "b", "it's", None)
FAST = ((0, WITH_NULL, False), (1, LISTED, True), (2, LISTED, False))
CASES = [
    pytest.param(UNITS[place], listed, people, marks=() if (place, listed, people) in FAST else pytest.mark.slow)
    for place in range(len(UNITS))
    for listed in (LISTED, WITH_NULL)
    for people in (False, True)
]


@pytest.mark.parametrize(("unit", "listed", "people"), CASES)
def test_no_type_of_a_file_changes_a_number(unit: Unit, listed: Sequence[str | None], people: bool) -> None:
    asked = _asked(unit, listed, people=people)
    expected = _counted(asked, FOUND)
    assert sum(numbers[0] for numbers in expected.values()) >= 8
    for place, kind in KINDS:
        found = (*FOUND[:place], kind, *FOUND[place + 1 :])
        assert _counted(asked, found) == expected, (COLUMNS[place].name, kind)
