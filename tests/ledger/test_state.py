"""The state is the sum of the entries; entries that cannot follow are refused, and a checkpoint says the same."""

import random
from dataclasses import fields, replace
from fractions import Fraction
from typing import Any

import pytest

from privately.accounting import Filter
from privately.errors import BudgetExhausted, LedgerCorrupt
from privately.guarantees import ApproxDP, GaussianDP, PureDP
from privately.ledger import state as states
from privately.ledger.entries import (
    Adjusted,
    Charged,
    Checkpoint,
    ClockSet,
    Entry,
    Founded,
    Opened,
    Registered,
    Released,
)
from privately.ledger.state import Bill, State, spendable
from privately.ledger.stores import Head
from privately.ledger.terms import Terms

CAP = Filter(cap=PureDP(epsilon=1))
TIMES = [f"2030-01-01T00:00:0{at}.000000Z" for at in range(10)]


def opened(account: str = "a", filter_: Filter = CAP) -> Opened:
    return Opened(account=account, filter=filter_.to_state(), reuse="everyone")


def charged(**accounts: Any) -> Charged:
    return Charged(
        accounts=accounts,
        analyst="x",
        token=None,
        cost={},
        key="k",
        before=None,
        body="",
        own=None,
        snapshot="",
        label="",
    )


def adjusted(filter_: Filter, account: str = "a") -> Adjusted:
    return Adjusted(account=account, filter=filter_.to_state(), by="owner", reason="")


def after(*entries: Entry) -> State:
    state = State()
    for entry in (Founded(ledger="l"), *entries):
        go_on(state, entry)
    return state


def go_on(state: State, entry: Entry, time: str = TIMES[0]) -> None:
    state.apply(entry, time, Head(state.head.number + 1, bytes(32)))


def test_everything_adds_up() -> None:
    state = after(
        opened(),
        opened("b", Filter(cap=GaussianDP(mu=1))),
        charged(a=["1/10"], b=["1/4"]),
        charged(a=["1/5"]),
        Released(charge=4, hash="", size=0, question=None),
        adjusted(Filter(cap=PureDP(epsilon=2)).spend(PureDP(epsilon="0.1")).spend(PureDP(epsilon="0.2"))),
        Registered(table="t", lineages=["a", "b"], sketch=None, key=None, by="owner"),
    )
    first, second = state.accounts["a"], state.accounts["b"]
    assert (first.filter.spent, first.filter.entries, first.last) == (PureDP(epsilon="0.3"), 2, {"a": ["1/5"]})
    assert first.filter.cap == PureDP(epsilon=2)
    assert (second.filter.spent, second.filter.entries) == (GaussianDP(mu="0.5"), 1)
    assert state.tables["t"].lineages == ("a", "b")
    assert (state.ledger, state.head.number) == ("l", 8)


WRONG: dict[str, Entry] = {
    "more than is left": charged(a=["11/10"]),
    "an unknown account": charged(b=["1/10"]),
    "a negative amount": charged(a=["-1/10"]),
    "two amounts": charged(a=["1/10", "1/10"]),
    "no amounts": charged(a=[]),
    "no number": charged(a=["ten"]),
    "nan": charged(a=["nan"]),
    "a division by zero": charged(a=["1/0"]),
    "a null": charged(a=None),
    "a text": charged(a="1/10"),
    "opened again": opened(),
    "founded again": Founded(ledger="m"),
    "no filter": Opened(account="b", filter={}, reuse="own"),
    "an adjustment of what was spent": adjusted(CAP.spend(PureDP(epsilon="0.1"))),
    "an adjustment to another kind": adjusted(Filter(cap=GaussianDP(mu=1))),
    "an adjustment of an unknown account": adjusted(CAP, "b"),
    "another checkpoint": Checkpoint(state={"ledger": "l", "key": None, "accounts": {}, "tables": {}, "asked": {}}),
    "no checkpoint": Checkpoint(state=[]),  # type: ignore[arg-type]
    "lineages that are none": Registered(table="t", lineages=None, sketch=None, key=None, by=""),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_follow(name: str) -> None:
    state = after(opened())
    before = state.copy()
    with pytest.raises(LedgerCorrupt):
        go_on(state, WRONG[name])
    assert state == before
    go_on(state, charged(a=["1"]))


def test_the_first_entry_and_its_version() -> None:
    for first in (opened(), Founded(ledger="l", version=1)):
        with pytest.raises(LedgerCorrupt):
            go_on(State(), first)


def test_times_never_go_back_but_where_the_owner_says_so() -> None:
    state = State()
    go_on(state, Founded(ledger="l"), TIMES[5])
    with pytest.raises(LedgerCorrupt, match="is older than the one before it"):
        go_on(state, opened(), TIMES[4])
    go_on(state, ClockSet(by="owner", reason=""), TIMES[2])
    go_on(state, opened(), TIMES[3])
    assert state.time == TIMES[3]


def test_a_refusal_is_told_as_it_is_while_it_is_written() -> None:
    state = after(opened(), opened("b"))
    before = state.copy()
    with pytest.raises(BudgetExhausted):
        state.add(charged(a=["1/2"], b=["2"]), TIMES[0], Head(4, bytes(32)))
    assert state == before


def test_copies_go_on_by_themselves() -> None:
    state = after(opened())
    other = state.copy()
    go_on(other, charged(a=["1/2"]))
    go_on(other, Registered(table="t", lineages=["a"], sketch=None, key=None, by=""))
    assert state == after(opened())
    assert other != state


def test_checkpoints_say_the_same() -> None:
    cap = Filter.promising(ApproxDP(epsilon=1, delta="1e-6"), by=GaussianDP)
    state = after(
        opened(),
        opened("b", cap),
        charged(a=["1/10"], b=["1/10000"]),
        Registered(table="t", lineages=["a"], sketch="00", key="k", by=""),
    )
    data = state.to_data()
    restored = State.from_checkpoint(data, state.time, state.head)
    assert restored == replace(state, checkpoint=state.head.number, terms=Terms())
    go_on(state, Checkpoint(state=data))
    assert (state.checkpoint, state.terms) == (state.head.number, Terms())
    assert state.to_data() == data


def test_what_goes_on_from_a_checkpoint_comes_to_the_same() -> None:
    """Also where a cap with a long denominator was spent to the end, and then raised."""
    amount = Fraction(1, 2 * (2**600 + 187))
    spent = Filter(cap=PureDP(epsilon=amount)).spend(PureDP(epsilon=amount))
    kept = {name: spent.to_state()[name] for name in ("spent", "entries")}
    raised = Filter.from_state(CAP.to_state() | kept)
    more = charged(a=[str(amount)])
    state = after(opened("a", Filter(cap=PureDP(epsilon=amount))), more, adjusted(raised), more)
    restored = State.from_checkpoint(state.to_data(), state.time, state.head)
    for one in (state, restored):
        go_on(one, more)
    assert restored.to_data() == state.to_data()
    go_on(state, Checkpoint(state=restored.to_data()))


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"accounts": {}},
        {"accounts": {"a": {}}, "tables": {}, "ledger": "l"},
        {"accounts": [], "tables": [], "ledger": ""},
    ],
)
def test_no_checkpoint(data: dict[str, Any]) -> None:
    with pytest.raises(LedgerCorrupt, match="the checkpoint at record 7 cannot be read"):
        State.from_checkpoint(data, TIMES[0], Head(7, bytes(32)))


def test_spendable() -> None:
    assert spendable(("1/10", "2")) == (Fraction(1, 10), Fraction(2))


@pytest.mark.parametrize(
    ("spent", "fits"),
    [
        (["1/10"] * 10, True),
        (["1/10"] * 11, False),
        (["1/10", "1/7", "1/10", "1/7"], True),
        (["1/2", "1/3", "1/6"], True),
        (["1/2", "1/3", "1/5"], False),
        ([f"1/{3**400}", "1/2", f"1/{3**400}"], True),
        (["1"], True),
        (["11/10"], False),
    ],
)
@pytest.mark.parametrize("before", [None, "0", "1/1000"])
def test_bills_are_paid_together_as_one_by_one(spent: list[str], fits: bool, before: str | None) -> None:
    """Exactly, whatever the units; None where one of them would not fit."""
    state = after(opened("a", Filter(cap=PureDP(epsilon=1 if before is None else "1001/1000"))), opened("b"))
    if before is not None:
        go_on(state, charged(a=["1/1000"]))
    one_by_one, bills = state.copy(), [Bill.of({"a": [text], "b": [text]}) for text in spent]
    paid = state.paid(bills)
    assert (paid is not None) == fits
    for at, bill in enumerate(bills if fits else []):
        one_by_one.add_charge(bill, f"analyst {at % 2}", TIMES[1], Head(state.head.number + at + 1, b""))
    if paid is not None:
        state.add_charges(paid, [f"analyst {at % 2}" for at in range(len(bills))], TIMES[1], one_by_one.head)
        assert state == one_by_one


def turns(seed: int) -> list[Any]:
    """Turns of charges, most of them like the last, made together where they fit; what was paid, and the states."""
    rng = random.Random(seed)
    cap = Fraction(rng.randrange(1, 30), rng.choice([1, 7, 10]))
    state = after(opened("a", Filter(cap=PureDP(epsilon=cap))), opened("b", Filter(cap=PureDP(epsilon=2 * cap))))
    fine = f"1/{2**520 + 1}" if rng.random() < 0.2 else "1/21"
    bills = [Bill.of({"a": [text]}) for text in (rng.choice(["1/10", "1/7", "1/3"]), "1/10", fine)]
    bills.append(Bill.of({"a": ["0"], "b": ["1/10"]}))
    found: list[Any] = []
    for _ in range(40):
        chosen = [rng.choice(bills) for _ in range(2)] if rng.random() < 0.3 else bills[:1]
        if rng.random() < 0.1:
            _raise(state, rng)
        paid = state.paid(chosen)
        alone = _one_by_one(state, chosen)
        assert (paid is None) == (alone is None)
        if paid is not None:
            head = Head(state.head.number + len(chosen), bytes(32))
            state.add_charges(paid, ["x"] * len(chosen), TIMES[0], head)
            found.append(state.copy())
            assert state == alone
            assert state.to_data() == alone.to_data()
        found.append(paid)
    return found


def _raise(state: State, rng: random.Random) -> None:
    """The owner gives account a another cap, which is what was spent, or a little more."""
    spent = state.accounts["a"].filter
    more = Filter(
        cap=PureDP(epsilon=max(spent.tally.amounts[0], Fraction(1, 100)) + rng.choice([Fraction(0), Fraction(1, 10)]))
    )
    kept = {name: spent.to_state()[name] for name in ("spent", "entries")}
    go_on(state, adjusted(Filter.from_state(more.to_state() | kept)))


def _one_by_one(state: State, bills: list[Bill]) -> State | None:
    alone = state.copy()
    try:
        for bill in bills:
            alone.add_charge(bill, "x", TIMES[0], Head(alone.head.number + 1, bytes(32)))
    except BudgetExhausted:
        return None
    return alone


def test_charges_like_the_last_are_counted_up_to_the_cap() -> None:
    """Exactly as if each was added: what is left, what is refused, what a checkpoint says."""
    counted = 0
    for seed in range(40):
        counted += sum(one.accounts["a"].times for one in turns(seed) if isinstance(one, State))
    assert counted > 100


def test_the_last_unit_is_refused_where_charges_are_counted() -> None:
    state, bill = after(opened("a", Filter(cap=PureDP(epsilon="0.95")))), Bill.of({"a": ["1/10"]})
    for at in range(9):
        paid = state.paid([bill])
        assert paid is not None
        state.add_charges(paid, ["x"], TIMES[0], Head(at + 3, b""))
    assert state.accounts["a"].times > 5
    assert state.paid([bill]) is None
    assert state.accounts["a"].filter.remaining == PureDP(epsilon="0.05")


@pytest.mark.parametrize("fault", ["one more", "no room is looked for", "kept after another cap"])
def test_planted_faults_of_counting_are_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    room, adjust = states._room, State._adjust
    if fault == "one more":
        monkeypatch.setattr(states, "_room", lambda tally, amounts: room(tally, amounts) + 1)
    elif fault == "no room is looked for":
        monkeypatch.setattr(states, "_room", lambda tally, amounts: 10**9)
    else:

        def keeps(self: State, account: Any, following: Filter) -> None:
            adjust(self, account, following)
            made = self.accounts[account.name]
            self.accounts[account.name] = made._replace(times=account.times, room=account.room)

        monkeypatch.setattr(State, "_adjust", keeps)

    def wrong(seed: int) -> bool:
        try:
            turns(seed)
        except (AssertionError, LedgerCorrupt):
            return True
        return False

    assert any(wrong(seed) for seed in range(40))


def test_accounts_are_equal_however_they_are_counted() -> None:
    bill = Bill.of({"a": ["1/10"]})
    state = after(opened())
    for _ in range(4):
        state.add_charges(state.paid([bill]) or [], ["x"], TIMES[0], state.head)
    counted = state.accounts["a"]
    settled = counted._replace(before=counted.filter, times=0, room=0)
    assert counted.times == 2
    assert counted == settled
    assert (counted != settled) is False
    assert hash(counted) == hash(settled)
    assert counted != counted._replace(times=1)
    assert counted != "a"
    with pytest.raises(LedgerCorrupt, match="more than its cap"):
        _ = counted._replace(times=10**6).filter


def test_a_copy_has_every_field() -> None:
    values: Any = {one.name: {one.name: 1} for one in fields(State)}
    copied = State(**values).copy()
    assert {name: getattr(copied, name) for name in values} == values
    assert copied.accounts is not values["accounts"]
    assert copied.offers is values["offers"]
