"""What may be charged, answered and adjusted, and that every refusal leaves nothing behind."""

from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from privately import accounting as acc
from privately.errors import (
    BudgetExhausted,
    InvalidParameter,
    MixedNeighbors,
    NoSuchRule,
    PrivatelyError,
    Unanswered,
)
from privately.guarantees import ZCDP, ApproxDP, ApproxZCDP, GaussianDP, Guarantee, Neighbors, PureDP
from privately.ledger import Ledger, Receipt
from privately.ledger.acts import MakeCharge, Reuse
from privately.ledger.stores import Head
from tests.ledger.examples import charge, founded


def never(receipt: Receipt) -> bytes:
    pytest.fail("it was run")


def spent(ledger: Ledger, *names: str) -> Guarantee:
    lineage, *holders = names or ("visits",)
    analyst, token = [*holders, None, None][:2]
    return ledger.budget(lineage, analyst=analyst, token=token).spent


def test_the_same_key_is_answered_once_and_free() -> None:
    with founded() as ledger:
        first = ledger.answer(charge(key="k"), lambda _: b"42")
        before = ledger.head
        again = ledger.answer(charge(key="k", label="again", snapshot="later"), never)
        assert (again.body, again.free, first.free) == (b"42", True, False)
        assert again.receipt.head == first.receipt.head
        assert (ledger.head, spent(ledger)) == (before, PureDP(epsilon="0.1"))


def test_the_same_key_with_another_request_is_refused() -> None:
    with founded() as ledger:
        ledger.account("claims", cap=PureDP(epsilon=1))
        ledger.answer(charge(key="k"), lambda _: b"42")
        before = ledger.head
        for other in (
            charge("sum", key="k"),
            charge(key="k", cost=PureDP(epsilon="0.2")),
            charge(key="k", lineages=("claims",)),
            charge(key="k", token="t"),
        ):
            with pytest.raises(InvalidParameter, match="key: was used for another request"):
                ledger.answer(other, never)
        assert ledger.head == before


def test_keys_are_each_analysts_own() -> None:
    with founded() as ledger:
        ledger.account("claims", cap=PureDP(epsilon=1), reuse="never")
        for analyst, query in (("ann", "a"), ("bob", "b")):
            ledger.answer(charge(query, lineages=("claims",), analyst=analyst, key="k"), lambda _: query.encode())  # noqa: B023 - run at once
        assert ledger.answer(charge("a", lineages=("claims",), analyst="ann", key="k"), never).body == b"a"
        assert spent(ledger, "claims") == PureDP(epsilon="0.2")


def test_a_lost_answer_is_paid_for_again() -> None:
    with founded() as ledger:
        with pytest.raises(ZeroDivisionError):
            ledger.answer(charge(key="k"), lambda _: bytes(1 // 0))
        assert spent(ledger) == PureDP(epsilon="0.1")
        with pytest.raises(Unanswered) as caught:
            ledger.answer(charge(key="k"), never)
        assert caught.value.charge == 3
        assert ledger.answer(charge(key="k"), lambda _: b"42", again=True).body == b"42"
        assert spent(ledger) == PureDP(epsilon="0.2")
        assert ledger.answer(charge(key="k"), never, again=True).free
        assert spent(ledger) == PureDP(epsilon="0.2")


def test_a_key_has_one_answer_however_often_it_was_paid_for() -> None:
    """Two runs for one key, of which the first was only slow: whichever is stored first is what both may show."""
    for order in ((0, 1), (1, 0)):
        with founded() as ledger:
            receipts = [ledger.charge(charge(key="k"), again=again) for again in (False, True)]
            assert spent(ledger) == PureDP(epsilon="0.2")
            shown = [ledger.store(receipts[at], f"run {at}".encode()).body for at in order]
            assert shown == [f"run {order[0]}".encode()] * 2
            assert ledger.answer(charge(key="k"), never).body == shown[0]
            found = ledger.verify()
            assert (found.charges, found.answers) == (2, 1)


@pytest.mark.parametrize(
    ("reuse", "own", "others"), [("everyone", True, True), ("own", True, False), ("never", False, False)]
)
def test_the_same_question(reuse: Reuse, own: bool, others: bool) -> None:
    with Ledger.open(":memory:") as ledger:
        ledger.account("visits", cap=PureDP(epsilon=1), reuse=reuse)
        ledger.answer(charge(analyst="ann", snapshot="s1"), lambda _: b"42")
        mine = ledger.answer(charge(analyst="ann", snapshot="s1"), lambda _: b"43")
        theirs = ledger.answer(charge(analyst="bob", snapshot="s1", cost=PureDP(epsilon="0.2")), lambda _: b"44")
        assert (mine.free, theirs.free) == (own, others)
        assert mine.body == (b"42" if own else b"43")
        assert theirs.body == (b"42" if others else b"44")
        for changed in (charge("sum", analyst="ann", snapshot="s1"), charge(analyst="ann", snapshot="s2")):
            assert not ledger.answer(changed, lambda _: b"45").free


@pytest.mark.parametrize("other", ["everyone", "own", "never"])
@pytest.mark.parametrize("one", ["everyone", "own", "never"])
def test_the_strictest_policy_of_all_lineages(one: Reuse, other: Reuse) -> None:
    with Ledger.open(":memory:") as ledger:
        ledger.account("a", cap=PureDP(epsilon=1), reuse=one)
        ledger.account("b", cap=PureDP(epsilon=1), reuse=other)
        ledger.answer(charge(lineages=("a", "b"), analyst="ann"), lambda _: b"42")
        mine = ledger.answer(charge(lineages=("b", "a"), analyst="ann"), lambda _: b"43").free
        theirs = ledger.answer(charge(lineages=("a", "b"), analyst="bob"), lambda _: b"44").free
        assert mine == ("never" not in (one, other))
        assert theirs == (one == other == "everyone")


def test_a_key_that_was_served_free_is_used_up(tmp_path: Path) -> None:
    """For good; and the same request is given the same answer, whatever became of the data since."""
    path = tmp_path / "l"
    with founded(path) as ledger:
        first = ledger.answer(charge(analyst="ann", snapshot="s1"), lambda _: b"42")
        served = ledger.answer(charge(analyst="bob", snapshot="s1", key="k"), never)
        assert (served.body, served.free, served.receipt.head) == (b"42", True, first.receipt.head)
    with Ledger.open(path) as ledger:
        records = ledger.head.number
        with pytest.raises(InvalidParameter, match="another request"):
            ledger.answer(charge("sum", analyst="bob", key="k"), never)
        with pytest.raises(InvalidParameter, match="another request"):
            ledger.answer(charge(analyst="bob", snapshot="s1", key="k", cost=PureDP(epsilon="0.2")), never, again=True)
        later = ledger.answer(charge(analyst="bob", snapshot="s2", key="k"), never)
        assert (later.body, later.free, later.receipt.head) == (b"42", True, first.receipt.head)
        assert not ledger.answer(charge(analyst="ann", snapshot="s2", key="k"), lambda _: b"43").free
        assert ledger.head.number == records + 2
        assert spent(ledger) == PureDP(epsilon="0.2")
        assert ledger.account("visits", analyst="bob", cap=PureDP(epsilon=1)).spent == PureDP(epsilon=0)
        assert ledger.verify().charges == 2


def test_keys_that_nobody_gave_leave_no_record() -> None:
    with founded() as ledger:
        ledger.answer(charge(), lambda _: b"42")
        before = ledger.head
        for _ in range(3):
            assert ledger.answer(charge(analyst="bob"), never).free
        assert ledger.head == before


def test_two_in_one_turn_with_one_key() -> None:
    """The second sees the first, although nothing is committed yet."""
    with founded() as ledger:
        ledger.answer(charge(), lambda _: b"42")
        asked: list[tuple[Any, Future[Any]]] = [
            (MakeCharge(charge=charge(key="k", cost=PureDP(epsilon=number))), Future()) for number in (1, 2, 1)
        ]
        ledger._writer.take_turn(asked)
        assert asked[0][1].result().answer == asked[2][1].result().answer == b"42"
        with pytest.raises(InvalidParameter, match="another request"):
            asked[1][1].result()
        assert [record.entry.what for record in ledger.history()][-1] == "served"
        assert ledger.verify().records == 5


def test_a_receipt_of_what_was_served_stores_nothing() -> None:
    with founded() as ledger:
        receipt = ledger.answer(charge(), lambda _: b"42").receipt
        ledger.answer(charge(key="k"), never)
        forged = Receipt(charge=charge(key="k"), head=Head(ledger.head.number, ledger.head.hash))
        with pytest.raises(InvalidParameter, match="without a charge"):
            ledger.store(forged, b"43")
        assert ledger.charge(receipt.charge).answer == b"42"


def test_an_unanswered_question_of_another_is_charged() -> None:
    with founded() as ledger:
        ledger.charge(charge(analyst="ann"))
        assert ledger.charge(charge(analyst="bob")).answer is None
        assert spent(ledger) == PureDP(epsilon="0.2")


def test_ten_tenths_are_one_and_a_crumb_more_is_refused() -> None:
    with founded() as ledger:
        for at in range(10):
            ledger.charge(charge(f"q{at}"))
        budget = ledger.budget("visits")
        assert (budget.spent, budget.remaining, budget.entries) == (PureDP(epsilon=1), PureDP(epsilon=0), 10)
        with pytest.raises(BudgetExhausted) as caught:
            ledger.answer(charge("crumb", cost=PureDP(epsilon="1e-100")), never)
        assert caught.value.left == PureDP(epsilon=0)
        assert ledger.budget("visits") == budget


def test_all_accounts_pay_or_none() -> None:
    with founded() as ledger:
        ledger.account("claims", cap=PureDP(epsilon="0.15"))
        ledger.account("visits", analyst="ann", cap=PureDP(epsilon="0.3"))
        ledger.account("visits", analyst="ann", token="t", cap=PureDP(epsilon="0.2"))
        both = ("visits", "claims")
        ledger.charge(charge("1", lineages=both, analyst="ann", token="t"))
        names = (("visits",), ("claims",), ("visits", "ann"), ("visits", "ann", "t"))
        paid = [spent(ledger, *name) for name in names]
        assert paid == [PureDP(epsilon="0.1")] * 4
        before = ledger.head
        with pytest.raises(BudgetExhausted):  # claims has too little left, and comes first or last
            ledger.answer(charge("2", lineages=both, analyst="ann", token="t"), never)
        assert ([spent(ledger, *name) for name in names], ledger.head) == (paid, before)
        ledger.charge(charge("3", analyst="ann", token="t"))
        with pytest.raises(BudgetExhausted):  # the token
            ledger.charge(charge("4", analyst="ann", token="t"))
        ledger.charge(charge("4", analyst="ann"))
        with pytest.raises(BudgetExhausted):  # the analyst
            ledger.charge(charge("5", analyst="ann", token="another"))
        ledger.charge(charge("5", analyst="bob"))
        assert spent(ledger) == PureDP(epsilon="0.4")


def test_colluding_analysts_stop_at_the_cap_of_the_data() -> None:
    with founded() as ledger:
        for analyst in ("ann", "bob", "eve"):
            ledger.account("visits", analyst=analyst, cap=PureDP(epsilon="0.5"))
        bought = 0
        for at in range(10):
            for analyst in ("ann", "bob", "eve"):
                try:
                    ledger.charge(charge(f"{at} {analyst}", analyst=analyst))
                except BudgetExhausted:
                    continue
                bought += 1
        assert bought == 10
        assert spent(ledger) == PureDP(epsilon=1)


@pytest.mark.parametrize(
    ("cost", "fault"),
    [
        (PureDP(epsilon=0), InvalidParameter),
        (GaussianDP(mu=1), NoSuchRule),
        (ZCDP(rho=1), NoSuchRule),
        (acc.Gaussian(noise_multiplier=1), PrivatelyError),
        (acc.Gaussian(noise_multiplier=0), PrivatelyError),
        (acc.Laplace(scale=0), PrivatelyError),
        (PureDP(epsilon="0.1", neighbors=Neighbors.REPLACE.of_unit("user")), MixedNeighbors),
        (PureDP(epsilon=10**6), BudgetExhausted),
        (PureDP(epsilon=1, neighbors=Neighbors.REPLACE), PrivatelyError),
    ],
)
def test_costs_that_cannot_be_charged_leave_nothing(cost: Guarantee, fault: type[PrivatelyError]) -> None:
    with founded() as ledger:
        before = ledger.head
        with pytest.raises(fault):
            ledger.answer(charge(cost=cost, key="k"), never)
        assert ledger.head == before
        assert ledger.answer(charge(key="k"), lambda _: b"42").body == b"42"


def test_unknown_lineages() -> None:
    with founded() as ledger:
        before = ledger.head
        for attempt in (ledger.charge, ledger.price):
            with pytest.raises(InvalidParameter, match="nobody has set a budget for 'claims'"):
                attempt(charge(lineages=("visits", "claims")))
        assert ledger.head == before


def test_prices_are_what_is_charged() -> None:
    with Ledger.open(":memory:") as ledger:
        ledger.account("a", cap=GaussianDP(mu=1))
        ledger.account("b", cap=ApproxDP(epsilon=1, delta="1e-6"))
        ledger.account("b", analyst="owner", cap=ApproxDP(epsilon=1, delta="1e-6"), by=GaussianDP)
        asked = charge(lineages=("a", "b"), cost=acc.Gaussian(noise_multiplier=20))
        price = ledger.price(asked)
        before = ledger.head
        ledger.charge(asked)
        assert ledger.head.number == before.number + 1
        assert price == {
            "a": GaussianDP(mu="0.05"),
            "b": ApproxZCDP(rho="0.00125", delta=0),
            "b/owner": GaussianDP(mu="0.05"),
        }
        assert price == {name: spent(ledger, *name.split("/")) for name in price}


def test_answers_are_stored_once() -> None:
    with founded() as ledger:
        receipt = ledger.charge(charge())
        ledger.store(receipt, b"42")
        before = ledger.head
        ledger.store(receipt, b"42")
        assert ledger.head == before
        with pytest.raises(InvalidParameter, match="another one was stored for record 3"):
            ledger.store(receipt, b"43")
        assert ledger.charge(charge()).answer == b"42"


def test_receipts_of_other_ledgers_are_refused_and_do_no_harm() -> None:
    with founded() as ledger, founded() as other:
        made = charge()
        own = ledger.charge(made)
        strange = [
            other.charge(made),
            Receipt(charge=made, head=Head(99, bytes(32))),
            Receipt(charge=made, head=Head(2**70, bytes(32))),
            Receipt(charge=made, head=Head(1, bytes(32))),
            Receipt(charge=made, head=Head(2, bytes(32))),
            Receipt(charge=made, head=Head(0, bytes(32))),
            Receipt(charge=made, head=Head(-1, bytes(32))),
            Receipt(charge=made, head=Head(own.number, bytes(32))),
        ]
        for receipt in strange:
            with pytest.raises(InvalidParameter, match="receipt: is not of a charge in this ledger"):
                ledger.store(receipt, b"42")
        founding = next(iter(ledger.history()))
        with pytest.raises(InvalidParameter, match="receipt"):
            ledger.store(Receipt(charge=made, head=Head(1, founding.hash)), b"42")
        ledger.store(own, b"42")
        assert ledger.verify().answers == 1


def test_a_receipt_made_of_the_history_answers_nothing() -> None:
    """The history says which record a charge is, and not what was asked."""
    with founded() as ledger:
        asked = ledger.charge(charge("secret", analyst="ann", key="k"))
        known = list(ledger.history())[-1]
        for guess in (
            charge("count", analyst="ann", key="k"),
            charge("secret", analyst="bob", key="k"),
            charge("secret", analyst="ann", key="other"),
            charge("secret", analyst="ann", key="k", cost=PureDP(epsilon="0.2")),
        ):
            rebuilt = Receipt(charge=guess, head=Head(known.number, known.hash))
            assert rebuilt.head == asked.head
            with pytest.raises(InvalidParameter, match="receipt: is of another request"):
                ledger.store(rebuilt, b"false")
        assert ledger.store(asked, b"42").body == b"42"


def test_accounts_are_opened_once() -> None:
    with founded() as ledger:
        before = ledger.head
        ledger.account("visits", cap=PureDP(epsilon=1))
        assert ledger.head == before
        for cap in (
            PureDP(epsilon=2),
            PureDP(epsilon="0.5"),
            PureDP(epsilon=1, neighbors=Neighbors.REPLACE),
            ZCDP(rho=1),
        ):
            with pytest.raises(InvalidParameter, match="account visits was opened with"):
                ledger.account("visits", cap=cap)
        with pytest.raises(InvalidParameter, match="account visits was opened with"):
            ledger.account("visits", cap=PureDP(epsilon=1), reuse="never")
        assert ledger.head == before


def test_an_approximate_cap_is_kept_as_it_was_chosen() -> None:
    cap = ApproxDP(epsilon=1, delta="1e-6")
    with Ledger.open(":memory:") as ledger:
        assert isinstance(ledger.account("a", cap=cap).cap, ApproxZCDP)
        assert isinstance(ledger.account("b", cap=cap, by=GaussianDP).cap, GaussianDP)
        with pytest.raises(InvalidParameter):
            ledger.account("a", cap=cap, by=GaussianDP)
        with pytest.raises(InvalidParameter, match="by: a cap of the kind PureDP"):
            ledger.account("c", cap=PureDP(epsilon=1), by=ZCDP)


def test_adjustments() -> None:
    with founded() as ledger:
        for at in range(5):
            ledger.charge(charge(f"q{at}"))
        with pytest.raises(InvalidParameter, match=r"epsilon 0\.5.* is spent already"):
            ledger.adjust("visits", cap=PureDP(epsilon="0.49"), by="owner", reason="less")
        assert ledger.adjust("visits", cap=PureDP(epsilon="0.5"), by="owner", reason="stop").remaining == PureDP(
            epsilon=0
        )
        with pytest.raises(BudgetExhausted):
            ledger.charge(charge("more"))
        budget = ledger.adjust("visits", cap=PureDP(epsilon=2), by="board", reason="the study goes on")
        assert (budget.spent, budget.entries, budget.remaining) == (PureDP(epsilon="0.5"), 5, PureDP(epsilon="1.5"))
        ledger.charge(charge("more"))
        for wrong in (ZCDP(rho=1), PureDP(epsilon=1, neighbors=Neighbors.REPLACE), "2"):
            with pytest.raises(InvalidParameter):
                ledger.adjust("visits", cap=wrong, by="owner", reason="")  # type: ignore[arg-type]
        with pytest.raises(InvalidParameter, match="there is no account claims"):
            ledger.adjust("claims", cap=PureDP(epsilon=1), by="owner", reason="")
        with pytest.raises(InvalidParameter, match="account visits was opened with"):
            ledger.account("visits", cap=PureDP(epsilon=1))
        ledger.account("visits", cap=PureDP(epsilon=2))
        assert ledger.verify().charges == 6


def test_adjusting_an_approximate_cap() -> None:
    with Ledger.open(":memory:") as ledger:
        ledger.account("a", cap=ApproxDP(epsilon=1, delta="1e-6"), by=GaussianDP)
        ledger.charge(charge(lineages=("a",), cost=acc.Gaussian(noise_multiplier=20)))
        budget = ledger.adjust("a", cap=ApproxDP(epsilon=2, delta="1e-6"), by="owner", reason="more")
        assert (budget.promise, budget.spent) == (ApproxDP(epsilon=2, delta="1e-6"), GaussianDP(mu="0.05"))
        ledger.verify()


def test_a_late_account_begins_with_what_was_spent_before() -> None:
    with founded(cap=10) as ledger:
        for at, (analyst, token) in enumerate([("ann", "t"), ("ann", None), ("bob", "t"), ("annette", "t")]):
            ledger.charge(charge(f"q{at}", analyst=analyst, token=token))
        spent = PureDP(epsilon="0.2")
        assert ledger.account("visits", analyst="ann", cap=PureDP(epsilon="0.3")).spent == spent
        assert ledger.account("visits", analyst="ann", token="t", cap=PureDP(epsilon=1)).spent == PureDP(epsilon="0.1")
        with pytest.raises(InvalidParameter, match="has spent more before"):
            ledger.account("visits", analyst="bob", cap=PureDP(epsilon="0.05"))
        ledger.charge(charge("last", analyst="ann"))
        with pytest.raises(BudgetExhausted, match="what account visits/ann has"):
            ledger.charge(charge("too much", analyst="ann"))
        assert ledger.verify().charges == 5


def test_what_is_no_receipt_stores_nothing() -> None:
    with founded() as ledger:
        good = ledger.charge(charge())
        nothing: Any = None
        text: Any = str(good.number)
        for charged, head in (
            (nothing, good.head),
            (good.charge, nothing),
            (good.charge, Head(text, good.head.hash)),
            (good.charge, Head(nothing, nothing)),
        ):
            with pytest.raises(InvalidParameter) as refused:
                ledger.store(Receipt(charge=charged, head=head), b"")
            assert refused.value.field == "receipt"
        assert ledger.store(good, b"42").body == b"42"
