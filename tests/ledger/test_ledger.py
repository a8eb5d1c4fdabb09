"""The door: nothing leaves before it is paid for, and any order of charges adds up exactly."""

import hashlib
import tempfile
from collections.abc import Callable
from concurrent.futures import Future
from datetime import UTC, datetime, timedelta, timezone
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privately import accounting as acc
from privately.errors import (
    BudgetExhausted,
    InvalidParameter,
    LedgerCorrupt,
    LedgerUnavailable,
    NoSuchRule,
    PrivatelyError,
)
from privately.guarantees import ZCDP, ApproxDP, GaussianDP, Guarantee, PureDP, RenyiDP
from privately.ledger import Charge, Ledger, OwnerKey, Receipt, ledger
from privately.ledger.entries import Charged
from tests.ledger.examples import Clock, charge, founded

CAPS: dict[str, Guarantee] = {
    "visits": PureDP(epsilon=1),
    "claims": ZCDP(rho="0.3"),
    "visits/ann": PureDP(epsilon="0.6"),
    "visits/ann/t": PureDP(epsilon="0.3"),
    "claims/bob": GaussianDP(mu="0.5"),
}
COSTS = (PureDP(epsilon="0.1"), PureDP(epsilon="1/3"), acc.Laplace(scale=7), PureDP(epsilon="0.01"))

asked = st.tuples(
    st.sampled_from([("visits",), ("claims",), ("visits", "claims")]),
    st.sampled_from(COSTS),
    st.sampled_from(["ann", "bob", "owner"]),
    st.sampled_from([None, "t"]),
    st.integers(0, 5),
    st.sampled_from(["charge", "answer", "fail", "again"]),
    st.integers(0, 1),
)


def open_accounts(made: Ledger) -> None:
    for name, cap in CAPS.items():
        lineage, analyst, token = [*name.split("/"), None, None][:3]
        assert lineage is not None
        own = lineage == "claims" and analyst is None
        made.account(lineage, analyst=analyst, token=token, cap=cap, reuse="own" if own else "everyone")


def sums(made: Ledger) -> dict[str, list[Fraction]]:
    """What the entries say that each account paid, added up here."""
    found: dict[str, list[Fraction]] = {}
    for record in made.history():
        if isinstance(record.entry, Charged):
            for name, texts in record.entry.accounts.items():
                before = found.get(name, [Fraction(0)] * len(texts))
                found[name] = [one + Fraction(text) for one, text in zip(before, texts, strict=True)]
    return found


@settings(max_examples=15)
@given(st.lists(asked, max_size=20))
def test_any_interleaving_of_charges_adds_up(steps: list[Any]) -> None:
    """Two handles on one file, several accounts and currencies, answers lost and asked again."""
    add_up(steps)


@pytest.mark.slow
@settings(max_examples=1000)
@given(st.lists(asked, max_size=40))
def test_many_interleavings_add_up(steps: list[Any]) -> None:
    add_up(steps)


def add_up(steps: list[Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.ledger"
        with Ledger.open(path) as one, Ledger.open(path) as other:
            open_accounts(one)
            for lineages, cost, analyst, token, query, way, handle in steps:
                step = charge(
                    f"q{query}", lineages=lineages, cost=cost, analyst=analyst, token=token, key=f"k{query}{token}"
                )
                try_step((one, other)[handle], step, way)
            for made in (one, other):
                totals = sums(made)
                for budget in made.budgets():
                    account = made._state().accounts[budget.account]
                    spent, limits = account.filter.tally.amounts, account.filter.tally.limits
                    assert list(spent) == totals.get(budget.account, [Fraction(0)] * len(spent))
                    assert all(amount <= limit for amount, limit in zip(spent, limits, strict=True))
            assert one.head == other.head
            found = one.verify()
            before = one.budgets()
        with Ledger.open(path) as again:
            assert again.budgets() == before
            assert again.verify() == found


def try_step(made: Ledger, step: Charge, way: str) -> None:
    def run(receipt: Receipt) -> bytes:
        if way == "fail":
            raise ZeroDivisionError
        return step.query.encode()

    try:
        answer = made.charge(step).answer if way == "charge" else made.answer(step, run, again=way == "again").body
    except (PrivatelyError, ZeroDivisionError):
        return
    assert answer in {None, step.query.encode()}


@given(st.lists(st.fractions(min_value=Fraction(1, 50), max_value=Fraction(1, 2)), min_size=1, max_size=30))
@settings(max_examples=30)
def test_a_charge_is_refused_exactly_when_it_does_not_fit(costs: list[Fraction]) -> None:
    with founded() as made:
        left = Fraction(1)
        for at, cost in enumerate(costs):
            try:
                made.charge(charge(f"q{at}", cost=PureDP(epsilon=cost)))
            except BudgetExhausted:
                assert cost > left
            else:
                left -= cost
        assert made.budget("visits").spent == PureDP(epsilon=1 - left)


def test_charge_run_store_answer_in_this_order(tmp_path: Path) -> None:
    path = tmp_path / "a.ledger"
    with founded(path) as made, Ledger.inspect(path) as outside:

        def run(receipt: Receipt) -> bytes:
            assert outside.budget("visits").entries == 1
            assert receipt.number == outside.head.number == 3
            return b"42"

        answer = made.answer(charge(), run)
        assert [record.entry.what for record in outside.history()][-2:] == ["charged", "released"]
        assert (answer.body, answer.free) == (b"42", False)


@pytest.mark.parametrize("answer", [None, "42", 42, bytearray(b"42"), b"x" * 1001])
def test_no_answers(answer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger, "LARGEST_ANSWER", 1000)
    with founded() as made:
        with pytest.raises(InvalidParameter, match="answer"):
            made.answer(charge(key="k"), lambda _: answer)
        budget = made.budget("visits")
        assert budget.entries == 1  # what was run is paid for
        assert made.answer(charge(key="k"), lambda _: b"x" * 1000, again=True).body == b"x" * 1000
        assert made.verify().answers == 1


def test_a_large_answer(tmp_path: Path) -> None:
    path = tmp_path / "a.ledger"
    body = bytes(range(256)) * 40_000
    with founded(path) as made:
        made.answer(charge(), lambda _: body)
    with Ledger.open(path) as again:
        assert again.charge(charge()).answer == body
        assert again.verify().answers == 1


def test_a_long_query_is_not_kept_but_its_hash(tmp_path: Path) -> None:
    query = "SELECT " + "x" * 900_000
    with founded(tmp_path / "a.ledger") as made:
        made.answer(charge(query, label="l" * 10_000, snapshot="s" * 10_000), lambda _: b"1")
        assert made.charge(charge(query, snapshot="s" * 10_000)).answer == b"1"
    assert (tmp_path / "a.ledger").stat().st_size < 100_000


@pytest.mark.parametrize(
    "attempt",
    [
        lambda made: made.charge("visits"),
        lambda made: made.price({}),
        lambda made: made.answer(None, lambda _: b""),
        lambda made: made.store("receipt", b""),
        lambda made: made.account("visits", cap=1),
        lambda made: made.account("visits", cap=PureDP),
        lambda made: made.account("a/b", cap=PureDP(epsilon=1)),
        lambda made: made.account("a", cap=PureDP(epsilon=1), token="t"),
        lambda made: made.account("a", cap=PureDP(epsilon=1), analyst="a/b"),
        lambda made: made.account("a", cap=PureDP(epsilon=1), reuse="always"),
        lambda made: made.account("a", cap=ZCDP(rho=1), by=GaussianDP),
        lambda made: made.budget("claims"),
        lambda made: made.budget("visits", token="t"),
        lambda made: made.adjust("visits", cap=PureDP(epsilon=2), by="", reason=""),
        lambda made: made.adjust("visits", cap=PureDP(epsilon=2), by="me", reason="r" * 10_001),
        lambda made: made.accept_clock(by="a/b", reason=""),
        lambda made: made.accept_clock(by="me", reason=7),
        lambda made: made.check("no pin"),
        lambda made: Ledger.open(":memory:", pin="no pin"),
        lambda made: made.history(after="a"),
        lambda made: made.history(after=-1),
        lambda made: made.history(upto=1.5),
        lambda made: made.backup(":memory:"),
        lambda made: made.verify(progress=3),
    ],
)
def test_wrong_input_leaves_nothing(attempt: Callable[[Ledger], object]) -> None:
    with founded() as made:
        before = made.head
        with pytest.raises(InvalidParameter):
            attempt(made)
        with pytest.raises(NoSuchRule):
            made.account("a", cap=ApproxDP(epsilon=1, delta="1e-6"), by=PureDP)
        assert made.head == before
        made.charge(charge())


def test_history() -> None:
    with founded(cap=200) as made:
        for at in range(1_050):
            made.charge(charge(f"q{at}", cost=PureDP(epsilon="0.1")))
        records = list(made.history())
        assert [record.number for record in records] == list(range(1, 1_053))
        assert [record.number for record in made.history(after=1_049)] == [1_050, 1_051, 1_052]
        assert [record.number for record in made.history(after=998, upto=1_001)] == [999, 1_000, 1_001]
        assert list(made.history(after=5_000)) == []
        assert records[-1].hash == made.head.hash


def test_a_ledger_in_memory_says_so() -> None:
    with founded() as made:
        assert not made.durable
        assert "NOT DURABLE" in repr(made)


def test_a_ledger_on_disk_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "a.ledger"
    with founded(path) as made:
        made.answer(charge(key="k"), lambda _: b"42")
        head, budgets = made.head, made.budgets()
        assert repr(made) == "<Ledger 4 records>"
        assert made.durable
    with Ledger.open(str(path)) as again:
        assert (again.head, again.budgets()) == (head, budgets)
        assert again.charge(charge(key="k")).answer == b"42"


CANARY = "canary-7f3a91c2-unit-id"
HASHES = ("md5", "sha1", "sha224", "sha256", "sha384", "sha512", "blake2b", "blake2s", "sha3_256")


def test_nothing_in_the_file_is_an_unkeyed_hash_of_data(tmp_path: Path) -> None:
    """Neither a unit, nor a hash of one or of all, nor the owner's key; whoever guesses cannot test the guess."""
    path, key = tmp_path / "a.ledger", OwnerKey.at(tmp_path / "owner.key")
    units = [CANARY, *(f"{CANARY} {at}" for at in range(100))]
    with founded(path) as made:
        made.register("2024", lineage="visits", units=units, key=key)
        made.answer(charge(snapshot="2024"), lambda _: b"42")
        pin = str(made.head).encode()
    found = b"".join(name.read_bytes() for name in tmp_path.iterdir() if name.name != "owner.key") + pin
    assert key.secret not in found
    assert key.secret.hex().encode() not in found
    messages = [CANARY, "".join(units), ",".join(units), "\n".join(units), str(units), repr(tuple(units)), f"t{CANARY}"]
    for message in messages:
        assert message.encode() not in found
        for name in HASHES:
            digest = hashlib.new(name, message.encode()).digest()
            for part in (digest[:8], digest[:8].hex().encode(), digest[-8:], digest[-8:].hex().encode()):
                assert part not in found


def test_the_clock_is_asked_for_every_record() -> None:
    clock = Clock()
    with Ledger.open(":memory:", clock=clock) as made:
        made.account("visits", cap=PureDP(epsilon=1))
        clock.go(days=1)
        made.charge(charge())
        assert [record.time[:10] for record in made.history()] == ["2030-01-01", "2030-01-01", "2030-01-02"]


def test_backups(tmp_path: Path) -> None:
    with founded(tmp_path / "a") as ledger:
        ledger.charge(charge("before"))
        pin = ledger.head
        ledger.backup(tmp_path / "copy")
        ledger.charge(charge("after"))
        later = ledger.head
        for taken in ("copy", "a", "missing/copy"):
            with pytest.raises(LedgerUnavailable):
                ledger.backup(tmp_path / taken)
    assert (tmp_path / "copy").stat().st_mode & 0o077 == 0
    with Ledger.open(tmp_path / "copy", pin=pin) as copy:
        assert copy.verify().charges == 1
        assert copy.budget("visits").entries == 1
        with pytest.raises(LedgerCorrupt):
            copy.check(later)
    with Ledger.inspect(tmp_path / "a") as looked:
        looked.backup(tmp_path / "another")
    with Ledger.inspect(tmp_path / "another") as another:
        assert another.verify().charges == 2


def test_reuse_is_decided_for_the_whole_lineage() -> None:
    with Ledger.open(":memory:") as made, pytest.raises(InvalidParameter, match="whole lineage"):
        made.account("visits", analyst="ann", cap=PureDP(epsilon=1), reuse="own")


def test_a_known_answer_is_free_where_it_could_not_be_paid_for() -> None:
    """Whatever this process has seen of the accounts: the turn decides."""
    noise = acc.Gaussian(noise_multiplier=20)
    with Ledger.open(":memory:") as ledger:
        ledger.account("visits", cap=ApproxDP(epsilon=3, delta="1e-6"))
        ledger.answer(charge(cost=noise, analyst="bob"), lambda _: b"answer")
        ledger.account("visits", analyst="ann", cap=PureDP(epsilon=1))
        ledger.budget("visits")
        found = ledger.answer(charge(cost=noise, analyst="ann"), lambda _: b"another")
        assert (found.body, found.free) == (b"answer", True)
        with pytest.raises(NoSuchRule):
            ledger.charge(charge("other", cost=noise, analyst="ann"))


@pytest.mark.parametrize("holder", [{}, {"analyst": "ann"}, {"analyst": "ann", "token": "t"}])
def test_an_account_is_of_a_lineage(holder: dict[str, Any]) -> None:
    """A name that is left out is no lineage, and that of an analyst never takes its place."""
    nobody: Any = None
    with founded() as ledger:
        before = ledger.head
        for act in (
            lambda: ledger.account(nobody, cap=PureDP(epsilon=1), **holder),
            lambda: ledger.adjust(nobody, cap=PureDP(epsilon=1), by="owner", reason="none", **holder),
            lambda: ledger.budget(nobody, **holder),
            lambda: ledger.submit_budget(nobody, Future(), **holder),
        ):
            with pytest.raises(InvalidParameter) as refused:
                act()
            assert refused.value.field == "lineage"
        assert ledger.head == before
        ledger.verify()


def test_paying_again_is_said_plainly() -> None:
    word: Any = "no"
    with founded() as ledger:
        ledger.charge(charge(key="k"))
        with pytest.raises(InvalidParameter, match="again"):
            ledger.charge(charge(key="k"), again=word)
        assert ledger.budget("visits").entries == 1


def test_a_path_that_is_no_text(tmp_path: Path) -> None:
    for door in (Ledger.open, Ledger.inspect):
        with pytest.raises(InvalidParameter, match="path"):
            door(str(tmp_path / "odd\udcff.l"))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "end", [datetime.max.replace(tzinfo=UTC), datetime.min.replace(tzinfo=timezone(timedelta(hours=5)))]
)
def test_a_clock_at_an_end_of_time(end: datetime) -> None:
    times = [Clock()(), Clock()()]
    with Ledger.open(":memory:", clock=lambda: times.pop(0) if times else end) as opened:
        opened.account("visits", cap=PureDP(epsilon=1))
        for _ in range(2):
            with pytest.raises(LedgerUnavailable, match="end of time"):
                opened.charge(charge())


def test_a_clock_that_is_none() -> None:
    wrong: Any = 3
    with pytest.raises(InvalidParameter, match="clock: give a function"):
        Ledger.open(":memory:", clock=wrong)
    times: list[Any] = [Clock()(), Clock()()]
    ends: Any = lambda: times.pop(0) if times else None  # noqa: E731
    with Ledger.open(":memory:", clock=ends) as opened:
        opened.account("visits", cap=PureDP(epsilon=1))
        for act in (lambda: opened.charge(charge()), lambda: opened.account("claims", cap=PureDP(epsilon=1))):
            with pytest.raises(LedgerUnavailable, match="does not tell the time"):
                act()
        assert opened.head.number == 2


def test_an_account_that_was_adjusted_is_told_as_it_is() -> None:
    with founded() as opened:
        opened.adjust("visits", cap=PureDP(epsilon=2), by="owner", reason="more")
        with pytest.raises(InvalidParameter, match=r"or adjusted to, PureDP with epsilon 2, .*`adjust`"):
            opened.account("visits", cap=PureDP(epsilon=1))


def test_no_cap_needs_what_cannot_be_given() -> None:
    with founded() as opened:
        for cap in (ApproxDP(epsilon=1, delta="1e-6"),):
            with pytest.raises(InvalidParameter, match="by counting in RenyiDP") as refused:
                opened.account("claims", cap=cap, by=RenyiDP)
            assert refused.value.field == "cap"
        opened.account("claims", cap=RenyiDP(bounds={2: 1}))
        with pytest.raises(InvalidParameter, match="by counting in RenyiDP"):
            opened.adjust("claims", cap=ApproxDP(epsilon=1, delta="1e-6"), by="owner", reason="less")
