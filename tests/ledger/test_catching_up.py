"""An account begins with what its holder has spent; almost all of it is read while others may write."""

from pathlib import Path
from typing import Any

import pytest

from privately.errors import BudgetExhausted, InvalidParameter, LedgerCorrupt
from privately.guarantees import PureDP
from privately.ledger import Ledger, book, catching_up
from privately.ledger.acts import OpenAccount
from privately.ledger.book import Book
from privately.ledger.entries import chained
from privately.ledger.stores.sqlite import SQLiteSession
from tests.ledger.examples import charge, forging, founded


def test_the_turn_reads_only_what_came_since(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[tuple[int, int]] = []
    rows, opening = SQLiteSession.rows, OpenAccount.__call__
    with founded(tmp_path / "l", cap=100) as ledger:
        for at in range(20):
            ledger.charge(charge(f"q{at}", analyst="ann"))

        def noted(self: SQLiteSession, after: int, upto: int | None = None) -> object:
            if upto is not None:
                read.append((after, upto))
            return rows(self, after, upto)

        def later(self: OpenAccount, book: Book) -> None:
            """Somebody was charged between the reading and the turn."""
            made = charge("meanwhile", analyst="ann")
            from privately.ledger.acts import MakeCharge

            MakeCharge(charge=made)(book)
            opening(self, book)

        monkeypatch.setattr(SQLiteSession, "rows", noted)
        monkeypatch.setattr(OpenAccount, "__call__", later)
        budget = ledger.account("visits", analyst="ann", cap=PureDP(epsilon=10))
        assert read == [(0, 22), (22, 23)]
        assert (budget.spent, budget.entries, budget.more_like_last) == (PureDP(epsilon="2.1"), 21, 79)
        assert ledger.verify().charges == 21


def test_nothing_is_read_for_somebody_new(monkeypatch: pytest.MonkeyPatch) -> None:
    with founded(cap=100) as ledger:
        ledger.charge(charge("q", analyst="bob"))
        monkeypatch.setattr(catching_up, "_charges_of", lambda *_: pytest.fail("it was read"))
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


@pytest.mark.parametrize("edited", ["key", "text", "text and hash", "named"])
def test_what_an_account_begins_with_is_what_the_head_stands_for(
    edited: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Records before the last checkpoint are not read at opening; a late account believes none of them."""
    monkeypatch.setattr(book, "CHECKPOINT_EVERY", 8)
    with founded(tmp_path / "l", cap=100) as ledger:
        for at in range(12):
            cost = PureDP(epsilon=2 if at % 2 else 1)
            ledger.charge(charge(f"q{at}", analyst="ann", cost=cost))
        assert ledger.account("visits", analyst="ann", token="t", cap=PureDP(epsilon=1)).entries == 0
    with forging(tmp_path / "l") as connection:
        file: Any = connection
        [(text,)] = file.execute("SELECT text FROM record WHERE number = 6").fetchall()
        [(before,)] = file.execute("SELECT hash FROM record WHERE number = 5").fetchall()
        cheap = text.replace(b'"terms":4', b'"terms":3')
        assert cheap != text
        if edited == "key":
            file.execute("UPDATE record SET key = 'k\nbob' WHERE number = 6")
        elif edited == "named":
            [(said,)] = file.execute("SELECT text FROM record WHERE number = 4").fetchall()
            file.execute("UPDATE record SET text = ? WHERE number = 4", (said.replace(b'"2"', b'"1"'),))
        else:
            file.execute("UPDATE record SET text = ? WHERE number = 6", (cheap,))
        if edited == "text and hash":
            file.execute("UPDATE record SET hash = ? WHERE number = 6", (chained(before, cheap),))
    with Ledger.open(tmp_path / "l") as ledger:
        if edited == "key":
            assert ledger.account("visits", analyst="ann", cap=PureDP(epsilon=50)).spent == PureDP(epsilon=18)
            return
        with pytest.raises(LedgerCorrupt):
            ledger.account("visits", analyst="ann", cap=PureDP(epsilon=50))
