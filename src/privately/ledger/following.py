"""The state brought up to date with what others wrote, every record of it checked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import TypeAlias

from privately.errors import LedgerCorrupt
from privately.ledger.book import fetched, filed_charge, names
from privately.ledger.entries import CHARGED_END, Charged, Checkpoint, chained, charge_line, kind_of, read
from privately.ledger.lines import is_plain, usual_charge, usual_time
from privately.ledger.state import WRONG, State, bill_of
from privately.ledger.stores import Row, Session


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
    (before, last), latest = state.head, state.time.encode("ascii")
    for row in rows:
        number, hashed, text, key, *others = row
        first, _, second = text.partition(b"\n")
        before += 1
        found = usual_charge(second) if type(key) is str and first.endswith(CHARGED_END) and is_plain(second) else None
        if found is not None and key is not None and number == before > 1 and sha256(last + text).digest() == hashed:
            analyst, _, _, name, _, _, _, time, _ = found.groups()
            in_order = time == latest or (time > latest and usual_time(time) is not None)
            if in_order and others == _NO_OTHERS and key.encode() == name + b"\n" + analyst:
                run.append((row, state.terms.of(first, number), analyst.decode("ascii"), time))
                last, latest = hashed, time
                continue
        _join_charges(state, run)
        run = []
        join(state, row)
        (before, last), latest = state.head, state.time.encode("ascii")
    _join_charges(state, run)


Followed: TypeAlias = tuple[Row, bytes, str, bytes]
"""A charge that continues the chain: its record, its terms, who asked, and when."""

_NO_OTHERS = [None, None]  # a charge is filed under its key alone


def _join_charges(state: State, run: Sequence[Followed]) -> None:
    if not run:
        return
    try:
        paid = state.paid([bill_of(terms) for _, terms, _, _ in run])
    except WRONG:
        paid = None
    if paid is None:  # what is wrong shows where it is
        for row, *_ in run:
            join(state, row)
    else:
        row, _, _, time = run[-1]
        state.add_charges(paid, [analyst for _, _, analyst, _ in run], time.decode("ascii"), row.head)


def join(state: State, row: Row) -> None:
    """Goes on by one record of the store, whose hash must continue the chain and whose names must be its own."""
    if row.number != state.head.number + 1 or chained(state.head.hash, row.text) != row.hash:
        raise LedgerCorrupt(f"record {row.number} breaks the chain.")
    first, _, second = row.text.partition(b"\n")
    if kind_of(first) is Charged:
        line = charge_line(second)
        _check_names(row, filed_charge(line.analyst, line.key))
        state.apply_charge(state.terms.of(first, row.number), line.analyst, line.time, row.head)
    else:
        entry, time = read(row.text)
        _check_names(row, names(entry))
        state.apply(entry, time, row.head)


def _check_names(row: Row, filed: tuple[str | None, str | None, int | None]) -> None:
    if row[3:] != filed:
        raise LedgerCorrupt(f"record {row.number} is filed under names that are not its own.")
