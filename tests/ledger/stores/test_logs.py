"""The log is carried over when it is long, written again from its beginning, and left empty in the end."""

from itertools import pairwise
from pathlib import Path

import pytest

from privately.errors import LedgerCorrupt
from privately.guarantees import PureDP
from privately.ledger import Ledger
from privately.ledger.stores import SQLiteStore, logs
from tests.ledger.examples import charge

LONG = 200_000


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(logs, "LONG", LONG)
    return tmp_path / "l"


def founded(path: Path) -> Ledger:
    ledger = Ledger(SQLiteStore(path))
    ledger.account("visits", cap=PureDP(epsilon=100))
    return ledger


def ask(ledger: Ledger, times: int) -> None:
    for at in range(times):
        ledger.answer(charge(f"{ledger.head.number} {at}"), lambda _: bytes(20_000))


def log_of(path: Path) -> Path:
    return path.with_name(path.name + "-wal")


def test_a_log_that_was_carried_over_is_written_again(path: Path) -> None:
    with founded(path) as ledger:
        lengths = []
        for _ in range(12):
            ask(ledger, 5)
            lengths.append(log_of(path).stat().st_size)
        assert lengths == sorted(lengths)  # never cut off
        assert LONG < lengths[-1] < 2 * LONG  # and written again instead of going on
        assert path.stat().st_size > 4 * LONG
        assert ledger.verify().answers == 60


def test_somebody_reads_for_long_while_the_log_grows(path: Path) -> None:
    with founded(path) as ledger:
        reader = SQLiteStore(path)
        with reader.reading() as session:
            seen = session.head()
            ask(ledger, 60)
            assert session.head() == seen
        assert log_of(path).stat().st_size > 4 * LONG
        ask(ledger, logs.PAUSE)
        assert log_of(path).stat().st_size < 2 * LONG
        reader.close()
        assert ledger.verify().answers == 60 + logs.PAUSE


def test_closing_leaves_all_in_one_file(path: Path) -> None:
    with founded(path) as ledger:
        ask(ledger, 3)
        assert log_of(path).stat().st_size > 0
    assert log_of(path).stat().st_size == 0
    copy = path.with_name("copy")
    copy.write_bytes(path.read_bytes())
    with Ledger.open(copy) as alone:
        assert alone.verify().answers == 3


def test_the_file_as_it_was_before_the_log_was_carried_over(path: Path) -> None:
    """It is as long as when it was last looked at before; what was carried over is missing all the same."""
    ledger = Ledger.open(path)
    ledger.account("visits", cap=PureDP(epsilon=100))
    before = b""
    while path.stat().st_size <= len(before) or not before:
        before = path.read_bytes()
        ask(ledger, 1)
    path.write_bytes(before)
    with pytest.raises(LedgerCorrupt, match="was replaced or removed"):
        ask(ledger, 1)
    ledger.close()


def test_how_much_counts(path: Path) -> None:
    store = SQLiteStore(path)
    assert store._log is not None
    ledger = Ledger(store)
    ledger.account("visits", cap=PureDP(epsilon=100))
    assert 0 < store._log.size <= log_of(path).stat().st_size
    sizes = []
    for _ in range(40):
        ask(ledger, 1)
        sizes.append(store._log.size)
    assert any(after < LONG < before for before, after in pairwise(sizes))
    ledger.close()
