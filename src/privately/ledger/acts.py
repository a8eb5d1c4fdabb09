"""What can be done with a ledger, each as one act in a turn: decide on the state, then append, or refuse."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal, NamedTuple, get_args

from privately.accounting import Filter
from privately.errors import InvalidParameter, LedgerCorrupt, Unanswered
from privately.ledger.book import Book, Quote, fetched, key_of, stored_answer
from privately.ledger.catching_up import CaughtUp, caught_up
from privately.ledger.charges import Charge
from privately.ledger.entries import OWN, Adjusted, Charged, ChargeLine, ClockSet, Entry, Opened, Released, Served
from privately.ledger.names import SEPARATOR
from privately.ledger.quotes import offer, own_question, quote
from privately.ledger.state import Account, State
from privately.ledger.stores import Head, Row, Session

Reuse = Literal["everyone", "own", "never"]
REUSES: tuple[Reuse, ...] = get_args(Reuse)
"""Who is served again, free, the stored answer to the same question of the same data: all, who asked it, nobody."""

LARGEST_ANSWER = 1 << 28


class Receipt(NamedTuple):
    """Shows that a charge is durable. With `answer`, the question was answered before and nothing was charged now."""

    charge: Charge
    head: Head
    answer: bytes | None = None

    @property
    def number(self) -> int:
        """Which record says so."""
        return self.head.number


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAccount:
    """A new account; again with the same cap is no change, with another one it is refused.

    `before` is what was read of its holder's charges already; what came since is read in the turn.
    """

    name: str
    filter: Filter
    reuse: Reuse
    before: CaughtUp | None = None

    def __call__(self, book: Book) -> None:
        known = book.state.accounts.get(self.name)
        if known is None:
            start = CaughtUp(self.filter) if self.before is None else self.before
            spent = caught_up(book.session, book.state, self.name, start)
            entry = Opened(account=self.name, filter=spent.filter.to_state(), reuse=self.reuse, last=spent.last)
            book.append(entry)
            return
        terms = (self.filter.cap, self.filter.promise, self.reuse)
        if (known.filter.cap, known.filter.promise, known.reuse) != terms:
            raise InvalidParameter(
                "cap",
                f"account {self.name} was opened with, or adjusted to, {known.filter.promise}, {known.reuse!r}.",
                hint="The owner can change a cap with `adjust`, which is recorded.",
            )


class MakeCharge(NamedTuple):
    """Charges all accounts of a question, or none; or finds its answer. `again` pays for a lost answer once more.

    `quote` is what was prepared before the turn, where something was.
    """

    charge: Charge
    again: bool = False
    quote: Quote | None = None

    def quoted(self, state: State) -> Quote:
        """What is recorded if the question is new: as it was prepared, unless somebody else has to pay by now."""
        if self.quote is not None and self.quote.offers is state.offers:
            return self.quote
        return quote(state, self.charge)

    def __call__(self, book: Book) -> Receipt:
        question = self.charge.question(own=own_question(book.state, self.charge))
        before = [] if book.is_new(self.charge.filed) else attempts(book.session, self.charge.analyst, self.charge.key)
        return (
            self._same_key(book, before)
            or self._same_question(book, question, new=not before)
            or self._charged(book, before=str(before[0].number) if before else None)
        )

    def _same_key(self, book: Book, before: list[Attempt]) -> Receipt | None:
        if not before:
            return None
        if before[0].entry.request != self.charge.request:
            raise InvalidParameter("key", "was used for another request.", hint="Give each request a key of its own.")
        if isinstance(before[0].entry, Served):
            paid, _ = fetched(book.session, before[0].number)
            if not may_serve(paid, self.charge.analyst, book.state.accounts):
                raise LedgerCorrupt(f"what was paid for in record {before[0].number} may not serve this request.")
        for attempt in before:
            if attempt.release is not None:
                answer = stored_answer(book.session, attempt.release)
                return Receipt(charge=self.charge, head=attempt.head, answer=answer)
        if self.again:
            return None
        raise Unanswered(
            f"this request was charged in record {before[0].number}, and no answer is stored.",
            charge=before[0].number,
            hint="It is still running, or was lost; to pay for it once more, ask with again=True.",
        )

    def _same_question(self, book: Book, question: str | None, *, new: bool) -> Receipt | None:
        """A key that somebody gave is used up by this too, so that it is recorded; others are never used again."""
        row = None if question is None or book.is_new(question) else book.session.latest(question=question)
        if row is None or row.charge is None:
            return None
        answer = stored_answer(book.session, row)
        _, charged = fetched(book.session, row.charge)
        if new and self.charge.named:
            asked = self.charge
            book.append(Served(analyst=asked.analyst, key=asked.key, request=asked.request, charge=charged.number))
        return Receipt(charge=self.charge, head=charged.head, answer=answer)

    def _charged(self, book: Book, *, before: str | None) -> Receipt:
        charge = self.charge
        terms, bill, own, *_ = offer(book.state, charge)
        line = ChargeLine(
            charge.analyst,
            before,
            charge.body,
            charge.key,
            charge.label,
            OWN[own],
            charge.snapshot,
            book.time(),
            charge.token,
        )
        return Receipt(charge=charge, head=book.charge(terms, bill, line))


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One charge for a key, and the record of its answer if there is one.

    Or the charge whose answer served a request that was not charged itself.
    """

    entry: Charged | Served
    head: Head
    release: Row | None

    @property
    def number(self) -> int:
        return self.head.number


def attempts(session: Session, analyst: str, key: str, *, known: tuple[Entry, Row] | None = None) -> list[Attempt]:
    """All charges for a key, the last one first: one, unless some were paid for again. One may be `known` already.

    Of a key that was used without a charge: the one that served it.
    """
    found: list[Attempt] = []
    row = session.latest(key=key_of(analyst, key))
    number = None if row is None else row.number
    while number is not None:
        entry, row = known if known is not None and known[1].number == number else fetched(session, number)
        if not isinstance(entry, (Charged, Served)) or (entry.analyst, entry.key) != (analyst, key):
            raise LedgerCorrupt(f"record {number} is filed under a key that is not its own.")
        if isinstance(entry, Served):
            return [_served(session, entry, row)]
        found.append(Attempt(entry=entry, head=row.head, release=session.latest(charge=number)))
        if entry.before is not None and not 0 < entry.before < number:
            raise LedgerCorrupt(f"record {number} follows a charge that was not before it.")
        number = entry.before
    return found


def _served(session: Session, entry: Served, row: Row) -> Attempt:
    release = session.latest(charge=entry.charge)
    if release is None or not entry.charge < release.number < row.number:
        raise LedgerCorrupt(f"record {row.number} was served what was not stored.")
    return Attempt(entry=entry, head=fetched(session, entry.charge)[1].head, release=release)


def may_serve(paid: Entry, analyst: str, accounts: Mapping[str, Account]) -> bool:
    """Whether the answer to a charge may be given to this analyst too, by the strictest policy of its lineages."""
    if not isinstance(paid, Charged) or paid.own is None:
        return False
    lineages = [accounts.get(name) for name in paid.accounts if SEPARATOR not in name]
    policies = {None if lineage is None else lineage.reuse for lineage in lineages}
    return policies == {"everyone"} or (policies <= {"everyone", "own"} and paid.analyst == analyst)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreAnswer:
    """Keeps the answer to a charge, and gives back the one that may be shown.

    A key has one answer: where the charge was paid for again, the first that is stored. The same bytes again are no
    change; others for the same charge are refused.
    """

    receipt: Receipt
    answer: bytes

    def __call__(self, book: Book) -> bytes:
        head = self.receipt.head
        known = fetched(book.session, head.number) if 1 < head.number <= book.state.head.number else None
        if known is None or known[1].head != head or known[1].key is None:
            raise InvalidParameter("receipt", "is not of a charge in this ledger.")
        entry, row = known
        if isinstance(entry, Served):
            raise InvalidParameter("receipt", "is of a request that was served without a charge.")
        if not isinstance(entry, Charged):
            raise LedgerCorrupt(f"record {row.number} is filed as a charge and is none.")
        charge = self.receipt.charge
        if (entry.analyst, entry.key, entry.request) != (charge.analyst, charge.key, charge.request):
            raise InvalidParameter("receipt", "is of another request than the charge that it names.")
        for attempt in attempts(book.session, entry.analyst, entry.key, known=known):
            if attempt.release is not None:
                stored = stored_answer(book.session, attempt.release)
                if attempt.number == row.number and stored != self.answer:
                    raise InvalidParameter("answer", f"another one was stored for record {row.number}.")
                return stored
        hashed = sha256(self.answer).hexdigest()
        release = Released(charge=row.number, hash=hashed, size=len(self.answer), question=entry.question)
        book.append(release, answer=self.answer)
        return self.answer


@dataclass(frozen=True, slots=True, kw_only=True)
class AdjustCap:
    """Another cap for an account, in the owner's name. What was spent stays spent, counted as before."""

    name: str
    filter: Filter
    by: str
    reason: str

    def __call__(self, book: Book) -> Head:
        account = book.state.accounts.get(self.name)
        if account is None:
            raise InvalidParameter("account", f"there is no account {self.name}.")
        if account.filter.tally.currency != self.filter.tally.currency:
            raise InvalidParameter("cap", f"account {self.name} counts in {_kind(account)}, which never changes.")
        before = account.filter.to_state()
        try:
            kept = {name: before[name] for name in ("spent", "entries")}
            following = Filter.from_state(self.filter.to_state() | kept)
        except InvalidParameter:
            spent = account.filter.spent
            raise InvalidParameter("cap", f"{spent} is spent already.", hint="A cap is never below it.") from None
        entry = Adjusted(account=self.name, filter=following.to_state(), by=self.by, reason=self.reason)
        return book.append(entry).head


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptClock:
    """The owner says that the clock is right although it is behind earlier records."""

    by: str
    reason: str

    def __call__(self, book: Book) -> Head:
        return book.append(ClockSet(by=self.by, reason=self.reason)).head


def _kind(account: Account) -> str:
    return account.filter.tally.currency.kind.__name__
