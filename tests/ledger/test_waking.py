"""Whoever waits in a loop is told and woken, each in its own context, whatever becomes of the others."""

import asyncio
import os
import signal
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

import pytest

from privately.errors import LedgerUnavailable
from privately.ledger.asynchronous import Mailbox
from privately.ledger.waking import give

NAME: ContextVar[str] = ContextVar("NAME")
Outcome = tuple[Any, BaseException | None]


async def waiting(number: int) -> tuple[list[asyncio.Future[Any]], list[asyncio.Task[Any]]]:
    """Futures, and a task that waits for each."""
    futures: list[asyncio.Future[Any]] = [asyncio.get_running_loop().create_future() for _ in range(number)]

    async def wait(future: asyncio.Future[Any], at: int) -> tuple[Any, str]:
        NAME.set(f"task {at}")
        return await future, NAME.get()

    tasks = [asyncio.create_task(wait(future, at)) for at, future in enumerate(futures)]
    await asyncio.sleep(0)
    return futures, tasks


def test_results_and_errors_come_to_whom_they_are_for_in_their_own_context() -> None:
    async def main() -> list[Any]:
        futures, tasks = await waiting(3)
        outcomes: list[Outcome] = [("first", None), (None, ZeroDivisionError()), ("third", None)]
        give([(future, *outcome) for future, outcome in zip(futures, outcomes, strict=True)])
        assert not any(task.done() for task in tasks)
        return await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 10)

    first, second, third = asyncio.run(main())
    assert (first, third) == (("first", "task 0"), ("third", "task 2"))
    assert type(second) is ZeroDivisionError


@pytest.mark.parametrize("fault", [KeyboardInterrupt, SystemExit])
def test_one_who_wants_to_end_keeps_nothing_from_those_behind(fault: type[BaseException]) -> None:
    """What asyncio lets out of the loop. Once it runs again, the others go on."""
    loop = asyncio.new_event_loop()
    futures: list[asyncio.Future[Any]] = [loop.create_future() for _ in range(3)]

    async def wait(at: int) -> int:
        await futures[at]
        if at == 0:
            raise fault
        return at

    async def rest() -> list[int]:
        return await asyncio.wait_for(asyncio.gather(*tasks[1:]), 10)

    tasks = [loop.create_task(wait(at)) for at in range(3)]
    loop.run_until_complete(asyncio.sleep(0))
    loop.call_soon(give, [(future, None, None) for future in futures])
    with pytest.raises(fault):
        loop.run_forever()
    assert loop.run_until_complete(rest()) == [1, 2]
    assert isinstance(tasks[0].exception(), fault)
    loop.close()


def test_one_who_is_cancelled_meanwhile_is_cancelled() -> None:
    """Before it is told, or between being told and being woken."""

    async def main() -> list[Any]:
        futures, tasks = await waiting(3)
        tasks[0].cancel()
        give([(future, "told", None) for future in futures])
        tasks[1].cancel()
        return await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 10)

    first, second, third = asyncio.run(main())
    assert type(first) is type(second) is asyncio.CancelledError
    assert third == ("told", "task 2")


def test_a_future_for_which_several_or_nobody_waits() -> None:
    async def main() -> list[Any]:
        loop = asyncio.get_running_loop()
        futures, tasks = await waiting(1)
        alone: asyncio.Future[Any] = loop.create_future()
        seen: list[Any] = []
        futures[0].add_done_callback(lambda future: seen.append(future.result()))
        give([(futures[0], "told", None), (alone, "nobody", None)])
        return [*await asyncio.wait_for(asyncio.gather(*tasks, alone), 10), *seen]

    assert asyncio.run(main()) == [("told", "task 0"), "nobody", "told"]


class Foreign:
    """A future of another library, which does not say who waits for it."""

    def __init__(self) -> None:
        self.told: list[Any] = []

    def done(self) -> bool:
        return False

    def set_result(self, result: Any) -> None:
        self.told.append(result)

    def set_exception(self, fault: BaseException) -> None:
        if isinstance(fault, StopIteration):
            raise TypeError
        self.told.append(fault)


class Interrupting(Foreign):
    """Ctrl-C comes while it is told."""

    def set_result(self, result: Any) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        super().set_result(result)


@pytest.fixture
def ctrl_c_raises() -> Iterator[None]:
    """Whatever started us: a shell that runs us in the background has Ctrl-C ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c_raises")
def test_an_interrupt_keeps_nothing_from_those_behind() -> None:
    loop = asyncio.new_event_loop()
    interrupting: Any = Interrupting()
    future: asyncio.Future[str] = loop.create_future()
    mailbox = Mailbox(loop)
    mailbox.post(interrupting, "first", None)
    mailbox.post(future, "second", None)
    with pytest.raises(KeyboardInterrupt):
        loop.run_forever()
    assert interrupting.told == ["first"]
    assert loop.run_until_complete(asyncio.wait_for(future, 10)) == "second"
    loop.close()


@pytest.mark.parametrize("fault", [StopIteration(), SystemExit()])
def test_futures_of_other_loops(fault: BaseException) -> None:
    future: Any = Foreign()
    loop = asyncio.new_event_loop()
    give([(future, 7, None), (future, None, fault)])
    assert future.told[0] == 7
    assert type(future.told[1]) is LedgerUnavailable
    loop.close()
