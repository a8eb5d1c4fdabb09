"""What the owner is told."""

from pathlib import Path

import duckdb
import pytest

from privately.engines.duckdb.engine import Embedded
from privately.engines.duckdb.sources import delimited, parquet
from privately.engines.protocol import Limits
from privately.errors import EngineFailed
from privately.plans import Column, RowCount, Table, Unit
from tests.engines.duckdb.visits import ROWS, asking, visits, written

KEY = bytes(32)
LIMITS = Limits(seconds=60, memory=2**28, threads=1)


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
    "bytes that are no text": b"x,y\n1,2\n\xff\xfe,3\n",
    "a line that is too long": b"x,y\n1,2\n1,2,3\n",
    "a line that is too short": b"x,y\n1,2\n1\n",
    "a quote that never ends": b'x,y\n1,2\n"1,2\n',
}


@pytest.mark.parametrize("fault", BROKEN)
def test_broken_files_are_the_owners_matter(fault: str, tmp_path: Path) -> None:
    """The owner is told; a question meets no error, for what is no row does not count."""
    path = tmp_path / "x.csv"
    path.write_bytes(BROKEN[fault])
    table = Table(name="t", columns=(Column(name="x", type="integer"), Column(name="y", type="real")), unit=Unit())
    with Embedded(table=table, source=delimited(path), key=KEY, limits=LIMITS) as engine:
        with pytest.raises(EngineFailed, match="could not be read"):
            engine.check("t")
        assert engine.run(asking(table, RowCount(), by=None), LIMITS) == {(): (1,)}
