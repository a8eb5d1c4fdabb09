"""What all entries so far amount to: accounts with their filters, tables with their lineages. Nothing else is kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

from privately.accounting import Filter
from privately.errors import LedgerCorrupt, PrivatelyError
from privately.ledger.entries import (
    VERSION,
    Adjusted,
    Charged,
    Checkpoint,
    ClockSet,
    Entry,
    Founded,
    Opened,
    Registered,
)
from privately.ledger.stores import EMPTY, Head

BEGINNING = "0001-01-01T00:00:00.000000Z"


@lru_cache(maxsize=4096)
def spendable(texts: tuple[str, ...]) -> tuple[Fraction, ...]:
    """The amounts that texts stand for."""
    return tuple(Fraction(text) for text in texts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """A budget: the filter that decides, whether answers are used again, and what the last charge cost."""

    name: str
    filter: Filter
    reuse: str
    last: tuple[str, ...] | None = None

    def to_data(self) -> dict[str, Any]:
        last = None if self.last is None else list(self.last)
        return {"filter": self.filter.to_state(), "reuse": self.reuse, "last": last}


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Whose people a table holds."""

    lineages: tuple[str, ...]
    sketch: str | None

    def to_data(self) -> dict[str, Any]:
        return {"lineages": list(self.lineages), "sketch": self.sketch}


@dataclass(slots=True, kw_only=True)
class State:
    """The sum of all entries up to `head`."""

    ledger: str = ""
    head: Head = EMPTY
    time: str = BEGINNING
    checkpoint: int = 0
    accounts: dict[str, Account] = field(default_factory=dict)
    tables: dict[str, Table] = field(default_factory=dict)

    def copy(self) -> State:
        """One that may go on by itself."""
        return replace(self, accounts=dict(self.accounts), tables=dict(self.tables))

    def apply(self, entry: Entry, time: str, head: Head) -> None:
        """Goes on by an entry that was recorded, or LedgerCorrupt if it cannot follow the others."""
        if (head.number == 1) != isinstance(entry, Founded):
            raise LedgerCorrupt("a ledger begins with the record that founds it.")
        if time < self.time and not isinstance(entry, ClockSet):
            raise LedgerCorrupt(f"record {head.number} is older than the one before it.")
        try:
            self.add(entry, time, head)
        except (PrivatelyError, KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError) as fault:
            raise LedgerCorrupt(f"record {head.number} does not follow from those before it ({fault}).") from None

    def add(self, entry: Entry, time: str, head: Head) -> None:
        """Goes on by an entry that is to be recorded; on an error, such as BudgetExhausted, nothing has changed."""
        self._add(entry, head)
        self.head, self.time = head, time

    def _add(self, entry: Entry, head: Head) -> None:
        match entry:
            case Charged():
                self._spend(entry.accounts)
            case Opened():
                self._open(entry)
            case Adjusted(account=name):
                self._adjust(self.accounts[name], Filter.from_state(entry.filter))
            case Registered():
                self.tables[entry.table] = Table(lineages=tuple(entry.lineages), sketch=entry.sketch)
            case Checkpoint(state=state):
                self._check(state)
                self.checkpoint = head.number
            case Founded():
                self._found(entry)

    def _found(self, entry: Founded) -> None:
        if entry.version != VERSION:
            raise LedgerCorrupt(f"the entries are of version {entry.version}, not {VERSION}.")
        self.ledger = entry.ledger

    def _open(self, entry: Opened) -> None:
        if entry.account in self.accounts:
            raise LedgerCorrupt(f"account {entry.account} was opened before.")
        filter_ = Filter.from_state(entry.filter)
        self.accounts[entry.account] = Account(name=entry.account, filter=filter_, reuse=entry.reuse)

    def _spend(self, owed: Mapping[str, list[str]]) -> None:
        """All accounts pay, or none does."""
        paid = {}
        for name, amounts in owed.items():
            account, texts = self.accounts[name], tuple(amounts)
            paid[name] = replace(account, filter=account.filter.spend_amounts(spendable(texts)), last=texts)
        self.accounts.update(paid)

    def _adjust(self, account: Account, following: Filter) -> None:
        before, after = account.filter.to_state(), following.to_state()
        if [before[name] for name in ("spent", "entries")] != [after[name] for name in ("spent", "entries")]:
            raise LedgerCorrupt("an adjustment changes what was spent.")
        if account.filter.tally.currency != following.tally.currency:
            raise LedgerCorrupt("an adjustment changes in what an account counts.")
        self.accounts[account.name] = replace(account, filter=following)

    def _check(self, claimed: Mapping[str, Any]) -> None:
        if dict(claimed) != self.to_data():
            raise LedgerCorrupt("a checkpoint does not say what the records before it amount to.")

    def to_data(self) -> dict[str, Any]:
        """All of it but the head, which the place of a checkpoint says."""
        return {
            "ledger": self.ledger,
            "accounts": {name: account.to_data() for name, account in self.accounts.items()},
            "tables": {name: table.to_data() for name, table in self.tables.items()},
        }

    @classmethod
    def from_checkpoint(cls, state: Mapping[str, Any], time: str, head: Head) -> State:
        """The state that a checkpoint holds, or LedgerCorrupt."""
        try:
            accounts = {name: _account(name, data) for name, data in state["accounts"].items()}
            tables = {
                name: Table(lineages=tuple(data["lineages"]), sketch=data["sketch"])
                for name, data in state["tables"].items()
            }
            ledger = state["ledger"]
        except (PrivatelyError, KeyError, TypeError, ValueError, AttributeError):
            raise LedgerCorrupt(f"the checkpoint at record {head.number} cannot be read.") from None
        return cls(ledger=ledger, head=head, time=time, checkpoint=head.number, accounts=accounts, tables=tables)


def _account(name: str, data: Mapping[str, Any]) -> Account:
    last = None if data["last"] is None else tuple(data["last"])
    return Account(name=name, filter=Filter.from_state(data["filter"]), reuse=data["reuse"], last=last)
