"""A ledger file has the tables and triggers of a ledger and nothing besides: a trigger could undo every charge."""

import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from privately.errors import LedgerCorrupt
from privately.ledger import Ledger
from privately.ledger.stores.schema import TRIGGERS, check_schema, found
from tests.ledger.examples import charge, founded, used

ADDED = {
    "a trigger": "CREATE TRIGGER evil AFTER INSERT ON answer BEGIN DELETE FROM record WHERE number > 8; END",
    "a view": "CREATE VIEW seen AS SELECT * FROM record",
    "a table": "CREATE TABLE birds (name)",
    "an index": "CREATE INDEX by_hash ON record (hash)",
    "a missing trigger": "DROP TRIGGER record_is_kept",
    "a missing index": "DROP INDEX by_key",
}


def test_a_new_ledger_has_it() -> None:
    connection = apsw.Connection(":memory:")
    found(connection)
    check_schema(connection)


@pytest.mark.parametrize("statement", ADDED.values(), ids=ADDED.keys())
def test_anything_else_is_refused(statement: str, tmp_path: Path) -> None:
    path = tmp_path / "l"
    used(path)
    connection = apsw.Connection(str(path))
    connection.execute(statement)
    connection.close()
    for look in (Ledger.open, Ledger.inspect):
        with pytest.raises(LedgerCorrupt, match="tables or triggers"):
            look(path)


@pytest.mark.parametrize("statement", ADDED.values(), ids=ADDED.keys())
def test_also_while_it_is_open(statement: str, tmp_path: Path) -> None:
    with founded(tmp_path / "l") as ledger:
        ledger.charge(charge("before"))
        connection = apsw.Connection(str(tmp_path / "l"))
        connection.execute(statement)
        connection.close()
        with pytest.raises(LedgerCorrupt, match="tables or triggers"):
            ledger.answer(charge("after"), lambda _: pytest.fail("was run"))
        with pytest.raises(LedgerCorrupt):
            ledger.verify()


def test_a_change_that_was_undone_does_no_harm(tmp_path: Path) -> None:
    with founded(tmp_path / "l") as ledger:
        connection = apsw.Connection(str(tmp_path / "l"))
        connection.execute("DROP TRIGGER record_is_kept")
        connection.execute(TRIGGERS[0])
        connection.close()
        ledger.charge(charge())
        assert ledger.verify().charges == 1


def test_opening_it_again_frees_no_lock_of_the_first(tmp_path: Path) -> None:
    """Otherwise another program that only looks takes itself for the last one, and tidies the log away."""
    path = tmp_path / "l"
    with founded(path) as first, Ledger.open(path):
        first.charge(charge("before"))
        look = "import sqlite3, sys; file = sqlite3.connect(sys.argv[1]); file.execute('SELECT 1 FROM record')"
        subprocess.run([sys.executable, "-I", "-c", look, str(path)], check=True)
        first.charge(charge("after"))
        assert first.budget("visits").entries == 2
