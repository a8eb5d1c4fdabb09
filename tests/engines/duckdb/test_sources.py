"""Files and frames, read alike."""

import json
import os
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as csv_files
import pyarrow.parquet as files
import pytest

from privately.engines.duckdb.engine import Embedded, Reader
from privately.engines.duckdb.sources import Source, check_names, database, delimited, frame, parquet, source_of
from privately.engines.protocol import Limits
from privately.errors import InvalidParameter
from privately.plans import Unit
from tests.engines.duckdb.test_engine import plain
from tests.engines.duckdb.visits import everything, visits, written

KEY = bytes(32)
LIMITS = Limits(seconds=60, memory=2**28, threads=1)


def _columns(source: Source) -> dict[str, str]:
    with Reader(source) as reader:
        return reader.found


def _all(tmp_path: Path) -> dict[str, Source]:
    path = written(tmp_path / "v.parquet")
    with duckdb.connect(str(tmp_path / "v.duckdb")) as connection:
        connection.execute(f"CREATE TABLE \"my visits\" AS SELECT * FROM '{path}'")
        connection.execute(f"COPY \"my visits\" TO '{tmp_path / 'v.csv'}' (HEADER, DELIMITER ';')")
    return {
        "parquet": parquet(path),
        "csv": delimited(tmp_path / "v.csv", delimiter=";"),
        "database": database(tmp_path / "v.duckdb", "my visits"),
        "arrow": frame(files.read_table(path)),
        "pandas": frame(pd.read_parquet(path)),
        "polars": frame(pl.read_parquet(path)),
    }


def test_all_sources_give_the_same(tmp_path: Path) -> None:
    table = visits(Unit(column="who", rows=2))
    answers = {}
    for name, source in _all(tmp_path).items():
        with Embedded(table=table, source=source, key=KEY, limits=LIMITS) as engine:
            answers[name] = plain(engine.run(everything(table), LIMITS))
    assert len({json.dumps(sorted(map(repr, one.items()))) for one in answers.values()}) == 1, answers


def test_nothing_is_guessed_of_a_csv_file(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text('id;when;"a ""b"""\n007;2026-01-31;1,5\n')
    assert _columns(delimited(path, delimiter=";")) == {"id": "VARCHAR", "when": "VARCHAR", 'a "b"': "VARCHAR"}
    assert _columns(delimited(path, delimiter=";", header=False, names=("x", "y", "z"))).keys() == {"x", "y", "z"}


def test_by_the_end_of_the_name(tmp_path: Path) -> None:
    path = written(tmp_path / "v.parquet")
    assert source_of(path) == parquet(path)
    (tmp_path / "x.tsv").write_text("a\tb\n1\t2\n")
    assert source_of(tmp_path / "x.tsv") == delimited(tmp_path / "x.tsv", delimiter="\t")
    with pytest.raises(InvalidParameter, match="xlsx"):
        source_of(tmp_path / "x.xlsx")
    with pytest.raises(InvalidParameter, match="no table"):
        source_of(17)
    with pytest.raises(InvalidParameter, match="which table"):
        source_of(tmp_path / "x.duckdb")


@pytest.mark.parametrize(
    ("text", "said"),
    [(b"a,A\n1,2\n", "two columns called a"), (b"a,\n1,2\n", "without a name"), (b"", "empty"), (b"\xff\n", "UTF-8")],
)
def test_headers_that_are_none(text: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(text)
    with pytest.raises(InvalidParameter, match=said):
        delimited(path)


def test_duplicate_names_in_files_and_frames(tmp_path: Path) -> None:
    twice = pa.table([pa.array([1]), pa.array([2])], names=["x", "X"])
    with pytest.raises(InvalidParameter, match="two columns"):
        frame(twice)
    files.write_table(twice, tmp_path / "x.parquet")
    with pytest.raises(InvalidParameter, match="two columns"):
        _columns(parquet(tmp_path / "x.parquet"))
    check_names(["x", "y"])


def test_missing_files_and_mixed_columns(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="no file"):
        parquet(tmp_path / "none.parquet")
    with pytest.raises(InvalidParameter, match="several types"):
        frame(pd.DataFrame({"x": [1, "a", None]}))
    for blank in " \t\x0b\x0c":
        with pytest.raises(InvalidParameter, match="quote: must be no blank"):
            delimited(tmp_path / "x.csv", quote=blank)
    with pytest.raises(InvalidParameter, match="one character"):
        delimited(tmp_path / "x.csv", delimiter="ab")


@pytest.mark.parametrize(("mine", "others"), [("v[1]", ("v1", "v[[]1]")), ("v*", ("v1",)), ("v?", ("va", "v[?]"))])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_names_are_no_patterns(mine: str, others: tuple[str, ...], ending: str, tmp_path: Path) -> None:
    """Files beside it that the name would match as a pattern, or that are called like the pattern, are not read."""
    tables = {mine: pa.table({"mine": ["7"]})} | {one: pa.table({"other": ["8"]}) for one in others}
    for called, table in tables.items():
        write = csv_files.write_csv if ending == "csv" else files.write_table
        write(table, tmp_path / f"{called}.{ending}")
    source = source_of(tmp_path / f"{mine}.{ending}")
    with Reader(source) as reader:
        assert list(reader.found) == ["mine"]
        assert reader.pool.tell([f"SELECT * FROM {source.relation}"], LIMITS) == [[["7"]]]


def test_patterns_behind_a_backslash_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "a\\b[1].parquet")
    with pytest.raises(InvalidParameter, match="backslash"):
        parquet(path)
    assert "who" in _columns(parquet(written(tmp_path / "a\\b.parquet")))


def test_frames_leave_nothing_behind() -> None:
    source = frame(pl.DataFrame({"x": [1, 2]}))
    path = source.path
    assert path.exists()
    assert path.parent.stat().st_mode & 0o077 == 0
    source.held.remove()
    assert not path.exists()


def test_what_a_database_has_not_taken_up_yet_belongs_to_it(tmp_path: Path) -> None:
    path = tmp_path / "v.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t AS SELECT 1 AS n")
    source, log = database(path, "t"), Path(f"{path}.wal")
    before = source.state()
    with duckdb.connect(str(path)) as connection:
        connection.execute("PRAGMA disable_checkpoint_on_shutdown")
        connection.execute("INSERT INTO t VALUES (2)")
    assert log.is_file()
    after = source.state()
    assert after != before
    assert parquet(path).state() == (str(path), path.stat().st_size, path.stat().st_mtime_ns), "others have none"
    with Reader(source) as reader:
        assert reader.pool.tell([f"SELECT count(*) FROM {source.relation}"], Limits()) == [[[2]]]
    assert source.state() == after, "reading leaves it as it is"
    log.unlink()
    assert source.state() != after


def test_another_file_of_the_same_size_and_time_is_another(tmp_path: Path) -> None:
    path, other = tmp_path / "t.csv", tmp_path / "other.csv"
    path.write_text("a\n1\n")
    other.write_text("a\n2\n")
    source = delimited(path)
    state, identity = source.state(), source.identity()
    times = path.stat()
    os.utime(other, ns=(times.st_atime_ns, times.st_mtime_ns))
    other.replace(path)
    assert source.state() == state
    assert source.identity() != identity


def test_what_no_source_can_be_is_told_in_words(tmp_path: Path) -> None:
    returns = tmp_path / "v.csv"
    returns.write_bytes(b"a,b\r1,2\r")
    with pytest.raises(InvalidParameter, match="Lines must end in LF"):
        delimited(returns)
    with pytest.raises(InvalidParameter, match="no file can be called"):
        parquet(tmp_path / ("v" * 5000 + ".parquet"))
    with pytest.raises(InvalidParameter, match="two columns called g"):
        frame(pd.DataFrame([[1, 2]], columns=["g", "G"]))
    with pytest.raises(InvalidParameter, match="one usual type"):
        frame(pd.DataFrame({"x": [-5, 2**63 + 1]}))
