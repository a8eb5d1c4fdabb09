"""The state brought up to date with what others wrote, every record of it checked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from privately.errors import LedgerCorrupt
from privately.ledger.book import fetched, filed_charge, names
from privately.ledger.entries import CHARGED_END, Charged, Checkpoint, chained, charge_names, kind_of, read
from privately.ledger.state import WRONG, State, bill_of
from privately.ledger.stores import Head, Row, Session


def follow(session: Session, state: State | None) -> State:
    """The state up to the head: from where we are, or from the last checkpoint. Every record read is checked."""
    head = session.head()
    if state is None:
        following = _from_checkpoint(session)
    elif head == state.head:
        return state
    elif head.number <= state.head.number:
        raise LedgerCorrupt("the file went back to an earlier state while it was open.")
    else:
        following = state.copy()
    join_all(following, session.rows(following.head.number))
    if following.head != head:
        raise LedgerCorrupt("the last record is not the end of the chain.")
    return following


def _from_checkpoint(session: Session) -> State:
    number = session.checkpoint()
    if number == 0:
        return State()
    entry, row = fetched(session, number)
    if not isinstance(entry, Checkpoint):
        raise LedgerCorrupt(f"record {number} is filed as a checkpoint and is none.")
    return State.from_checkpoint(entry.state, read(row.text)[1], row.head)


def join_all(state: State, rows: Iterable[Row]) -> None:
    """As `join` for one after the other; charges that follow one another are added up at once."""
    run: list[Followed] = []
    for row in rows:
        head, time = (run[-1].row.head, run[-1].time) if run else (state.head, state.time)
        charge = _followed(row, head, time)
        if charge is None:
            _join_charges(state, run)
            run = []
            join(state, row)
        else:
            run.append(charge)
    _join_charges(state, run)


class Followed(NamedTuple):
    """A charge that continues the chain: its record, the first line of its text, who asked, and when."""

    row: Row
    first: bytes
    analyst: str
    time: str


def _followed(row: Row, head: Head, latest: str) -> Followed | None:
    """A charge that seems to be in order, if it is one; otherwise `join` says what it is."""
    first, _, second = row.text.partition(b"\n")
    number, last = head
    if not first.endswith(CHARGED_END) or number == 0 or row.number != number + 1:
        return None
    if chained(last, row.text) != row.hash:
        return None
    try:
        analyst, _, key, _, time, _ = charge_names(second)
    except LedgerCorrupt:
        return None
    return Followed(row, first, analyst, time) if time >= latest and row[3:] == filed_charge(analyst, key) else None


def _join_charges(state: State, run: Sequence[Followed]) -> None:
    if not run:
        return
    try:
        paid = state.paid([bill_of(charge.first) for charge in run])
    except WRONG:
        paid = None
    if paid is None:  # what is wrong shows where it is
        for charge in run:
            join(state, charge.row)
    else:
        state.add_charges(paid, [charge.analyst for charge in run], run[-1].time, run[-1].row.head)


def join(state: State, row: Row) -> None:
    """Goes on by one record of the store, whose hash must continue the chain and whose names must be its own."""
    if row.number != state.head.number + 1 or chained(state.head.hash, row.text) != row.hash:
        raise LedgerCorrupt(f"record {row.number} breaks the chain.")
    first, _, second = row.text.partition(b"\n")
    if kind_of(first) is Charged:
        analyst, _, key, _, time, _ = charge_names(second)
        _check_names(row, filed_charge(analyst, key))
        state.apply_charge(first, analyst, time, row.head)
    else:
        entry, time = read(row.text)
        _check_names(row, names(entry))
        state.apply(entry, time, row.head)


def _check_names(row: Row, filed: tuple[str | None, str | None, int | None]) -> None:
    if row[3:] != filed:
        raise LedgerCorrupt(f"record {row.number} is filed under names that are not its own.")
