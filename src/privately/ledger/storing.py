"""Answers of one turn that follow one another, stored at once; whatever is not as usual is stored one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import NamedTuple

from privately.errors import LedgerCorrupt
from privately.ledger.acts import StoreAnswer
from privately.ledger.book import Book
from privately.ledger.charges import Charge
from privately.ledger.entries import CHARGED_END, Charged, charge_end, quoted, terms_of
from privately.ledger.lines import is_plain, usual_charge, usual_question
from privately.ledger.stores import EMPTY, Head, Row

_UNREAD = (LedgerCorrupt, ValueError, TypeError, KeyError, AttributeError, RecursionError)


class Owed(NamedTuple):
    """An answer that nothing stands in the way of: to which charge, and the question that it says."""

    charge: int
    question: bytes | None
    answer: bytes


def owed(book: Book, acts: Sequence[StoreAnswer]) -> list[Owed | None]:
    """What these acts would store, one after the other; None for those that must be looked at one by one.

    Nothing stands in the way of the first answer to a charge that was made once under its key, and has none. What the
    others store is to other charges, under other keys.
    """
    heads = [act.receipt.head for act in acts]
    last = book.state.head.number
    numbers = [head.number for head in heads if 1 < head.number <= last]
    rows = book.session.several({*numbers, *(number - 1 for number in numbers)})
    latest = book.session.last_of([act.receipt.charge.filed for act in acts])
    answered = book.session.answered(numbers)
    said = book.state.terms.said
    found: list[Owed | None] = []
    for act, head in zip(acts, heads, strict=True):
        charge, row = act.receipt.charge, rows.get(head.number)
        named = None
        if row is not None and head.number not in answered and latest.get(charge.filed) == head.number:
            named = _line(row, head, rows.get(head.number - 1), charge, said)
        if named is None:
            found.append(None)
        else:
            answered.add(head.number)  # whoever comes with the same receipt finds this answer
            found.append(Owed(head.number, named[0], act.answer))
    return found


def _line(
    row: Row, head: Head, before: Row | None, charge: Charge, said: Mapping[bytes, bytes]
) -> tuple[bytes | None] | None:
    """The question of the charge in a record, if it is that of this head and this request, and was made once."""
    previous = (EMPTY if before is None else before.head).hash
    if row.head != head or row[3:] != (charge.filed, None, None) or sha256(previous + row.text).digest() != row.hash:
        return None
    first, _, second = row.text.partition(b"\n")
    begins = f'{{"analyst":{quoted(charge.analyst)},"before":null,"body":"{charge.body}","key":{quoted(charge.key)},'
    found = usual_charge(second) if is_plain(second) else None
    if found is None or not second.startswith(begins.encode("ascii")) or not second.endswith(charge_end(charge.token)):
        return None
    terms = said.get(first, first)
    ends = f',"cost":{charge.terms}'.encode("ascii") + CHARGED_END
    try:
        if terms_of(terms)[0] is not Charged or not terms.endswith(ends):
            return None
    except _UNREAD:
        return None
    analyst, _, body, _, _, own, snapshot, _, _ = found.groups()
    return (usual_question(body, snapshot, analyst, own),)
