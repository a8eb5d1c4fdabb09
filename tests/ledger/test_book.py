"""One turn: time never goes back, checkpoints come where they are due, nothing of what is refused stays."""

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from privately.errors import BudgetExhausted, LedgerCorrupt, LedgerUnavailable
from privately.guarantees import PureDP
from privately.ledger import Ledger, book
from privately.ledger.book import Book, fetched, key_of, names, stamp
from privately.ledger.entries import Checkpoint
from privately.ledger.following import follow
from privately.ledger.stores import SQLiteStore
from tests.ledger.examples import Clock, charge, founded, used


@pytest.fixture
def path(tmp_path: Path) -> Path:
    used(tmp_path / "a.ledger")
    return tmp_path / "a.ledger"


def test_stamps_sort_as_moments() -> None:
    clock = Clock()
    moments = [clock.moment + timedelta(microseconds=at) for at in (0, 1, 10, 999_999, 10**6, 10**9)]
    stamps = [stamp(moment) for moment in moments]
    assert stamps == sorted(stamps)
    assert stamps[0] == "2030-01-01T00:00:00.000000Z"
    there = datetime(2030, 1, 1, 2, tzinfo=timezone(timedelta(hours=2)))
    assert stamp(there) == stamps[0]
    assert len({len(stamp(datetime(year, 1, 1, tzinfo=UTC))) for year in (1, 999, 2030, 9999)}) == 1


def test_names_and_fetching(path: Path) -> None:
    store = SQLiteStore(path)
    with store.reading() as session:
        for number in range(2, 9):
            entry, row = fetched(session, number)
            assert (row.key, row.question, row.charge) == names(entry)
        for number in (0, 1, 9):
            with pytest.raises(LedgerCorrupt, match="does not verify"):
                fetched(session, number)
    store.close()
    assert key_of("ann", "k") != key_of("an", "nk")


@pytest.mark.parametrize(
    ("back", "accepted"),
    [
        ({"seconds": 1}, True),
        ({"minutes": 1}, True),
        ({"minutes": 4.9}, True),
        ({"minutes": 5.1}, False),
        ({"hours": 1}, False),
        ({"days": 4_000}, False),
    ],
)
def test_a_clock_that_goes_back(back: dict[str, float], accepted: bool, tmp_path: Path) -> None:
    clock = Clock()
    ledger = Ledger.open(tmp_path / "a.ledger", clock=clock)
    ledger.account("visits", cap=PureDP(epsilon=1))
    ledger.charge(charge("first"))
    last = list(ledger.history())[-1].time
    clock.go(**{unit: -by for unit, by in back.items()})
    before = ledger.head
    if accepted:
        ledger.charge(charge("second"))
        assert list(ledger.history())[-1].time == last
    else:
        with pytest.raises(LedgerUnavailable, match="the clock says"):
            ledger.answer(charge("second"), lambda _: pytest.fail("it was run"))
        assert ledger.head == before
        assert ledger.budget("visits").entries == 1
        ledger.accept_clock(by="owner", reason="the battery was flat")
        ledger.charge(charge("second"))
        assert list(ledger.history())[-1].time < last
    assert ledger.verify().charges == 2
    ledger.close()
    with Ledger.open(tmp_path / "a.ledger", clock=clock) as again:
        assert again.budget("visits").entries == 2


def test_an_answer_is_free_whatever_the_clock_says() -> None:
    clock = Clock()
    with Ledger.open(":memory:", clock=clock) as ledger:
        ledger.account("visits", cap=PureDP(epsilon=1))
        ledger.answer(charge(), lambda _: b"42")
        clock.go(days=-1)
        assert ledger.answer(charge(), lambda _: pytest.fail("it was run")).body == b"42"


def test_checkpoints_come_where_they_are_due(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(book, "CHECKPOINT_EVERY", 5)
    path = tmp_path / "a.ledger"
    with founded(path, cap=10) as ledger:
        for at in range(20):
            ledger.charge(charge(f"q{at}"))
        checkpoints = [record.number for record in ledger.history() if isinstance(record.entry, Checkpoint)]
        assert checkpoints == [6, 12, 18, 24]
        assert ledger.verify().charges == 20
        expected = ledger.budgets()
    with Ledger.open(path) as again:
        assert again.budgets() == expected
        assert again.verify().records == 26


def test_nothing_of_a_refused_entry_stays(path: Path) -> None:
    store = SQLiteStore(path)
    with store.writing() as session:
        made = Book(session, follow(session, None), Clock())
        before = made.state.copy()
        charged = fetched(session, 3)[0]
        for _ in range(7):
            made.append(charged)
        with pytest.raises(BudgetExhausted):
            made.append(charged)
        assert made.state.head.number == before.head.number + 7
        assert session.head() == made.state.head
    store.close()
