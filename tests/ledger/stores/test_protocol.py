"""Heads and rows, and that the stores keep to the protocol."""

from pathlib import Path

import pytest

from privately.ledger.stores import EMPTY, Head, Row, Session, SQLiteReader, SQLiteStore, Store, sqlite
from tests.ledger.examples import used


def test_a_row_has_a_head() -> None:
    assert Row(3, b"h", b"text").head == Head(3, b"h")
    assert (EMPTY.number, EMPTY.hash) == (0, bytes(32))


def test_the_stores_keep_to_it(tmp_path: Path) -> None:
    path = tmp_path / "a.ledger"
    used(path)
    stores: list[Store] = [SQLiteStore(":memory:"), SQLiteStore(path), SQLiteReader(path)]
    assert [(store.durable, store.writable) for store in stores] == [(False, True), (True, True), (True, False)]
    for store in stores:
        session: Session
        with store.reading() as session:
            assert session.head().number in {0, 8}
            assert session.row(9) is None
            assert session.latest(key="nobody\nnothing") is None
            assert session.checkpoint() == 0
            assert session.answer(1) is None
            assert len(list(session.rows(0))) == session.head().number
        store.close()


@pytest.mark.parametrize("arrays", [True, False])
def test_many_rows_and_names_at_once(tmp_path: Path, arrays: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where SQLite was built without arrays."""
    assert sqlite._ARRAYS
    monkeypatch.setattr(sqlite, "_ARRAYS", arrays)
    store = SQLiteStore(tmp_path / "a.ledger")
    rows = [Row(at, b"h", b"t", f"k{at}", None, None) for at in range(1, 6)]
    with store.writing() as session:
        session.extend([(*row, None) for row in rows])
        assert session.known(keys=["k1", "k9", "k5"]) == {"k1", "k5"}
        session.append(Row(6, b"h", b"t", None, "q", 1))
        assert session.known(keys=["q"], questions=["q", "k1"]) == {"q"}
        assert session.known() == set()
        session.extend([(7, b"h", b"t", "k1", None, None, None), (8, b"h", b"t", None, None, 3, None)], [(8, b"42")])
        assert session.several([1, 5, 9]) == {1: rows[0], 5: rows[4]}
        assert session.last_of(["k1", "k2", "k9"]) == {"k1": 7, "k2": 2}
        assert session.answered([1, 2, 3]) == {1, 3}
        assert session.answer(8) == b"42"
        assert (session.several([]), session.last_of([]), session.answered([])) == ({}, {}, set())
    with store.reading() as session:
        assert list(session.rows(0, 5)) == rows
        assert session.checkpoint() == 0
    store.close()


def test_a_name_does_not_end_where_there_is_a_null(tmp_path: Path) -> None:
    store = SQLiteStore(tmp_path / "a.ledger")
    with store.writing() as session:
        session.extend([(1, b"h", b"t", "k\0one", None, None, None), (2, b"h", b"t", "other", None, None, None)])
        assert session.known(keys=["k\0one", "other"]) == {"k\0one", "other"}
        assert session.known(keys=["k", "k\0two", "other"]) == {"other"}
    store.close()
