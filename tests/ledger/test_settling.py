"""Many charges at once come to what they come to one by one, and to nothing else."""

from __future__ import annotations

from fractions import Fraction

import pytest

from privately.errors import LedgerCorrupt
from privately.guarantees import PureDP
from privately.ledger.charges import described
from privately.ledger.entries import Charged, Founded, Opened, kind_of, terms
from privately.ledger.ledger import _filter
from privately.ledger.settling import Run, settle
from privately.ledger.state import State
from privately.ledger.stores import Head
from tests.ledger.examples import COST

CAP = _filter(PureDP(epsilon=1), None).to_state()


def opened(*names: str) -> State:
    state = State()
    state.add(Founded(ledger="l"), "1", Head(1, b""))
    for number, name in enumerate(names, 2):
        state.add(Opened(account=name, filter=CAP, reuse="everyone"), "1", Head(number, b""))
    return state


def run(accounts: dict[str, list[str]], times: int, *, cost: PureDP = COST, question: str | None = "q") -> Run:
    group = (terms(accounts, described(cost)), "ann", None, question is None)
    return Run(groups={group: [times, 10, 10 + times - 1]})


def settled(state: State, made: Run) -> None:
    settle(lambda _: pytest.fail("it looked"), state, made, 99)


def test_all_at_once() -> None:
    state = opened("a", "a/ann", "a/bob")
    settled(state, run({"a": ["1/10"], "a/ann": ["1/10"]}, 10))
    assert {name: account.filter.tally.amounts for name, account in state.accounts.items()} == {
        "a": (Fraction(1),),
        "a/ann": (Fraction(1),),
        "a/bob": (Fraction(0),),
    }
    assert state.accounts["a"].filter.entries == 10
    assert state.accounts["a"].last == {"a": ["1/10"], "a/ann": ["1/10"]}
    assert state.asked == {"ann": 10}


@pytest.mark.parametrize(
    ("accounts", "times", "question", "words"),
    [
        ({"a": ["1/10"], "a/ann": ["1/10"]}, 11, "q", "more than its cap"),
        ({"a": ["1/10"]}, 1, "q", "should have"),
        ({"a/ann": ["1/10"]}, 1, "q", "should have"),
        ({"a": ["1/10"], "a/ann": ["1/10"], "a/bob": ["1/10"]}, 1, "q", "should have"),
        ({"a": ["1/11"], "a/ann": ["1/10"]}, 1, "q", "less than the event costs"),
        ({"a": ["-1/10"], "a/ann": ["1/10"]}, 1, "q", "no cost"),
        ({"a": ["1/10", "1/10"], "a/ann": ["1/10"]}, 1, "q", "do not add up"),
        ({"a": ["1/10"], "a/ann": ["1/10"]}, 3, None, "may serve again"),
        ({"b": ["1/10"]}, 1, "q", "do not add up"),
    ],
)
def test_what_does_not_add_up(accounts: dict[str, list[str]], times: int, question: str | None, words: str) -> None:
    with pytest.raises(LedgerCorrupt, match=words):
        settled(opened("a", "a/ann", "a/bob"), run(accounts, times, question=question))


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
def test_what_ends_as_a_charge_and_is_none(first: bytes) -> None:
    assert kind_of(first) is Charged
    with pytest.raises(LedgerCorrupt):
        settled(opened("a"), Run(groups={(first, "ann", None, False): [1, 10, 10]}))
    with pytest.raises(LedgerCorrupt):
        opened("a").apply_charge(first, "ann", "2", Head(3, b""))
