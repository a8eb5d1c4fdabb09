"""Heads as texts, to be pinned where nobody who can write the ledger can write."""

from __future__ import annotations

import re
from dataclasses import dataclass

from privately.errors import InvalidParameter, LedgerCorrupt
from privately.ledger.entries import chained
from privately.ledger.state import State
from privately.ledger.stores import Head, Session

_FORM = re.compile(r"privately-ledger:([0-9a-f]{32}):([0-9]{1,18}):([0-9a-f]{64})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """Which ledger, how far, and the hash that stands for all records up to there.

    >>> Pin.parse("privately-ledger:" + "0" * 32 + ":7:" + "a" * 64).number
    7
    """

    ledger: str
    number: int
    hash: bytes

    def __str__(self) -> str:
        return f"privately-ledger:{self.ledger}:{self.number}:{self.hash.hex()}"

    @classmethod
    def parse(cls, text: str) -> Pin:
        """The pin that was printed, or InvalidParameter."""
        found = _FORM.fullmatch(text.strip()) if isinstance(text, str) else None
        if found is None:
            raise InvalidParameter("pin", "is not the text of a head: privately-ledger:<ledger>:<number>:<hash>.")
        return cls(ledger=found[1], number=int(found[2]), hash=bytes.fromhex(found[3]))

    @classmethod
    def of(cls, state: State) -> Pin:
        """Where a ledger is now."""
        return cls(ledger=state.ledger, number=state.head.number, hash=state.head.hash)


def check_same_ledger(state: State, pin: Pin) -> None:
    """LedgerCorrupt if the pin is of another ledger, which says nothing of this one."""
    if state.ledger != pin.ledger:
        raise LedgerCorrupt("the pinned head is of another ledger.", hint="Look which file was meant.")


def check_pin(session: Session, state: State, pin: Pin) -> None:
    """Passes if the ledger goes on from the pinned head; LedgerCorrupt if it was rolled back or rewritten."""
    check_same_ledger(state, pin)
    row = session.row(pin.number)
    if row is None or row.hash != pin.hash:
        hint = "Budget that was spent since is missing from it: put the newer file back."
        raise LedgerCorrupt(f"the file does not hold the pinned record {pin.number}: an older copy?", hint=hint)
    head = Head(row.number, row.hash)
    for following in session.rows(pin.number):
        if following.number != head.number + 1 or chained(head.hash, following.text) != following.hash:
            raise LedgerCorrupt(f"record {following.number} breaks the chain.")
        head = following.head
