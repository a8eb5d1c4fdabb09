"""Small ledgers to look at, break and put back."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import apsw

from privately.guarantees import PureDP
from privately.ledger import Charge, Ledger
from privately.ledger.charges import Cost
from privately.ledger.stores import SQLiteStore
from privately.ledger.stores.schema import TRIGGERS
from privately.rounding import Number

COST = PureDP(epsilon="0.1")
BESIDE = ("", "-wal", "-shm", ".lock")


def charge(
    query: str = "count",
    *,
    lineages: tuple[str, ...] = ("visits",),
    cost: Cost = COST,
    snapshot: str = "",
    analyst: str = "owner",
    token: str | None = None,
    key: str | None = None,
    label: str = "",
) -> Charge:
    return Charge(
        lineages=lineages, query=query, cost=cost, snapshot=snapshot, analyst=analyst, token=token, key=key, label=label
    )


def founded(path: Path | str = ":memory:", *, cap: Number = 1, patience: float = 5.0) -> Ledger:
    """A ledger with one lineage, visits."""
    ledger = Ledger(SQLiteStore(path, patience=patience))
    ledger.account("visits", cap=PureDP(epsilon=cap))
    return ledger


def used(path: Path, *, times: int = 3) -> None:
    """A closed ledger with answered questions, keys k0, k1, ... of analyst ann."""
    with founded(path) as ledger:
        for at in range(times):
            receipt = ledger.charge(charge(f"q{at}", key=f"k{at}", analyst="ann"))
            ledger.store(receipt, f"answer {at}".encode())


def copied(path: Path, target: Path) -> Path:
    """All files of a ledger under another name, as a backup."""
    for suffix in BESIDE:
        if (found := path.with_name(path.name + suffix)).exists():
            shutil.copy(found, target.with_name(target.name + suffix))
    return target


def content(path: Path) -> list[tuple[object, ...]]:
    """Every record and answer in a ledger file, without our code."""
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    rows = list(connection.execute("SELECT number, hash, text, key, question, charge FROM record ORDER BY number"))
    answers = list(connection.execute("SELECT * FROM answer ORDER BY number"))
    connection.close()
    return [*rows, *answers]


@contextmanager
def forging(path: Path) -> Iterator[apsw.Connection]:
    """A connection that changes a ledger as its owner's enemy would: without the lock and the triggers."""
    connection = apsw.Connection(str(path))
    for name in ("record_is_kept", "record_stays", "answer_is_kept", "answer_stays"):
        connection.execute(f"DROP TRIGGER IF EXISTS {name}")
    yield connection
    for statement in TRIGGERS:
        with suppress(apsw.SQLError):  # there is no such table any more
            connection.execute(statement)
    connection.close()


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.moment = datetime(2030, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.moment

    def go(self, **by: float) -> None:
        self.moment += timedelta(**by)


def files(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """What would differ if anything were written."""
    listed = [name for name in sorted(folder.iterdir()) if name.is_file()]
    return {name.name: (name.stat().st_mtime_ns, name.stat().st_mode, name.read_bytes()) for name in listed}
