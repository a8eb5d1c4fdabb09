"""What can be done with a ledger, each as one act in a turn: decide on the state, then append, or refuse."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal, get_args

from privately.accounting import Filter
from privately.errors import BudgetExhausted, InvalidParameter, LedgerCorrupt, Unanswered
from privately.ledger.book import Book, fetched, key_of, stored_answer
from privately.ledger.charges import Charge, amounts, described, repriced
from privately.ledger.entries import Adjusted, Charged, ClockSet, Opened, Released
from privately.ledger.names import SEPARATOR
from privately.ledger.state import Account, State
from privately.ledger.stores import Head, Row, Session

Reuse = Literal["everyone", "own", "never"]
REUSES: tuple[Reuse, ...] = get_args(Reuse)
"""Who is served again, free, the stored answer to the same question of the same data: all, who asked it, nobody."""

LARGEST_ANSWER = 1 << 28


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
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
    """A new account; again with the same cap is no change, with another one it is refused."""

    name: str
    filter: Filter
    reuse: Reuse

    def __call__(self, book: Book) -> None:
        known = book.state.accounts.get(self.name)
        if known is None:
            caught_up = self._caught_up(book.session)
            book.append(Opened(account=self.name, filter=caught_up.to_state(), reuse=self.reuse))
            return
        terms = (self.filter.cap, self.filter.promise, self.reuse)
        if (known.filter.cap, known.filter.promise, known.reuse) != terms:
            raise InvalidParameter(
                "cap",
                f"account {self.name} was opened with {known.filter.promise}, {known.reuse!r}.",
                hint="The owner can change a cap with `adjust`, which is recorded.",
            )

    def _caught_up(self, session: Session) -> Filter:
        """With what the analyst, or the token, has spent before there was an account for it."""
        lineage, *holder = self.name.split(SEPARATOR)
        spent = self.filter
        if not holder:
            return spent
        for row in session.keyed(key_of(holder[0], ""), f"{holder[0]}\v"):
            entry, _ = fetched(session, row.number)
            mine = isinstance(entry, Charged) and lineage in entry.accounts and holder[1:] in ([], [entry.token])
            if isinstance(entry, Charged) and mine:
                try:
                    spent = spent.spend_amounts(repriced(entry.cost, spent.tally.currency))
                except BudgetExhausted:
                    raise InvalidParameter("cap", f"{holder[-1]} has spent more before.", hint="Give more.") from None
        return spent


@dataclass(frozen=True, slots=True, kw_only=True)
class MakeCharge:
    """Charges all accounts of a question, or none; or finds its answer. `again` pays for a lost answer once more."""

    charge: Charge
    again: bool = False

    def __call__(self, book: Book) -> Receipt:
        reuse = self._reuse(book.state)
        question = None if reuse == "never" else self.charge.question(own=reuse == "own")
        before = attempts(book.session, self.charge.analyst, self.charge.key)
        return (
            self._same_key(book, before)
            or self._same_question(book, question)
            or self._charged(book, question, before=before[0].number if before else None)
        )

    def _same_key(self, book: Book, before: list[Attempt]) -> Receipt | None:
        if not before:
            return None
        if before[0].entry.body != self.charge.body:
            raise InvalidParameter("key", "was used for another request.", hint="Give each request a key of its own.")
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

    def _same_question(self, book: Book, question: str | None) -> Receipt | None:
        row = None if question is None else book.session.latest(question=question)
        if row is None or row.charge is None:
            return None
        answer = stored_answer(book.session, row)
        _, charged = fetched(book.session, row.charge)
        return Receipt(charge=self.charge, head=charged.head, answer=answer)

    def _charged(self, book: Book, question: str | None, *, before: int | None) -> Receipt:
        charge = self.charge
        owed = {
            account.name: list(amounts(charge.cost, account.filter.tally.currency))
            for account in payers(book.state, charge)
        }
        entry = Charged(
            accounts=owed,
            analyst=charge.analyst,
            token=charge.token,
            cost=described(charge.cost),
            key=charge.key,
            before=before,
            body=charge.body,
            question=question,
            snapshot=charge.snapshot,
            label=charge.label,
        )
        return Receipt(charge=charge, head=book.append(entry).head)

    def _reuse(self, state: State) -> Reuse:
        """The strictest of the lineages asked about."""
        policies = {lineage_account(state, lineage).reuse for lineage in self.charge.lineages}
        return max((policy for policy in REUSES if policy in policies), key=REUSES.index)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One charge for a key, and the record of its answer if there is one."""

    entry: Charged
    head: Head
    release: Row | None

    @property
    def number(self) -> int:
        return self.head.number


def attempts(session: Session, analyst: str, key: str) -> list[Attempt]:
    """All charges for a key, the last one first: one, unless some were paid for again."""
    found: list[Attempt] = []
    row = session.latest(key=key_of(analyst, key))
    number = None if row is None else row.number
    while number is not None:
        entry, row = fetched(session, number)
        if not isinstance(entry, Charged) or (entry.analyst, entry.key) != (analyst, key):
            raise LedgerCorrupt(f"record {number} is filed under a key that is not its own.")
        found.append(Attempt(entry=entry, head=row.head, release=session.latest(charge=number)))
        if entry.before is not None and not 0 < entry.before < number:
            raise LedgerCorrupt(f"record {number} follows a charge that was not before it.")
        number = entry.before
    return found


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
        found = book.session.row(head.number) if 1 < head.number <= book.state.head.number else None
        if found is None or found.head != head or found.key is None:
            raise InvalidParameter("receipt", "is not of a charge in this ledger.")
        entry, row = fetched(book.session, head.number)
        if not isinstance(entry, Charged):
            raise LedgerCorrupt(f"record {row.number} is filed as a charge and is none.")
        for attempt in attempts(book.session, entry.analyst, entry.key):
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


def payers(state: State, charge: Charge) -> Iterator[Account]:
    """Every account that a charge touches: those of the lineages, and of the analyst and token where there are any."""
    for first, *others in charge.accounts:
        yield lineage_account(state, first)
        yield from (state.accounts[name] for name in others if name in state.accounts)


def lineage_account(state: State, lineage: str) -> Account:
    """The account of a lineage, or InvalidParameter."""
    if lineage not in state.accounts:
        hint = f'The owner opens it: ledger.account("{lineage}", cap=...).'
        raise InvalidParameter("lineage", f"nobody has set a budget for {lineage!r}.", hint=hint)
    return state.accounts[lineage]


def _kind(account: Account) -> str:
    return account.filter.tally.currency.kind.__name__
