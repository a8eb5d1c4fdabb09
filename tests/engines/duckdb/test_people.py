"""People stay apart, or are nobody."""

from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pyarrow as pa
import pytest

from privately.engines.duckdb import engine as engine_module
from privately.engines.duckdb.engine import Embedded
from privately.engines.duckdb.people import keeps_apart, person
from privately.engines.duckdb.sources import Source, delimited, frame
from privately.engines.protocol import Limits
from privately.errors import InvalidParameter
from privately.plans import Column, RowCount, Table, Type, Unit, UnitCount
from tests.engines.duckdb.edges import TEXTS
from tests.engines.duckdb.inside import connection_with
from tests.engines.duckdb.visits import asking

LIMITS = Limits(seconds=60, memory=2**28, threads=1)
SPELLINGS = [
    "7",
    "07",
    "+7",
    "-7",
    "-07",
    "0",
    "-0",
    "00",
    " 7",
    "7 ",
    "7\n",
    "7.0",
    "7e0",
    "9" * 18,
    "9" * 19,
    "1" * 20,
]
DAYS = ["2024-02-29", "2024-2-29", "2024-02-29\n", "2024-02-29 ", "2024-02-30", "0001-01-01", "infinity", "24-02-29"]
LARGE = [2**60 + number for number in range(5)]

CASES: list[tuple[Type, str, list[Any]]] = [
    (Type.INTEGER, "BIGINT", [*LARGE, 2**63 - 1, -(2**63)]),
    (Type.INTEGER, "UBIGINT", [*LARGE, 2**64 - 1, 2**64 - 2]),
    (Type.INTEGER, "HUGEINT", [*LARGE, 2**100, 2**100 + 1]),
    (Type.INTEGER, "DECIMAL(38,0)", [Decimal(one) for one in (*LARGE, 10**20, 10**20 + 1, 10**38 - 1, 10**38 - 2)]),
    (Type.INTEGER, "DECIMAL(19,0)", [Decimal(one) for one in LARGE]),
    (Type.INTEGER, "VARCHAR", [*SPELLINGS, *(one for one in TEXTS if one is not None)]),
    (Type.TEXT, "VARCHAR", [*SPELLINGS, "a" * 2000, "a" * 2001]),
    (Type.TEXT, "BIGINT", LARGE),
    (Type.TEXT, "DECIMAL(38,0)", [Decimal(one) for one in LARGE]),
    (Type.TEXT, "UUID", [UUID(int=1), UUID(int=2), UUID(int=2**127), UUID(int=2**128 - 1)]),
    (Type.TEXT, "ENUM('a', 'A', ' a')", ["a", "A", " a"]),
    (Type.DATE, "DATE", [date(1, 1, 1), date(9999, 12, 31), date(2024, 2, 29)]),
    (Type.DATE, "VARCHAR", [*DAYS, *(one for one in TEXTS if one is not None)]),
]


@pytest.mark.parametrize(("kind", "found", "cells"), CASES)
def test_cells_that_differ_are_never_one_person(kind: Type, found: str, cells: list[Any]) -> None:
    assert keeps_apart(kind, found)
    cells = list(dict.fromkeys(cells))
    with connection_with([("x", found)], [(cell,) for cell in cells]) as connection:
        people = [one for (one,) in connection.execute(f"SELECT {person(kind, found, 'x')} FROM t").fetchall()]
    named = [one for one in people if one is not None]
    assert len(named) == len(set(named)), "two cells became one person"
    assert len(people) == len(cells)
    assert named


def test_nobody_is_lost_that_has_a_name_of_its_own() -> None:
    with connection_with([("x", "VARCHAR")], [(one,) for one in SPELLINGS]) as connection:
        text = person(Type.INTEGER, "VARCHAR", "x")
        found = [one for (one,) in connection.execute(f"SELECT {text} FROM t").fetchall()]
    assert found == [int(one) if one in ("7", "-7", "0", "9" * 18) else None for one in SPELLINGS]


@pytest.mark.parametrize("found", ["BIGINT", "UBIGINT", "HUGEINT", "DECIMAL(38,0)", "VARCHAR"])
def test_a_number_is_the_same_person_in_every_type(found: str) -> None:
    """A single row can decide which type a frame has."""
    numbers = [0, 1, 7, 2**31, 2**53 - 1, *([] if found == "UBIGINT" else [-1, -(2**53) + 1])]
    with connection_with([("x", found)], [(one,) for one in numbers]) as connection:
        text = person(Type.INTEGER, found, "x")
        people = connection.execute(f"SELECT {text}, typeof({text}) FROM t").fetchall()
    assert people == [(one, "BIGINT") for one in numbers]


def _people(source: Source, kind: str) -> tuple[int, int]:
    """How many rows count, at most one of each person, and how many people there are."""
    table = Table(name="t", columns=(Column(name="p", type=kind),), unit=Unit(column="p", rows=1))
    with Embedded(table=table, source=source, key=bytes(32), limits=LIMITS) as engine:
        rows, units = engine.run(asking(table, RowCount(), UnitCount(), by=None), LIMITS)[()]
    assert isinstance(rows, int)
    assert isinstance(units, int)
    return rows, units


@pytest.mark.parametrize(("first", "kind"), [(10**20, "text"), (2**60, "integer"), (2**60, "text")])
def test_ids_of_decimals_are_exact(first: int, kind: str) -> None:
    ids = pa.array([Decimal(first + number) for number in range(20)], type=pa.decimal128(30, 0))
    assert _people(frame(pa.table({"p": ids})), kind) == (20, 20)


def test_numbers_of_more_than_64_bits_are_nobody_and_the_owner_is_told() -> None:
    ids = pa.array([Decimal(1), Decimal(10**20)], type=pa.decimal128(30, 0))
    table = Table(name="t", columns=(Column(name="p", type="integer"),), unit=Unit(column="p", rows=1))
    with Embedded(table=table, source=frame(pa.table({"p": ids})), key=bytes(32), limits=LIMITS) as engine:
        assert engine.notes == ("1 rows name no p; they will not count.",)


def test_more_rows_than_can_be_sorted_are_told_the_owner(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of one row more, others of every person would count."""
    monkeypatch.setattr(engine_module, "MOST_ROWS", 2)
    table = Table(name="t", columns=(Column(name="p", type="integer"),), unit=Unit(column="p", rows=1))
    for rows in (2, 3):
        source = frame(pa.table({"p": list(range(rows))}))
        with Embedded(table=table, source=source, key=bytes(32), limits=LIMITS) as engine:
            if rows == 2:
                engine.check_size()
            else:
                with pytest.raises(InvalidParameter, match=r"rows of people\. Prepare a copy"):
                    engine.check_size()


def test_a_number_of_a_file_has_one_spelling(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("p\n7\n07\n+7\n8\n1234567890123456789\n")
    assert _people(delimited(path), "integer") == (3, 3)
    assert _people(delimited(path), "text") == (5, 5)


REFUSED: list[tuple[str, pa.Array]] = [
    ("timestamp", pa.array([1, 2]).cast(pa.timestamp("ns"))),
    ("timestamp", pa.array([1, 2]).cast(pa.timestamp("us"))),
    ("date", pa.array([1, 2]).cast(pa.timestamp("us"))),
    ("boolean", pa.array([True, False])),
    ("boolean", pa.array(["t", "true"])),
    ("timestamp", pa.array(["2024-01-01", "2024-01-01 00:00:00"])),
    ("integer", pa.array([1.0, 2.0])),
    ("integer", pa.array([1.0, 2.0], type=pa.float32())),
    ("integer", pa.array([Decimal("1.1"), Decimal("1.2")], type=pa.decimal128(10, 1))),
]


@pytest.mark.parametrize(("kind", "cells"), REFUSED)
def test_columns_that_would_make_one_of_two_are_refused(kind: str, cells: pa.Array) -> None:
    with pytest.raises(InvalidParameter, match="several people could become one"):
        _people(frame(pa.table({"p": cells})), kind)
