"""What a holder has spent before there was an account for it: read without the lock, but for the last few records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from privately.accounting import Filter
from privately.errors import BudgetExhausted, InvalidParameter, LedgerCorrupt
from privately.ledger.book import of_analyst, spelled_out
from privately.ledger.charges import repriced
from privately.ledger.entries import Charged, Served, read
from privately.ledger.names import SEPARATOR
from privately.ledger.state import State
from privately.ledger.stores import Session


class CaughtUp(NamedTuple):
    """A filter with all that was spent up to a record, and what the last charge cost every account."""

    filter: Filter
    last: Mapping[str, list[str]] | None = None
    upto: int = 0


def asked_before(state: State, name: str) -> bool:
    """Whether an account would be of somebody who was charged already."""
    holder = name.split(SEPARATOR)[1:2]
    return bool(holder) and holder[0] in state.asked


def caught_up(session: Session, state: State, name: str, start: CaughtUp, upto: int) -> CaughtUp:
    """Goes on with the charges of the analyst, or the token, that an account is of; those of a lineage are in it.

    InvalidParameter if more was spent than the account would allow.
    """
    if not asked_before(state, name):
        return CaughtUp(start.filter, start.last, upto)
    lineage, *holder = name.split(SEPARATOR)
    filter_, last = start.filter, start.last
    after = max(start.upto, state.asked[holder[0]] - 1)
    for row in spelled_out(session, session.keyed(of_analyst(holder[0]), after, upto)):
        entry, _ = read(row.text)
        if not isinstance(entry, (Charged, Served)) or entry.analyst != holder[0]:
            raise LedgerCorrupt(f"record {row.number} is filed under a key that is not its own.")
        if isinstance(entry, Served) or lineage not in entry.accounts or holder[1:] not in ([], [entry.token]):
            continue
        try:
            amounts = repriced(entry.cost, filter_.tally.currency)
            filter_ = filter_.spend_amounts(amounts)
        except BudgetExhausted:
            raise InvalidParameter("cap", f"{holder[-1]} has spent more before.", hint="Give more.") from None
        last = {**entry.accounts, name: [str(amount) for amount in amounts]}
    return CaughtUp(filter_, last, upto)
