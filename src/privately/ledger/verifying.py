"""Reading everything again: the chain, the answers, and that all charges add up to what was spent, within every cap.

Charges come in great numbers and on few terms. Those between two other entries are counted by their terms, and each
account pays for all of them at once, which comes to the same while totals are exact; where they are not, one by one.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from hashlib import sha256
from math import lcm
from typing import Any

from privately.accounting import Filter
from privately.accounting.filters import Currency
from privately.accounting.filters.states import encoded_neighbors
from privately.accounting.filters.sums import EXACT_BITS
from privately.errors import LedgerCorrupt
from privately.guarantees import GaussianDP
from privately.ledger.book import join
from privately.ledger.charges import repriced
from privately.ledger.entries import PARTICULARS, Charged, Checkpoint, Entry, Released, chained, read, terms_of
from privately.ledger.state import Account, State, spendable
from privately.ledger.stores import Head, Row, Session

_MEMBERS: dict[type[Entry], set[str]] = {kind: {"time", *PARTICULARS[kind]} for kind in (Charged, Released)}
_EVERY = 5_000
_decode = json.JSONDecoder().raw_decode

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What was found to be in order."""

    records: int
    charges: int
    answers: int


@dataclass(slots=True)
class _Run:
    """Charges that follow one another, or only answers between them: how many on which terms."""

    start: int
    counts: dict[bytes, int] = field(default_factory=dict)
    latest: dict[bytes, int] = field(default_factory=dict)


def verified(session: Session, *, progress: Progress | None = None) -> Verification:
    """Passes if every record follows from those before it, and every answer is the one that was stored."""
    state, run, end = State(), _Run(0), session.head()
    questions = array("q", bytes(8 * (end.number + 1)))
    charges = answers = 0
    for row, is_checkpoint, answer in session.everything():
        number = row.number
        first, _, second = row.text.partition(b"\n")
        kind = _kind(first)
        if is_checkpoint != (kind is Checkpoint):
            raise LedgerCorrupt(f"record {number} is filed as a checkpoint and is none, or is one and is not.")
        if kind is Charged:
            found = _go_on(state, row, kind, second)
            run.counts[first] = run.counts.get(first, 0) + 1
            run.latest[first] = number
            questions[number] = hash(found["question"]) or 1
            charges += 1
        elif kind is Released:
            found = _go_on(state, row, kind, second)
            _check_answer(number, found, answer, questions)
            answers += 1
        else:
            _settle(session, state, run, number - 1)
            join(state, row)
            run = _Run(number)
        if progress is not None and number % _EVERY == 0:
            progress(number, end.number)
    _settle(session, state, run, end.number)
    if state.head != end:
        raise LedgerCorrupt("the last record is not the end of the chain.")
    session.check()
    return Verification(records=end.number, charges=charges, answers=answers)


def _check_answer(number: int, found: dict[str, Any], answer: bytes | None, questions: array[int]) -> None:
    """An answer belongs to a charge before it that nothing else answers, and is what its record says."""
    charge = found["charge"]
    if type(charge) is not int or not 0 < charge < number or questions[charge] != (hash(found["question"]) or 1):
        raise LedgerCorrupt(f"record {number} answers what was not charged, or not any more.")
    questions[charge] = 0
    if answer is None or len(answer) != found["size"] or sha256(answer).hexdigest() != found["hash"]:
        raise LedgerCorrupt(f"the answer stored with record {number} does not verify.")


def _kind(first: bytes) -> type[Entry]:
    try:
        return terms_of(first)[0]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise LedgerCorrupt("a record cannot be read.") from None


def _go_on(state: State, row: Row, kind: type[Entry], second: bytes) -> dict[str, Any]:
    """What `join` does for a charge or an answer, but for the sums."""
    number, (before, previous) = row.number, state.head
    if number != before + 1 or chained(previous, row.text) != row.hash:
        raise LedgerCorrupt(f"record {number} breaks the chain.")
    found = _particulars(row, second)
    if found.keys() != _MEMBERS[kind]:
        raise LedgerCorrupt(f"record {number} has other members than it should.")
    if (row.key, row.question, row.charge) != _filed(kind, found):
        raise LedgerCorrupt(f"record {number} is filed under names that are not its own.")
    time, question = found["time"], found["question"]
    if not (question is None or isinstance(question, str)):
        raise LedgerCorrupt(f"record {number} cannot be read.")
    if not isinstance(time, str) or time < state.time:
        raise LedgerCorrupt(f"record {number} is older than the one before it.")
    state.head, state.time = Head(number, row.hash), time
    return found


def _filed(kind: type[Entry], found: dict[str, Any]) -> tuple[str | None, str | None, int | None]:
    if kind is Charged:
        return f"{found['analyst']}\n{found['key']}", None, None
    return None, found["question"], found["charge"]


def _particulars(row: Row, second: bytes) -> dict[str, Any]:
    try:
        found, end = _decode(second.decode("ascii"))
    except (ValueError, RecursionError):
        raise LedgerCorrupt(f"record {row.number} cannot be read.") from None
    if end != len(second) or not isinstance(found, dict):
        raise LedgerCorrupt(f"record {row.number} cannot be read.")
    return found


def _settle(session: Session, state: State, run: _Run, upto: int) -> None:
    """All accounts pay for the charges of a run, which were at least what their events cost."""
    owed: dict[str, list[tuple[Mapping[str, Any], tuple[str, ...], bytes]]] = {}
    for first in run.counts:
        terms = terms_of(first)[1]
        for name, texts in terms["accounts"].items():
            owed.setdefault(name, []).append((terms["cost"], tuple(texts), first))
    try:
        accounts = {name: _charged(state.accounts[name], listed, run) for name, listed in owed.items()}
    except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError) as fault:
        raise LedgerCorrupt(f"records {run.start + 1} to {upto} do not add up ({fault}).") from None
    if all(accounts.values()):
        state.accounts.update({name: account for name, account in accounts.items() if account is not None})
    else:
        _one_by_one(session, state, run.start, upto)


def _charged(
    account: Account, listed: list[tuple[Mapping[str, Any], tuple[str, ...], bytes]], run: _Run
) -> Account | None:
    """The account after these charges; None where rounding would make their order matter."""
    filter_ = account.filter
    totals = list(filter_.tally.amounts)
    for cost, texts, first in listed:
        amounts = spendable(texts)
        if len(amounts) != len(totals) or any(amount < 0 for amount in amounts) or not any(amounts):
            raise LedgerCorrupt(f"account {account.name} was charged what is no cost.")
        if _plainly(cost, filter_.tally.currency) != texts and any(
            amount < least for amount, least in zip(amounts, repriced(cost, filter_.tally.currency), strict=True)
        ):
            raise LedgerCorrupt(f"account {account.name} was charged less than the event costs.")
        totals = [total + run.counts[first] * amount for total, amount in zip(totals, amounts, strict=True)]
    if not _exact(filter_.tally.amounts, listed):
        return None
    entries = filter_.entries + sum(run.counts[first] for _, _, first in listed)
    spent = {"spent": [str(total) for total in totals], "entries": entries}
    last = terms_of(max(listed, key=lambda one: run.latest[one[2]])[2])[1]["accounts"]
    return replace(account, filter=Filter.from_state(filter_.to_state() | spent), last=last)


def _plainly(cost: Mapping[str, Any], currency: Currency) -> tuple[str, ...] | None:
    """The numbers of a guarantee that is written in the currency itself, which is what it costs."""
    found = cost.get("guarantee")
    if found is None or found["kind"] != currency.kind.__name__ or currency.kind is GaussianDP or currency.orders:
        return None
    same = found["neighbors"] == encoded_neighbors(currency.neighbors)
    return tuple(found[str(name)] for name in currency.names) if same else None


def _exact(before: tuple[Fraction, ...], listed: list[tuple[Mapping[str, Any], tuple[str, ...], bytes]]) -> bool:
    """Whether no sum on the way could have been rounded: a common denominator is short."""
    columns = zip(before, *(spendable(texts) for _, texts, _ in listed), strict=True)
    return all(lcm(*(amount.denominator for amount in column)).bit_length() <= EXACT_BITS for column in columns)


def _one_by_one(session: Session, state: State, after: int, upto: int) -> None:
    for row in session.rows(after, upto):
        entry, _ = read(row.text)
        if isinstance(entry, Charged):
            state.apply(entry, state.time, state.head)
