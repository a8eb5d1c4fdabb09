"""What all entries so far amount to: accounts with their filters, tables with their lineages. Nothing else is kept."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

from privately.accounting import Filter
from privately.accounting.filters.currencies import Amounts
from privately.accounting.filters.tallies import Tally
from privately.errors import BudgetExhausted, LedgerCorrupt, PrivatelyError
from privately.ledger.entries import (
    LONGEST_REMEMBERED,
    MOST_TERMS,
    VERSION,
    Adjusted,
    Charged,
    Checkpoint,
    ClockSet,
    Entry,
    Founded,
    Opened,
    Registered,
    terms,
    terms_of,
)
from privately.ledger.stores import EMPTY, Head
from privately.ledger.terms import Terms

BEGINNING = "0001-01-01T00:00:00.000000Z"
WRONG = (PrivatelyError, KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError, RecursionError)
"""What is raised on the way where a record makes no sense."""


_AMOUNT = re.compile("-?[0-9]+(?:/[0-9]+)?").fullmatch


@lru_cache(maxsize=MOST_TERMS)
def spendable(texts: tuple[str, ...]) -> tuple[Fraction, ...]:
    """The amounts that texts stand for, each written as a whole number or a fraction of two; otherwise ValueError."""
    if not all(map(_AMOUNT, texts)):
        raise ValueError("an amount is written as no other is")
    return tuple(Fraction(text) for text in texts)


class Bill(NamedTuple):
    """What every account pays for a charge, as it is recorded and as numbers."""

    accounts: Mapping[str, list[str]]
    amounts: tuple[tuple[str, tuple[Fraction, ...]], ...]

    @classmethod
    def of(cls, accounts: Mapping[str, list[str]]) -> Bill:
        """The numbers of what is recorded."""
        return cls(accounts, tuple((name, spendable(tuple(texts))) for name, texts in accounts.items()))


class Offer(NamedTuple):
    """On what terms a charge is made: as a first line, its bill, and how its second line begins and ends.

    `own` says whether stored answers serve only whoever asked, None that none serves. `beginning` is hashed before a
    query.
    """

    first: bytes
    bill: Bill
    own: bool | None
    front: str
    end: bytes
    beginning: str


def bill_of(first: bytes) -> Bill:
    """The bill in the first line of the text of a charge; ValueError or KeyError if it is no such line."""
    return _remembered(first) if len(first) <= LONGEST_REMEMBERED else _bill(first)


@lru_cache(maxsize=MOST_TERMS)
def _remembered(first: bytes) -> Bill:
    return _bill(first)


def _bill(first: bytes) -> Bill:
    kind, terms = terms_of(first)
    if kind is not Charged:
        raise LedgerCorrupt("a record is no charge, and ends as one.")
    return Bill.of(terms["accounts"])


class Account(NamedTuple):
    """A budget: the filter that decides, whether answers are used again, what the last charge cost every account.

    Charges that are like the last are counted in `times` alone; at most `room` of them fit after those `before`.
    """

    name: str
    before: Filter
    reuse: str
    last: Mapping[str, list[str]] | None = None
    times: int = 0
    room: int = 0

    @property
    def filter(self) -> Filter:
        """After all charges."""
        if not self.times or self.last is None:
            return self.before
        tally = self.before.tally.plus_times(spendable(tuple(self.last[self.name])), self.times)
        if tally is None:
            raise LedgerCorrupt(f"account {self.name} was charged more than its cap.")
        return self.before.with_tally(tally)

    def after(self, tally: Tally, last: Mapping[str, list[str]], *, room: int = 0) -> Account:
        """After charges that come to this, of which this was the last."""
        return Account(self.name, self.before.with_tally(tally), self.reuse, last, 0, room)

    def __eq__(self, other: object) -> bool:
        """However its charges are counted."""
        if not isinstance(other, Account):
            return NotImplemented
        mine, theirs = ((one.name, one.filter, one.reuse, one.last) for one in (self, other))
        return mine == theirs

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self.name)

    def to_data(self) -> dict[str, Any]:
        last = None if self.last is None else dict(self.last)
        return {"filter": self.filter.to_state(), "reuse": self.reuse, "last": last}


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Whose people a table holds, and the sketches of all versions of it."""

    lineages: tuple[str, ...]
    sketches: tuple[str, ...] = ()

    def to_data(self) -> dict[str, Any]:
        return {"lineages": list(self.lineages), "sketches": list(self.sketches)}


@dataclass(slots=True, kw_only=True)
class State:
    """The sum of all entries up to `head`. `asked` says in which record each analyst was first charged.

    `terms` are those that charges may name; `offers` those on which they would be made, remembered until another
    account may have to pay too.
    """

    ledger: str = ""
    head: Head = EMPTY
    time: str = BEGINNING
    checkpoint: int = 0
    key: str | None = None
    accounts: dict[str, Account] = field(default_factory=dict)
    tables: dict[str, Table] = field(default_factory=dict)
    asked: dict[str, int] = field(default_factory=dict)
    terms: Terms = field(default_factory=Terms)
    offers: dict[Any, Offer] = field(default_factory=dict, compare=False, repr=False)

    def copy(self) -> State:
        """One that may go on by itself."""
        return State(  # in a third of the time of `replace`, once for every turn
            ledger=self.ledger,
            head=self.head,
            time=self.time,
            checkpoint=self.checkpoint,
            key=self.key,
            accounts=self.accounts.copy(),
            tables=self.tables.copy(),
            asked=self.asked.copy(),
            terms=self.terms.copy(),
            offers=self.offers,
        )

    def apply(self, entry: Entry, time: str, head: Head) -> None:
        """Goes on by an entry that was recorded, or LedgerCorrupt if it cannot follow the others."""
        self._check_place(time, head, founds=isinstance(entry, Founded), back=isinstance(entry, ClockSet))
        try:
            self.add(entry, time, head)
        except WRONG as fault:
            raise _does_not_follow(head, fault) from None

    def apply_charge(self, terms: bytes, analyst: str, time: str, head: Head) -> None:
        """The same for a charge, of which these are the terms and who asked."""
        self._check_place(time, head)
        try:
            self.add_charge(bill_of(terms), analyst, time, head)
        except WRONG as fault:
            raise _does_not_follow(head, fault) from None

    def _check_place(self, time: str, head: Head, *, founds: bool = False, back: bool = False) -> None:
        if (head.number == 1) != founds:
            raise LedgerCorrupt("a ledger begins with the record that founds it.")
        if time < self.time and not back:
            raise LedgerCorrupt(f"record {head.number} is older than the one before it.")

    def add(self, entry: Entry, time: str, head: Head) -> None:
        """Goes on by an entry that is to be recorded; on an error, such as BudgetExhausted, nothing has changed."""
        if isinstance(entry, Charged):
            self.add_charge(Bill.of(entry.accounts), entry.analyst, time, head)
            self.terms.note(terms(entry.accounts, entry.cost), head.number)
            return
        self._add(entry, head)
        self.head, self.time = head, time

    def add_charge(self, bill: Bill, analyst: str, time: str, head: Head) -> None:
        """The same for a charge. All accounts pay, or none does."""
        paid = []
        for name, amounts in bill.amounts:
            account = self.accounts[name]
            try:
                spent = account.filter.spend_amounts(amounts)
            except BudgetExhausted as fault:
                hint = f"This is what account {name} has. {fault.hint}".strip()
                raise BudgetExhausted(asked=fault.asked, left=fault.left, hint=hint) from None
            paid.append(account.after(spent.tally, bill.accounts))
        for account in paid:
            self.accounts[account.name] = account
        if analyst not in self.asked:
            self.asked[analyst] = head.number
        self.head, self.time = head, time

    def paid(self, bills: Sequence[Bill]) -> list[Account] | None:
        """The accounts after all these bills, as if they came one by one; None where one of them does not fit."""
        owed: dict[str, list[Amounts]] = {}
        last: dict[str, Mapping[str, list[str]]] = {}
        for accounts, listed in bills:
            for name, amounts in listed:
                if name in owed:
                    owed[name].append(amounts)
                else:
                    owed[name] = [amounts]
                last[name] = accounts
        found: list[Account] = []
        for name, spent in owed.items():
            account = self.accounts[name]
            _, before, reuse, known, times, room = account
            like = len(spent) == 1 and last[name] is known
            if like and times < room:
                counted: Account = tuple.__new__(Account, (name, before, reuse, known, times + 1, room))
                found.append(counted)
                continue
            tally = account.filter.tally
            following = tally.plus_amounts(spent[0]) if len(spent) == 1 else _spent(tally, spent)
            if following is None:
                return None
            found.append(account.after(following, last[name], room=_room(following, spent[0]) if like else 0))
        return found

    def add_charges(self, paid: Sequence[Account], analysts: Sequence[str], time: str, head: Head) -> None:
        """Goes on by as many charges as there are analysts, after which the accounts are as `paid` says."""
        self.accounts.update({account[0]: account for account in paid})
        if not self.asked.keys() >= set(analysts):
            for number, analyst in enumerate(analysts, self.head.number + 1):
                self.asked.setdefault(analyst, number)
        self.head, self.time = head, time

    def _add(self, entry: Entry, head: Head) -> None:
        match entry:
            case Opened():
                self._open(entry)
            case Adjusted(account=name):
                self._adjust(self.accounts[name], Filter.from_state(entry.filter))
            case Registered():
                self._register(entry)
            case Checkpoint(state=state):
                self._check(state)
                self.checkpoint, self.terms = head.number, Terms()
            case Founded():
                self._found(entry)

    def _register(self, entry: Registered) -> None:
        known = self.tables.get(entry.table, Table(lineages=()))
        new = () if entry.sketch is None or entry.sketch in known.sketches else (entry.sketch,)
        self.tables[entry.table] = Table(lineages=tuple(entry.lineages), sketches=(*known.sketches, *new))
        self.key = self.key if entry.key is None else entry.key

    def _found(self, entry: Founded) -> None:
        if entry.version != VERSION:
            raise LedgerCorrupt(f"the entries are of version {entry.version}, not {VERSION}.")
        self.ledger = entry.ledger

    def _open(self, entry: Opened) -> None:
        if entry.account in self.accounts:
            raise LedgerCorrupt(f"account {entry.account} was opened before.")
        filter_ = Filter.from_state(entry.filter)
        if entry.last is not None and entry.account not in Bill.of(entry.last).accounts:
            raise LedgerCorrupt(f"account {entry.account} was opened after a charge that it did not pay for.")
        self.accounts[entry.account] = Account(entry.account, filter_, entry.reuse, entry.last)
        self.offers = {}

    def _adjust(self, account: Account, following: Filter) -> None:
        before, after = account.filter.to_state(), following.to_state()
        if [before[name] for name in ("spent", "entries")] != [after[name] for name in ("spent", "entries")]:
            raise LedgerCorrupt("an adjustment changes what was spent.")
        if account.filter.tally.currency != following.tally.currency:
            raise LedgerCorrupt("an adjustment changes in what an account counts.")
        self.accounts[account.name] = account._replace(before=following, times=0, room=0)

    def _check(self, claimed: Mapping[str, Any]) -> None:
        if dict(claimed) != self.to_data():
            raise LedgerCorrupt("a checkpoint does not say what the records before it amount to.")

    def to_data(self) -> dict[str, Any]:
        """All of it but the head, which the place of a checkpoint says."""
        return {
            "ledger": self.ledger,
            "key": self.key,
            "accounts": {name: account.to_data() for name, account in self.accounts.items()},
            "tables": {name: table.to_data() for name, table in self.tables.items()},
            "asked": dict(self.asked),
        }

    @classmethod
    def from_checkpoint(cls, state: Mapping[str, Any], time: str, head: Head) -> State:
        """The state that a checkpoint holds, or LedgerCorrupt."""
        try:
            accounts = {name: _account(name, data) for name, data in state["accounts"].items()}
            tables = {
                name: Table(lineages=tuple(data["lineages"]), sketches=tuple(data["sketches"]))
                for name, data in state["tables"].items()
            }
            ledger, key, asked = state["ledger"], state["key"], dict(state["asked"])
        except (PrivatelyError, KeyError, TypeError, ValueError, AttributeError):
            raise LedgerCorrupt(f"the checkpoint at record {head.number} cannot be read.") from None
        found = {"ledger": ledger, "key": key, "accounts": accounts, "tables": tables, "asked": asked}
        return cls(head=head, time=time, checkpoint=head.number, **found)


def _room(tally: Tally, amounts: Amounts) -> int:
    """How many more entries of these amounts fit, where they are whole numbers of units; otherwise none is known to."""
    found = []
    for spent, scale, most, amount in zip(tally.units, tally.scales, tally.most, amounts, strict=True):
        step = amount * scale
        if step.denominator != 1 or step < 0:
            return 0
        if step:
            found.append((most - spent) // step.numerator)
    return max(min(found, default=0), 0)


def _spent(tally: Tally, spent: Sequence[Amounts]) -> Tally | None:
    """After so many entries; None where one does not fit. Equal ones at once where they are whole numbers of units.

    Costs are never negative: if all of them together fit, so does each in its turn.
    """
    found: Tally | None = tally
    distinct = {id(amounts): amounts for amounts in spent}  # equal ones are mostly the same object
    for key, times in Counter(map(id, spent)).items() if len(distinct) > 1 else [(id(spent[0]), len(spent))]:
        found = None if found is None else found.plus_times(distinct[key], times)
    if found is not None:
        return found
    found = tally
    for amounts in spent:
        found = None if found is None else found.plus_amounts(amounts)
    return found


def _does_not_follow(head: Head, fault: Exception) -> LedgerCorrupt:
    return LedgerCorrupt(f"record {head.number} does not follow from those before it ({fault}).")


def _account(name: str, data: Mapping[str, Any]) -> Account:
    last = None if data["last"] is None else dict(data["last"])
    return Account(name=name, before=Filter.from_state(data["filter"]), reuse=data["reuse"], last=last)
