"""Whatever waits is written together; an error of one is its own, an error of the disk is everybody's."""

import contextlib
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from privately.errors import BudgetExhausted, InvalidParameter, LedgerCorrupt, LedgerUnavailable
from privately.guarantees import PureDP
from privately.ledger import Ledger, Pin, desks, rounds
from privately.ledger import book as books
from privately.ledger import writer as writers
from privately.ledger.acts import MakeCharge, OpenAccount, StoreAnswer
from privately.ledger.arguments import filter_for
from privately.ledger.book import Book, now
from privately.ledger.desks import Promise
from privately.ledger.ledger import _found
from privately.ledger.rounds import Asked, Outcome, perform
from privately.ledger.stores import SQLiteStore, locks, logs, sqlite
from privately.ledger.writer import Writer
from tests.ledger.examples import charge, forging, founded, used

FILES = {module.__file__ for module in (books, contextlib, desks, locks, rounds, sqlite, writers)}
OPEN = OpenAccount(name="visits", filter=filter_for(PureDP(epsilon="0.25"), None), reuse="everyone")


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


def here(ledger: Ledger, *acts: Any) -> tuple[bool, list[tuple[Any, Any, Any]]]:
    """Whether the turn was taken by this thread, and what became of it."""
    outcomes: list[tuple[Any, Any, Any]] = []
    done = ledger.take_turn_here([(act, at) for at, act in enumerate(acts)], outcomes.extend)
    return done, outcomes


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long the disk takes, on a machine that has other things to do."""
    monkeypatch.setattr(writers, "LONG", float("inf"))


@pytest.mark.usefixtures("patient")
def test_long_answers_are_left_to_the_writer(tmp_path: Path) -> None:
    with founded(tmp_path / "l", cap=100) as ledger:
        receipts = [ledger.charge(charge(f"q{at}")) for at in range(2)]
        assert not here(ledger, *(ledger.storing(one, bytes(2**19 + 1)) for one in receipts))[0]
        assert here(ledger, *(ledger.storing(one, bytes(2**19)) for one in receipts))[0]


@pytest.mark.usefixtures("patient")
def test_a_turn_in_the_thread_that_asks(tmp_path: Path) -> None:
    threads: list[int] = []

    def note(book: Book) -> None:
        threads.append(threading.get_ident())

    with founded(tmp_path / "l", cap=100) as ledger:
        acts = [ledger.charging(charge(f"q{at}")) for at in range(3)]
        done, outcomes = here(ledger, *acts, note, ledger.charging(charge(cost=PureDP(epsilon=1000))))
        assert done
        assert [told for told, _, _ in outcomes] == [0, 1, 2, 3, 4]
        assert [result.number for _, result, _ in outcomes[:3]] == [3, 4, 5]
        assert isinstance(outcomes[4][2], BudgetExhausted)
        assert threads == [threading.get_ident()]
        assert ledger.charge(charge("by the writer's")).number == 6
        assert ledger.verify().charges == 4


@pytest.mark.usefixtures("patient")
def test_whoever_asks_does_not_wait_for_another_process(tmp_path: Path) -> None:
    with founded(tmp_path / "l", cap=100) as ledger:
        other = SQLiteStore(tmp_path / "l")
        with other.writing():
            assert here(ledger, ledger.charging(charge())) == (False, [])
        assert here(ledger, ledger.charging(charge()))[0]
        other.close()
        assert ledger.verify().charges == 1


@pytest.mark.usefixtures("patient")
def test_whoever_asks_does_not_go_before_those_who_wait(tmp_path: Path) -> None:
    begun, go = threading.Event(), threading.Event()

    def wait(book: Book) -> None:
        begun.set()
        go.wait(30)

    with founded(tmp_path / "l", cap=100) as ledger:
        waiting = threading.Thread(target=ledger._writer.perform, args=(wait,))
        waiting.start()
        begun.wait(30)
        assert here(ledger, ledger.charging(charge())) == (False, [])
        go.set()
        waiting.join()


@pytest.mark.usefixtures("patient")
def test_whoever_asks_does_not_carry_the_log_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with founded(tmp_path / "l", cap=100) as ledger:
        monkeypatch.setattr(logs, "LONG", 0)
        ledger.charge(charge("first"))  # tries, and pauses
        taken = [here(ledger, ledger.charging(charge(f"q{at}")))[0] for at in range(logs.PAUSE)]
        assert taken == [True] * logs.PAUSE
        assert here(ledger, ledger.charging(charge("due"))) == (False, [])
        assert ledger.charge(charge("due")).number == 3 + 1 + logs.PAUSE
        assert here(ledger, ledger.charging(charge("later")))[0]


def test_a_slow_disk_is_left_to_the_writers_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writers, "LONG", 0.2)
    with founded(tmp_path / "l", cap=100) as ledger:
        slow = iter([0.5])
        writing = SQLiteStore.writing

        @contextlib.contextmanager
        def delayed(self: SQLiteStore, *, waits: bool = True) -> Iterator[Any]:
            with writing(self, waits=waits) as session:
                yield session
                time.sleep(next(slow, 0))

        monkeypatch.setattr(SQLiteStore, "writing", delayed)
        ledger._writer._waited = 0.0
        taken = [here(ledger, ledger.charging(charge("slow")))[0], here(ledger, ledger.charging(charge("fast")))[0]]
        assert taken == [True, False]
        for at in range(20):  # half as much of it is remembered after every turn
            ledger.charge(charge(f"q{at}"))
            if ledger._writer._waited <= 0.2:
                break
        assert here(ledger, ledger.charging(charge("fast")))[0]


@pytest.mark.usefixtures("patient")
def test_what_runs_in_such_a_turn_waits_for_no_ledger(tmp_path: Path) -> None:
    """A clock that asks the ledger would wait for itself."""
    asked: list[LedgerUnavailable] = []

    def clock() -> Any:
        if ledger is not None:
            try:
                ledger.charge(charge("more"))
            except LedgerUnavailable as fault:
                asked.append(fault)
        return now()

    ledger: Ledger | None = None
    opened = Ledger(SQLiteStore(tmp_path / "l"), clock=clock)
    opened.account("visits", cap=PureDP(epsilon=1))
    ledger = opened
    assert here(opened, opened.charging(charge()))[0]
    ledger = None
    assert "cannot wait" in str(asked[0])
    assert opened.charge(charge("later")).number == 4  # this thread may wait again
    opened.close()


@pytest.mark.usefixtures("patient")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("durable", [True, False])
def test_an_interrupt_at_any_point_of_such_a_turn(durable: bool, tmp_path: Path) -> None:
    """Ctrl-C is put off; but other signals, and their handlers, may raise what they like in the main thread."""
    path = tmp_path / "l"
    with founded(path if durable else ":memory:", cap=1000) as ledger:
        told, interrupted = 0, 0
        for at in count(1):
            steps = count(1)

            def interrupt(frame: Any, event: str, _: Any, at: int = at, steps: Iterator[int] = steps) -> None:
                """Where Python looks for signals: as a function begins, and after one that is not written in it."""
                if event in {"call", "c_return"} and frame.f_code.co_filename in FILES and next(steps) == at:
                    sys.setprofile(None)
                    raise KeyboardInterrupt

            act = ledger.charging(charge(f"q{at}"))
            outcomes: list[Any] = []
            sys.setprofile(interrupt)
            try:
                ledger.take_turn_here([(act, at)], outcomes.extend)
            except KeyboardInterrupt:
                interrupted += 1
            else:
                break
            finally:
                sys.setprofile(None)
            told += len(outcomes)
            outcomes.clear()
            ledger._writer.perform(lambda book: None)  # the writer's thread can take a turn
            if durable:
                other = SQLiteStore(path, patience=0)
                with other.writing():
                    pass  # and after it the lock is free
                other.close()
        assert interrupted > 10
        assert told > 0
        assert ledger.verify().charges == ledger.budget("visits").entries
