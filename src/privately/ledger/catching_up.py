"""What a holder has spent before there was an account for it: read without the lock, but for the last few records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from privately.accounting import Filter
from privately.errors import BudgetExhausted, InvalidParameter, LedgerCorrupt
from privately.ledger.book import of_analyst, spelled_out
from privately.ledger.charges import repriced
from privately.ledger.entries import Charged, Checkpoint, Served, chained, charge_line, kind_of, read
from privately.ledger.names import SEPARATOR
from privately.ledger.state import State
from privately.ledger.stores import EMPTY, Head, Row, Session
from privately.ledger.terms import Terms


class Place(NamedTuple):
    """A record that was read, and the terms that charges after it may name."""

    head: Head
    terms: Terms


class CaughtUp(NamedTuple):
    """A filter with all that was spent up to a place, and what the last charge cost every account."""

    filter: Filter
    last: Mapping[str, list[str]] | None = None
    place: Place | None = None


def asked_before(state: State, name: str) -> bool:
    """Whether an account would be of somebody who was charged already."""
    holder = name.split(SEPARATOR)[1:2]
    return bool(holder) and holder[0] in state.asked


def caught_up(session: Session, state: State, name: str, start: CaughtUp) -> CaughtUp:
    """Goes on with the charges of the analyst, or the token, that an account is of; those of a lineage are in it.

    Every record is read, not those alone that are filed under the analyst: what an account begins with is recorded for
    good, so nothing is believed that the head of the state does not stand for. InvalidParameter if more was spent than
    the account would allow.
    """
    if not asked_before(state, name):
        return start
    analyst = name.split(SEPARATOR)[1]
    place = start.place or _before(session, state.asked[analyst])
    terms = place.terms.copy()
    filter_, last = _added(_charges_of(analyst, session, state.head, place.head, terms), name, start)
    return CaughtUp(filter_, last, Place(state.head, terms))


def recounted(session: Session, state: State, name: str, start: CaughtUp) -> CaughtUp:
    """The same by the records that are filed under the analyst, where all of them have been verified."""
    analyst = name.split(SEPARATOR)[1]
    rows = spelled_out(session, session.keyed(of_analyst(analyst), state.asked[analyst] - 1, state.head.number))
    return CaughtUp(*_added(rows, name, start))


def _added(rows: Iterable[Row], name: str, start: CaughtUp) -> tuple[Filter, Mapping[str, list[str]] | None]:
    lineage, *holder = name.split(SEPARATOR)
    filter_, last, _ = start
    for row in rows:
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
    return filter_, last


def _before(session: Session, number: int) -> Place:
    """The last checkpoint before a record: no charge after it names what was said earlier."""
    row = session.row(session.checkpoint(number - 1))
    return Place(EMPTY if row is None else row.head, Terms())


def _charges_of(analyst: str, session: Session, upto: Head, head: Head, terms: Terms) -> Iterator[Row]:
    """Those after a record, spelled out, if every hash continues the one before it, up to this head."""
    number, last = head
    for row in session.rows(number, upto.number):
        if row.number != number + 1 or chained(last, row.text) != row.hash:
            raise LedgerCorrupt(f"record {number + 1} does not verify.")
        number, last = row.head
        first, _, second = row.text.partition(b"\n")
        kind = kind_of(first)
        if kind is Checkpoint:
            terms.clear()
        elif kind is Charged:
            said = terms.of(first, number)
            if charge_line(second).analyst == analyst:
                yield row._replace(text=b"%b\n%b" % (said, second))
    if (number, last) != upto:
        raise LedgerCorrupt("records do not lead to the head of the ledger.")
