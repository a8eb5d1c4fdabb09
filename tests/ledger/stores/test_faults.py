"""Whatever a database or a disk says becomes one of our errors."""

from pathlib import Path

import apsw
import pytest

from privately.errors import BudgetExhausted, LedgerCorrupt, LedgerUnavailable
from privately.ledger import Ledger
from privately.ledger.stores.faults import explained
from tests.ledger.examples import founded

PATH = Path("a.ledger")


@pytest.mark.parametrize(
    ("fault", "kind", "words"),
    [
        (apsw.CorruptError("malformed"), LedgerCorrupt, "damaged or no ledger"),
        (apsw.NotADBError("x"), LedgerCorrupt, "damaged or no ledger"),
        (apsw.ConstraintError("x"), LedgerCorrupt, "damaged"),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "a flipped bit"), LedgerCorrupt, "damaged"),
        (apsw.ReadOnlyError("x"), LedgerUnavailable, "may only be read"),
        (apsw.FullError("x"), LedgerUnavailable, "the disk is full"),
        (apsw.BusyError("x"), LedgerUnavailable, "something else is writing"),
        (apsw.LockedError("x"), LedgerUnavailable, "something else is writing"),
        (apsw.CantOpenError("x"), LedgerUnavailable, "cannot be opened"),
        (apsw.IOError("x"), LedgerUnavailable, "the disk failed"),
        (apsw.NoMemError("x"), LedgerUnavailable, "not enough memory"),
        (apsw.TooBigError("x"), LedgerUnavailable, "too large"),
        (apsw.SQLError("no such table"), LedgerUnavailable, "no such table"),
        (OSError(28, "No space left on device"), LedgerUnavailable, "No space left"),
    ],
)
def test_faults(fault: Exception, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words) as caught, explained(PATH):
        raise fault
    assert caught.value.__cause__ is None


def test_every_error_of_apsw_is_one_of_ours() -> None:
    kinds = [kind for kind in vars(apsw).values() if isinstance(kind, type) and issubclass(kind, apsw.Error)]
    assert len(kinds) > 30
    for kind in kinds:
        with pytest.raises((LedgerCorrupt, LedgerUnavailable)), explained(PATH):
            raise kind("x")


def test_our_own_errors_pass() -> None:
    with pytest.raises(BudgetExhausted), explained(PATH):
        raise BudgetExhausted(asked=1, left=0)
    with pytest.raises(ZeroDivisionError), explained(PATH):
        raise ZeroDivisionError


def test_a_directory_that_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A relative path is in no directory any more."""
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with founded() as ledger:
        for act in (
            lambda: Ledger.open("x.ledger"),
            lambda: Ledger.inspect("x.ledger"),
            lambda: ledger.backup("x.ledger"),
        ):
            with pytest.raises(LedgerUnavailable):
                act()
