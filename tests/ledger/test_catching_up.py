"""An account begins with what its holder has spent; almost all of it is read while others may write."""

from pathlib import Path

import pytest

from privately.errors import BudgetExhausted, InvalidParameter
from privately.guarantees import PureDP
from privately.ledger.acts import OpenAccount
from privately.ledger.book import Book
from privately.ledger.stores.sqlite import SQLiteSession
from tests.ledger.examples import charge, founded


def test_the_turn_reads_only_what_came_since(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[tuple[int, int]] = []
    keyed, opening = SQLiteSession.keyed, OpenAccount.__call__
    with founded(tmp_path / "l", cap=100) as ledger:
        for at in range(20):
            ledger.charge(charge(f"q{at}", analyst="ann"))

        def noted(self: SQLiteSession, end: str, after: int, upto: int) -> object:
            read.append((after, upto))
            return keyed(self, end, after, upto)

        def later(self: OpenAccount, book: Book) -> None:
            """Somebody was charged between the reading and the turn."""
            made = charge("meanwhile", analyst="ann")
            from privately.ledger.acts import MakeCharge

            MakeCharge(charge=made)(book)
            opening(self, book)

        monkeypatch.setattr(SQLiteSession, "keyed", noted)
        monkeypatch.setattr(OpenAccount, "__call__", later)
        budget = ledger.account("visits", analyst="ann", cap=PureDP(epsilon=10))
        assert read == [(2, 22), (22, 23)]
        assert (budget.spent, budget.entries, budget.more_like_last) == (PureDP(epsilon="2.1"), 21, 79)
        assert ledger.verify().charges == 21


def test_nothing_is_read_for_somebody_new(monkeypatch: pytest.MonkeyPatch) -> None:
    with founded(cap=100) as ledger:
        ledger.charge(charge("q", analyst="bob"))
        monkeypatch.setattr(SQLiteSession, "keyed", lambda *_: pytest.fail("it was read"))
        assert ledger.account("visits", analyst="ann", cap=PureDP(epsilon=1)).entries == 0


def test_more_like_the_last_charge_before_there_was_an_account() -> None:
    with founded(cap=10) as ledger:
        ledger.charge(charge("q1", analyst="ann", token="t"))
        ledger.charge(charge("q2", analyst="ann", token="u", cost=PureDP(epsilon="0.2")))
        budget = ledger.account("visits", analyst="ann", cap=PureDP(epsilon=1))
        assert (budget.last, budget.more_like_last) == (PureDP(epsilon="0.2"), 3)
        budget = ledger.account("visits", analyst="ann", token="t", cap=PureDP(epsilon="0.5"))
        assert (budget.last, budget.more_like_last) == (PureDP(epsilon="0.1"), 4)
        with pytest.raises(InvalidParameter, match="has spent more before"):
            ledger.account("visits", analyst="ann", token="u", cap=PureDP(epsilon="0.1"))
        for at in range(4):
            ledger.charge(charge(f"more {at}", analyst="ann", token="t"))
        with pytest.raises(BudgetExhausted, match="visits/ann/t"):
            ledger.charge(charge("too much", analyst="ann", token="t"))
        assert ledger.verify().charges == 6
