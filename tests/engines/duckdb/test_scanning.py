"""Values as they are declared, whatever they were."""

import math
from datetime import date, datetime
from typing import Any

import pytest

from privately.engines.duckdb.checking import stored_of
from privately.engines.duckdb.scanning import base_of, fits, fitting, inward, is_whole, rounds, scanned, unbranched
from privately.errors import InvalidParameter
from privately.plans import Column, Range, Table, Type, Unit
from tests.engines import reference
from tests.engines.duckdb.edges import TEXTS
from tests.engines.duckdb.inside import connection_with

_REALS = [
    None,
    0.0,
    -0.0,
    0.5,
    1.5,
    2.5,
    -7.25,
    math.nan,
    math.inf,
    -math.inf,
    1e308,
    -1e308,
    5e-324,
    2.0**62,
    2.0**63,
    0.1,
]
_WHOLE = [None, 0, 1, -1, 99, 100, 101, 2**62 - 1, 2**62, 2**63 - 1, -(2**63), 1 - 2**62]
_SMALL = [None, 0, 1, -1, 99, 100, 101, 2**31 - 1, -(2**31)]
_BOOLEANS = ["true", "TRUE", "f", "0", "1", "yes", "", None]

CASES: list[tuple[Column, str, list[Any]]] = [
    (Column(name="x", type="integer"), "BIGINT", _WHOLE),
    (Column(name="x", type="integer", bounds=(-5, 100)), "BIGINT", _WHOLE),
    (Column(name="x", type="integer", bounds=(1 - 2**62, 2**62 - 1)), "BIGINT", _WHOLE),
    (Column(name="x", type="integer", categories=(0, 99, 2**62 - 1)), "BIGINT", _WHOLE),
    (Column(name="x", type="integer"), "INTEGER", _SMALL),
    (Column(name="x", type="integer", bounds=(-5, 100)), "INTEGER", _SMALL),
    (Column(name="x", type="integer"), "HUGEINT", [*_WHOLE, 2**100, -(2**100)]),
    (Column(name="x", type="integer", bounds=(-5, 100)), "HUGEINT", [*_WHOLE, 2**100, -(2**100)]),
    (Column(name="x", type="integer", bounds=(-5, 100)), "UBIGINT", [None, 0, 7, 2**64 - 1]),
    (Column(name="x", type="integer"), "UBIGINT", [None, 0, 7, 2**64 - 1]),
    (Column(name="x", type="integer"), "DECIMAL(38,0)", [*_WHOLE, 2**100, -(2**100)]),
    (Column(name="x", type="integer", bounds=(-5, 100)), "DECIMAL(38,0)", [*_WHOLE, 2**100, -(2**100)]),
    (Column(name="x", type="integer"), "DOUBLE", _REALS),
    (Column(name="x", type="integer", bounds=(-5, 100)), "DOUBLE", _REALS),
    (Column(name="x", type="integer", bounds=(1 - 2**62, 2**62 - 1)), "DOUBLE", _REALS),
    (Column(name="x", type="integer"), "VARCHAR", list(TEXTS)),
    (Column(name="x", type="integer", bounds=(-5, 100)), "VARCHAR", list(TEXTS)),
    (Column(name="x", type="real"), "DOUBLE", _REALS),
    (Column(name="x", type="real", bounds=("0.1", "0.3")), "DOUBLE", _REALS),
    (Column(name="x", type="real", bounds=(-5, 100)), "DOUBLE", _REALS),
    (Column(name="x", type="real", categories=(0.5, 0.0)), "DOUBLE", _REALS),
    (Column(name="x", type="real", bounds=(-5, 100)), "BIGINT", _WHOLE),
    (Column(name="x", type="real"), "VARCHAR", list(TEXTS)),
    (Column(name="x", type="real", bounds=(-5, 100)), "VARCHAR", list(TEXTS)),
    (Column(name="x", type="text", length=3), "VARCHAR", list(TEXTS)),
    (Column(name="x", type="text", categories=("a", "A", "", "\0", "zzz")), "VARCHAR", list(TEXTS)),
    (Column(name="x", type="text", categories=("a", "zz"), length=2), "VARCHAR", list(TEXTS)),
    (Column(name="x", type="text", length=3), "UUID", [None, "00000000-0000-0000-0000-000000000001"]),
    (Column(name="x", type="boolean"), "BOOLEAN", [None, True, False]),
    (Column(name="x", type="boolean"), "VARCHAR", [*_BOOLEANS, *TEXTS]),
    (Column(name="x", type="date"), "DATE", [None, date(1, 1, 1), date(9999, 12, 31)]),
    (Column(name="x", type="date"), "VARCHAR", list(TEXTS)),
    (Column(name="x", type="date"), "TIMESTAMP", [None, datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999999)]),
    (Column(name="x", type="timestamp"), "TIMESTAMP", [None, datetime(1, 1, 1), datetime(2024, 2, 29, 1, 2, 3, 4)]),
    (Column(name="x", type="timestamp"), "VARCHAR", list(TEXTS)),
    (Column(name="x", type="timestamp"), "DATE", [None, date(1, 1, 1), date(9999, 12, 31)]),
]


def _scan(column: Column, found: str, values: list[Any]) -> list[Any]:
    with connection_with([("i", "INTEGER"), ("x", found)], list(enumerate(values))) as connection:
        text = f"SELECT {scanned(column, found, 'x')} FROM t ORDER BY i"
        return [value for (value,) in connection.execute(text).fetchall()]


@pytest.mark.parametrize(("column", "found", "values"), CASES)
def test_values_are_brought_within_the_declaration(column: Column, found: str, values: list[Any]) -> None:
    answers = _scan(column, found, values)
    assert answers == [reference.scanned(column, value) for value in values]
    for value in answers:
        if value is not None and column.bounds is not None:
            assert value in column.bounds
        if value is not None and column.type is Type.TEXT:
            assert len(value) <= column.length


@pytest.mark.parametrize(
    ("found", "value"),
    [
        ("DATE", "'infinity'::DATE"),
        ("DATE", "DATE '0001-01-01' - 1"),
        ("DATE", "DATE '9999-12-31' + 1"),
        ("TIMESTAMP", "'-infinity'::TIMESTAMP"),
        ("TIMESTAMP_NS", "'infinity'::TIMESTAMP_NS"),
        ("TIMESTAMP WITH TIME ZONE", "'infinity'::TIMESTAMPTZ"),
        ("TIMESTAMP WITH TIME ZONE", "'-infinity'::TIMESTAMPTZ"),
        ("TIMESTAMPTZ_NS", "'infinity'::TIMESTAMP_NS"),
        ("TIMESTAMPTZ_NS", "'-infinity'::TIMESTAMP_NS"),
        ("TIMESTAMP", "TIMESTAMP '9999-12-31 23:59:59.999999' + INTERVAL 1 MICROSECOND"),
    ],
)
@pytest.mark.parametrize("kind", ["date", "timestamp"])
def test_instants_outside_the_calendar_are_null(found: str, value: str, kind: str) -> None:
    with connection_with([("x", found)], []) as connection:
        connection.execute(f"INSERT INTO t SELECT {value}")
        text = scanned(Column(name="x", type=kind), found, "x")
        assert connection.execute(f"SELECT {text} FROM t").fetchall() == [(None,)]


def test_instants_with_a_zone_are_of_greenwich() -> None:
    with connection_with([("x", "TIMESTAMP WITH TIME ZONE")], []) as connection:
        connection.execute("INSERT INTO t SELECT '2026-01-31 23:30:00-05:00'::TIMESTAMPTZ")
        text = scanned(Column(name="x", type="timestamp"), "TIMESTAMP WITH TIME ZONE", "x")
        assert connection.execute(f"SELECT {text} FROM t").fetchall() == [(datetime(2026, 2, 1, 4, 30),)]


def test_nanoseconds_with_a_zone_become_microseconds() -> None:
    with connection_with([("x", "TIMESTAMPTZ_NS")], []) as connection:
        connection.execute("INSERT INTO t VALUES (NULL), ('2026-02-01 04:30:00.000001999'::TIMESTAMP_NS)")
        connection.execute("INSERT INTO t VALUES ('1677-09-21 00:12:44'::TIMESTAMP_NS)")
        column = Column(name="x", type="timestamp")
        assert fits(column, "TIMESTAMPTZ_NS")
        found = connection.execute(f"SELECT {scanned(column, 'TIMESTAMPTZ_NS', 'x')} AS y FROM t ORDER BY y").fetchall()
        assert found == [(datetime(1677, 9, 21, 0, 12, 44),), (datetime(2026, 2, 1, 4, 30, 0, 2),), (None,)]


def test_types() -> None:
    assert base_of("DECIMAL(18,2)") == "DECIMAL"
    assert base_of("ENUM('a', ')')") == "ENUM"
    assert fitting("BLOB") is None
    assert fitting("DECIMAL(18,2)") is Type.REAL
    assert fitting("DECIMAL(38,0)") is Type.INTEGER
    assert is_whole("DECIMAL(38,0)")
    assert is_whole("UTINYINT")
    assert not is_whole("DECIMAL(18,2)")
    assert fits(Column(name="x", type="integer"), "VARCHAR")
    assert not fits(Column(name="x", type="boolean"), "DOUBLE")


def test_bounds_are_rounded_inwards() -> None:
    column = Column(name="x", type="real", bounds=("0.1", "0.3"))
    assert isinstance(column.bounds, Range)
    low, high = inward(column.bounds)
    assert low in column.bounds
    assert high in column.bounds
    assert math.nextafter(low, -1) not in column.bounds
    assert math.nextafter(high, 1) not in column.bounds


@pytest.mark.parametrize("found", ["DOUBLE", "FLOAT"])
@pytest.mark.parametrize("bounds", [(-5, 100), ("0.1", "0.3"), (0, 100), (-7, 0), ("-0.3", "-0.1"), (0, 2**60)])
def test_values_without_branches(bounds: tuple[Any, Any], found: str) -> None:
    column = Column(name="x", type="real", bounds=bounds)
    values = [*_REALS, 100.0, math.nextafter(100, 200), -5.0, 0.3] if found == "DOUBLE" else [None, 0.5, math.nan, 7e30]
    text = unbranched(column, found, '"x"')
    assert text is not None
    assert "CASE" not in text
    with connection_with([("i", "INTEGER"), ("x", found)], list(enumerate(values))) as connection:
        made = [one for (one,) in connection.execute(f"SELECT {text} FROM t ORDER BY i").fetchall()]
        steps = f"SELECT TRY_CAST(({text}) * 2 AS BIGINT) FROM t ORDER BY i"
        whole = [one for (one,) in connection.execute(steps).fetchall()]
    wanted = _scan(column, found, values)
    assert [None if one is None or math.isnan(one) else one for one in made] == wanted
    assert [one is None for one in made] == [one is None for one in values]
    assert [one is None for one in whole] == [one is None for one in wanted], "sums skip what is no number"


@pytest.mark.parametrize(
    ("column", "found"),
    [
        (Column(name="x", type="real"), "DOUBLE"),
        (Column(name="x", type="real", bounds=(0, 1)), "VARCHAR"),
        (Column(name="x", type="real", bounds=(0, 1), categories=(0.5,)), "DOUBLE"),
        (Column(name="x", type="integer", bounds=(0, 1)), "DOUBLE"),
    ],
)
def test_columns_that_need_branches(column: Column, found: str) -> None:
    assert unbranched(column, found, '"x"') is None


@pytest.mark.parametrize(("found", "most"), [("DOUBLE", 2**53 - 1), ("FLOAT", 2**24 - 1)])
def test_whole_numbers_that_were_rounded_before_are_refused(found: str, most: int) -> None:
    """One missing cell makes floating numbers of all others, and different ones of those that are large."""
    assert not rounds(Column(name="x", type="integer", bounds=(-most, most)), found)
    assert rounds(Column(name="x", type="integer", bounds=(0, most + 1)), found)
    assert rounds(Column(name="x", type="integer"), found)
    assert not rounds(Column(name="x", type="real"), found)
    assert not rounds(Column(name="x", type="integer"), "BIGINT")
    with pytest.raises(InvalidParameter, match=r"rounds large whole numbers\. Declare bounds below 2\^53"):
        stored_of(Table(name="t", columns=(Column(name="x", type="integer"),), unit=Unit()), "t", {"x": found})
