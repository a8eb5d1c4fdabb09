"""Many charges at once come to what they come to one by one, and to nothing else."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest

from privately.errors import LedgerCorrupt
from privately.guarantees import PureDP
from privately.ledger import settling
from privately.ledger.arguments import filter_for
from privately.ledger.charges import described
from privately.ledger.entries import Charged, Founded, Opened, kind_of, terms
from privately.ledger.settling import Run, settle
from privately.ledger.state import State
from privately.ledger.stores import Head
from tests.ledger.examples import COST

CAP = filter_for(PureDP(epsilon=1), None).to_state()


def opened(*names: str) -> State:
    state = State()
    state.add(Founded(ledger="l"), "1", Head(1, b""))
    for number, name in enumerate(names, 2):
        state.add(Opened(account=name, filter=CAP, reuse="everyone"), "1", Head(number, b""))
    return state


def run(state: State, accounts: dict[str, list[str]], times: int, *, cost: PureDP = COST, own: bytes = b"false") -> Run:
    made = Run(state.accounts)
    for number in range(10, 10 + times):
        made.add((terms(accounts, described(cost)), b"ann", None, own), number)
    return made


def settled(state: State, made: Run) -> None:
    settle(lambda _: pytest.fail("it looked"), state, made, 99)


def test_all_at_once() -> None:
    state = opened("a", "a/ann", "a/bob")
    settled(state, run(state, {"a": ["1/10"], "a/ann": ["1/10"]}, 10))
    assert {name: account.filter.tally.amounts for name, account in state.accounts.items()} == {
        "a": (Fraction(1),),
        "a/ann": (Fraction(1),),
        "a/bob": (Fraction(0),),
    }
    assert state.accounts["a"].filter.entries == 10
    assert state.accounts["a"].last == {"a": ["1/10"], "a/ann": ["1/10"]}
    assert state.asked == {"ann": 10}


@pytest.mark.parametrize(
    ("accounts", "times", "own", "words"),
    [
        ({"a": ["1/10"], "a/ann": ["1/10"]}, 11, b"false", "more than its cap"),
        ({"a": ["1/10"]}, 1, b"false", "should have"),
        ({"a/ann": ["1/10"]}, 1, b"false", "should have"),
        ({"a": ["1/10"], "a/ann": ["1/10"], "a/bob": ["1/10"]}, 1, b"false", "should have"),
        ({"a": ["1/11"], "a/ann": ["1/10"]}, 1, b"false", "less than the event costs"),
        ({"a": ["-1/10"], "a/ann": ["1/10"]}, 1, b"false", "no cost"),
        ({"a": ["1/10", "1/10"], "a/ann": ["1/10"]}, 1, b"false", "do not add up"),
        ({"a": ["1/10"], "a/ann": ["1/10"]}, 3, b"null", "may serve again"),
        ({"a": ["1/10"], "a/ann": ["1/10"]}, 3, b"true", "may serve again"),
        ({"b": ["1/10"]}, 1, b"false", "do not add up"),
    ],
)
def test_what_does_not_add_up(accounts: dict[str, list[str]], times: int, own: bytes, words: str) -> None:
    state = opened("a", "a/ann", "a/bob")
    with pytest.raises(LedgerCorrupt, match=words):
        settled(state, run(state, accounts, times, own=own))


def each_at_its_own(state: State, count: int, paid: Callable[[int], str]) -> Run:
    """Charges of 1, 2, 3, ... thousandths, so many that not all of their terms are read."""
    made = Run(state.accounts)
    for at in range(1, count + 1):
        first = terms({"a": [f"{at}/100003"], "a/ann": [paid(at)]}, described(PureDP(epsilon=Fraction(at, 100_003))))
        made.add((first, b"ann", None, b"false"), 10 + at)
    return made


def test_costs_of_their_own_are_added_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """With their terms read or not."""
    found = []
    for most in (100, 0, 10**9):
        monkeypatch.setattr(settling, "_MOST_TERMS", most)
        state = opened("a", "a/ann")
        made = each_at_its_own(state, 400, lambda at: f"{at}/100003")
        assert made.charges == 400
        assert sum(one.count for one in made.found_alike()) == max(0, 400 - most)
        settled(state, made)
        assert state.accounts["a"].filter.tally.amounts == (Fraction(400 * 401 // 2, 100_003),)
        assert state.accounts["a/ann"].filter.entries == 400
        found.append(state)
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize(
    ("count", "paid", "words"),
    [
        (400, lambda at: f"{at - (at == 300)}/100003", "less than the event costs"),
        (400, lambda at: f"{at}/{100_003 + (at == 400)}", "less than the event costs"),
        (400, lambda at: "0" if at == 300 else f"{at}/100003", "no cost"),
        (400, lambda at: f"-{at}/100003" if at == 300 else f"{at}/100003", "no cost"),
        (400, lambda at: f"{at}/0" if at == 300 else f"{at}/100003", "do not add up"),
        (447, lambda at: f"{at}/100003", "more than its cap"),
    ],
)
def test_one_false_cost_among_many(count: int, paid: Callable[[int], str], words: str) -> None:
    state = opened("a", "a/ann")
    with pytest.raises(LedgerCorrupt, match=words):
        settled(state, each_at_its_own(state, count, paid))


def test_one_more_that_pays_too_much_is_no_lie() -> None:
    state = opened("a", "a/ann")
    settled(state, each_at_its_own(state, 400, lambda at: f"{at + (at == 300)}/100003"))
    assert state.accounts["a/ann"].filter.tally.amounts == (Fraction(400 * 401 // 2 + 1, 100_003),)


def alone(first: bytes) -> tuple[State, Run]:
    """One charge on these terms."""
    state = opened("a")
    made = Run(state.accounts)
    made.add((first, b"ann", None, b"false"), 10)
    return state, made


@pytest.mark.parametrize(
    "first",
    [
        b'{"accounts":{"a":["1/10"]},"what":"charged"}',
        b'{"accounts":{"a":["1/10"]},"cost":{},"more":1,"what":"charged"}',
        b'{"accounts":[],"cost":{},"what":"charged"}',
        b'[1,"what":"charged"}',
        b'",\xff,"what":"charged"}',
        b"[" * 100_000 + b',"what":"charged"}',
        b',"what":"charged"}',
    ],
)
def test_what_ends_as_a_charge_and_is_none(first: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    assert kind_of(first) is Charged
    with pytest.raises(LedgerCorrupt):
        settled(*alone(first))
    monkeypatch.setattr(settling, "_MOST_TERMS", 0)
    with pytest.raises(LedgerCorrupt):
        settled(*alone(first))
    with pytest.raises(LedgerCorrupt):
        opened("a").apply_charge(first, "ann", "2", Head(3, b""))
