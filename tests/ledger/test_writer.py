"""Whatever waits is written together; an error of one is its own, an error of the disk is everybody's."""

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from privately.errors import BudgetExhausted, InvalidParameter, LedgerCorrupt, LedgerUnavailable
from privately.guarantees import PureDP
from privately.ledger import Ledger, Pin
from privately.ledger import book as books
from privately.ledger.acts import MakeCharge, OpenAccount, StoreAnswer
from privately.ledger.book import Book, now
from privately.ledger.desks import Promise
from privately.ledger.ledger import _filter, _found
from privately.ledger.rounds import Asked, Outcome, perform
from privately.ledger.stores import SQLiteStore
from privately.ledger.writer import Writer
from tests.ledger.examples import charge, forging, founded, used

OPEN = OpenAccount(name="visits", filter=_filter(PureDP(epsilon="0.25"), None), reuse="everyone")


def turn(writer: Writer, *acts: Any) -> list[Future[Any]]:
    pairs: list[tuple[Any, Future[Any]]] = [(act, Future()) for act in acts]
    writer.take_turn(pairs)
    return [future for _, future in pairs]


@pytest.fixture
def writer() -> Writer:
    made = Writer(SQLiteStore(":memory:"), now)
    turn(made, _found, OPEN)
    return made


def entries(writer: Writer) -> int:
    with writer._store.reading() as session:
        return session.head().number


def test_a_turn_for_all(writer: Writer) -> None:
    """Each act sees what those before it in the turn did; a refusal is its own affair."""
    made = turn(writer, *(MakeCharge(charge=charge(f"q{at}")) for at in range(4)))
    assert [future.exception() is None for future in made] == [True, True, False, False]
    assert isinstance(made[2].exception(), BudgetExhausted)
    assert [future.result().number for future in made[:2]] == [3, 4]
    assert entries(writer) == 4


def test_the_same_key_twice_in_a_turn_is_charged_once(writer: Writer) -> None:
    first, second = turn(writer, *(MakeCharge(charge=charge(key="k")) for _ in range(2)))
    assert first.exception() is None
    assert second.exception() is not None
    assert entries(writer) == 3
    stored, again = turn(writer, StoreAnswer(receipt=first.result(), answer=b"42"), MakeCharge(charge=charge(key="k")))
    assert stored.exception() is None
    assert again.result().answer == b"42"


@pytest.mark.parametrize("mistake", [TypeError("bug"), KeyError("bug"), ZeroDivisionError()])
def test_a_mistake_of_one_is_no_harm_to_others(mistake: Exception, writer: Writer) -> None:
    def fail(book: Book) -> None:
        raise mistake

    before, failed, after = turn(writer, MakeCharge(charge=charge("before")), fail, MakeCharge(charge=charge("after")))
    assert failed.exception() is mistake
    assert before.exception() is after.exception() is None
    assert entries(writer) == 4


@pytest.mark.parametrize("fault", [RuntimeError("bug"), MemoryError(), LedgerCorrupt("chain"), OSError(28, "full")])
def test_what_is_no_refusal_undoes_the_whole_turn(fault: Exception, writer: Writer) -> None:
    def fail(book: Book) -> None:
        raise fault

    made = turn(writer, MakeCharge(charge=charge("before")), fail, MakeCharge(charge=charge("after")))
    assert all(future.exception() is not None for future in made)
    assert entries(writer) == 2
    (later,) = turn(writer, MakeCharge(charge=charge("later")))
    assert (later.exception() is None) == (not isinstance(fault, LedgerCorrupt))


def test_a_corrupt_ledger_stays_so(writer: Writer) -> None:
    def fail(book: Book) -> None:
        raise LedgerCorrupt("record 7 breaks the chain.")

    turn(writer, fail)
    for _ in range(2):
        (made,) = turn(writer, MakeCharge(charge=charge()))
        assert isinstance(made.exception(), LedgerCorrupt)


def test_a_killed_turn_is_over(writer: Writer) -> None:
    def die(book: Book) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        turn(writer, MakeCharge(charge=charge()), die)
    assert entries(writer) == 2


def test_nothing_is_answered_before_it_is_durable(tmp_path: Path) -> None:
    """While the turn has not ended, nobody knows of it."""
    store = SQLiteStore(tmp_path / "a.ledger")
    writer = Writer(store, now)
    turn(writer, _found, OPEN)
    pairs: list[tuple[Any, Future[Any]]] = [(MakeCharge(charge=charge()), Future())]

    def look(book: Book) -> None:
        assert not pairs[0][1].done()
        with store.reading() as session:
            assert session.head().number == 2

    pairs.append((look, Future()))
    writer.take_turn(pairs)
    assert [future.exception() for _, future in pairs] == [None, None]
    store.close()


def test_many_threads_share_turns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    turns: list[int] = []

    def counted(book: Book, acts: Sequence[Asked]) -> list[Outcome]:
        turns.append(len(acts))
        return perform(book, acts)

    monkeypatch.setattr("privately.ledger.writer.perform", counted)
    with founded(tmp_path / "a.ledger", cap=100) as ledger:
        threads = [
            threading.Thread(target=lambda at=at: [ledger.charge(charge(f"{at} {again}")) for again in range(10)])
            for at in range(16)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert ledger.budget("visits").entries == 160
        assert ledger.verify().charges == 160
    assert sum(turns) == 162
    assert len(turns) < 162


def test_whoever_comes_before_the_lock_is_there_is_served_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While another process writes, all who come are gathered for one turn."""
    turns: list[int] = []

    def counted(book: Book, acts: Sequence[Asked]) -> list[Outcome]:
        turns.append(len(acts))
        return perform(book, acts)

    with founded(tmp_path / "a.ledger", cap=100) as ledger:
        other = SQLiteStore(tmp_path / "a.ledger")
        monkeypatch.setattr("privately.ledger.writer.perform", counted)
        futures = [Future[Any]() for _ in range(10)]
        with other.writing():
            for at, future in enumerate(futures):
                ledger.submit_charge(charge(f"q{at}"), future)
                time.sleep(0.01)
        assert [future.result(10).number for future in futures] == list(range(3, 13))
        assert turns == [10]
        other.close()


def test_closing_waits_for_what_was_asked(tmp_path: Path) -> None:
    ledger = founded(tmp_path / "a.ledger", cap=100)
    outcomes: list[bool] = []

    def ask() -> None:
        for at in range(100):
            try:
                ledger.charge(charge(f"{threading.get_ident()} {at}"))
            except LedgerUnavailable:
                return
            outcomes.append(True)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    ledger.close()
    for thread in threads:
        thread.join()
    with Ledger.open(tmp_path / "a.ledger") as again:
        assert again.budget("visits").entries == len(outcomes)


def test_a_failed_opening_leaves_no_thread(tmp_path: Path) -> None:
    path = tmp_path / "a.ledger"
    with founded(path):
        pass
    store = SQLiteStore(path)
    store._writer.execute("INSERT INTO record (number, hash, text) VALUES (3, x'00', x'00')")
    store.close()
    before = threading.active_count()
    for _ in range(3):
        with pytest.raises(LedgerCorrupt):
            Ledger.open(path)
    assert threading.active_count() == before


def test_every_waiting_thread_has_an_error_of_its_own(writer: Writer) -> None:
    def fail(book: Book) -> None:
        raise LedgerUnavailable("no turn", hint="Ask again.") from None

    refused = turn(writer, fail, fail)
    assert all(isinstance(future.exception(), LedgerUnavailable) for future in refused)

    def break_(book: Book) -> None:
        raise LedgerCorrupt("broken", hint="Look.")

    one, other = turn(writer, break_, MakeCharge(charge=charge()))
    assert one.exception() is not other.exception()
    assert str(one.exception()) == str(other.exception()) == "broken Look."


@pytest.mark.parametrize("fails", [False, True])
def test_a_future_that_was_cancelled_is_nobody_elses_affair(writer: Writer, fails: bool) -> None:
    def broken(_: object) -> None:
        raise RuntimeError

    gone, other = Future[Any](), Future[Any]()
    gone.cancel()
    breaking: Any = SimpleNamespace(set_result=broken, set_exception=broken, done=lambda: False)
    acts: list[tuple[Any, Any]] = [(MakeCharge(charge=charge("gone")), gone), (MakeCharge(charge=charge()), breaking)]
    writer.take_turn([*acts, (_raise if fails else OPEN, other)])
    assert other.done()
    (later,) = turn(writer, OPEN)
    assert later.exception() is None
    assert entries(writer) == (2 if fails else 4)


def _raise(book: Book) -> None:
    raise RuntimeError


def test_promises() -> None:
    promise: Promise[int] = Promise(deque())
    assert not promise.done()
    promise.set_result(7)
    assert (promise.done(), promise.result(), promise.result()) == (True, 7, 7)
    broken: Promise[int] = Promise(deque())
    broken.set_exception(InvalidParameter("x", "y"))
    for _ in range(2):
        with pytest.raises(InvalidParameter):
            broken.result()


NOTICING: dict[str, Callable[[Ledger], object]] = {
    "verify": lambda ledger: ledger.verify(),
    "history": lambda ledger: list(ledger.history()),
    "the old pin": lambda ledger: ledger.check(Pin(ledger=ledger.head.ledger, number=3, hash=bytes(32))),
}


@pytest.mark.parametrize("notice", NOTICING.values(), ids=NOTICING)
def test_nothing_is_written_after_anybody_noticed_that_a_ledger_is_corrupt(
    notice: Callable[[Ledger], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether it was the writer or somebody who only looked."""
    path = tmp_path / "l"
    monkeypatch.setattr(books, "CHECKPOINT_EVERY", 5)  # opening reads what is after it only
    used(path)
    with forging(path) as file:
        file.execute("UPDATE answer SET bytes = x'00' WHERE number = 4")
        file.execute("UPDATE record SET text = CAST(replace(text, 'analyst', 'analist') AS BLOB) WHERE number = 3")
    with Ledger.open(path) as ledger:
        receipt = ledger.charge(charge("before"))
        foreign = Pin(ledger="0" * 32, number=1, hash=bytes(32))
        with pytest.raises(LedgerCorrupt, match="of another ledger"):
            ledger.check(foreign)
        ledger.charge(charge("after a pin of another ledger, which says nothing of this one"))
        with pytest.raises(LedgerCorrupt):
            notice(ledger)
        head = ledger.head
        for act in (
            lambda: ledger.answer(charge("new"), lambda _: b"new"),
            lambda: ledger.store(receipt, b"late"),
            lambda: ledger.account("claims", cap=PureDP(epsilon=1)),
        ):
            with pytest.raises(LedgerCorrupt):
                act()
        assert ledger.head == head
