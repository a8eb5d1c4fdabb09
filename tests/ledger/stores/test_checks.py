"""Damage that no record shows is found, meanwhile or afterwards."""

from __future__ import annotations

import threading
from pathlib import Path

import apsw
import pytest

from privately.errors import LedgerCorrupt, LedgerUnavailable
from privately.ledger import Ledger
from privately.ledger.stores import Checking, SQLiteReader, SQLiteStore, Store
from privately.ledger.stores.checks import CheckAside
from tests.ledger.examples import charge, forging, founded, used
from tests.ledger.stores.failing import Failing

_REPLACED = """
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, '{}', '{}') WHERE name = 'by_key';
"""
_BACK = _REPLACED.format("number < 0", "key IS NOT NULL")
DAMAGES = {
    "an answer to nothing": ("INSERT INTO answer VALUES (3, x'00')", "belong to no answer"),
    "a record too early": (
        "INSERT INTO record SELECT 0, hash, text, NULL, NULL, NULL, NULL FROM record WHERE number = 4",
        "before the first",
    ),
    "an index that forgets": (
        f"{_REPLACED.format('key IS NOT NULL', 'number < 0')} PRAGMA writable_schema = RESET; REINDEX;" + _BACK,
        "damaged",
    ),
}


def begun(store: Store) -> Checking:
    found = store.checking()
    assert found is not None
    return found


@pytest.mark.parametrize("kind", [SQLiteReader, SQLiteStore])
def test_in_order(kind: type[SQLiteReader | SQLiteStore], tmp_path: Path) -> None:
    used(tmp_path / "l")
    store = kind(tmp_path / "l")
    checking = begun(store)
    with store.reading() as session:
        session.check()
    checking.wait()
    checking.stop()
    store.close()


@pytest.mark.parametrize("kind", [SQLiteReader, SQLiteStore])
@pytest.mark.parametrize("damage", DAMAGES)
def test_damage(kind: type[SQLiteReader | SQLiteStore], damage: str, tmp_path: Path) -> None:
    used(tmp_path / "l")
    statement, words = DAMAGES[damage]
    with forging(tmp_path / "l") as connection:
        connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)
        connection.execute(statement).fetchall()
    store = kind(tmp_path / "l")
    with pytest.raises(LedgerCorrupt, match=words):
        begun(store).wait()
    with pytest.raises(LedgerCorrupt, match=words), store.reading() as session:
        session.check()
    store.close()


@pytest.mark.parametrize("damage", [None, *DAMAGES])
def test_long_ledgers_are_checked_aside(damage: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("privately.ledger.verifying._LONG", 1)
    monkeypatch.setattr("privately.ledger.stores.sqlite.SQLiteSession.check", lambda _: pytest.fail("not aside"))
    used(tmp_path / "l")
    if damage is not None:
        with forging(tmp_path / "l") as connection:
            connection.execute(DAMAGES[damage][0]).fetchall()
    for way in (Ledger.inspect, Ledger.open):
        with way(tmp_path / "l") as ledger:
            if damage is None:
                assert ledger.verify().charges == 3
            else:
                with pytest.raises(LedgerCorrupt, match=DAMAGES[damage][1]):
                    ledger.verify()


def test_a_broken_record_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is found aside; and nothing goes on afterwards."""
    monkeypatch.setattr("privately.ledger.verifying._LONG", 1)
    monkeypatch.setattr("privately.ledger.book.CHECKPOINT_EVERY", 7)
    used(tmp_path / "l", times=6)
    with forging(tmp_path / "l") as connection:
        connection.execute(DAMAGES["an answer to nothing"][0])
        connection.execute("UPDATE record SET hash = zeroblob(32) WHERE number = 4")
    with Ledger.inspect(tmp_path / "l") as ledger, pytest.raises(LedgerCorrupt, match="record 4 breaks"):
        ledger.verify()
    assert not [one for one in threading.enumerate() if one.name.endswith("check")]


def test_not_beside_a_memory_or_a_failing_disk(tmp_path: Path) -> None:
    store = SQLiteStore(":memory:")
    assert store.checking() is None
    store.close()
    disk = Failing("failing")
    store = SQLiteStore(tmp_path / "l", vfs="failing")
    assert store.checking() is None
    store.close()
    del disk


def test_a_file_that_was_replaced(tmp_path: Path) -> None:
    used(tmp_path / "l")
    used(tmp_path / "new")
    store = SQLiteReader(tmp_path / "l")
    (tmp_path / "new").replace(tmp_path / "l")
    with pytest.raises(LedgerUnavailable, match="replaced"):
        store.checking()
    store.close()


def test_stopping(tmp_path: Path) -> None:
    """In the midst of it, and a check that did not end is none that passed."""
    with founded(tmp_path / "l", cap=10**6) as ledger:
        for at in range(20):
            ledger.charge(charge(f"q{at}"))
    connection = apsw.Connection(str(tmp_path / "l"), flags=apsw.SQLITE_OPEN_READONLY)
    begun, go_on = threading.Event(), threading.Event()

    def slowly() -> bool:
        begun.set()
        go_on.wait(0.05)
        return False

    connection.set_progress_handler(slowly, 10)
    check = CheckAside(connection, tmp_path / "l")
    assert begun.wait(10)
    check.stop()
    assert not check._thread.is_alive()
    with pytest.raises(LedgerUnavailable):
        check.wait()
