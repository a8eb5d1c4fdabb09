"""Charges that are made together are those that would be made one by one, to the byte."""

import random
from concurrent.futures import Future
from datetime import timedelta
from typing import Any

import pytest

from privately.accounting import Filter
from privately.accounting.filters.tallies import Tally
from privately.errors import BudgetExhausted, LedgerUnavailable, PrivatelyError
from privately.guarantees import ApproxDP, ApproxZCDP, GaussianDP, PureDP
from privately.ledger import Charge, Receipt
from privately.ledger.acts import MakeCharge, OpenAccount, StoreAnswer
from privately.ledger.arguments import filter_for
from privately.ledger.book import Book
from privately.ledger.entries import Founded
from privately.ledger.ledger import _found
from privately.ledger.quotes import quote
from privately.ledger.state import State
from privately.ledger.stores import Row, SQLiteStore
from privately.ledger.writer import Writer
from tests.ledger.examples import Clock, charge

FILTERS = [
    filter_for(PureDP(epsilon="0.9"), None),
    filter_for(GaussianDP(mu=2), None),
    Filter.promising(ApproxDP(epsilon=3, delta="1e-6"), by=ApproxZCDP),
]
COSTS = [PureDP(epsilon=text) for text in ("0.1", "0.1", "0.03", "1/7", f"1/{3**300}")]
LATER = ("visits/ann", "visits/ben", "wards/ann", "visits/ann/app")


class Told:
    """All that a writer told, in order, and what it has written."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.store = SQLiteStore(":memory:")
        self.writer = Writer(self.store, self.clock)
        self.texts: list[Any] = []

    def turn(self, acts: list[Any]) -> list[Any]:
        pairs: list[tuple[Any, Future[Any]]] = [(act, Future()) for act in acts]
        self.writer.take_turn(pairs)
        found = [future.exception() or future.result() for _, future in pairs]
        self.texts += [str(one) if isinstance(one, Exception) else one for one in found]
        return found

    def rows(self) -> list[Row]:
        with self.store.reading() as session:
            return list(session.rows(0))


def lived(seed: int) -> tuple[list[Any], list[Row], State | None]:
    """Some turns of some acts, which are the same for a seed."""
    rng, told = random.Random(seed), Told()
    one, other, third = (rng.choice(FILTERS) for _ in range(3))
    first = [OpenAccount(name="visits", filter=one, reuse=rng.choice(["everyone", "own", "never"])), _opening("wards")]
    told.turn([lambda book: _found_as(book, seed), *first])
    receipts: list[Receipt] = []
    asked: list[Charge] = []
    for _ in range(6):
        acts: list[Any] = []
        for _ in range(rng.randint(1, 12)):
            kind = rng.random()
            if kind < 0.1:
                acts.append(OpenAccount(name=rng.choice(LATER), filter=rng.choice([other, third]), reuse="everyone"))
            elif kind < 0.25 and receipts:
                acts.append(StoreAnswer(receipt=receipts.pop(), answer=rng.randbytes(4)))
            elif kind < 0.35 and asked:
                acts.append(_asking(told, rng, rng.choice(asked), again=rng.random() < 0.5))
            else:
                asked.append(_charge(rng))
                acts.append(_asking(told, rng, asked[-1]))
        found = told.turn(acts)
        receipts += [one for one in found if isinstance(one, Receipt) and one.answer is None]
        told.clock.go(seconds=rng.choice([1, -1, 0]))
    return told.texts, told.rows(), told.writer.state


def _opening(name: str) -> OpenAccount:
    return OpenAccount(name=name, filter=FILTERS[0], reuse="everyone")


def _found_as(book: Book, seed: int) -> None:
    book.append(Founded(ledger=f"{seed:032x}"))


def _asking(told: Told, rng: random.Random, asked: Charge, *, again: bool = False) -> MakeCharge:
    """Some are quoted beforehand, of which some quotes are old when the turn comes."""
    state = told.writer.state
    try:
        prepared = None if state is None or rng.random() < 0.3 else quote(state, asked)
    except PrivatelyError:
        prepared = None
    return MakeCharge(charge=asked, again=again, quote=prepared)


def _charge(rng: random.Random) -> Charge:
    return charge(
        f"q{rng.randrange(12)}",
        lineages=rng.choice([("visits",), ("wards",), ("visits", "wards"), ("labs",)]),
        cost=rng.choice(COSTS),
        analyst=rng.choice(["ann", "ben"]),
        token=rng.choice([None, "app"]),
        key=f"k{rng.randrange(60)}",
    )


def test_together_as_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    together = Book.charge_together

    def counted(self: Book, quotes: Any) -> Any:
        heads = together(self, quotes)
        sizes.append(0 if heads is None else len(heads))
        return heads

    for seed in range(60):
        monkeypatch.setattr(Book, "charge_together", counted)
        told, rows, state = lived(seed)
        monkeypatch.setattr(Book, "charge_together", lambda self, quotes: None)
        assert (told, rows, state) == lived(seed), f"seed {seed}"
    assert max(sizes) >= 5
    assert sizes.count(0) >= 10


@pytest.mark.parametrize("fault", ["limit", "key", "question", "offers"])
def test_planted_faults_are_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cap that is not looked at, a key that is used twice, an answer that is known, an account that is forgotten."""
    honest = [lived(seed) for seed in range(40)]
    if fault == "limit":
        monkeypatch.setattr(Tally, "plus_times", lambda self, amounts, times: self.plus_amounts(amounts))
    elif fault == "key":
        monkeypatch.setattr(Book, "take", lambda self, quote: quote.question is None or quote.question in self._new)
    elif fault == "question":
        monkeypatch.setattr(Book, "take", lambda self, quote: quote.key in self._new)
    else:
        kept = State._open

        def opens(self: State, entry: Any) -> None:
            offers = self.offers
            kept(self, entry)
            self.offers = offers

        monkeypatch.setattr(State, "_open", opens)
    assert any(lived(seed) != found for seed, found in enumerate(honest))


def test_exactly_as_many_as_fit() -> None:
    told = Told()
    told.turn([_found, _opening("visits")])
    outcomes = told.turn([MakeCharge(charge=charge(f"q{at}")) for at in range(20)])
    assert [isinstance(one, BudgetExhausted) for one in outcomes] == [False] * 9 + [True] * 11


def test_a_clock_that_is_behind_is_told_to_everybody() -> None:
    told = Told()
    told.turn([_found, _opening("visits")])
    told.clock.moment -= timedelta(days=1)
    outcomes = told.turn([MakeCharge(charge=charge(f"q{at}")) for at in range(3)])
    assert all(isinstance(one, LedgerUnavailable) for one in outcomes)
    assert len(told.rows()) == 2
