"""What the owner is told."""

import math
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as files
import pytest

from privately.engines.duckdb import checking
from privately.engines.duckdb.engine import Embedded
from privately.engines.duckdb.sources import database, delimited, frame, parquet
from privately.engines.protocol import Limits
from privately.errors import EngineFailed, InvalidParameter
from privately.plans import Column, RowCount, Table, Unit
from tests.engines.duckdb.inside import connection_with, stored
from tests.engines.duckdb.visits import ROWS, asking, visits, written

KEY = bytes(32)
LIMITS = Limits(seconds=60, memory=2**28, threads=1)
DOUBLES = (
    Column(name="who", type="integer"),
    Column(name="text", type="integer"),
    Column(name="one", type="real", bounds=(0, 10)),
    Column(name="other", type="real", bounds=(0, 10)),
)


@pytest.mark.parametrize(
    ("found", "hint"), [("BLOB", "Leave it out"), ("TIMESTAMP WITH TIME ZONE", "as timestamp"), ("DATE", "as date")]
)
def test_of_a_type_that_does_not_fit_the_one_is_told_that_does(found: str, hint: str) -> None:
    table = Table(name="t", columns=(Column(name="x", type="integer"),), unit=Unit())
    with pytest.raises(InvalidParameter, match=hint):
        checking.stored_of(table, "t", {"x": found})


def test_exact_counts(tmp_path: Path) -> None:
    table = visits(Unit(column="who", rows=2))
    with Embedded(table=table, source=parquet(written(tmp_path / "v.parquet")), key=KEY, limits=LIMITS) as engine:
        report = engine.check("visits")
    assert (report.rows, report.units, report.without_unit, report.counted) == (len(ROWS), 3, 1, 5)
    by_name = {one.name: (one.null, one.unfit, one.clamped) for one in report.columns}
    assert by_name == {"who": (1, 0, 0), "ward": (1, 1, 0), "cost": (1, 1, 2), "age": (0, 0, 1)}
    assert len(report.notes()) == 6


def test_empty_tables_and_columns_are_reported_and_answered(tmp_path: Path) -> None:
    with duckdb.connect() as connection:
        text = "SELECT NULL::VARCHAR AS who, NULL::VARCHAR AS ward, NULL::DOUBLE AS cost, NULL::INTEGER AS age"
        connection.execute(f"COPY ({text} WHERE false) TO '{tmp_path / 'empty.parquet'}' (FORMAT parquet)")
        connection.execute(f"COPY ({text}) TO '{tmp_path / 'null.parquet'}' (FORMAT parquet)")
    for unit in (Unit(), Unit(column="who")):
        table = visits(unit)
        with Embedded(table=table, source=parquet(tmp_path / "empty.parquet"), key=KEY, limits=LIMITS) as engine:
            assert engine.check("visits").notes() == ("the table is empty.",)
            assert engine.run(asking(table, RowCount()), LIMITS) == {}
            assert engine.run(asking(table, RowCount(), by=None), LIMITS) == {}
        with Embedded(table=table, source=parquet(tmp_path / "null.parquet"), key=KEY, limits=LIMITS) as engine:
            assert "cost is NULL in every row." in engine.check("visits").notes()
            wanted = {} if unit.column else {(None,): (1,)}
            assert engine.run(asking(table, RowCount()), LIMITS) == wanted


BROKEN = {
    "a line that is too long": b"x,y\n1,2\n1,2,3\n",
    "a line that is too short": b"x,y\n1,2\n1\n",
}


@pytest.mark.parametrize("fault", BROKEN)
def test_broken_files_are_the_owners_matter(fault: str, tmp_path: Path) -> None:
    """The owner is told; a question meets no error, for what is no row does not count."""
    path = tmp_path / "x.csv"
    path.write_bytes(BROKEN[fault])
    table = Table(name="t", columns=(Column(name="x", type="integer"), Column(name="y", type="real")), unit=Unit())
    with Embedded(table=table, source=delimited(path), key=KEY, limits=LIMITS) as engine:
        (told,) = engine.notes
        assert told.startswith("1 line is left out, with more or fewer cells")
        report = engine.check("t")
        assert (report.rows, report.left_out, report.notes()) == (1, 1, (told,))
        assert engine.run(asking(table, RowCount(), by=None), LIMITS) == {(): (1,)}
        assert engine.prepare("t", tmp_path / "x.prepared").left_out == 1
    with Embedded(
        table=table, source=delimited(path), key=KEY, limits=LIMITS, prepared=tmp_path / "x.prepared"
    ) as engine:
        assert engine.check("t").left_out == 1
        assert engine.run(asking(table, RowCount(), by=None), LIMITS) == {(): (1,)}


def _no_text() -> pa.Array:
    cells = pa.array([b"w1"] * 100 + [b"\xff"])
    return pa.Array.from_buffers(pa.string(), len(cells), cells.buffers())


def _no_instant(zone: str | None) -> pa.Array:
    return pa.array([0] * 100 + [-(2**63)], type=pa.int64()).cast(pa.timestamp("ms", tz=zone))


UNREADABLE = {"text": _no_text(), "timestamp": _no_instant(None), "zoned": _no_instant("UTC")}


@pytest.mark.parametrize(
    ("case", "dictionary"), [("text", True), ("text", False), ("timestamp", True), ("zoned", False)]
)
def test_cells_that_nobody_can_read_are_refused_before_anybody_asks(
    case: str, dictionary: bool, tmp_path: Path
) -> None:
    """Else every question that looks at the column would fail, or not, by that cell alone."""
    cells = UNREADABLE[case]
    kind = "text" if case == "text" else "timestamp"
    columns = (Column(name="n", type="integer"), Column(name="w", type=kind))
    table = Table(name="t", columns=columns, unit=Unit())
    for data, is_whole in ((cells, False), (cells[:100], True)):
        path = tmp_path / "t.parquet"
        content = pa.table({"n": pa.array(range(len(data))), "w": data})
        files.write_table(content, path, use_dictionary=dictionary, write_statistics=dictionary, row_group_size=30)
        if is_whole:
            with Embedded(table=table, source=parquet(path), key=KEY, limits=LIMITS) as engine:
                assert engine.run(asking(table, RowCount(), by="w"), LIMITS)
            continue
        with pytest.raises(InvalidParameter, match="w has a cell that cannot be read"):
            Embedded(table=table, source=parquet(path), key=KEY, limits=LIMITS)
        if not dictionary:
            continue
        with pytest.raises(InvalidParameter, match=r"cannot be read|holds values that are not of its type"):
            Embedded(table=table, source=frame(content), key=KEY, limits=LIMITS)
        only = Table(name="t", columns=columns[:1], unit=Unit())
        with Embedded(table=only, source=parquet(path), key=KEY, limits=LIMITS) as engine:
            assert engine.run(asking(only, RowCount(), by=None), LIMITS) == {(): (101,)}, (
                "what is not declared is not read"
            )


def test_views_are_no_tables(tmp_path: Path) -> None:
    path = tmp_path / "v.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE real AS SELECT range AS n FROM range(5)")
        connection.execute("CREATE VIEW leaky AS SELECT n, count(*) OVER () AS c FROM real")
        connection.execute("CREATE TABLE made (n BIGINT, h BIGINT GENERATED ALWAYS AS (CAST(100 // n AS TINYINT)))")
    columns = (Column(name="n", type="integer"),)
    table = Table(name="t", columns=columns, unit=Unit())
    with Embedded(table=table, source=database(path, "REAL"), key=KEY, limits=LIMITS) as engine:
        assert engine.run(asking(table, RowCount(), by=None), LIMITS) == {(): (5,)}
    for wrong, said in (("leaky", "is a view"), ("made", "computes its column"), ("none", "could not be read")):
        with pytest.raises((InvalidParameter, EngineFailed), match=said):
            Embedded(table=table, source=database(path, wrong), key=KEY, limits=LIMITS)


@pytest.mark.parametrize(
    "form", ["w VARCHAR COLLATE NOCASE", "n BIGINT, w TEXT collate nfc.noaccent", "w VARCHAR COLLATE C"]
)
def test_texts_with_a_collation_are_refused(form: str, tmp_path: Path) -> None:
    """Under it one row 'a' would rename a thousand rows 'A', and two people would be one."""
    path = tmp_path / "c.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"CREATE TABLE t ({form})")
        connection.execute("CREATE TABLE plain AS SELECT * REPLACE (decode(encode(w)) AS w) FROM t")
    table = Table(name="t", columns=(Column(name="w", type="text"),), unit=Unit())
    with pytest.raises(InvalidParameter, match="collation"):
        Embedded(table=table, source=database(path, "t"), key=KEY, limits=LIMITS)
    Embedded(table=table, source=database(path, "plain"), key=KEY, limits=LIMITS).close()


def test_a_word_in_a_name_is_no_collation(tmp_path: Path) -> None:
    path = tmp_path / "c.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("""CREATE TABLE "t COLLATE" ("collate" INT, w TEXT DEFAULT 'it''s COLLATE')""")
    table = Table(name="t", columns=(Column(name="w", type="text"),), unit=Unit())
    Embedded(table=table, source=database(path, "t COLLATE"), key=KEY, limits=LIMITS).close()


@pytest.mark.parametrize("cell", [float("nan"), float("inf"), float("-inf"), 1.0, None])
@pytest.mark.parametrize("unit", [Unit(), Unit(column="who", rows=2)])
def test_columns_with_doubles_that_are_no_numbers_are_known(cell: float | None, unit: Unit) -> None:
    declared = stored(Table(name="t", columns=DOUBLES, unit=unit), ("BIGINT", "VARCHAR", "DOUBLE", "DOUBLE"))
    rows = [(1, "7", 2.0, 3.0), (1, "8", 2.0, cell)]
    names = [("who", "BIGINT"), ("text", "VARCHAR"), ("one", "DOUBLE"), ("other", "DOUBLE")]
    with connection_with(names, rows) as connection:
        counts = connection.execute(checking.reading_text(declared)).fetchone()
    strange = cell is not None and not math.isfinite(cell)
    assert checking.endless_of(declared, counts) == (frozenset({3}) if strange else frozenset())
    assert checking.notes_of(declared, counts) == ()
