"""What verification derives again where one record speaks of others before it."""

from __future__ import annotations

from collections.abc import Mapping

from privately.accounting import Filter
from privately.accounting.filters.tallies import Tally
from privately.errors import InvalidParameter, LedgerCorrupt, PrivatelyError
from privately.ledger.acts import REUSES, attempts, may_serve
from privately.ledger.book import fetched
from privately.ledger.catching_up import CaughtUp, asked_before, recounted
from privately.ledger.entries import Charged, Opened, Registered, Served
from privately.ledger.names import SEPARATOR, checked_name
from privately.ledger.settling import Look
from privately.ledger.sketches import is_sketch
from privately.ledger.state import Account, State, spendable
from privately.ledger.stores import Session
from privately.ledger.tables import registration

_NONSENSE = (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError)
_MOST_PARTS = 3


def check_opened(look: Look, entry: Opened, state: State) -> None:
    """An account begins with what its holder has spent before, at least, and with a known policy."""
    try:
        filter_ = Filter.from_state(entry.filter)
        parts = [checked_name(part, "account") for part in entry.account.split(SEPARATOR)]
    except (PrivatelyError, *_NONSENSE) as fault:
        raise LedgerCorrupt(f"account {entry.account} cannot have been opened like this ({fault}).") from None
    if len(parts) > _MOST_PARTS:
        raise LedgerCorrupt(f"account {entry.account} is nobody's.")
    if entry.reuse not in REUSES or (SEPARATOR in entry.account and entry.reuse != "everyone"):
        raise LedgerCorrupt(f"account {entry.account} was opened with a policy that there is not.")
    start = CaughtUp(filter_.with_tally(Tally.empty(filter_.tally.currency, filter_.tally.limits)))
    try:
        spent = _spent(look, entry.account, start, state)
    except InvalidParameter:
        raise LedgerCorrupt(f"account {entry.account} was opened with less than was spent before.") from None
    pairs = zip(filter_.tally.amounts, spent.filter.tally.amounts, strict=True)
    if filter_.entries != spent.filter.entries or any(amount < least for amount, least in pairs):
        raise LedgerCorrupt(f"account {entry.account} was opened with less than was spent before.")
    _check_last(entry, spent)


def _check_last(entry: Opened, spent: CaughtUp) -> None:
    """The last charge before is the one that is named, and cost this account no less than is said."""
    said, known = dict(entry.last or {}), dict(spent.last or {})
    try:
        mine, least = (spendable(tuple(one.pop(entry.account, []))) for one in (said, known))
        holds = said == known and all(amount >= enough for amount, enough in zip(mine, least, strict=True))
    except _NONSENSE:
        holds = False
    if not holds:
        raise LedgerCorrupt(f"account {entry.account} was opened after another charge than the last.")


def check_registered(entry: Registered, state: State) -> None:
    """A table belongs to all lineages that follow from its sketch and from what was registered before.

    Registering only ever adds lineages, and would add none to those that are recorded.
    """
    try:
        for name in (entry.table, *entry.lineages):
            checked_name(name, "table")
        known = registration(state, entry.table, tuple(entry.lineages), entry.sketch)
    except InvalidParameter as fault:
        raise LedgerCorrupt(f"table {entry.table} cannot have been registered like this ({fault}).") from None
    if entry.sketch is not None and not is_sketch(entry.sketch):
        raise LedgerCorrupt(f"table {entry.table} was registered with a sketch that is none.")
    if entry.key is not None and state.key not in (None, entry.key):
        raise LedgerCorrupt(f"table {entry.table} was registered under another key than the tables before it.")
    if list(known.lineages) != entry.lineages:
        raise LedgerCorrupt(f"table {entry.table} was registered without {', '.join(known.lineages)}.")


def check_served(session: Session, served: Mapping[int, Served], accounts: Mapping[str, Account]) -> None:
    """What was given free to somebody may be, by the policy of the lineages that paid."""
    for number, entry in served.items():
        paid, _ = fetched(session, entry.charge)
        if not may_serve(paid, entry.analyst, accounts):
            raise LedgerCorrupt(f"record {number} was served what the lineage keeps to others.")


def _spent(look: Look, account: str, start: CaughtUp, state: State) -> CaughtUp:
    """What the holder of an account had spent. Nothing need be looked at for somebody who had not asked."""
    if not asked_before(state, account):
        return start
    found: CaughtUp = look(lambda session: recounted(session, state, account, start))
    return found


def check_keys(session: Session, again: dict[int, int], upto: int) -> None:
    """Each charge under a key that was used before names the one before it, for the same request; and no other does.

    A key has one answer.
    """
    expected: dict[int, int] = {}
    last: tuple[str, int] | None = None
    for key, number in session.repeated(upto):
        if last is not None and last[0] == key:
            expected[number] = last[1]
        last = key, number
    if expected != again:
        raise LedgerCorrupt("charges under one key do not follow one another.")
    for number, before in again.items():
        later, earlier = (fetched(session, one)[0] for one in (number, before))
        if not isinstance(later, Charged) or not isinstance(earlier, Charged) or later.request != earlier.request:
            raise LedgerCorrupt(f"record {number} was charged under the key of another request.")
        listed = attempts(session, later.analyst, later.key)
        if sum(attempt.release is not None for attempt in listed) > 1:
            raise LedgerCorrupt(f"record {number} was charged under a key that has two answers.")
