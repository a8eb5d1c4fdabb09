"""The embedded engine from files to whole numbers."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

from privately.engines.duckdb.engine import Embedded, Reader
from privately.engines.duckdb.pool import Pool
from privately.engines.duckdb.programs import Program
from privately.engines.duckdb.sources import parquet
from privately.engines.protocol import Bins, Counts, Engine, Limits, failed
from privately.errors import EngineFailed, InvalidParameter
from privately.plans import Column, RowCount, StepSum, Table, Type, Unit
from tests.engines.duckdb.visits import ROWS, asking, everything, visits, written

KEY = bytes(range(32))
LIMITS = Limits(seconds=60, memory=2**28, threads=1)
UNITS = [
    Unit(),
    Unit(column="who", rows=2),
    Unit(column="who", rows=1),
    Unit(column="who", rows=3, groups=1),
    Unit(column="who", rows=3, groups=2, rows_per_group=1),
]


def plain(counts: Counts) -> dict[Any, Any]:
    return {
        group: tuple(dict(one) if isinstance(one, Bins) else one for one in numbers)
        for group, numbers in counts.items()
    }


def test_it_is_an_engine(tmp_path: Path) -> None:
    with Embedded(table=visits(), source=parquet(written(tmp_path / "v.parquet")), key=KEY, limits=LIMITS) as engine:
        made: Engine = engine
        wanted = {"who": Type.TEXT, "ward": Type.TEXT, "cost": Type.REAL, "age": Type.INTEGER}
        assert made.schema("visits") == wanted
        with pytest.raises(InvalidParameter):
            made.schema("other")


def test_a_reader_hands_its_worker_on(tmp_path: Path) -> None:
    """Opening a table starts one process, whatever is looked at before."""
    source = parquet(written(tmp_path / "v.parquet"))
    with Reader(source) as reader:
        assert reader.found["cost"] == "DOUBLE"
        assert reader.schema()["cost"] is Type.REAL
        worker = reader.pool.process_id
        with Embedded(table=visits(), source=source, key=KEY, reader=reader) as engine:
            assert engine.worker_process == worker
            engine.run(everything(visits()))
            assert engine.worker_process == worker
        with pytest.raises(InvalidParameter, match="another table"):
            Embedded(table=visits(), source=source, key=KEY, prepared=tmp_path / "copy", reader=reader)
    with pytest.raises(InvalidParameter, match="no file"):
        Reader(source, prepared=tmp_path / "copy")


@pytest.mark.parametrize("far", [-1.7e308, -1e308, 1.7e308, -8e307])
def test_what_the_quick_way_gives_up_is_counted_the_long_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, far: float
) -> None:
    ways: list[bool] = []
    count = Pool.count

    def watched(self: Pool, program: Program, limits: Limits) -> Counts | None:
        ways.append(program.direct is not None)
        return count(self, program, limits)

    monkeypatch.setattr(Pool, "count", watched)
    table, path = visits(), tmp_path / "v.parquet"
    costs = [("ann", "a", 10.0, 30), ("bob", "a", far, 31)]
    with Embedded(table=table, source=parquet(written(path, costs)), key=KEY, limits=LIMITS) as engine:
        asked = everything(table)
        step_sum = next(one for one in asked.tallies if isinstance(one[1], StepSum))
        found = engine.run(replace(asked, tallies=(step_sum,)), LIMITS)
    step, bounds = table.columns[2].step, table.columns[2].bounds
    assert step is not None
    assert bounds is not None
    assert found["a",] == (round((10 + (bounds.upper if far > 0 else bounds.lower)) / step),)
    assert ways == ([True, False] if far < -9e307 else [True])


def test_counts_by_hand(tmp_path: Path) -> None:
    with Embedded(table=visits(), source=parquet(written(tmp_path / "v.parquet")), key=KEY, limits=LIMITS) as engine:
        found = plain(engine.run(everything(visits()), LIMITS))
    assert set(found) == {("a",), ("b",), (None,)}
    count, known, total, clamped, cents, ages, units, bins, decades = found["a",]
    step = visits().columns[2].step
    assert step is not None
    assert (count, known, units, ages, cents) == (3, 3, 3, 96, 3700)
    assert total == sum(round(cost / float(step)) for cost in (10.0, 20.0, 7.0)) == clamped
    assert sum(bins.values()) == 3
    assert decades == {3: 3}
    assert found["b",][:2] == (2, 1), "NaN is NULL"
    assert found["b",][7] == {2**16 - 1: 1}, "2000 is the upper bound"
    assert found[None,][0] == 2, "z is no ward"
    assert found[None,][8] == {3: 1, 11: 1}


@pytest.mark.thinned(3)
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("by", ["ward", None, "age"])
def test_a_prepared_copy_gives_the_same(unit: Unit, by: str | None, tmp_path: Path) -> None:
    """With all columns in the question, the same rows count before and after."""
    table, source = visits(unit), parquet(written(tmp_path / "v.parquet"))
    copy = tmp_path / "copy.duckdb"
    with Embedded(table=table, source=source, key=KEY, limits=LIMITS) as engine:
        report = engine.prepare("visits", copy)
        before = plain(engine.run(everything(table, by), LIMITS))
    with Embedded(table=table, source=source, key=KEY, prepared=copy, limits=LIMITS) as engine:
        after = plain(engine.run(everything(table, by), LIMITS))
    if unit.column is None or unit.rows == 3:
        assert before == after
    assert (report.rows == len(ROWS) and report.counted == sum(one[0] for one in before.values())) or unit.groups < 3
    assert sum(one[0] for one in after.values()) <= report.counted


def test_prepared_copies_are_private_files(tmp_path: Path) -> None:
    source, copy = parquet(written(tmp_path / "v.parquet")), tmp_path / "copy.duckdb"
    with Embedded(table=visits(), source=source, key=KEY, limits=LIMITS) as engine:
        engine.prepare("visits", copy)
    assert copy.stat().st_mode & 0o077 == 0
    assert sorted(one.name for one in tmp_path.iterdir()) == ["copy.duckdb", "v.parquet"]


def test_nothing_but_a_copy_is_written_over(tmp_path: Path) -> None:
    path, copy, other = written(tmp_path / "v.parquet"), tmp_path / "copy.duckdb", tmp_path / "other"
    with Embedded(table=visits(), source=parquet(path), key=KEY, limits=LIMITS) as engine:
        engine.prepare("visits", copy)
        first = copy.stat().st_ino
        engine.prepare("visits", copy)
        assert copy.stat().st_ino != first
        for content in (b"", b"[columns]", path.read_bytes()):
            other.write_bytes(content)
            with pytest.raises(InvalidParameter, match="no prepared copy"):
                engine.prepare("visits", other)
            assert other.read_bytes() == content
        other.unlink()
        duckdb.connect(str(other)).close()
        with pytest.raises(InvalidParameter, match="no prepared copy"):
            engine.prepare("visits", other)
        with pytest.raises(InvalidParameter, match="no prepared copy"):
            engine.prepare("visits", tmp_path)


def test_stale_copies_are_refused(tmp_path: Path) -> None:
    path, copy = written(tmp_path / "v.parquet"), tmp_path / "copy.duckdb"
    with Embedded(table=visits(), source=parquet(path), key=KEY, limits=LIMITS) as engine:
        engine.prepare("visits", copy)

    def reopened(table: Table, key: bytes) -> None:
        Embedded(table=table, source=parquet(path), key=key, prepared=copy, limits=LIMITS).close()

    reopened(visits(), KEY)
    with pytest.raises(InvalidParameter, match="another key"):
        reopened(visits(), KEY[::-1])
    with pytest.raises(InvalidParameter, match="another declaration"):
        reopened(visits(Unit(column="who")), KEY)
    os.utime(path, ns=(0, 0))
    with pytest.raises(InvalidParameter, match="older"):
        reopened(visits(), KEY)
    copy.write_bytes(written(tmp_path / "w.parquet").read_bytes())
    with pytest.raises((InvalidParameter, EngineFailed)):
        reopened(visits(), KEY)
    with pytest.raises(InvalidParameter, match="no file"):
        Embedded(table=visits(), source=parquet(path), key=KEY, prepared=tmp_path / "none", limits=LIMITS)


def _copied(path: Path, copy: Path, table: Table) -> None:
    with Embedded(table=table, source=parquet(path), key=KEY, limits=LIMITS) as engine:
        engine.prepare("visits", copy)


def test_another_copy_in_its_place_is_never_counted(tmp_path: Path) -> None:
    """A new worker opens what is there by then, which need not keep to this declaration: of one person, two rows."""
    path, copy = written(tmp_path / "v.parquet"), tmp_path / "copy.duckdb"
    narrow, wide = visits(Unit(column="who", rows=1)), visits(Unit(column="who", rows=2))
    _copied(path, copy, narrow)
    with Embedded(table=narrow, source=parquet(path), key=KEY, prepared=copy, limits=LIMITS) as engine:
        engine.ready()
        asked = asking(narrow, RowCount(), by=None)
        assert engine.run(asked) == {(): (3,)}
        engine._pool.close()
        for again in (True, False):
            if again:
                _copied(path, copy, wide)
            else:
                copy.unlink()
            with pytest.raises(InvalidParameter, match=r"copy\.duckdb was changed or removed"):
                engine.ready()
            with pytest.raises(EngineFailed) as caught:
                engine.run(asked)
            assert str(caught.value) == str(failed())


def test_a_copy_that_is_replaced_meanwhile_is_not_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, copy, kept = written(tmp_path / "v.parquet"), tmp_path / "copy.duckdb", tmp_path / "kept.duckdb"
    narrow, wide = visits(Unit(column="who", rows=1)), visits(Unit(column="who", rows=2))
    _copied(path, copy, narrow)
    with Embedded(table=narrow, source=parquet(path), key=KEY, prepared=copy, limits=LIMITS) as engine:
        engine._pool.close()
        count = Pool.count

        def late(pool: Pool, *given: Any) -> Counts | None:
            copy.rename(kept)
            _copied(path, copy, wide)
            found = count(pool, *given)
            assert found != {(): (3,)}, "the other copy was counted"
            return found

        monkeypatch.setattr(Pool, "count", late)
        with pytest.raises(EngineFailed) as caught:
            engine.run(asking(narrow, RowCount(), by=None))
        assert str(caught.value) == str(failed())
        assert engine.worker_process is None, "the worker that holds the other copy is gone"
        kept.replace(copy)
        with pytest.raises(InvalidParameter):
            engine.ready()


def test_a_copy_that_is_replaced_while_it_is_opened_is_refused(tmp_path: Path) -> None:
    path, copy = written(tmp_path / "v.parquet"), tmp_path / "copy.duckdb"
    _copied(path, copy, visits())
    reader = Reader(parquet(path), prepared=copy)
    _copied(path, copy, visits())
    with pytest.raises(InvalidParameter, match="while it was opened"):
        Embedded(table=visits(), source=parquet(path), key=KEY, prepared=copy, limits=LIMITS, reader=reader)


def test_a_file_that_changed_is_a_fault_without_words(tmp_path: Path) -> None:
    path = written(tmp_path / "v.parquet")
    with Embedded(table=visits(), source=parquet(path), key=KEY, limits=LIMITS) as engine:
        path.unlink()
        with pytest.raises(EngineFailed) as caught:
            engine.run(asking(visits(), RowCount()), LIMITS)
        assert str(caught.value) == str(failed())


def test_columns_must_be_there_and_fit(tmp_path: Path) -> None:
    source = parquet(written(tmp_path / "v.parquet"))
    missing = Table(name="t", columns=(Column(name="wage", type="real"),), unit=Unit())
    with pytest.raises(InvalidParameter, match="no column wage"):
        Embedded(table=missing, source=source, key=KEY, limits=LIMITS)
    unfit = Table(name="t", columns=(Column(name="cost", type="date"),), unit=Unit())
    with pytest.raises(InvalidParameter, match="not date"):
        Embedded(table=unfit, source=source, key=KEY, limits=LIMITS)
    with pytest.raises(InvalidParameter, match="32 random bytes"):
        Embedded(table=visits(), source=source, key=b"", limits=LIMITS)


def test_plans_of_another_table_are_refused(tmp_path: Path) -> None:
    source = parquet(written(tmp_path / "v.parquet"))
    with (
        Embedded(table=visits(), source=source, key=KEY, limits=LIMITS) as engine,
        pytest.raises(InvalidParameter, match="another table"),
    ):
        engine.run(asking(visits(Unit(column="who")), RowCount()), LIMITS)
