"""Ledgers that nobody closed: they end by themselves, and nobody waits for that."""

import gc
import threading
import time
import weakref
from datetime import UTC, datetime
from pathlib import Path

import pytest

from privately.guarantees import PureDP
from privately.ledger import Ledger
from privately.ledger.stores import SQLiteStore
from tests.ledger.examples import charge, founded


def ours() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name.startswith("privately ledger")}


@pytest.mark.parametrize("place", [":memory:", "file"])
def test_a_ledger_that_nobody_uses_ends(place: str, tmp_path: Path) -> None:
    """Whatever was asked last."""
    before = ours()
    ledger = founded(place if place == ":memory:" else tmp_path / "a.ledger")
    ledger.charge(charge())
    list(ledger.history())
    ledger.budget("visits")
    gone, threads = weakref.ref(ledger), ours() - before
    assert len(threads) == 2
    del ledger
    end = time.monotonic() + 10
    while (gone() is not None or threads & ours()) and time.monotonic() < end:
        gc.collect()
        time.sleep(0.01)
    assert gone() is None
    assert not threads & ours()


def test_whoever_notices_does_not_wait(tmp_path: Path) -> None:
    """It may be the thread that writes for another ledger, in its turn."""
    path, collects = tmp_path / "a.ledger", [False]

    def clock() -> datetime:
        if collects.pop():
            gc.collect()
        collects.append(False)
        return datetime.now(UTC)

    forgotten = founded(path)
    with Ledger(SQLiteStore(path, patience=120.0), clock=clock) as ledger:
        gone, cycle = weakref.ref(forgotten), [forgotten]
        cycle.append(cycle)  # type: ignore[arg-type]  # as a traceback makes one
        gc.disable()
        try:
            del forgotten, cycle
            collects[0] = True
            start = time.monotonic()
            ledger.charge(charge())
            took = time.monotonic() - start
        finally:
            gc.enable()
        assert gone() is None
        assert took < 60
        assert ledger.budget("visits").spent == PureDP(epsilon="0.1")
