"""Answers of a turn that are stored together: the same records and outcomes as one by one."""

import random
from collections import defaultdict
from concurrent.futures import Future
from datetime import timedelta
from typing import Any
from unittest.mock import ANY

import pytest

from privately.errors import InvalidParameter, LedgerUnavailable
from privately.guarantees import PureDP
from privately.ledger import Charge, Receipt, rounds, storing
from privately.ledger.acts import MakeCharge, OpenAccount, StoreAnswer
from privately.ledger.arguments import filter_for
from privately.ledger.book import Book
from privately.ledger.entries import Founded
from privately.ledger.stores import Head, Row, SQLiteStore
from privately.ledger.verifying import verified
from privately.ledger.writer import Reader, Writer
from tests.ledger.examples import Clock, charge


class Told:
    """A ledger in memory whose clock is set by hand, and all that was told."""

    def __init__(self, reuse: Any = "everyone") -> None:
        self.store, self.clock = SQLiteStore(":memory:"), Clock()
        self.writer = Writer(self.store, self.clock)
        opening = OpenAccount(name="visits", filter=filter_for(PureDP(epsilon=100), None), reuse=reuse)
        self.turn([_founded, opening])

    def turn(self, acts: list[Any]) -> list[Any]:
        pairs: list[tuple[Any, Future[Any]]] = [(act, Future()) for act in acts]
        self.writer.take_turn(pairs)
        return [future.exception() or future.result() for _, future in pairs]

    def rows(self) -> list[Row]:
        with self.store.reading() as session:
            return list(session.rows(0))


def _founded(book: Book) -> None:
    book.append(Founded(ledger="0" * 32))


def lived(seed: int) -> tuple[list[Any], list[Row]]:
    """Charges, some under one key, some of odd names; receipts that are used once, twice, late, or are forged."""
    rng = random.Random(seed)
    told = Told(rng.choice(["everyone", "own", "never"]))
    receipts: list[Receipt] = []
    outcomes: list[Any] = []
    for _ in range(5):
        asked = [_charge(rng) for _ in range(rng.randint(1, 6))]
        acts: list[Any] = [MakeCharge(charge=one, again=rng.random() < 0.7) for one in asked]
        for _ in range(rng.randint(0, 8) if receipts else 0):
            receipt = rng.choice(receipts) if rng.random() < 0.3 else receipts[rng.randrange(-6, 0) % len(receipts)]
            if rng.random() < 0.1:
                receipt = _forged(rng, receipt, receipts)
            acts.append(StoreAnswer(receipt=receipt, answer=rng.randbytes(rng.choice([0, 1, 4]))))
        if rng.random() < 0.3:
            rng.shuffle(acts)
        found = told.turn(acts)
        outcomes += [str(one) if isinstance(one, Exception) else one for one in found]
        receipts += [one for one in found if isinstance(one, Receipt) and one.answer is None]
        told.clock.go(seconds=1)
    verified(Reader(told.store).look)
    return outcomes, told.rows()


def _charge(rng: random.Random) -> Charge:
    analyst, label = rng.choice(["ann", "ben"] * 9 + ["José"]), rng.choice([""] * 9 + ["\\"])
    number = rng.randrange(30)
    return charge(f"q{number}", analyst=analyst, key=f"k{number}", label=label)


def _forged(rng: random.Random, receipt: Receipt, others: list[Receipt]) -> Receipt:
    number, hashed = receipt.head
    charged, other = receipt.charge, rng.choice(others)
    another = charge("another", analyst=charged.analyst, key=charged.key)
    return rng.choice(
        [
            Receipt(charge=charged, head=other.head),
            Receipt(charge=charged, head=Head(number, bytes(32))),
            Receipt(charge=charged, head=Head(rng.choice([-1, 0, 1, 2, 2**70]), hashed)),
            Receipt(charge=another, head=receipt.head),
        ]
    )


def test_together_as_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    together = Book.answer_together

    def counted(self: Book, several: Any) -> None:
        sizes.append(len(several))
        together(self, several)

    monkeypatch.setattr(Book, "answer_together", counted)
    for seed in range(50):
        monkeypatch.setattr(rounds, "owed", storing.owed)
        found = lived(seed)
        monkeypatch.setattr(rounds, "owed", lambda book, acts: [None] * len(acts))
        assert found == lived(seed), f"seed {seed}"
    assert max(sizes) >= 4
    assert len(sizes) >= 40


def _same_twice(book: Book, acts: Any) -> Any:
    """Forgets that the same receipt may come twice in a turn."""
    return [storing.owed(book, [act])[0] for act in acts]


class _Without:
    """A session that does not look whether charges have answers, or were made again."""

    def __init__(self, session: Any, fault: str) -> None:
        self._session, self._fault = session, fault

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)

    def answered(self, charges: Any) -> set[int]:
        return set() if self._fault == "answered" else self._session.answered(charges)

    def last_of(self, keys: Any) -> Any:
        return defaultdict(int, dict.fromkeys(keys, ANY)) if self._fault == "again" else self._session.last_of(keys)


@pytest.mark.parametrize("fault", ["twice", "answered", "again", "line"])
def test_planted_faults_are_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A receipt that comes twice, a charge that has an answer, one that was paid again, one of another request."""
    honest = [lived(seed) for seed in range(30)]
    owed, line = storing.owed, storing._line

    def without(book: Book, acts: Any) -> Any:
        session, book.session = book.session, _Without(book.session, fault)
        try:
            return owed(book, acts)
        finally:
            book.session = session

    if fault == "twice":
        monkeypatch.setattr(rounds, "owed", _same_twice)
    elif fault in ("answered", "again"):
        monkeypatch.setattr(rounds, "owed", without)
    else:
        monkeypatch.setattr(storing, "_line", lambda *given: line(*given) or (None,))
    assert any(_told(seed) != found for seed, found in enumerate(honest))


def _told(seed: int) -> Any:
    try:
        return lived(seed)
    except Exception as fault:  # noqa: BLE001 - whatever becomes of it
        return fault


def test_a_clock_that_is_behind_is_told_to_everybody() -> None:
    told = Told()
    receipts = told.turn([MakeCharge(charge=charge(f"q{at}")) for at in range(3)])
    told.clock.moment -= timedelta(days=1)
    outcomes = told.turn([StoreAnswer(receipt=one, answer=b"42") for one in receipts])
    assert all(isinstance(one, LedgerUnavailable) for one in outcomes)
    assert len(told.rows()) == 5


def test_an_act_that_makes_no_sense_harms_nobody() -> None:
    told = Told()
    receipts = told.turn([MakeCharge(charge=charge(f"q{at}")) for at in range(2)])
    broken: Any = Receipt(charge=receipts[0].charge, head=Head("3", b""))  # type: ignore[arg-type]
    outcomes = told.turn([StoreAnswer(receipt=one, answer=b"42") for one in (*receipts, broken)])
    assert outcomes[:2] == [b"42", b"42"]
    assert isinstance(outcomes[2], TypeError | InvalidParameter)


def test_the_answer_is_found_by_its_question_in_the_same_turn() -> None:
    told = Told()
    receipts = told.turn([MakeCharge(charge=charge(f"q{at}")) for at in range(2)])
    stores: list[Any] = [StoreAnswer(receipt=one, answer=b"42") for one in receipts]
    *_, again = told.turn([*stores, MakeCharge(charge=charge("q1"))])
    assert again.answer == b"42"


@pytest.mark.parametrize("changed", [{"cost": PureDP(epsilon="0.2")}, {"token": "t"}, {"query": "other"}])
def test_receipts_of_another_request_are_refused(changed: dict[str, Any]) -> None:
    """Also where several come together, and the same was asked but for its cost."""
    told = Told()
    receipts = told.turn([MakeCharge(charge=charge(f"q{at}", key=f"k{at}")) for at in range(2)])
    others = [charge(**{"query": f"q{at}", "key": f"k{at}", **changed}) for at in range(2)]
    lies = [one._replace(charge=other) for one, other in zip(receipts, others, strict=True)]
    outcomes = told.turn([StoreAnswer(receipt=one, answer=b"42") for one in lies])
    assert ["another request" in str(one) for one in outcomes] == [True, True]
    assert told.turn([StoreAnswer(receipt=one, answer=b"42") for one in receipts]) == [b"42", b"42"]
