"""Planted faults: stores, writers and clients with the mistakes that the simulation must find."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from itertools import takewhile
from typing import Any
from unittest.mock import patch

import apsw

from privately.errors import PrivatelyError
from privately.ledger import Charge, Receipt, rounds, state
from privately.ledger import acts as accounts
from privately.ledger.acts import MakeCharge
from privately.ledger.book import Book, Quote
from privately.ledger.desks import Answerable
from privately.ledger.entries import Charged, Opened
from privately.ledger.following import follow
from privately.ledger.rounds import Act
from privately.ledger.state import State
from privately.ledger.stores import Row, SQLiteStore, logs
from privately.ledger.stores.sqlite import SQLiteSession
from tests.ledger.simulation.clients import Clients
from tests.ledger.simulation.disk import Disk
from tests.ledger.simulation.lives import Plan
from tests.ledger.simulation.processes import InlineWriter


class SkipsSync(SQLiteStore):
    """Commits are in the log, and not yet on the disk."""

    def _connected(self, name: str) -> apsw.Connection:
        connection = super()._connected(name)
        connection.execute("PRAGMA synchronous = NORMAL").fetchall()
        return connection


class SkipsSyncOfLedger(Disk):
    """The log is forgotten before what was carried over is on the disk."""

    def synced(self, name: str) -> None:
        if name.endswith("-wal"):
            super().synced(name)


class HashesAfterwards(SQLiteStore):
    """The records in one transaction, their hashes in the next."""

    @contextmanager
    def writing(self, *, waits: bool = True) -> Iterator[SQLiteSession]:
        with super().writing(waits=waits) as session:
            before = session.head().number
            yield session
            rows = list(session.rows(before))
            self._set_hashes([row._replace(hash=bytes(32)) for row in rows])
        with super().writing():
            self._set_hashes(rows)

    def _set_hashes(self, rows: list[Row]) -> None:
        """Replacing a row goes past the triggers that keep it."""
        columns = "text, key, question, charge, checkpoint FROM record WHERE number = ?2"
        for row in rows:
            self._writer.execute(f"REPLACE INTO record SELECT number, ?1, {columns}", (row.hash, row.number))


class LosesTheLock(SQLiteStore):
    """The log is carried over after the turn, when another one may have begun."""

    @contextmanager
    def writing(self, *, waits: bool = True) -> Iterator[SQLiteSession]:
        with super().writing(waits=waits) as session:
            yield session
        if self._log is not None and self._log.size > logs.LONG // 2:
            self._log.carry_all_over()


class Hasty(InlineWriter):
    """Gives results before they are durable."""

    def take_turn(self, acts: Sequence[tuple[Act[Any], Answerable]]) -> None:
        with self._store.writing() as session:
            book = Book(session, follow(session, self._state), self._clock)
            for act, future in acts:
                try:
                    future.set_result(act(book))
                except PrivatelyError as refusal:
                    future.set_exception(refusal)
            book.finish()
        self._state = book.state


class Generous(InlineWriter):
    """Who charges the same again and again is not asked any more whether it fits."""

    def take_turn(self, acts: Sequence[tuple[Act[Any], Answerable]]) -> None:
        with patch.object(state, "_room", lambda *_: 1_000):
            super().take_turn(acts)


class KeepsTerms(InlineWriter):
    """Goes on by the terms that held before another account was opened."""

    def take_turn(self, acts: Sequence[tuple[Act[Any], Answerable]]) -> None:
        opened = State._open

        def keeps(of: State, entry: Opened) -> None:
            offers = of.offers
            opened(of, entry)
            of.offers = offers

        with patch.object(State, "_open", keeps):
            super().take_turn(acts)


class Outdated(InlineWriter):
    """Takes what was known of a charge before its turn for what holds in it."""

    def take_turn(self, acts: Sequence[tuple[Act[Any], Answerable]]) -> None:
        def careless(book: Book, quotes: Sequence[Quote | None], start: int) -> list[Quote]:
            listed = takewhile(lambda quote: quote is not None and book.take(quote), quotes[start:])
            return [quote for quote in listed if quote is not None]

        with patch.object(rounds, "_new_charges", careless):
            super().take_turn(acts)


class BeginsWithNothing(InlineWriter):
    """An account of somebody who has asked before begins with nothing spent."""

    def take_turn(self, acts: Sequence[tuple[Act[Any], Answerable]]) -> None:
        with patch.object(accounts, "caught_up", lambda *given: given[3]):
            super().take_turn(acts)


class RunsAgain(MakeCharge):
    """Has a request whose answer was lost run again, and charges nothing for it."""

    def _same_key(self, book: Book, before: list[accounts.Attempt]) -> Receipt | None:
        lost = [one for one in before if isinstance(one.entry, Charged) and one.entry.request == self.charge.request]
        if lost and not any(one.release for one in lost):
            return Receipt(charge=self.charge, head=lost[0].head)
        return super()._same_key(book, before)


class Forgiving(Clients):
    """Clients whose lost requests are run again for nothing."""

    def ask(self, charge: Charge, *, again: bool = False) -> tuple[Act[Any], Future[Any]]:
        act, future = super().ask(charge, again=again)
        return RunsAgain(*act), future  # type: ignore[misc]  # it is a charge


class RunsFirst(Clients):
    """Runs and shows the answer, and is charged for it then."""

    def new_charge(self) -> Charge:
        charge = super().new_charge()
        self._observer.see_answer(charge, self.run())
        return charge


class ShowsBeforeStoring(Clients):
    """Shows an answer as soon as it is there; the charge is durable, but the answer is not."""

    def store(self, receipt: Receipt) -> tuple[Act[Any], Future[Any]]:
        act, future = super().store(receipt)
        self._observer.see_answer(receipt.charge, act.answer)  # type: ignore[attr-defined]
        return act, future


FAULTS: dict[str, tuple[Plan, str]] = {
    "a skipped sync": (Plan(cuts=5, store=SkipsSync), "not in the ledger|has lost records"),
    "a skipped sync of the file": (Plan(cuts=5, disk=SkipsSyncOfLedger), "LedgerCorrupt|not in the ledger"),
    "run before charge": (Plan(kills=10, clients=RunsFirst), "never charged"),
    "shown before stored": (Plan(kills=10, clients=ShowsBeforeStoring), "not the stored one|two answers were shown"),
    "a result before its commit": (Plan(kills=10, writer=Hasty), "handed out and are not in the ledger"),
    "a charge run twice": (Plan(kills=10, clients=Forgiving), "given out twice"),
    "a cap that is not looked at": (
        Plan(kills=10, writer=Generous),
        "over its cap|more than its cap|does not follow .* is left",
    ),
    "a late account that does not pay": (Plan(kills=10, writer=KeepsTerms), "should have"),
    "a charge at the terms of before": (Plan(kills=10, writer=Outdated), "should have"),
    "a late account that begins with nothing": (Plan(kills=10, writer=BeginsWithNothing), "less than was spent before"),
    "hash written after commit": (Plan(kills=10, store=HashesAfterwards), "LedgerCorrupt"),
    "lost checkpoint lock": (Plan(kills=10, store=LosesTheLock), "without the lock"),
}
"""Each with how it shows."""
