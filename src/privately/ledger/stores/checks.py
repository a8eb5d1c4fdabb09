"""Whether a database is damaged where reading the records does not show it, as in an index.

That takes long, and SQLite does it alone: meanwhile records are read through another connection.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import apsw

from privately.errors import LedgerCorrupt, LedgerUnavailable
from privately.ledger.stores.faults import explained
from privately.ledger.stores.schema import check_schema

_ORPHANS = "SELECT count(*) FROM answer WHERE number NOT IN (SELECT number FROM record WHERE charge IS NOT NULL)"


def check_database(connection: apsw.Connection) -> None:
    """LedgerCorrupt if it is damaged, or holds what no record speaks of."""
    check_schema(connection)
    told: list[Any] = connection.execute("PRAGMA integrity_check(1)").fetchall()
    if told != [("ok",)]:
        raise LedgerCorrupt(f"the database is damaged: {told[0][0]}.")
    count: list[Any] = connection.execute(_ORPHANS).fetchall()
    if count != [(0,)]:
        raise LedgerCorrupt("bytes are stored that belong to no answer.")
    if connection.execute("SELECT number FROM record WHERE number < 1 LIMIT 1").fetchall():
        raise LedgerCorrupt("there are records before the first one.")


class CheckAside:
    """Such a check in a thread of its own, which owns the connection and closes it."""

    def __init__(self, connection: apsw.Connection, path: Path) -> None:
        self._connection, self._path = connection, path
        self._fault: BaseException | None = LedgerUnavailable("the check of the database did not end.")
        self._thread = threading.Thread(target=self._run, name="privately ledger: check", daemon=True)
        self._thread.start()

    def wait(self) -> None:
        """Passes if all is in order."""
        self._thread.join()
        if self._fault is not None:
            raise self._fault

    def stop(self) -> None:
        """Ends at once, whatever was found."""
        while self._thread.is_alive():
            with suppress(apsw.Error):  # it was closed just now
                self._connection.interrupt()
            self._thread.join(0.01)

    def _run(self) -> None:
        try:
            with explained(self._path):
                try:
                    self._connection.execute("BEGIN")
                    check_database(self._connection)
                finally:
                    self._connection.close(True)
        except BaseException as fault:  # noqa: BLE001 - raised by whoever waits
            self._fault = fault
        else:
            self._fault = None
