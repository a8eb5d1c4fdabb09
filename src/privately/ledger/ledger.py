"""The ledger: what may still be asked, what was asked, and that nothing leaves before it is paid for."""

from __future__ import annotations

import os
import secrets
from _thread import start_new_thread
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from inspect import isasyncgenfunction, iscoroutinefunction
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from weakref import finalize

from privately.accounting import Filter
from privately.errors import InvalidParameter, LedgerCorrupt, PrivatelyError
from privately.guarantees import ApproxDP, Guarantee
from privately.ledger.acts import (
    LARGEST_ANSWER,
    REUSES,
    AcceptClock,
    AdjustCap,
    MakeCharge,
    OpenAccount,
    Receipt,
    Reuse,
    StoreAnswer,
)
from privately.ledger.arguments import account_name, check_charge, checked_reason, filter_for
from privately.ledger.book import Book, Clock, now, spelled_page
from privately.ledger.budgets import Budget
from privately.ledger.catching_up import CaughtUp, caught_up
from privately.ledger.charges import OWNER, Charge, amounts
from privately.ledger.desks import Answerable, check_answerable
from privately.ledger.dividing import MOST_ACCOUNTS, verified_divided
from privately.ledger.entries import Entry, Founded, read
from privately.ledger.following import follow
from privately.ledger.names import checked_name, checked_path
from privately.ledger.pins import Pin, check_pin, check_same_ledger
from privately.ledger.quotes import payers, quote
from privately.ledger.rounds import Act, Asked
from privately.ledger.sketches import OwnerKey, sketch
from privately.ledger.state import State, spendable
from privately.ledger.stores import Head, Session, SQLiteReader, SQLiteStore, Store
from privately.ledger.tables import RegisterTable, Registration
from privately.ledger.verifying import Progress, Verification, verified
from privately.ledger.writer import Look, Outcomes, Reader, Writer
from privately.rounding import whole

_PAGE = 1_000
_MEMORY = ":memory:"
_SUBMITTED = (MakeCharge, StoreAnswer)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What may be shown: the bytes that are stored, and the receipt of their charge."""

    body: bytes
    receipt: Receipt
    free: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """An entry of the history."""

    number: int
    time: str
    hash: bytes
    entry: Entry


class Ledger:
    """Accounts, charges and answers in one file that only grows. Threads may share it; every process opens its own.

    >>> from privately.guarantees import PureDP
    >>> ledger = Ledger.open(":memory:")
    >>> ledger.account("visits", cap=PureDP(epsilon=1)).remaining
    PureDP(epsilon=1)
    >>> charge = Charge(lineages=["visits"], query="count", cost=PureDP(epsilon="0.1"))
    >>> ledger.answer(charge, lambda receipt: b"42").body
    b'42'
    >>> ledger.budget("visits").remaining
    PureDP(epsilon=0.9)
    >>> ledger
    <Ledger in memory: NOT DURABLE, 4 records>
    """

    def __init__(self, store: Store, *, clock: Clock = now, founds: bool = True) -> None:
        self._store = store
        self._writer = Writer(store, clock)
        self._reader = Reader(store, self._writer.stop)
        self._seen: State | None = None
        self._end = finalize(self, _end_elsewhere, self._writer, self._reader, store)
        self._end.atexit = False
        try:
            if store.writable:
                self._writer.start()
                if founds:
                    self._writer.perform(_found)
            _check_founded(self._state())
        except BaseException:
            self.close()
            raise

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, pin: Pin | str | None = None, clock: Clock = now) -> Ledger:
        """The ledger in this file, a new one if there is none; ":memory:" keeps one until the process ends.

        `pin` is a head that was kept elsewhere: LedgerCorrupt if the file does not go on from it.
        """
        if not callable(clock):
            raise InvalidParameter("clock", "give a function that tells the time, as a datetime.")
        name, pinned = checked_path(path), pin if pin is None or isinstance(pin, Pin) else Pin.parse(pin)
        if pinned is not None and name != _MEMORY and not Path(name).exists():
            raise LedgerCorrupt(f"{name} is gone, but its head was pinned.", hint="Put the ledger back.")
        ledger = cls(SQLiteStore(name), clock=clock, founds=pinned is None or name == _MEMORY)
        try:
            if pinned is not None:
                ledger.check(pinned)
        except BaseException:
            ledger.close()
            raise
        return ledger

    @classmethod
    def inspect(cls, path: str | os.PathLike[str]) -> Ledger:
        """The ledger in this file, only to look at: no file is created or changed, and none needs to be writable."""
        return cls(SQLiteReader(checked_path(path)))

    @property
    def durable(self) -> bool:
        """Whether it outlives the process."""
        return self._store.durable

    @property
    def head(self) -> Pin:
        """Where the ledger is now. Kept elsewhere, it shows later whether anything was undone."""
        return Pin.of(self._state())

    def account(
        self,
        lineage: str,
        *,
        cap: Guarantee,
        analyst: str | None = None,
        token: str | None = None,
        by: type[Guarantee] | None = None,
        reuse: Reuse = "everyone",
    ) -> Budget:
        """Opens the account of a lineage, or of an analyst or a token within it; with the same cap again, no change.

        An ApproxDP cap is kept by counting in `by`: ApproxZCDP unless told, or GaussianDP. `reuse` says who is given
        the stored answer to a question that was answered before, free.
        """
        if reuse not in REUSES:
            raise InvalidParameter("reuse", f"must be one of {', '.join(REUSES)}.")
        if analyst is not None and reuse != "everyone":
            raise InvalidParameter("reuse", "is decided for the whole lineage.", hint="Leave it out here.")
        reuse = REUSES[REUSES.index(reuse)]  # as it is written, whatever it inherits from
        name, filter_ = account_name(lineage, analyst, token), filter_for(cap, by)
        before = self._reader.look(partial(self._spent_before, name, filter_))
        self._writer.perform(OpenAccount(name=name, filter=filter_, reuse=reuse, before=before))
        return self.budget(lineage, analyst=analyst, token=token)

    def adjust(
        self,
        lineage: str,
        *,
        cap: Guarantee,
        by: str,
        reason: str,
        analyst: str | None = None,
        token: str | None = None,
    ) -> Budget:
        """Another cap, recorded with who decided it and why. What was spent stays spent."""
        name = account_name(lineage, analyst, token)
        known = self._state().accounts.get(name)
        if known is None:
            raise InvalidParameter("account", f"there is no account {name}.")
        kind = known.filter.tally.currency.kind
        if type(cap) not in (kind, ApproxDP):
            raise InvalidParameter("cap", f"account {name} counts in {kind.__name__}, which never changes.")
        following = filter_for(cap, kind)
        act = AdjustCap(name=name, filter=following, by=checked_name(by, "by"), reason=checked_reason(reason))
        self._writer.perform(act)
        return self.budget(lineage, analyst=analyst, token=token)

    def accept_clock(self, *, by: str, reason: str) -> None:
        """The owner says that the clock is right although it is behind earlier records."""
        self._writer.perform(AcceptClock(by=checked_name(by, "by"), reason=checked_reason(reason)))

    def register(
        self,
        table: str,
        *,
        lineage: str | Iterable[str] = (),
        units: Iterable[object] | None = None,
        key: OwnerKey | None = None,
        by: str = OWNER,
    ) -> Registration:
        """To which lineages a table belongs. With its `units` and the owner's key, known copies are recognised.

        A table in which people of another one are recognised belongs to the lineages of both. A table that is neither
        known nor recognised needs a lineage; a new name begins a new budget, which is for the owner to declare.
        """
        if not (key is None or isinstance(key, OwnerKey)) or not isinstance(lineage, Iterable):
            raise InvalidParameter("key", "give an OwnerKey, and a lineage or a list of them.")
        if (units is None) != (key is None):
            raise InvalidParameter("key", "units are sketched under the owner's key: give both, or none.")
        listed = (lineage,) if isinstance(lineage, str) else tuple(lineage)
        act = RegisterTable(
            table=checked_name(table, "table"),
            lineages=tuple(checked_name(name, "lineage") for name in listed),
            sketch=None if units is None or key is None else sketch(units, key),
            key=None if key is None else key.mark,
            by=checked_name(by, "by"),
        )
        return self._writer.perform(act)

    def price(self, charge: Charge) -> dict[str, Guarantee]:
        """What each account would pay. Free, and looks at nothing but the ledger."""
        check_charge(charge)
        found = {}
        for account in payers(self._state(), charge):
            currency = account.filter.tally.currency
            found[account.name] = currency.statement(spendable(amounts(charge.cost, currency)))
        return found

    def charge(self, charge: Charge, *, again: bool = False) -> Receipt:
        """Takes the cost from all accounts concerned, durably, or from none: BudgetExhausted.

        Nothing is taken if the answer is known: to the same key, or to the same question where that is allowed. The
        receipt then holds it. A request that was charged and has no answer is Unanswered; `again` pays once more.
        """
        return self._writer.perform(self.charging(charge, again=again))

    def submit_charge(self, charge: Charge, outcome: Answerable, *, again: bool = False) -> None:
        """As `charge`, without waiting: `outcome`, such as a Future, is given the receipt or the error by a thread.

        What it then runs in that thread cannot wait for a ledger, but may submit.
        """
        check_answerable(outcome)
        self._writer.submit(self.charging(charge, again=again), outcome)

    def store(self, receipt: Receipt, answer: bytes) -> Answer:
        """Keeps an answer, durably; only then it may be shown, or the one stored before it for the same key."""
        shown = self._writer.perform(self.storing(receipt, answer))
        return Answer(body=shown, receipt=receipt, free=False)

    def submit_answer(self, receipt: Receipt, answer: bytes, outcome: Answerable) -> None:
        """As `store`, without waiting: `outcome` is given the bytes that may be shown, or the error."""
        check_answerable(outcome)
        self._writer.submit(self.storing(receipt, answer), outcome)

    def charging(self, charge: Charge, *, again: bool = False) -> MakeCharge:
        """The act of a charge, with what can be known of it before the writer's turn. Nothing is charged yet."""
        check_charge(charge)
        if not isinstance(again, bool):
            raise InvalidParameter("again", "give True to pay once more, or False.")
        state = self._writer.state
        try:
            prepared = None if state is None else quote(state, charge)
        except PrivatelyError:
            prepared = None  # what was seen may be old, or the answer known; the turn decides
        made: MakeCharge = tuple.__new__(MakeCharge, (charge, again, prepared))
        return made  # as MakeCharge(...), in a third of the time, once for every charge

    def storing(self, receipt: Receipt, answer: bytes) -> StoreAnswer:
        """The act of storing an answer. Nothing is stored yet."""
        if not isinstance(receipt, Receipt) or not isinstance(receipt.charge, Charge) or not _is_head(receipt.head):
            raise InvalidParameter("receipt", "give what `charge` returned.")
        if not isinstance(answer, bytes) or len(answer) > LARGEST_ANSWER:
            raise InvalidParameter("answer", f"give bytes, at most {LARGEST_ANSWER:,} of them.")
        return StoreAnswer(receipt=receipt, answer=answer)

    def submit_all(self, asked: Sequence[Asked]) -> None:
        """Has what `charging` and `storing` made done, in one turn as far as possible, each with whom to tell."""
        listed = isinstance(asked, Sequence)  # what can be read only once would be gone when it is asked for
        if not listed or not all(type(one) is tuple and len(one) == 2 and type(one[0]) in _SUBMITTED for one in asked):
            raise InvalidParameter("asked", "give pairs: what `charging` or `storing` made, and who is told.")
        for outcome in {type(outcome): outcome for _, outcome in asked}.values():
            check_answerable(outcome)
        self._writer.submit_all(asked)

    def take_turn_here(self, asked: Sequence[tuple[Act[Any], Any]], give: Callable[[Outcomes], None]) -> bool:
        """As `submit_all`, but at once, by the thread that asks; False, and nothing done, where that may take long."""
        return self._writer.take_turn_here(asked, give)

    def answer(self, charge: Charge, run: Callable[[Receipt], bytes], *, again: bool = False) -> Answer:
        """Charges, runs, stores, answers, in this order. If `run` fails, the charge stays: it may have seen data."""
        if not callable(run):
            raise InvalidParameter("run", "give a function that takes the receipt and returns bytes.")
        if any(iscoroutinefunction(one) or isasyncgenfunction(one) for one in (run, getattr(run, "__call__", run))):  # noqa: B004
            raise InvalidParameter("run", "is asynchronous.", hint="Use privately.ledger.asynchronous.AsyncLedger.")
        receipt = self.charge(charge, again=again)
        if receipt.answer is not None:
            return Answer(body=receipt.answer, receipt=receipt, free=True)
        return self.store(receipt, run(receipt))

    def budget(self, lineage: str, *, analyst: str | None = None, token: str | None = None) -> Budget:
        """What one account has left. A charge must fit into the accounts above it too."""
        return self._reader.look(self._budget_of(lineage, analyst, token))

    def submit_budget(
        self, lineage: str, outcome: Answerable, *, analyst: str | None = None, token: str | None = None
    ) -> None:
        """As `budget`, without waiting."""
        check_answerable(outcome)
        self._reader.submit(self._budget_of(lineage, analyst, token), outcome)

    def budgets(self) -> tuple[Budget, ...]:
        """Every account, by name."""
        accounts = self._state().accounts
        return tuple(Budget.of(account, accounts) for _, account in sorted(accounts.items()))

    def tables(self) -> dict[str, tuple[str, ...]]:
        """The lineages of every table that was registered."""
        return {name: table.lineages for name, table in sorted(self._state().tables.items())}

    def history(self, *, after: int = 0, upto: int | None = None) -> Iterator[Record]:
        """The records after this one, up to that one, in their order."""
        first = whole(after, "after", minimum=0)
        last = self._state().head.number
        return self._records(first, last if upto is None else min(whole(upto, "upto", minimum=0), last))

    def _records(self, after: int, last: int) -> Iterator[Record]:
        for start in range(after, last, _PAGE):
            for row in self._reader.look(partial(spelled_page, start, min(start + _PAGE, last))):
                with self._noticing():
                    entry, time = read(row.text)
                yield Record(number=row.number, time=time, hash=row.hash, entry=entry)

    def check(self, pin: Pin | str) -> None:
        """Passes if the ledger goes on from a head that was kept elsewhere; otherwise LedgerCorrupt."""
        state, pinned = self._state(), pin if isinstance(pin, Pin) else Pin.parse(pin)
        check_same_ledger(state, pinned)
        self._reader.look(lambda session: check_pin(session, state, pinned))

    def verify(self, *, progress: Callable[[int, int], None] | None = None) -> Verification:
        """Reads everything again from the first record on; LedgerCorrupt if anything does not follow.

        Nothing is charged or stored after that.
        """
        if not (progress is None or callable(progress)):
            raise InvalidParameter("progress", "give a function of how many records were read, and of how many.")
        told = None if progress is None else _never_back(progress)
        with self._noticing():
            look, aside = self._reader.look, self._store.checking
            few = self._seen is None or len(self._seen.accounts) <= MOST_ACCOUNTS
            place = self._store.elsewhere if few else None
            found = verified_divided(look, place, aside=aside, progress=told)
            return verified(look, aside=aside, progress=told) if found is None else found

    def backup(self, path: str | os.PathLike[str]) -> None:
        """Copies all that is committed into a new file, while the ledger is in use.

        A backup that is put back forgets what was spent since: pin the head elsewhere, so that this shows.
        """
        target = checked_path(path)
        if target == _MEMORY:
            raise InvalidParameter("path", "a backup that ends with the process is none.", hint="Give a new file.")
        self._reader.look(lambda session: session.backup(target))

    def close(self) -> None:
        """Ends after what waits is done, and leaves all in one file."""
        if self._end.detach() is not None:
            _end(self._writer, self._reader, self._store)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        place = "" if self.durable else " in memory: NOT DURABLE,"
        try:
            return f"<Ledger{place} {self._state().head.number} records>"
        except PrivatelyError as fault:
            return f"<Ledger{place} {fault.message}>"

    @contextmanager
    def _noticing(self) -> Iterator[None]:
        """Whoever notices that the ledger is corrupt has the writer stop."""
        try:
            yield
        except LedgerCorrupt as fault:
            self._writer.stop(fault)
            raise

    def _state(self) -> State:
        """All that is committed by now, by whomever."""
        return self._reader.look(self._follow)

    def _follow(self, session: Session) -> State:
        written = self._writer.state  # before the file is looked at
        seen = follow(session, self._seen)
        if written is not None and seen.head.number < written.head.number:
            raise LedgerCorrupt("the file holds less than was written to it: an earlier state was put back.")
        self._seen = seen
        return seen

    def _budget_of(self, lineage: str, analyst: str | None, token: str | None) -> Look[Budget]:
        name = account_name(lineage, analyst, token)

        def find(session: Session) -> Budget:
            accounts = self._follow(session).accounts
            if name not in accounts:
                raise InvalidParameter("account", f"there is no account {name}.")
            return Budget.of(accounts[name], accounts)

        return find

    def _spent_before(self, name: str, filter_: Filter, session: Session) -> CaughtUp | None:
        """Most of what a holder has spent is read outside the writer's turn."""
        state = self._follow(session)
        if name in state.accounts:
            return None
        return caught_up(session, state, name, CaughtUp(filter_))


def _end(writer: Writer, reader: Reader, store: Store) -> None:
    writer.close()
    reader.close()
    store.close()


def _end_elsewhere(writer: Writer, reader: Reader, store: Store) -> None:
    """For a ledger that nobody closed and nobody uses any more. Whichever thread notices may be one that holds the lock
    of the file for another ledger, so that it must not wait for it.
    """
    start_new_thread(_end, (writer, reader, store))


def _is_head(head: object) -> bool:
    return isinstance(head, Head) and type(head.number) is int and type(head.hash) is bytes


def _found(book: Book) -> None:
    if book.state.head.number == 0:
        book.append(Founded(ledger=secrets.token_hex(16)))


def _check_founded(state: State) -> None:
    if state.head.number == 0:
        raise LedgerCorrupt("the file holds no record.", hint="If it ever did, put its log (-wal) back.")


def _never_back(progress: Progress) -> Progress:
    """Tells of a second reading only what goes beyond the first."""
    most = -1

    def tell(done: int, total: int) -> None:
        nonlocal most
        if done > most:
            most = done
            progress(done, total)

    return tell
