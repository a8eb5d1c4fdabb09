"""Heads and rows, and that the stores keep to the protocol."""

from pathlib import Path

from privately.ledger.stores import EMPTY, Head, Row, Session, SQLiteReader, SQLiteStore, Store
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
