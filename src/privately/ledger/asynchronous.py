"""A ledger for programs with an event loop: as many clients as there are coroutines, and no thread for any of them."""

from __future__ import annotations

from asyncio import AbstractEventLoop, Future, get_running_loop
from collections import deque
from collections.abc import Awaitable, Callable
from inspect import isasyncgenfunction, isawaitable
from typing import Any

from privately.errors import InvalidParameter
from privately.ledger.acts import Receipt
from privately.ledger.budgets import Budget
from privately.ledger.charges import Charge
from privately.ledger.desks import call_later, check_may_wait, own
from privately.ledger.interrupts import uninterrupted
from privately.ledger.ledger import Answer, Ledger
from privately.ledger.rounds import Act
from privately.ledger.waking import give


class Mailbox:
    """Outcomes on their way to an event loop, which is called once for all that are there."""

    __slots__ = ("_called", "_posted", "loop")

    def __init__(self, loop: AbstractEventLoop) -> None:
        self.loop = loop
        self._posted: deque[tuple[Future[Any], Any, BaseException | None]] = deque()
        self._called = False

    def post(self, future: Future[Any], result: Any, fault: BaseException | None) -> None:
        """From any thread. Where the loop has ended nobody waits any more."""
        self._posted.append((future, result, fault))
        if not self._called:
            self._called = True
            call_later(self._call)

    def _call(self) -> None:
        try:
            self.loop.call_soon_threadsafe(self._deliver)
        except RuntimeError:
            self._posted.clear()
            self._called = False

    def _deliver(self) -> None:
        self._called = False  # first of all: whoever posts from now on calls again
        with uninterrupted():
            give([self._posted.popleft() for _ in range(len(self._posted))])


class Reply:
    """Where the outcome of one task goes: a future of an event loop."""

    __slots__ = ("_done", "_mailbox", "future")

    def __init__(self, mailbox: Mailbox, future: Future[Any]) -> None:
        self._mailbox, self.future = mailbox, future
        self._done = False

    def set_result(self, result: Any) -> None:
        self._done = True
        self._mailbox.post(self.future, result, None)

    def set_exception(self, fault: BaseException) -> None:
        self._done = True
        self._mailbox.post(self.future, None, fault)

    def done(self) -> bool:
        return self._done


class Outbox:
    """What coroutines ask for, on its way to the writer: all that one round of the loop brings, at once."""

    __slots__ = ("_asked", "_ledger", "_loop", "_mailbox")

    def __init__(self, mailbox: Mailbox, ledger: Ledger) -> None:
        self._mailbox, self._loop, self._ledger = mailbox, mailbox.loop, ledger
        self._asked: list[tuple[Act[Any], Future[Any]]] = []

    def ask(self, act: Act[Any]) -> Future[Any]:
        """In the thread of the loop. What is then awaited."""
        loop, asked = self._loop, self._asked
        future: Future[Any] = loop.create_future()
        if not asked:
            loop.call_soon(self._send)
        asked.append((act, future))
        return future

    def _send(self) -> None:
        """Handing over to another thread takes longer than a fast disk; from one that is slow the loop is spared."""
        asked, self._asked = self._asked, []
        try:
            if not self._ledger.take_turn_here(asked, give):
                self._ledger.submit_all([(act, Reply(self._mailbox, future)) for act, future in asked])
        except BaseException as fault:
            give((future, None, own(fault)) for _, future in asked)
            if not isinstance(fault, Exception):
                raise


class AsyncLedger:
    """The same ledger, the same turns, the same promises; what may take time is awaited.

    Whoever is cancelled while waiting has asked all the same: a charge may be made, or not, as where a connection is
    lost. Asked again under the same key it is not made twice. Several event loops may share a ledger.

    >>> import asyncio
    >>> from privately.guarantees import PureDP
    >>> async def main():
    ...     with Ledger.open(":memory:") as ledger:
    ...         ledger.account("visits", cap=PureDP(epsilon=1))
    ...         charge = Charge(lineages=["visits"], query="count", cost=PureDP(epsilon="0.1"))
    ...         async def run(receipt):
    ...             return b"42"
    ...         return (await AsyncLedger(ledger).answer(charge, run)).body
    >>> asyncio.run(main())
    b'42'
    """

    def __init__(self, ledger: Ledger) -> None:
        if not isinstance(ledger, Ledger):
            raise InvalidParameter("ledger", "give a Ledger that is open.")
        self.ledger = ledger
        self._boxes: tuple[Mailbox, Outbox] | None = None

    async def charge(self, charge: Charge, *, again: bool = False) -> Receipt:
        """As `Ledger.charge`: the receipt is there when the charge is durable."""
        act = self.ledger.charging(charge, again=again)
        receipt: Receipt = await self._opened()[1].ask(act)
        return receipt

    async def store(self, receipt: Receipt, answer: bytes) -> Answer:
        """As `Ledger.store`: only what it returns may be shown."""
        act = self.ledger.storing(receipt, answer)
        return Answer(body=await self._opened()[1].ask(act), receipt=receipt, free=False)

    async def answer(
        self, charge: Charge, run: Callable[[Receipt], Awaitable[bytes] | bytes], *, again: bool = False
    ) -> Answer:
        """Charges, runs, stores, answers, in this order. If `run` fails or is cancelled, the charge stays.

        What `run` returns is awaited if it can be; an ordinary function runs in the thread of the loop.
        """
        if not callable(run):
            raise InvalidParameter("run", "give an async function that takes the receipt and returns bytes.")
        if isasyncgenfunction(run):
            raise InvalidParameter("run", "yields; give an async function that returns bytes.")
        receipt = await self.charge(charge, again=again)
        if receipt.answer is not None:
            return Answer(body=receipt.answer, receipt=receipt, free=True)
        found = run(receipt)
        return await self.store(receipt, await found if isawaitable(found) else found)

    async def budget(self, lineage: str, *, analyst: str | None = None, token: str | None = None) -> Budget:
        """As `Ledger.budget`: what one account has left."""
        mailbox, _ = self._opened()
        reply = Reply(mailbox, mailbox.loop.create_future())
        self.ledger.submit_budget(lineage, reply, analyst=analyst, token=token)
        found: Budget = await reply.future
        return found

    def _opened(self) -> tuple[Mailbox, Outbox]:
        """Those of the loop that runs. One that a callback of a ledger runs would make the ledger wait for itself."""
        check_may_wait()
        loop, boxes = get_running_loop(), self._boxes
        if boxes is None or boxes[0].loop is not loop:
            mailbox = Mailbox(loop)
            boxes = self._boxes = mailbox, Outbox(mailbox, self.ledger)
        return boxes
