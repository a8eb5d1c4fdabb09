"""Reading everything again: the chain, the answers, and that all charges add up to what was spent, within every cap."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from privately.ledger.book import join, stored_answer
from privately.ledger.state import State
from privately.ledger.stores import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What was found to be in order."""

    records: int
    charges: int
    answers: int


def verified(session: Session, *, progress: Callable[[int, int], None] | None = None) -> Verification:
    state, last = State(), session.head().number
    charges = answers = 0
    for row in session.rows(0):
        join(state, row)
        charges += row.key is not None
        if row.charge is not None:
            stored_answer(session, row)
            answers += 1
        if progress is not None and row.number % 1_000 == 0:
            progress(row.number, last)
    return Verification(records=state.head.number, charges=charges, answers=answers)
