"""The ledger during one turn: entries that are appended to the chain, and found again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any, NamedTuple, TypeAlias

from privately.errors import LedgerCorrupt, LedgerUnavailable
from privately.ledger.entries import (
    Charged,
    ChargeLine,
    Checkpoint,
    ClockSet,
    Entry,
    Released,
    Served,
    chained,
    kind_of,
    read,
    written,
)
from privately.ledger.lines import release_text
from privately.ledger.state import Bill, Offer, State
from privately.ledger.stores import Head, Row, Session, Whole
from privately.ledger.terms import named

CHECKPOINT_EVERY = 10_000
LATE = timedelta(minutes=5)
"""A clock less behind than this was set right a little; with one that is further behind nothing is written."""

Clock: TypeAlias = Callable[[], datetime]


def now() -> datetime:
    """The time of this machine."""
    return datetime.now(UTC)


def stamp(moment: datetime) -> str:
    """Texts that sort as the moments do."""
    return f"{moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='microseconds')}Z"


def filed_charge(analyst: str, key: str) -> tuple[str | None, str | None, int | None]:
    """Under which names a charge is found again."""
    return key_of(analyst, key), None, None


def names(entry: Entry) -> tuple[str | None, str | None, int | None]:
    """The key, question and charge under which an entry is found again."""
    if isinstance(entry, (Charged, Served)):
        return filed_charge(entry.analyst, entry.key)
    if isinstance(entry, Released):
        return None, entry.question, entry.charge
    return None, None, None


def key_of(analyst: str, key: str) -> str:
    """Keys are each analyst's own. What is new comes together, whoever it is of: new keys of one time begin alike."""
    return f"{key}\n{analyst}"


def of_analyst(analyst: str) -> str:
    """How the names of all keys of an analyst end."""
    return f"\n{analyst}"


def fetched(session: Session, number: int) -> tuple[Entry, Row]:
    """One record and its entry, if its hash continues the one before it."""
    row = _continuing(session, number)
    (whole,) = spelled_out(session, [row])
    return read(whole.text)[0], row


def spelled_out(session: Session, rows: Iterable[Row]) -> Iterator[Row]:
    """The same records, with the terms of each charge in its own text, also where another record says them."""
    said: dict[int, bytes] = {}
    for row in rows:
        first, newline, second = row.text.partition(b"\n")
        number = named(first)
        if number is None:
            yield row
            continue
        if number >= row.number:
            raise LedgerCorrupt(f"record {row.number} names terms that were not said before it.")
        if number not in said:
            said[number] = _said_in(session, number)
        yield row._replace(text=said[number] + newline + second)


def spelled_page(after: int, upto: int, session: Session) -> list[Row]:
    """These records, spelled out."""
    return list(spelled_out(session, session.rows(after, upto)))


def _said_in(session: Session, number: int) -> bytes:
    """The terms that a charge says; LedgerCorrupt if that record is none, or only names them."""
    first = _continuing(session, number).text.partition(b"\n")[0]
    if named(first) is not None or kind_of(first) is not Charged:
        raise LedgerCorrupt(f"record {number} says no terms.")
    return first


def _continuing(session: Session, number: int) -> Row:
    rows = list(session.rows(number - 2, number))
    if [row.number for row in rows] != [number - 1, number] or chained(rows[0].hash, rows[1].text) != rows[1].hash:
        raise LedgerCorrupt(f"record {number} does not verify.")
    return rows[1]


def stored_answer(session: Session, row: Row) -> bytes:
    """The bytes of a release whose record was found, if they are those that were stored."""
    entry, _ = fetched(session, row.number)
    answer = session.answer(row.number)
    if not isinstance(entry, Released) or names(entry)[1:] != (row.question, row.charge):
        raise LedgerCorrupt(f"record {row.number} is filed as a release and is none.")
    if answer is None or sha256(answer).hexdigest() != entry.hash:
        raise LedgerCorrupt(f"the answer stored with record {row.number} does not verify.")
    return answer


class Quote(NamedTuple):
    """A new charge as it would be recorded: its terms, the second line up to the time, and what follows the time.

    It holds as long as no other account has to pay: while the state's `offers` are these very ones.
    """

    offers: dict[Any, Offer]
    key: str
    question: str | None
    terms: bytes
    start: bytes
    end: bytes
    bill: Bill
    analyst: str


class Book:
    """What one may do in a turn. Entries become durable together when the turn ends, or none of them does."""

    def __init__(self, session: Session, state: State, clock: Clock) -> None:
        self.session = session
        self.state = state.copy()
        self._clock = clock
        self._moment: datetime | None = None
        self._new: set[str] = set()

    def expect(self, *, keys: Iterable[str], questions: Iterable[str]) -> None:
        """Looks at once for all names that the acts of this turn will ask for."""
        listed = list(keys), list(questions)
        self._new = {*listed[0], *listed[1]} - self.session.known(keys=listed[0], questions=listed[1])

    def take(self, quote: Quote) -> bool:
        """Whether a charge is known to be new, its key and its question; its key is so no longer."""
        if quote.key not in self._new or not (quote.question is None or quote.question in self._new):
            return False
        self._new.discard(quote.key)
        return True

    def is_new(self, name: str) -> bool:
        """Whether nothing was filed under a name that was expected; False where this is not known."""
        return name in self._new

    def charge(self, terms: bytes, bill: Bill, line: ChargeLine) -> Head:
        """As `append`, for a charge: its terms, its bill, and the second line of its text, of this `time`."""
        number, previous = self.state.head
        text = b"%b\n%b" % (self.state.terms.named(terms), line.written())
        head = Head(number + 1, chained(previous, text))
        self.state.add_charge(bill, line.analyst, line.time, head)
        self.state.terms.note(terms, head.number)
        key = key_of(line.analyst, line.key)
        self._new.discard(key)
        self.session.append(Row(*head, text, key))
        return head

    def charge_together(self, quotes: Sequence[Quote]) -> list[Head] | None:
        """The same for several new charges, which are appended one after the other; None if they are not.

        They are not where they must be looked at one by one: some account cannot pay for all of them, for example.
        """
        paid = self.state.paid([quote.bill for quote in quotes])
        if paid is None:
            return None
        time = self.time()
        stamped = time.encode("ascii")
        number, last = self.state.head
        rows: list[Whole] = []
        heads: list[Head] = []
        said, note = self.state.terms.names, self.state.terms.note
        for _, key, _, terms, start, end, _, _ in quotes:
            number += 1
            name = said.get(terms)
            if name is None:
                name = terms
                note(terms, number)
            text = name + start + stamped + end
            last = sha256(last + text).digest()
            rows.append((number, last, text, key, None, None, None))
            heads.append(tuple.__new__(Head, (number, last)))
        self.state.add_charges(paid, [quote.analyst for quote in quotes], time, heads[-1])
        self.session.extend(rows)
        return heads

    def answer_together(self, owed: Sequence[tuple[int, bytes | None, bytes]]) -> None:
        """As `append` for the answers to several charges: the number of each, its question as it is written, bytes."""
        if not owed:
            return
        time = self.time()
        stamped = time.encode("ascii")
        number, last = self.state.head
        rows: list[Whole] = []
        answers = []
        for charge, question, answer in owed:
            hashed = sha256(answer).hexdigest().encode("ascii")
            text = release_text(charge, hashed, question, len(answer), stamped)
            number, last = number + 1, sha256(last + text).digest()
            rows.append(
                (number, last, text, None, None if question is None else question.decode("ascii"), charge, None)
            )
            answers.append((number, answer))
        self.state.head, self.state.time = Head(number, last), time
        self._new -= {row[4] for row in rows}
        self.session.extend(rows, answers)

    def append(self, entry: Entry, *, answer: bytes | None = None) -> Row:
        """The entry as the next record of the chain; BudgetExhausted if an account cannot pay for it."""
        time = self.time(back=isinstance(entry, ClockSet))
        text = written(entry, time)
        number = self.state.head.number + 1
        row = Row(number, chained(self.state.head.hash, text), text, *names(entry))
        self.state.add(entry, time, row.head)
        self._new -= {row.key, row.question}
        self.session.append(row, answer=answer, checkpoint=isinstance(entry, Checkpoint))
        return row

    def finish(self) -> None:
        """Adds a checkpoint where it is due, and looks whether all is there."""
        if self.state.head.number - self.state.checkpoint >= CHECKPOINT_EVERY:
            self.append(Checkpoint(state=self.state.to_data()))
        if self.session.head() != self.state.head:
            raise LedgerCorrupt("the records that were written are not there.")

    def time(self, *, back: bool = False) -> str:
        """The time of the next record: that of the turn. Records never go back, but for one that says so."""
        if self._moment is None:
            moment = self._clock()
            if not isinstance(moment, datetime):
                raise LedgerUnavailable("the clock does not tell the time.", hint="It must return a datetime.")
            try:
                self._stamp, self._latest = stamp(moment), stamp(moment + LATE)
            except (OverflowError, ValueError):
                raise LedgerUnavailable("the clock is at an end of time.", hint="Set it right.") from None
            self._moment = moment
        time = self._stamp
        if time >= self.state.time or back:
            return time
        if self._latest < self.state.time:
            hint = "Set the clock right, or let the owner accept it with `accept_clock`."
            raise LedgerUnavailable(f"the clock says {time}, but the last record is of {self.state.time}.", hint=hint)
        return self.state.time
