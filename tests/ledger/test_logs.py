"""What happens to the log of a ledger while it is open: nobody goes on writing where nobody reads."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from privately.errors import BudgetExhausted, LedgerCorrupt, LedgerUnavailable
from privately.ledger import Ledger
from tests.ledger.examples import charge, founded


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.ledger"


def never(_: object) -> bytes:
    pytest.fail("it was run")


def read_elsewhere(path: Path) -> None:
    """Somebody looks at the file with another SQLite in this process, which drops the locks of ours."""
    with closing(sqlite3.connect(path)) as other:
        other.execute("SELECT count(*) FROM record").fetchall()


def remove_the_log(path: Path) -> None:
    path.with_name(path.name + "-wal").unlink()


def replace_the_log(path: Path) -> None:
    remove_the_log(path)
    path.with_name(path.name + "-wal").touch()


def remove_the_index(path: Path) -> None:
    path.with_name(path.name + "-shm").unlink()


@pytest.mark.parametrize("harm", [remove_the_log, replace_the_log, remove_the_index])
def test_a_log_that_is_gone_stops_us(harm: Callable[[Path], None], path: Path) -> None:
    """Otherwise two processes would go on with two logs, and each would spend the whole budget."""
    ledger = founded(path)
    ledger.charge(charge("before"))
    harm(path)
    for _ in range(2):
        with pytest.raises(LedgerCorrupt, match="replaced or removed"):
            ledger.answer(charge("after"), never)
    with pytest.raises(LedgerCorrupt):
        ledger.budget("visits")
    ledger.close()


def test_nobody_spends_twice_after_another_program_looked(path: Path) -> None:
    """Both handles together release no more than the budget holds, whatever SQLite thinks of its locks."""
    first = founded(path)
    released = 0
    first.answer(charge("0"), lambda _: b"0")
    read_elsewhere(path)
    second = Ledger.open(path)
    for at in range(20):
        for ledger in (first, second):
            try:
                ledger.answer(charge(f"{at} {id(ledger)}"), lambda _: b"42")
            except (BudgetExhausted, LedgerCorrupt, LedgerUnavailable):
                continue
            released += 1
    assert released + 1 <= 10
    first.close()
    second.close()


def test_an_interrupted_look_leaves_nothing_behind(path: Path) -> None:
    with founded(path) as ledger:
        ledger._store._reader.execute("BEGIN")  # type: ignore[attr-defined]  # as a KeyboardInterrupt might leave it
        assert ledger.budget("visits").entries == 0
        ledger._store._writer.execute("BEGIN IMMEDIATE")  # type: ignore[attr-defined]
        ledger.charge(charge())
        assert ledger.budget("visits").entries == 1


def test_only_its_owner_may_read_a_ledger(path: Path) -> None:
    with founded(path):
        for suffix in ("", "-wal", "-shm", ".lock"):
            assert path.with_name(path.name + suffix).stat().st_mode & 0o077 == 0


def test_whoever_opens_it_next_is_told_that_the_log_was_lost(path: Path) -> None:
    """The lock beside it notes how far the ledger had come."""
    with founded(path) as ledger:
        ledger.charge(charge("only in the log"))
        without = path.read_bytes()
    path.write_bytes(without)
    with pytest.raises(LedgerCorrupt, match="has lost records"):
        Ledger.open(path)


def test_a_backup_beside_the_lock_of_the_newer_file_is_refused(path: Path) -> None:
    with founded(path) as ledger:
        ledger.backup(path.with_name("old"))
        ledger.charge(charge("since"))
    path.with_name("old").replace(path)
    with pytest.raises(LedgerCorrupt, match="has lost records"):
        Ledger.open(path)
    path.with_name(path.name + ".lock").unlink()
    with Ledger.open(path) as ledger:
        assert ledger.budget("visits").entries == 0
