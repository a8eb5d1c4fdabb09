"""Forked children neither use a ledger that was open nor keep its lock, and say so."""

import os
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from privately.errors import LedgerUnavailable
from privately.ledger import Ledger
from privately.ledger.stores import SQLiteStore
from tests.ledger.examples import charge, founded, used

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


def in_a_child(act: Callable[[], bool]) -> int:
    """The exit code of a forked child: 0 if the act says so."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # that is what is tested
        child = os.fork()
    if child == 0:
        code = 2
        try:
            code = 0 if act() else 1
        finally:
            sys.stdout.flush()
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def refused(act: Callable[[], object]) -> Callable[[], bool]:
    def tried() -> bool:
        try:
            act()
        except LedgerUnavailable as fault:
            return "fork" in str(fault) and "after forking" in str(fault)
        return False

    return tried


def test_a_ledger_that_was_open_is_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "l"
    with founded(path) as ledger:
        for act in (
            lambda: Ledger.open(path),
            lambda: Ledger.inspect(path),
            lambda: ledger.charge(charge()),
            lambda: ledger.budget("visits"),
        ):
            assert in_a_child(refused(act)) == 0
        ledger.charge(charge())
        assert ledger.verify().charges == 1


def test_no_ledger_at_all_is_opened_in_such_a_child(tmp_path: Path) -> None:
    """Mutexes of SQLite may be held for ever there."""
    used(tmp_path / "closed")
    for act in (lambda: Ledger.open(tmp_path / "closed"), lambda: Ledger.open(":memory:")):
        with founded(tmp_path / "open"):
            assert in_a_child(refused(act)) == 0
        with Ledger.inspect(tmp_path / "open"):
            assert in_a_child(refused(act)) == 0
        with Ledger.open(":memory:"):
            assert in_a_child(refused(act)) == 0


def test_where_none_was_open_all_can_be_opened(tmp_path: Path) -> None:
    used(tmp_path / "closed")
    with pytest.raises(LedgerUnavailable):
        Ledger.open(tmp_path / "missing" / "ledger")

    def works() -> bool:
        with Ledger.open(tmp_path / "closed") as ledger, founded(tmp_path / "new") as other:
            ledger.charge(charge("more"))
            other.charge(charge())
            return ledger.verify().charges == 4

    assert in_a_child(works) == 0


def test_a_child_does_not_keep_the_lock_of_its_parent(tmp_path: Path) -> None:
    """The child of a killed process lives on; others can write."""
    path, ready, done = tmp_path / "l", tmp_path / "ready", tmp_path / "done"
    used(path)

    def parent() -> bool:
        store = SQLiteStore(path)
        with store.writing():
            child = os.fork()
            if child == 0:
                ready.touch()
                while not done.exists() and os.getppid() > 0:
                    time.sleep(0.01)
                os._exit(0)
            while not ready.exists():
                time.sleep(0.01)
            os.kill(os.getpid(), 9)
        return False

    try:
        assert in_a_child(parent) == -9
        with Ledger(SQLiteStore(path, patience=5)) as ledger:
            ledger.charge(charge("more"))
    finally:
        done.touch()
