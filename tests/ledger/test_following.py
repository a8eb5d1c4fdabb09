"""What others wrote is followed and checked: from the last checkpoint on, charges that follow one another at once."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

from privately.errors import LedgerCorrupt
from privately.guarantees import PureDP
from privately.ledger import Ledger, book, following
from privately.ledger.entries import Checkpoint, ClockSet, chained, written
from privately.ledger.following import follow, join, join_all
from privately.ledger.state import State
from privately.ledger.stores import Row, SQLiteStore
from tests.ledger.examples import charge, used


@pytest.fixture
def path(tmp_path: Path) -> Path:
    used(tmp_path / "a.ledger")
    return tmp_path / "a.ledger"


def test_following(path: Path) -> None:
    store = SQLiteStore(path)
    with store.reading() as session:
        whole = follow(session, None)
        assert follow(session, whole) is whole
        part = State()
        for row in session.rows(0, 4):
            join(part, row)
        assert follow(session, part) == whole
        assert part.head.number == 4
        later = whole.copy()
        later.head = later.head._replace(number=99)
        with pytest.raises(LedgerCorrupt, match="went back to an earlier state"):
            follow(session, later)
        other = whole.copy()
        other.head = other.head._replace(hash=bytes(32))
        with pytest.raises(LedgerCorrupt, match="went back to an earlier state"):
            follow(session, other)
        other.head = other.head._replace(number=7)
        with pytest.raises(LedgerCorrupt, match="record 8 breaks the chain"):
            follow(session, other)
    store.close()


def test_a_row_under_names_that_are_not_its_own() -> None:
    state = State()
    text = written(ClockSet(by="a", reason="b"), "2030-01-01T00:00:00.000000Z")
    row = Row(1, chained(bytes(32), text), text, key="k")
    with pytest.raises(LedgerCorrupt, match="filed under names"):
        join(state, row)


def test_opening_reads_from_the_last_checkpoint_on(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(book, "CHECKPOINT_EVERY", 4)
    with Ledger.open(path) as ledger:
        assert isinstance(list(ledger.history())[-1].entry, Checkpoint)
        ledger.charge(charge("more"))
        ledger.charge(charge("still more"))
    joined: list[int] = []

    def counted(state: State, rows: Iterable[Row]) -> None:
        listed = list(rows)
        joined.extend(row.number for row in listed)
        join_all(state, listed)

    monkeypatch.setattr(following, "join_all", counted)
    with Ledger.inspect(path) as ledger:
        assert ledger.budget("visits").entries == 5
    assert joined == [10, 11]


def one_by_one(state: State, rows: Iterable[Row]) -> None:
    for row in rows:
        join(state, row)


def followed(rows: list[Row], join_: Callable[[State, Iterable[Row]], None]) -> State | str:
    """What rows amount to, or what is wrong with them."""
    state = State()
    try:
        join_(state, rows)
    except LedgerCorrupt as fault:
        return str(fault)
    return state


def rechained(rows: list[Row]) -> list[Row]:
    """With hashes that are right again."""
    made, last = [], bytes(32)
    for row in rows:
        last = chained(last, row.text)
        made.append(row._replace(hash=last))
    return made


def tampered(rows: list[Row], at: int) -> Iterator[list[Row]]:
    """A record edited in various ways, with and without the hashes after it."""
    row = rows[at]
    first, _, second = row.text.partition(b"\n")
    for changed in (
        row._replace(hash=bytes(32)),
        row._replace(number=row.number + 1),
        row._replace(key="another"),
        row._replace(key=None),
        row._replace(charge=1),
        row._replace(text=first + b"\n" + second.replace(b'"time":"20', b'"time":"19')),
        row._replace(text=first + b"\n" + second.replace(b'"time":"20', b'"time":"xx')),
        row._replace(text=first.replace(b'"1/10"', b'"7"') + b"\n" + second),
        row._replace(text=first.replace(b'"1/10"', b'"-1/10"') + b"\n" + second),
        row._replace(text=first.replace(b'"1/10"', b'"ten"') + b"\n" + second),
        row._replace(text=first.replace(b'"visits"', b'"nobody"') + b"\n" + second),
        row._replace(text=first.replace(b"accounts", b"account") + b"\n" + second),
        row._replace(text=first),
    ):
        listed = [*rows[:at], changed, *rows[at + 1 :]]
        yield listed
        yield rechained(listed)
    yield [*rows[:at], *rows[at + 1 :]]
    yield rechained([*rows[:at], row, *rows[at:]])


def test_charges_that_follow_one_another_are_joined_at_once(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """To the same state as one by one, and with the same words where one of them cannot follow."""
    with Ledger.open(path) as ledger:
        for at in range(3):
            ledger.charge(charge(f"more {at}", analyst="ann"))
        ledger.account("wards", cap=PureDP(epsilon=1))
        ledger.charge(charge("both", lineages=("visits", "wards")))
        with ledger._store.reading() as session:
            rows = list(session.rows(0))
    whole = followed(rows, one_by_one)
    assert isinstance(whole, State)
    assert followed(rows, join_all) == whole
    wrong = [listed for at in range(len(rows)) for listed in tampered(rows, at)]
    found = [followed(listed, one_by_one) for listed in wrong]
    assert [followed(listed, join_all) for listed in wrong] == found
    assert sum(isinstance(one, str) for one in found) > 100
    state = State()
    join_all(state, rows[:8])
    monkeypatch.setattr(following, "join", lambda state, row: pytest.fail("one by one"))
    join_all(state, rows[8:11])
    assert state.head == rows[10].head
