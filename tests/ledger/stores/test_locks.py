"""One holder at a time; a dead one holds nothing, a suspended one is waited for, a replaced lock is noticed."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from privately.errors import LedgerUnavailable
from privately.ledger.stores.locks import FileLock
from tests.ledger.examples import charge, founded

HOLD = """
import fcntl, os, sys, time
file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
fcntl.flock(file, fcntl.LOCK_EX)
print("held", flush=True)
time.sleep(60)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.lock"


@contextmanager
def holder(path: Path) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen([sys.executable, "-S", "-c", HOLD, str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def test_one_at_a_time(path: Path) -> None:
    one, other = FileLock(path, patience=0.05), FileLock(path, patience=0.05)
    with one.held(), pytest.raises(LedgerUnavailable, match=r"waited 0\.05 s .* nothing was written"), other.held():
        pytest.fail("two hold it")
    with other.held():
        pass
    assert path.stat().st_mode & 0o777 == 0o600
    one.close()
    other.close()


def test_it_is_freed_after_an_error(path: Path) -> None:
    one, other = FileLock(path, patience=0.05), FileLock(path, patience=0.05)
    with pytest.raises(ZeroDivisionError), one.held():
        raise ZeroDivisionError
    with other.held():
        pass
    one.close()
    other.close()


def test_waiting_ends_when_the_holder_is_done(path: Path) -> None:
    one, other = FileLock(path, patience=5), FileLock(path, patience=5)
    order = []

    def wait() -> None:
        with other.held():
            order.append("other")

    with one.held():
        thread = threading.Thread(target=wait)
        thread.start()
        time.sleep(0.05)
        order.append("one")
    thread.join()
    assert order == ["one", "other"]
    one.close()
    other.close()


def test_a_suspended_holder_and_a_dead_one(tmp_path: Path) -> None:
    with founded(tmp_path / "a.ledger", patience=0.2) as ledger:
        before = ledger.head
        with holder(tmp_path / "a.ledger.lock") as process:
            os.kill(process.pid, signal.SIGSTOP)
            with pytest.raises(LedgerUnavailable, match="is one suspended"):
                ledger.answer(charge(), lambda _: pytest.fail("it was run"))
            assert ledger.head == before
            with pytest.raises(LedgerUnavailable, match="nothing was written"):
                founded(tmp_path / "a.ledger", patience=0.05)
        ledger.charge(charge())  # killed, it holds nothing
        assert ledger.verify().charges == 1


@pytest.mark.parametrize("again", [False, True])
def test_a_lock_that_was_removed_or_replaced(again: bool, tmp_path: Path) -> None:
    lock = tmp_path / "a.ledger.lock"
    with founded(tmp_path / "a.ledger") as ledger:
        lock.unlink()
        if again:
            lock.touch()
        with pytest.raises(LedgerUnavailable, match="was replaced or removed"):
            ledger.charge(charge())
        assert ledger.budget("visits").entries == 0
    with founded(tmp_path / "a.ledger") as ledger:
        ledger.charge(charge())


def test_marks(path: Path) -> None:
    lock = FileLock(path, patience=1)
    assert not lock.marked
    for _ in range(2):
        lock.mark()
        assert lock.marked
    lock.close()
    again = FileLock(path, patience=1)
    assert again.marked
    again.close()


def test_no_lock_can_be_made(tmp_path: Path) -> None:
    with pytest.raises(LedgerUnavailable, match="cannot open the lock"):
        FileLock(tmp_path / "missing" / "a.lock", patience=1)
    with pytest.raises(LedgerUnavailable, match="cannot open the lock"):
        FileLock(tmp_path, patience=1)
