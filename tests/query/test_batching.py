"""Several questions for one charge: the tightest of the true statements, all or nothing, and free again."""

import json
from fractions import Fraction
from typing import Any

import pytest

from privately.certificates import certify, check
from privately.errors import BudgetExhausted, EngineFailed, InvalidParameter, LedgerCorrupt, NoSuchRule
from privately.guarantees import ZCDP, ApproxDP, ApproxZCDP, GaussianDP, Guarantee, PureDP
from privately.plans import Unit
from privately.query.batching import Options, batch_from_bytes, proofs_of, read_questions, tightest
from tests.query.desks import COUNT, Desk

TOTAL = "SELECT COUNT(*) AS n FROM t"
MIDDLE = "SELECT MEDIAN(amount) AS m FROM t"
MANY = [(TOTAL, {"epsilon": "0.1"})] * 40
BY_PERSON = "SELECT person, COUNT(*) AS n FROM t GROUP BY person"


def desk(cap: Guarantee, **options: Any) -> Desk:
    return Desk(cap, Unit(), **options)


# --- one charge -----------------------------------------------------------------------------------------------------


def test_all_are_answered_for_one_charge() -> None:
    one = desk(PureDP(epsilon=1))
    results = one.session.batch([(TOTAL, {"epsilon": "0.2"}), (COUNT, {"epsilon": "0.3"})])
    assert [result.rows for result in results] == [((4,),), (("a", 3), ("b", 1), (None, 0))]
    assert one.spent == PureDP(epsilon="0.5")
    assert one.session.budget.entries == 1
    for result in results:
        assert result.guarantee == PureDP(epsilon="0.5")
        check(result.certificate)
        assert not result.free
    assert results[0].release == results[1].release
    assert [len(answer["rows"]) for answer in results[0].release.value["answers"]] == [1, 3]


def test_the_same_batch_is_free_and_its_parts_are_not() -> None:
    one = desk(PureDP(epsilon=3))
    first = one.session.batch([TOTAL, COUNT], epsilon="0.5")
    again = one.session.batch([TOTAL, (COUNT, {"epsilon": "0.5"})], epsilon="1/2")
    assert all(result.free for result in again)
    assert [result.noise for result in again] == [result.noise for result in first]
    assert one.spent == PureDP(epsilon=1)
    assert not one.session.sql(TOTAL, epsilon="0.5").free
    assert not one.session.batch([COUNT, TOTAL], epsilon="0.5")[0].free


def test_all_or_nothing() -> None:
    one = desk(PureDP(epsilon=1))
    with pytest.raises(BudgetExhausted):
        one.session.batch([TOTAL, COUNT], epsilon="0.6")
    with pytest.raises(InvalidParameter):
        one.session.batch([(TOTAL, {"epsilon": "0.1"}), COUNT])
    assert (one.engine.runs, one.session.budget.entries) == (0, 0)


def test_if_the_engine_fails_the_charge_stays() -> None:
    one = desk(PureDP(epsilon=1), fails=True)
    with pytest.raises(EngineFailed):
        one.session.batch([TOTAL, COUNT], epsilon="0.5", key="mine")
    assert one.spent == PureDP(epsilon=1)


def test_unknown_groups_in_a_batch() -> None:
    one = desk(ApproxDP(epsilon=3, delta="0.01"), by=ApproxDP)
    first, second = one.session.batch([(BY_PERSON, {"epsilon": 1, "delta": "0.001"}), (TOTAL, {"epsilon": 1})])
    assert (first.rows, second.rows) == ((), ((4,),))
    assert first.guarantee.parameters["epsilon"] == 2
    again, _ = one.session.batch([(BY_PERSON, {"epsilon": 1, "delta": "0.001"}), (TOTAL, {"epsilon": 1})])
    assert again.free
    with pytest.raises(InvalidParameter, match="keys="):
        desk(PureDP(epsilon=3)).session.batch([(BY_PERSON, {"epsilon": 1, "delta": "0.001"})])


# --- how costs compose ------------------------------------------------------------------------------------------------


def test_squares_add_up_where_they_are_counted() -> None:
    one = desk(ZCDP(rho=1))
    cost = one.session.price_batch(MANY).cost
    assert isinstance(cost, ZCDP)
    assert Fraction("0.199") < cost.parameters["rho"] <= Fraction("0.2")
    one.session.batch(MANY)
    assert one.spent == cost
    gaussian = desk(GaussianDP(mu=3)).session.price_batch(MANY).cost
    assert isinstance(gaussian, GaussianDP)
    assert gaussian.parameters["mu"] < 1
    assert desk(PureDP(epsilon=9)).session.price_batch(MANY).cost == PureDP(epsilon=4)


def test_choices_cost_less_in_terms_of_rho() -> None:
    cost = desk(ZCDP(rho=1)).session.price_batch([MIDDLE] * 8, epsilon="0.1").cost
    assert Fraction("0.0099") < cost.parameters["rho"] <= Fraction("0.01")


def test_slack_makes_epsilon_less() -> None:
    one = desk(ApproxDP(epsilon=9, delta="1e-4"), by=ApproxDP)
    assert one.session.price_batch(MANY).cost == PureDP(epsilon=4)
    cost = one.session.price_batch(MANY, slack="1e-6").cost
    assert isinstance(cost, ApproxDP)
    assert cost.parameters["epsilon"] < 3
    assert cost.parameters["delta"] <= Fraction(1, 10**6)
    one.session.batch(MANY, slack="1e-6")
    assert one.spent == cost
    with pytest.raises(InvalidParameter, match="slack"):
        one.session.price_batch(MANY, slack=0)


def test_slack_that_saves_nothing_changes_nothing() -> None:
    """The same choices, the same charge: what was asked without it is free with it."""
    one = desk(ApproxDP(epsilon=9, delta="1e-4"), by=ApproxDP)
    asked = [(MIDDLE, {"epsilon": "0.5"})]
    assert one.session.price_batch(asked, slack="1e-6").asked == one.session.price_batch(asked).asked
    one.session.batch(asked)
    assert one.session.batch(asked, slack="1e-6")[0].free
    assert one.spent == ApproxDP(epsilon="0.5", delta=0)


@pytest.mark.parametrize("cap", [PureDP(epsilon=9), ZCDP(rho=1), GaussianDP(mu=3)])
def test_slack_is_refused_where_no_delta_is_counted(cap: Guarantee) -> None:
    one = desk(cap)
    with pytest.raises(InvalidParameter, match=f"slack: the account counts in terms of {type(cap).__name__}"):
        one.session.batch([COUNT], epsilon="0.1", slack="1e-6")
    assert one.engine.runs == 0


def test_a_guess_without_an_accuracy_is_refused() -> None:
    one = desk(PureDP(epsilon=9))
    for ask in (one.session.sql, one.session.explain):
        with pytest.raises(InvalidParameter, match="assuming: is for an accuracy"):
            ask(COUNT, epsilon="0.1", assuming=100)
    assert one.engine.runs == 0


def test_different_noises_meet_in_rho() -> None:
    asked = [(TOTAL, {"epsilon": "0.1"}), (COUNT, {"mu": "0.1"}), (MIDDLE, {"rho": "0.01"})]
    cost = desk(ApproxDP(epsilon=3, delta="1e-6")).session.price_batch(asked).cost
    assert isinstance(cost, ZCDP)
    assert Fraction("0.0199") < cost.parameters["rho"] <= Fraction("0.02")
    with pytest.raises(InvalidParameter, match="epsilon="):
        desk(PureDP(epsilon=3)).session.price_batch(asked)


@pytest.mark.parametrize("slack", [None, "1e-5"])
def test_every_proof_is_at_least_the_sum_of_what_the_mechanisms_lose(slack: str | None) -> None:
    """Counts with noise of their own lose 0.1 each in the worst case: no statement may be below their composition."""
    one = desk(PureDP(epsilon=9))
    parts = [one.session.price(TOTAL, epsilon="0.1")] * 40
    proofs = list(proofs_of(parts, slack=slack))
    assert {type(proof.conclusion).__name__ for proof in proofs} >= {"PureDP", "ZCDP", "GaussianDP"}
    exact = PureDP(epsilon="0.1").repeat(40)
    for proof in proofs:
        found = proof.conclusion
        if isinstance(found, PureDP):
            assert found.parameters["epsilon"] == exact.parameters["epsilon"]
        if isinstance(found, ZCDP):
            assert found.parameters["rho"] >= 40 * Fraction("0.1") ** 2 / 2 * Fraction(99, 100)
        if isinstance(found, GaussianDP):
            assert found.parameters["mu"] >= Fraction("0.1") * 6
        if isinstance(found, ApproxDP):
            assert found.parameters["epsilon"] >= Fraction("1.8")


def test_what_an_account_cannot_count_is_not_chosen() -> None:
    parts = [desk(PureDP(epsilon=9)).session.price(TOTAL, epsilon="0.1")]

    def refuse(cost: Guarantee) -> Guarantee:
        raise NoSuchRule(premise=cost, wanted="nothing")

    assert tightest(proofs_of(parts), refuse) is None
    kept = tightest(proofs_of(parts), lambda cost: cost if isinstance(cost, GaussianDP) else refuse(cost))
    assert kept is not None
    assert isinstance(kept.conclusion, GaussianDP)


def test_explaining_is_free() -> None:
    one = desk(ZCDP(rho=1), fails=True)
    text = str(one.session.explain_batch([TOTAL, COUNT], epsilon="0.1"))
    assert "(2) scan t" in text
    assert "cost of all together: ZCDP" in text
    assert one.engine.runs == 0


# --- what is given ----------------------------------------------------------------------------------------------------


def test_a_common_delta_is_for_those_that_need_one() -> None:
    one = desk(ApproxDP(epsilon=3, delta="0.01"), by=ApproxDP).session
    found = one.price_batch([BY_PERSON, TOTAL], epsilon=1, delta="0.001")
    assert [part.budget.delta for part in found.parts] == [Fraction(1, 1000), None]
    assert 0 < found.cost.parameters["delta"] <= Fraction(1, 1000)
    with pytest.raises(InvalidParameter, match="public already"):
        one.price_batch([TOTAL, TOTAL], epsilon=1, delta="0.001")
    with pytest.raises(InvalidParameter, match="must be small"):
        one.price_batch([TOTAL, BY_PERSON], epsilon=1, delta=2)


def test_options_that_there_are_not_are_named() -> None:
    with pytest.raises(InvalidParameter, match=r"no such option; there are epsilon, rho") as refused:
        desk(PureDP(epsilon=3)).session.batch([TOTAL], epsilonn=1)  # type: ignore[call-arg]
    assert refused.value.field == "epsilonn"


def test_options_of_a_question_come_first() -> None:
    asked = read_questions(["a", ("b", {"rho": 1}), ("c", {"assuming": 5})], {"epsilon": 2, "assuming": 7})
    assert asked == [
        ("a", {"epsilon": 2, "assuming": 7}),
        ("b", {"rho": 1}),
        ("c", {"epsilon": 2, "assuming": 5}),
    ]
    common: Options = {"accuracy": "5 at 95%", "assuming": 7}
    assert read_questions([("a", {"accuracy": "9 at 95%"})], common) == [("a", {"accuracy": "9 at 95%", "assuming": 7})]


@pytest.mark.parametrize("wrong", [[], "SELECT", 7, [7], [("a",)], [("a", {"colour": 1})], [(7, {})], ["a"] * 1001])
def test_what_is_no_list_of_questions(wrong: Any) -> None:
    with pytest.raises(InvalidParameter, match="questions"):
        read_questions(wrong, {})


def test_stored_batches_are_checked() -> None:
    one = desk(PureDP(epsilon=1))
    priced = one.session.price_batch([TOTAL, COUNT], epsilon="0.5")
    for body in (b"{}", b"nothing", json.dumps({"noise": [[[1]]], "release": ""}).encode()):
        with pytest.raises(LedgerCorrupt):
            batch_from_bytes(body, priced, notes=[(), ()], free=True)


def test_groups_of_an_approximate_account() -> None:
    cost = (
        desk(ApproxDP(epsilon=9, delta="1e-4")).session.price_batch([(BY_PERSON, {"rho": "0.1", "delta": "1e-6"})]).cost
    )
    assert isinstance(cost, ApproxZCDP)


def test_epsilons_of_unknown_groups_add_up_as_squares() -> None:
    """An (epsilon, delta) part is counted by its own rho: the sum of them is less than the rho of the sum."""
    account = desk(ApproxDP(epsilon=9, delta="1e-4")).session
    several = [(BY_PERSON, {"epsilon": "0.1", "delta": "1e-8"}), *[(TOTAL, {"epsilon": "0.1"})] * 9]
    cost = account.price_batch(several).cost
    assert isinstance(cost, ApproxZCDP)
    assert cost.parameters["rho"] <= 10 * Fraction("0.005"), "and not that of epsilon 1, nearly 0.5"
    assert 0 < cost.parameters["delta"] <= Fraction(1, 10**8)
    check(certify(account.price_batch(several).proof))
