"""Looking at a ledger changes nothing, whatever state its files are in, and never shows less than was committed."""

import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from privately.errors import InvalidParameter, LedgerCorrupt, LedgerUnavailable
from privately.ledger import Ledger
from privately.ledger.stores import Row, SQLiteReader
from tests.ledger.examples import charge, copied, files, founded, used

LEFT = """
import os, sys
from tests.ledger.examples import charge, founded
ledger = founded(sys.argv[1])
for at in range(5):
    ledger.charge(charge(f"q{at}"))
os._exit(9)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.ledger"


def test_a_closed_ledger(path: Path) -> None:
    used(path)
    before = files(path.parent)
    with Ledger.inspect(path) as ledger:
        assert ledger.budget("visits").entries == 3
        assert ledger.verify().charges == 3
        assert len(list(ledger.history())) == 8
    assert files(path.parent) == before


def test_the_file_alone(path: Path, tmp_path: Path) -> None:
    used(path)
    alone = tmp_path / "backup" / "with space?#%.ledger"
    alone.parent.mkdir()
    alone.write_bytes(path.read_bytes())
    before = files(alone.parent)
    with Ledger.inspect(alone) as ledger:
        assert ledger.budget("visits").entries == 3
    assert files(alone.parent) == before


def test_a_ledger_in_use_shows_what_is_committed_meanwhile(path: Path) -> None:
    with founded(path) as writer, Ledger.inspect(path) as ledger:
        assert ledger.budget("visits").entries == 0
        writer.charge(charge())
        assert ledger.budget("visits").entries == 1
        assert ledger.head == writer.head


def test_a_killed_process_leaves_a_log_that_is_read(path: Path) -> None:
    subprocess.run([sys.executable, "-c", LEFT, str(path)], check=False, timeout=60)
    log = path.with_name(path.name + "-wal")
    assert log.stat().st_size > 0
    before = files(path.parent)
    with Ledger.inspect(path) as ledger:
        assert ledger.budget("visits").entries == 5
        assert ledger.verify().records == 7
    assert files(path.parent) == before


def test_a_log_without_its_index_is_refused_rather_than_left_out(path: Path, tmp_path: Path) -> None:
    with founded(path) as writer:
        writer.charge(charge())
        copy = copied(path, tmp_path / "copy.ledger")
    copy.with_name("copy.ledger-shm").unlink()
    before = files(tmp_path)
    with pytest.raises(LedgerUnavailable, match="the newest records are in copy"):
        Ledger.inspect(copy)
    assert files(tmp_path) == before
    with Ledger.open(copy):
        pass
    with Ledger.inspect(copy) as ledger:
        assert ledger.budget("visits").entries == 1


def test_a_writer_that_begins_meanwhile_is_noticed(path: Path, tmp_path: Path) -> None:
    used(path)
    alone = tmp_path / "alone.ledger"
    alone.write_bytes(path.read_bytes())
    with Ledger.inspect(alone) as ledger:
        assert ledger.budget("visits").entries == 3
        with Ledger.open(alone) as writer:
            writer.charge(charge())
        with pytest.raises(LedgerUnavailable, match="was written while it was read"):
            ledger.budget("visits")


def test_nothing_can_be_written(path: Path) -> None:
    used(path)
    with Ledger.inspect(path) as ledger:
        for attempt in (lambda: ledger.charge(charge()), lambda: ledger.accept_clock(by="me", reason="summer")):
            with pytest.raises(LedgerUnavailable, match="for reading only"):
                attempt()
    reader = SQLiteReader(path)
    with pytest.raises(LedgerUnavailable, match="may only be read"), reader.reading() as session:
        session.append(Row(9, bytes(32), b"{}"))
    reader.close()


def test_only_ledgers(tmp_path: Path) -> None:
    empty, text, other = (tmp_path / name for name in ("empty", "text", "other"))
    empty.touch()
    text.write_text("no database at all, but long enough to look like one" * 100)
    connection = apsw.Connection(str(other))
    connection.execute("CREATE TABLE birds (name)")
    connection.close()
    before = files(tmp_path)
    for wrong, fault in (
        (empty, LedgerCorrupt),
        (text, LedgerCorrupt),
        (other, InvalidParameter),
        (tmp_path, LedgerUnavailable),
        (tmp_path / "missing", LedgerUnavailable),
        (tmp_path / "no" / "such" / "directory", LedgerUnavailable),
        (":memory:", LedgerUnavailable),
        ("", InvalidParameter),
    ):
        with pytest.raises(fault):
            Ledger.inspect(wrong)
    assert files(tmp_path) == before


def test_a_read_only_directory(path: Path) -> None:
    """In a directory where nothing may be created, seen by a user who is not root."""
    used(path)
    path.with_name(path.name + "-wal").unlink()
    path.with_name(path.name + "-shm").unlink()
    path.chmod(0o444)
    path.parent.chmod(0o555)
    try:
        with Ledger.inspect(path) as ledger:
            assert ledger.budget("visits").entries == 3
        assert sorted(name.name for name in path.parent.iterdir()) == ["a.ledger", "a.ledger.lock"]
    finally:
        path.parent.chmod(0o755)
