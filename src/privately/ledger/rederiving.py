"""What verification derives again where one record speaks of others before it."""

from __future__ import annotations

from privately.accounting import Filter
from privately.accounting.filters.tallies import Tally
from privately.errors import InvalidParameter, LedgerCorrupt
from privately.ledger.acts import REUSES
from privately.ledger.book import fetched
from privately.ledger.catching_up import CaughtUp, asked_before, caught_up
from privately.ledger.entries import Charged, Opened
from privately.ledger.names import SEPARATOR
from privately.ledger.settling import Look
from privately.ledger.state import State
from privately.ledger.stores import Session


def check_opened(look: Look, entry: Opened, state: State) -> None:
    """An account begins with what its holder has spent before, at least, and with a known policy."""
    filter_ = Filter.from_state(entry.filter)
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
    if (entry.last or {}).keys() != (spent.last or {}).keys():
        raise LedgerCorrupt(f"account {entry.account} was opened after another charge than the last.")


def _spent(look: Look, account: str, start: CaughtUp, state: State) -> CaughtUp:
    """What the holder of an account had spent. Nothing need be looked at for somebody who had not asked."""
    if not asked_before(state, account):
        return start
    found: CaughtUp = look(lambda session: caught_up(session, state, account, start, state.head.number))
    return found


def check_keys(session: Session, again: dict[int, int], upto: int) -> None:
    """Each charge under a key that was used before names the one before it, for the same request; and no other does."""
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
        if not isinstance(later, Charged) or not isinstance(earlier, Charged) or later.body != earlier.body:
            raise LedgerCorrupt(f"record {number} was charged under the key of another request.")
