"""Threads that serve others: in order, all that wait at once, and nobody waits for one that is gone."""

import asyncio
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any

import pytest

from privately.errors import InvalidParameter, LedgerUnavailable
from privately.guarantees import PureDP
from privately.ledger import Ledger, desks
from privately.ledger.desks import Answerable, Asked, Desk, call_later, tell_all
from tests.ledger.examples import charge, founded


def double(asked: Sequence[Asked[int]]) -> None:
    for number, promise in asked:
        promise.set_result(2 * number)


def test_tasks_are_done_in_turn() -> None:
    desk: Desk[int] = Desk(double, "test")
    assert [desk.perform(number) for number in range(5)] == [0, 2, 4, 6, 8]
    desk.close()
    with pytest.raises(LedgerUnavailable, match="was closed"):
        desk.perform(1)


def test_what_waits_is_done_before_the_end() -> None:
    begun, go = threading.Event(), threading.Event()
    sizes = []

    def slowly(asked: Sequence[tuple[int, Answerable]]) -> None:
        begun.set()
        go.wait(10)
        sizes.append(len(asked))
        double(asked)

    desk: Desk[int] = Desk(slowly, "test", gathers=True)
    found: list[int] = []
    threads = [threading.Thread(target=lambda k=k: found.append(desk.perform(k))) for k in range(20)]
    for thread in threads:
        thread.start()
    begun.wait(10)
    time.sleep(0.2)
    go.set()
    desk.close()
    for thread in threads:
        thread.join(10)
    assert sorted(found) == [2 * k for k in range(20)]
    assert len(sizes) < 20


def test_those_who_are_served_together_come_back_together() -> None:
    """The first of them to come back does not begin a turn alone."""
    sizes: list[int] = []

    def serve(asked: Sequence[tuple[int, Answerable]]) -> None:
        sizes.append(len(asked))
        time.sleep(0.02)
        double(asked)

    desk: Desk[int] = Desk(serve, "test", gathers=True)
    threads = [threading.Thread(target=lambda: [desk.perform(1) for _ in range(20)]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    desk.close()
    assert sum(sizes) == 160
    assert len(sizes) < 60


def test_nobody_sleeps_on_because_others_do_not_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """All who were served are woken at once, though whoever is woken first never asks again."""

    def serve(asked: Sequence[tuple[int, Answerable]]) -> None:
        time.sleep(0.05)
        double(asked)

    monkeypatch.setattr(desks, "_PATIENCE", 1000)
    desk: Desk[int] = Desk(serve, "test", gathers=True)
    threads = [threading.Thread(target=desk.perform, args=(1,), daemon=True) for _ in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert not any(thread.is_alive() for thread in threads)
    desk.close()


def test_a_lost_call_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever should have been woken, and was not, finds the outcome when its patience ends."""
    monkeypatch.setattr(desks, "_PATIENCE", 0.01)
    monkeypatch.setattr(Desk, "_wake", lambda self: self._awake.clear())
    desk: Desk[int] = Desk(double, "test", gathers=True)
    assert desk.perform(4) == 8
    desk.close()


def test_tasks_of_those_who_do_not_wait() -> None:
    desk: Desk[int] = Desk(double, "test", gathers=True)
    futures = [Future[int]() for _ in range(5)]
    for number, future in enumerate(futures):
        desk.submit(number, future)
    assert [future.result(10) for future in futures] == [0, 2, 4, 6, 8]
    desk.close()
    with pytest.raises(LedgerUnavailable, match="was closed"):
        desk.submit(1, Future())


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_whoever_stands_behind_one_who_kills_the_thread_is_told() -> None:
    begun, go = threading.Event(), threading.Event()

    def die(asked: Sequence[tuple[int, Answerable]]) -> None:
        begun.set()
        go.wait(10)
        raise SystemExit

    desk: Desk[int] = Desk(die, "test")
    first, second = Future[int](), Future[int]()
    desk.submit(1, first)
    begun.wait(10)
    desk.submit(2, second)
    go.set()
    with pytest.raises(LedgerUnavailable, match="was closed"):
        second.result(10)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_nobody_waits_for_a_thread_that_died() -> None:
    def die(asked: Sequence[tuple[int, Answerable]]) -> None:
        if asked:
            raise SystemExit

    desk: Desk[int] = Desk(die, "test")
    for _ in range(2):
        with pytest.raises(LedgerUnavailable, match="was closed"):
            desk.perform(1)
    desk.close()


def test_an_interrupted_caller_leaves_nothing_locked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if somebody keeps the traceback, and with it everything that was on the way."""
    from privately.ledger.desks import Promise

    kept = []
    with Ledger.open(":memory:") as ledger:
        ledger.account("visits", cap=PureDP(epsilon=1))
        with monkeypatch.context() as patched:

            def interrupt(self: Promise[object], seconds: float) -> bool:
                raise KeyboardInterrupt

            patched.setattr(Promise, "wait", interrupt)
            for act in (lambda: ledger.budget("visits"), lambda: ledger.charge(charge("lost")), ledger.verify):
                try:
                    act()
                except KeyboardInterrupt as fault:
                    kept.append(fault)
        assert len(kept) == 3
        ledger.charge(charge("later"))
        assert ledger.budget("visits").entries == 2


WAITING: dict[str, Callable[[Ledger], object]] = {
    "charge": lambda ledger: ledger.charge(charge("in the callback")),
    "answer": lambda ledger: ledger.answer(charge("in the callback"), lambda receipt: b"x"),
    "budget": lambda ledger: ledger.budget("visits"),
    "verify": lambda ledger: ledger.verify(),
}


@pytest.mark.parametrize("wait", WAITING.values(), ids=WAITING)
@pytest.mark.parametrize("desk", ["writer", "reader"])
def test_a_callback_cannot_wait_for_the_thread_that_runs_it(desk: str, wait: Callable[[Ledger], object]) -> None:
    """It is told so at once, may submit instead, and everybody else goes on."""
    ledger = founded()
    heard: Future[object] = Future()
    later: Future[object] = Future()
    outcome: Future[object] = Future()

    def callback(_: object) -> None:
        try:
            heard.set_result(wait(ledger))
        except LedgerUnavailable as fault:
            ledger.submit_charge(charge("later"), later)
            heard.set_exception(fault)

    outcome.add_done_callback(callback)
    if desk == "writer":
        ledger.submit_charge(charge(), outcome)
    else:
        ledger.submit_budget("visits", outcome)
    with pytest.raises(LedgerUnavailable, match=r"a callback .* cannot wait"):
        heard.result(10)
    later.result(10)
    assert ledger.verify().charges == 1 + (desk == "writer")
    ledger.close()


def test_a_callback_that_ends_its_thread_keeps_nothing_from_others() -> None:
    """All who are of the same turn are told, and the ledger goes on."""
    ledger = founded(cap=10)
    go = threading.Event()
    first, last = Future[object](), Future[object]()
    first.add_done_callback(lambda _: go.wait(10))
    ledger.submit_charge(charge("first"), first)
    for at in range(3):
        ends = Future[object]()
        ends.add_done_callback(lambda _: sys.exit(3))
        ledger.submit_charge(charge(f"ends {at}"), ends)
    ledger.submit_charge(charge("last"), last)
    go.set()
    last.result(10)
    ledger.charge(charge("after"))
    assert ledger.budget("visits").entries == 6
    ledger.close()


class Half:
    def set_result(self, result: object) -> None: ...


def test_an_outcome_that_nobody_can_be_told_is_refused_before_anything_is_charged() -> None:
    loop = asyncio.new_event_loop()
    with founded() as ledger:
        receipt = ledger.charge(charge("before"))
        before = ledger.head
        wrong: list[Any] = [None, 3, "x", object(), Half(), Future, loop.create_future()]
        for outcome in wrong:
            submits: list[tuple[Any, tuple[object, ...]]] = [
                (ledger.submit_charge, (charge(),)),
                (ledger.submit_answer, (receipt, b"x")),
                (ledger.submit_budget, ("visits",)),
            ]
            for submit, asked in submits:
                with pytest.raises(InvalidParameter) as refused:
                    submit(*asked, outcome)
                assert refused.value.field == "outcome"
        assert ledger.head == before
    loop.close()


def test_whoever_must_be_called_is_called_after_the_last_was_told() -> None:
    order: list[str] = []

    class Posted:
        def __init__(self, name: str) -> None:
            self.name = name

        def set_result(self, result: object) -> None:
            order.append(f"{self.name} {result}")
            call_later(lambda: order.append(f"called for {self.name}"))

        def set_exception(self, fault: object) -> None:
            raise ValueError

        def done(self) -> bool:
            return False

    tell_all([(Posted("a"), 1, None), (Posted("b"), None, KeyError()), (Posted("c"), 2, None)])
    assert order == ["a 1", "c 2", "called for a", "called for c"]
    call_later(lambda: order.append("at once"))
    assert order[-1] == "at once"


def test_several_tasks_are_served_together_however_many() -> None:
    sizes: list[int] = []

    def serve(asked: Sequence[tuple[int, Answerable]]) -> None:
        sizes.append(len(asked))
        tell_all((one, task, None) for task, one in asked)

    desk: Desk[int] = Desk(serve, "test", gathers=True)
    for count in (64, 2_500):
        futures: list[Future[int]] = [Future() for _ in range(count)]
        desk.submit_all(list(enumerate(futures)))
        assert [future.result(10) for future in futures] == list(range(count))
    desk.close()
    assert sizes[0] == 64
    assert max(sizes) <= 2_000
