"""Coroutines as clients: the same promises, nobody waits for ever, and whoever is cancelled harms nobody."""

import asyncio
import os
import threading
from collections.abc import Sequence
from concurrent.futures import Future as ConcurrentFuture
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from privately.accounting.filters import Currency
from privately.errors import BudgetExhausted, InvalidParameter, LedgerUnavailable, Unanswered
from privately.guarantees import PureDP
from privately.ledger import Ledger, Receipt, asynchronous, waking
from privately.ledger import writer as writers
from privately.ledger.asynchronous import AsyncLedger, Mailbox, Outbox, Reply
from privately.ledger.book import Book, now
from privately.ledger.writer import Writer
from tests.ledger.examples import charge, founded
from tests.ledger.stores.test_forks import in_a_child, refused

CLIENTS = 64


@pytest.fixture(params=["the loop's", "the writer's"], autouse=True)
def whose_thread(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Who takes the turns, as if the disk were fast or slow."""
    monkeypatch.setattr(writers, "LONG", float("inf") if request.param == "the loop's" else -1.0)
    name: str = request.param
    return name


async def run(receipt: Receipt) -> bytes:
    return b"answer to %d" % receipt.number


def held(ledger: Ledger) -> tuple[threading.Event, threading.Event]:
    """A turn that has begun, and what lets it end."""
    begun, go = threading.Event(), threading.Event()

    def wait(book: Book) -> None:
        begun.set()
        go.wait(30)

    threading.Thread(target=ledger._writer.perform, args=(wait,), daemon=True).start()
    begun.wait(30)
    return begun, go


def test_charge_run_store_answer(tmp_path: Path) -> None:
    with founded(tmp_path / "l") as ledger:
        awaited = AsyncLedger(ledger)

        async def main() -> None:
            first = await awaited.answer(charge("q", key="k"), run)
            assert (first.body, first.free) == (b"answer to 3", False)
            again = await awaited.answer(charge("q", key="k"), run)
            assert (again.body, again.free) == (b"answer to 3", True)
            assert (await awaited.budget("visits")).remaining == PureDP(epsilon="0.9")
            receipt = await awaited.charge(charge("other"))
            assert (await awaited.store(receipt, b"42")).body == b"42"
            with pytest.raises(InvalidParameter, match="was used for another request"):
                await awaited.charge(charge("another", key="k"))
            with pytest.raises(InvalidParameter, match="no account"):
                await awaited.budget("wards")

        asyncio.run(main())
        assert [record.entry.what for record in ledger.history()][2:] == ["charged", "released"] * 2
        assert ledger.verify().charges == 2


def test_bad_input_is_refused_at_once() -> None:
    with founded() as ledger:
        awaited: Any = AsyncLedger(ledger)

        async def main() -> None:
            receipt = await awaited.charge(charge())
            for wrong in (
                awaited.charge("count"),
                awaited.store("receipt", b""),
                awaited.store(receipt, "text"),
                awaited.answer(charge(), None),
                awaited.budget("a/b"),
            ):
                with pytest.raises(InvalidParameter):
                    await wrong

        asyncio.run(main())
        assert ledger.head.number == 3
    with pytest.raises(InvalidParameter, match="Ledger"):
        AsyncLedger("ledger")  # type: ignore[arg-type]


@pytest.mark.parametrize(("cap", "cost", "fit"), [("1", "0.3", 3), ("0.6399", "0.01", 63)])
def test_coroutines_race_for_the_last_unit(tmp_path: Path, cap: str, cost: str, fit: int) -> None:
    left = PureDP(epsilon=Fraction(cap) - fit * Fraction(cost))
    with founded(tmp_path / "l", cap=cap) as ledger:
        awaited = AsyncLedger(ledger)

        async def main() -> list[Any]:
            asked = (awaited.charge(charge(f"q{at}", cost=PureDP(epsilon=cost))) for at in range(CLIENTS))
            return await asyncio.gather(*asked, return_exceptions=True)

        outcomes = asyncio.run(main())
        assert sum(isinstance(one, Receipt) for one in outcomes) == fit
        refusals = [one for one in outcomes if not isinstance(one, Receipt)]
        assert all(isinstance(one, BudgetExhausted) and one.left == left for one in refusals)
        assert ledger.verify().charges == fit


def test_coroutines_and_threads_of_several_loops_share_turns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    take = Writer.take_turn

    def counted(self: Writer, acts: Sequence[Any]) -> None:
        sizes.append(len(acts))
        take(self, acts)

    monkeypatch.setattr(Writer, "take_turn", counted)
    with founded(tmp_path / "l", cap=100) as ledger:
        awaited = AsyncLedger(ledger)

        async def client(name: str) -> None:
            for at in range(10):
                await awaited.charge(charge(f"{name} {at}"))

        async def main(name: str) -> None:
            await asyncio.gather(*(client(f"{name} {number}") for number in range(16)))

        def wait() -> None:
            for at in range(10):
                ledger.charge(charge(f"{threading.get_ident()} {at}"))

        threads = [threading.Thread(target=asyncio.run, args=(main(f"loop {number}"),)) for number in range(2)]
        threads += [threading.Thread(target=wait) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert not any(thread.is_alive() for thread in threads)
        assert ledger.budget("visits").entries == ledger.verify().charges == 360
    assert len(sizes) < 200


def test_nothing_is_told_before_it_is_durable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, whose_thread: str
) -> None:
    told: list[tuple[int, int]] = []
    with founded(tmp_path / "l", cap=100) as ledger:
        awaited, post, give = AsyncLedger(ledger), Mailbox.post, waking.give

        def look(result: Any) -> None:
            with ledger._store.reading() as session:
                told.append((result.number, session.head().number))

        def posts(self: Mailbox, future: Any, result: Any, fault: Any) -> None:
            look(result)
            post(self, future, result, fault)

        def gives(outcomes: Any) -> None:
            for _, result, _ in outcomes:
                look(result)
            give(outcomes)

        if whose_thread == "the writer's":
            monkeypatch.setattr(Mailbox, "post", posts)
        else:
            monkeypatch.setattr(asynchronous, "give", gives)

        async def client(number: int) -> None:
            for at in range(20):
                await awaited.charge(charge(f"{number} {at}"))

        async def main() -> None:
            await asyncio.gather(*(client(number) for number in range(8)))

        asyncio.run(main())
    assert len(told) == 160
    assert all(number <= durable for number, durable in told)


def test_whoever_is_cancelled_may_have_been_charged(tmp_path: Path) -> None:
    """As where a connection is lost: the charge stands, and the same key is not charged again."""
    with founded(tmp_path / "l") as ledger:
        awaited = AsyncLedger(ledger)

        async def main() -> None:
            _, go = held(ledger)
            lost = asyncio.create_task(awaited.charge(charge("q", key="k")))
            await asyncio.sleep(0)
            lost.cancel()
            go.set()
            with pytest.raises(asyncio.CancelledError):
                await lost
            with pytest.raises(Unanswered):
                await awaited.charge(charge("q", key="k"))
            assert (await awaited.charge(charge("q", key="k"), again=True)).number == 4

        asyncio.run(main())
        assert ledger.budget("visits").entries == 2


@pytest.mark.parametrize("fault", [ZeroDivisionError(), asyncio.CancelledError()])
def test_a_run_that_fails_or_is_cancelled_stays_charged(fault: BaseException) -> None:
    async def fail(receipt: Receipt) -> bytes:
        raise fault

    with founded() as ledger:

        async def main() -> None:
            with pytest.raises(type(fault)):
                await AsyncLedger(ledger).answer(charge("q"), fail)

        asyncio.run(main())
        assert ledger.budget("visits").entries == 1


class Uncopied(Exception):
    """An error that cannot be made again from its text."""

    def __init__(self, *, reason: str) -> None:
        super().__init__(reason)


@pytest.mark.parametrize("fault", [ZeroDivisionError(), Uncopied(reason="none")])
def test_an_error_on_the_way_to_the_writer_is_told(monkeypatch: pytest.MonkeyPatch, fault: Exception) -> None:
    def fail(*_: object) -> None:
        raise fault

    for way in ("take_turn_here", "submit_all"):
        monkeypatch.setattr(Ledger, way, fail)
    ledger = founded()

    async def main() -> list[Any]:
        outbox = Outbox(Mailbox(asyncio.get_running_loop()), ledger)
        asked = [outbox.ask(lambda book: None) for _ in range(2)]
        return await asyncio.wait_for(asyncio.gather(*asked, return_exceptions=True), 10)

    assert [type(one) for one in asyncio.run(main())] == [type(fault)] * 2
    ledger.close()


def test_what_one_round_of_a_loop_asks_for_goes_to_the_writer_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    take_here = Ledger.take_turn_here

    def counted(self: Ledger, asked: Sequence[Any], give: Any) -> bool:
        sizes.append(len(asked))
        return take_here(self, asked, give)

    monkeypatch.setattr(Ledger, "take_turn_here", counted)
    with founded(cap=100) as ledger:
        awaited = AsyncLedger(ledger)

        async def client(number: int) -> None:
            for at in range(3):
                await awaited.answer(charge(f"{number} {at}"), run)

        async def main() -> None:
            await asyncio.gather(*(client(number) for number in range(CLIENTS)))

        asyncio.run(main())
        assert ledger.verify().answers == 3 * CLIENTS
    assert max(sizes) == CLIENTS
    assert len(sizes) < 30


def test_a_loop_in_a_callback_of_the_ledger_cannot_wait_for_it() -> None:
    told: list[BaseException] = []

    async def ask(ledger: Ledger) -> None:
        awaited = AsyncLedger(ledger)
        for attempt in (awaited.charge(charge("inner")), awaited.budget("visits")):
            with pytest.raises(LedgerUnavailable, match="cannot wait") as caught:
                await asyncio.wait_for(attempt, 10)
            told.append(caught.value)

    with founded() as ledger:
        outcome: ConcurrentFuture[Receipt] = ConcurrentFuture()
        outcome.add_done_callback(lambda _: asyncio.run(ask(ledger)))
        ledger.submit_charge(charge("outer"), outcome)
        assert outcome.result(10).answer is None
        assert ledger.charge(charge("later")).answer is None
    assert len(told) == 2


def test_what_yields_is_refused_before_it_is_paid_for() -> None:
    async def yields(receipt: Receipt) -> Any:
        yield b"answer"

    with founded() as ledger:
        with pytest.raises(InvalidParameter, match="yields"):
            asyncio.run(AsyncLedger(ledger).answer(charge(), yields))
        assert ledger.budget("visits").entries == 0


@pytest.mark.parametrize("wrong", [[1], [()], [(1, 2)], [(lambda book: None, ConcurrentFuture())], [None], 7, iter([])])
def test_only_what_the_ledger_made_is_submitted(wrong: Any) -> None:
    with founded() as ledger:
        with pytest.raises(InvalidParameter, match="asked"):
            ledger.submit_all(wrong)
        with pytest.raises(InvalidParameter, match="outcome"):
            ledger.submit_all([(ledger.charging(charge("q")), object())])  # type: ignore[list-item]
        assert ledger.charge(charge("later")).answer is None


def test_a_loop_that_has_ended_harms_nobody(tmp_path: Path) -> None:
    with founded(tmp_path / "l") as ledger:
        awaited = AsyncLedger(ledger)
        _, go = held(ledger)

        async def leave() -> None:
            waiting = asyncio.create_task(awaited.charge(charge("left")))
            await asyncio.sleep(0)
            waiting.cancel()

        asyncio.run(leave())
        go.set()
        ledger.charge(charge("later"))
        assert asyncio.run(awaited.charge(charge("in another loop"))).number == 5
        assert ledger.verify().charges == 3


def test_nothing_is_kept_for_a_loop_that_has_ended() -> None:
    loop = asyncio.new_event_loop()
    future = loop.create_future()
    mailbox = Mailbox(loop)
    loop.close()
    for _ in range(3):
        mailbox.post(future, 1, None)
        assert not mailbox._posted


def test_a_future_that_was_cancelled_stops_no_reader() -> None:
    with founded() as ledger:
        gone, other = ConcurrentFuture[Any](), ConcurrentFuture[Any]()
        gone.cancel()
        ledger.submit_budget("visits", gone)
        ledger.submit_budget("visits", other)
        assert other.result(10).entries == 0
        assert ledger.budget("visits").entries == 0


def test_futures_without_a_loop() -> None:
    with founded() as ledger:
        charged, stored = ConcurrentFuture[Any](), ConcurrentFuture[Any]()
        ledger.submit_charge(charge(), charged)
        ledger.submit_answer(charged.result(10), b"42", stored)
        assert stored.result(10) == b"42"
        refused_ = ConcurrentFuture[Any]()
        ledger.submit_charge(charge("large", cost=PureDP(epsilon=2)), refused_)
        assert isinstance(refused_.exception(10), BudgetExhausted)


def test_closing_answers_all_who_wait(tmp_path: Path) -> None:
    ledger = founded(tmp_path / "l", cap=100)
    awaited = AsyncLedger(ledger)

    async def client(number: int) -> int:
        for at in range(1_000):
            try:
                await awaited.charge(charge(f"{number} {at}"))
            except LedgerUnavailable:
                return at
        return -1

    async def main() -> list[int]:
        clients = [asyncio.create_task(client(number)) for number in range(8)]
        await asyncio.sleep(0.05)
        await asyncio.to_thread(ledger.close)
        return await asyncio.wait_for(asyncio.gather(*clients), 30)

    charged = asyncio.run(main())
    assert -1 not in charged
    with Ledger.open(tmp_path / "l") as again:
        assert again.budget("visits").entries == sum(charged)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_nobody_waits_for_a_writer_that_died() -> None:
    def die(book: Book) -> None:
        raise SystemExit

    ledger = founded()
    awaited = AsyncLedger(ledger)

    async def main() -> list[Any]:
        mailbox = Mailbox(asyncio.get_running_loop())
        reply = Reply(mailbox, asyncio.get_running_loop().create_future())
        ledger._writer.submit(die, reply)
        asked = [awaited.charge(charge(f"q{at}")) for at in range(3)]
        return await asyncio.wait_for(asyncio.gather(reply.future, *asked, return_exceptions=True), 30)

    assert all(isinstance(one, LedgerUnavailable) for one in asyncio.run(main()))
    with pytest.raises(LedgerUnavailable, match="was closed"):
        asyncio.run(awaited.charge(charge()))
    ledger.close()


def test_whoever_comes_when_the_writer_has_just_ended_is_told() -> None:
    """Between the look whether it is open and the last look of the writer into its queue."""
    ledger = founded()
    desk = ledger._writer._writing()
    ledger._writer.close()
    desk._closing = False
    with pytest.raises(LedgerUnavailable, match="was closed"):
        asyncio.run(AsyncLedger(ledger).charge(charge()))
    ledger.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_is_refused_at_once(tmp_path: Path) -> None:
    with founded(tmp_path / "l") as ledger:
        awaited = AsyncLedger(ledger)
        assert in_a_child(refused(lambda: asyncio.run(awaited.charge(charge())))) == 0
        assert in_a_child(refused(lambda: asyncio.run(awaited.budget("visits")))) == 0
        asyncio.run(awaited.charge(charge()))
        assert ledger.verify().charges == 1


def test_a_ledger_that_is_only_read(tmp_path: Path) -> None:
    with founded(tmp_path / "l"):
        pass
    with Ledger.inspect(tmp_path / "l") as ledger:
        awaited = AsyncLedger(ledger)
        assert asyncio.run(awaited.budget("visits")).entries == 0
        with pytest.raises(LedgerUnavailable, match="reading only"):
            asyncio.run(awaited.charge(charge()))


class Called:
    async def __call__(self, receipt: Receipt) -> bytes:
        return await run(receipt)


def test_an_ordinary_function_may_answer_a_coroutine() -> None:
    with founded() as ledger:
        awaited = AsyncLedger(ledger)
        functions: list[Any] = [lambda receipt: b"42", Called(), run]
        for at, function in enumerate(functions):
            asyncio.run(awaited.answer(charge(f"q{at}"), function))
        assert ledger.verify().answers == 3


def test_an_asynchronous_function_is_refused_to_a_thread_before_it_is_charged() -> None:
    async def several(receipt: Receipt) -> Any:
        yield b"1"

    with founded() as ledger:
        functions: list[Any] = [run, Called(), several, partial(run)]
        for function in functions:
            with pytest.raises(InvalidParameter, match="is asynchronous"):
                ledger.answer(charge(), function)
        assert ledger.budget("visits").entries == 0


def test_an_error_that_a_loop_does_not_take_keeps_nothing_from_others() -> None:
    """asyncio refuses to raise StopIteration; whoever waits is told all the same, and so are those behind."""
    faulty = iter([now()] * 2)  # founded, opened; then it ends
    with Ledger.open(":memory:", clock=faulty.__next__) as ledger:
        ledger.account("visits", cap=PureDP(epsilon=1))
        awaited = AsyncLedger(ledger)

        async def main() -> list[Any]:
            asked = (awaited.charge(charge(f"q{at}")) for at in range(3))
            return await asyncio.wait_for(asyncio.gather(*asked, return_exceptions=True), 10)

        told = asyncio.run(main())
    assert [type(one) for one in told] == [LedgerUnavailable] * 3


def test_what_was_priced_in_another_thread_is_not_priced_in_that_of_the_loop(
    monkeypatch: pytest.MonkeyPatch, whose_thread: str
) -> None:
    threads: list[int] = []
    price = Currency.price

    def noted(self: Currency, cost: Any) -> Any:
        if cost == asked.cost:
            threads.append(threading.get_ident())
        return price(self, cost)

    monkeypatch.setattr(Currency, "price", noted)
    asked = charge(cost=PureDP(epsilon=Fraction(1, 97 if whose_thread == "the loop's" else 101)))
    with founded() as ledger:

        async def main() -> None:
            await asyncio.get_running_loop().run_in_executor(None, ledger.price, asked)
            await AsyncLedger(ledger).charge(asked)

        asyncio.run(main())
        assert len(threads) == 1
        assert threads != [threading.get_ident()]
