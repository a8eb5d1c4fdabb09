"""The lock on the connection."""

from pathlib import Path

import duckdb
import pytest

from privately.engines.duckdb.connection import Setup, connect

ESCAPES = [
    "SELECT * FROM read_csv('{other}')",
    "SELECT * FROM read_text('{other}')",
    "SELECT * FROM read_blob('{other}')",
    "SELECT * FROM '{other}'",
    "SELECT * FROM glob('/*')",
    "COPY (SELECT 1) TO '{new}'",
    "EXPORT DATABASE '{new}'",
    "ATTACH '{new}' AS x",
    "ATTACH '{other}' AS x",
    "INSTALL httpfs",
    "INSTALL spatial",
    "LOAD '{other}'",
    "SET threads = 1",
    "SET enable_external_access = true",
    "SET allowed_paths = ['{other}']",
    "RESET lock_configuration",
    "PRAGMA enable_profiling",
    "SELECT * FROM sniff_csv('{other}')",
    "SELECT * FROM parquet_metadata('{other}')",
    "SELECT * FROM secret_of_python",
    "SELECT * FROM read_csv('https://example.com/x.csv')",
]


@pytest.mark.parametrize("escape", ESCAPES)
def test_nothing_else_can_be_reached(escape: str, tmp_path: Path) -> None:
    mine, other = tmp_path / "mine.parquet", tmp_path / "other.csv"
    other.write_text("a,b\n1,2\n")
    with duckdb.connect() as plain:
        plain.execute(f"COPY (SELECT 7 AS x) TO '{mine}'")
    secret_of_python = [1, 2, 3]
    with connect(Setup(paths=(str(mine),), memory=2**28, threads=1)) as connection:
        assert connection.execute(f"SELECT x FROM read_parquet('{mine}')").fetchall() == [(7,)]
        with pytest.raises(duckdb.Error):
            connection.execute(escape.format(other=other, new=tmp_path / "new")).fetchall()
    assert not (tmp_path / "new").exists()
    assert secret_of_python


def test_databases_are_read_only(tmp_path: Path) -> None:
    path = tmp_path / "it's.duckdb"
    with duckdb.connect(str(path)) as plain:
        plain.execute("CREATE TABLE t AS SELECT 7 AS x")
    with connect(Setup(attached=((str(path), "source"),), memory=2**28, threads=1)) as connection:
        assert connection.execute("SELECT x FROM source.t").fetchall() == [(7,)]
        with pytest.raises(duckdb.Error):
            connection.execute("INSERT INTO source.t VALUES (8)")


def test_one_database_can_be_written(tmp_path: Path) -> None:
    path = tmp_path / "new.duckdb"
    with connect(Setup(written=(str(path), "prepared"), memory=2**28, threads=1)) as connection:
        connection.execute("CREATE TABLE prepared.t AS SELECT 7 AS x")
    with duckdb.connect(str(path), read_only=True) as plain:
        assert plain.execute("SELECT x FROM t").fetchall() == [(7,)]
