"""The line from a text to an answer: charged before anything is counted, and never answered twice for one price."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from privately.certificates import check
from privately.errors import (
    BudgetExhausted,
    DataDependentKeys,
    EngineFailed,
    InvalidParameter,
    PrivatelyError,
    Refused,
    Unanswered,
)
from privately.guarantees import ZCDP, ApproxDP, GaussianDP, Guarantee, PureDP
from privately.plans import Unit
from privately.query import estimates, results
from privately.query.sessions import Session, _recorded
from tests.query.desks import COUNT, Desk, desk
from tests.query.small_questions import NoNoise

__all__ = ["desk"]


def test_an_answer(desk: Desk) -> None:
    result = desk.session.sql(COUNT, epsilon="0.5")
    assert result.to_dicts()[:2] == [{"part": "a", "n": 3}, {"part": "b", "n": 1}]
    assert result.guarantee == PureDP(epsilon="0.5")
    assert not result.free
    check(result.certificate)
    assert desk.spent == PureDP(epsilon="0.5")


def test_the_charge_comes_before_the_data(desk: Desk) -> None:
    desk.session.sql(COUNT, epsilon="0.5")
    assert desk.engine.spent_before == [PureDP(epsilon="0.5")]


def test_if_the_engine_fails_the_charge_stays() -> None:
    desk = Desk(PureDP(epsilon=1), Unit(), fails=True)
    with pytest.raises(EngineFailed):
        desk.session.sql(COUNT, epsilon="0.5", key="mine")
    assert desk.spent == PureDP(epsilon="0.5")
    with pytest.raises(Unanswered):
        desk.session.sql(COUNT, epsilon="0.5", key="mine")
    assert desk.engine.runs == 1
    desk.engine.fails = False
    assert desk.session.sql(COUNT, epsilon="0.5", key="mine", again=True).rows[0] == ("a", 3)
    assert desk.spent == PureDP(epsilon=1)


def test_if_noise_cannot_be_drawn_the_charge_stays() -> None:
    class Broken(NoNoise):
        def draw(self, law: Any, *, size: int) -> Any:
            raise OSError("no randomness")

    desk = Desk(PureDP(epsilon=1), Unit(), randomness=Broken())
    with pytest.raises(OSError, match="no randomness"):
        desk.session.sql(COUNT, epsilon="0.5")
    assert desk.spent == PureDP(epsilon="0.5")


def test_the_same_question_from_several_threads_is_paid_once(desk: Desk) -> None:
    """The first is still counting when the others ask."""
    desk.engine.pause = 0.2
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda _: desk.session.sql(COUNT, epsilon="0.2"), range(4)))
    assert sorted(one.free for one in found) == [False, True, True, True]
    assert desk.engine.runs == 1
    assert desk.spent == PureDP(epsilon="0.2")


def test_the_same_key_is_free(desk: Desk) -> None:
    first = desk.session.sql(COUNT, epsilon="0.5", key="mine")
    again = desk.session.sql(COUNT, epsilon="0.5", key="mine")
    assert again.free
    assert again.rows == first.rows
    assert again.noise == first.noise
    assert again.certificate == first.certificate
    assert desk.engine.runs == 1
    assert desk.spent == PureDP(epsilon="0.5")


def test_a_new_answer_is_what_is_kept_and_worked_out_once(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    worked, honest = [], estimates.estimated

    def estimated(*given: Any) -> Any:
        worked.append(given)
        return honest(*given)

    monkeypatch.setattr(results, "estimated", estimated)
    new = desk.session.sql(COUNT, epsilon="0.5", key="mine")
    assert new.rows
    assert len(worked) == 1
    kept = desk.session.sql(COUNT, epsilon="0.5", key="mine")
    assert replace(kept, free=False) == new
    assert kept.shown == new.shown
    assert len(worked) == 2, "what was kept is worked out from its noise"


def test_a_key_is_not_for_another_question(desk: Desk) -> None:
    desk.session.sql(COUNT, epsilon="0.5", key="mine")
    with pytest.raises(PrivatelyError):
        desk.session.sql(COUNT, epsilon="0.25", key="mine")
    assert desk.engine.runs == 1
    assert desk.spent == PureDP(epsilon="0.5")


def test_the_same_question_is_free_however_it_is_written(desk: Desk) -> None:
    desk.session.sql(COUNT, epsilon="0.5")
    again = desk.session.sql("select x.part, count(*) as n from t as x group by x.part", epsilon="1/2")
    assert again.free
    assert desk.engine.runs == 1
    assert desk.spent == PureDP(epsilon="0.5")


def test_other_questions_are_not() -> None:
    desk = Desk(PureDP(epsilon=9), Unit())
    texts = [
        COUNT,
        COUNT.replace("n FROM", "m FROM"),
        COUNT.replace("COUNT(*)", "COUNT(amount)"),
        COUNT.replace("GROUP", "WHERE amount > 0 GROUP"),
        COUNT.replace("GROUP", "WHERE amount >= 0 GROUP"),
    ]
    for at, text in enumerate(texts, 1):
        assert not desk.session.sql(text, epsilon=1).free
        assert desk.engine.runs == at
        assert desk.spent == PureDP(epsilon=at)
    assert not desk.session.sql(COUNT, epsilon="1.5").free


def test_other_data_is_another_question() -> None:
    desk = Desk(PureDP(epsilon=9), Unit())
    desk.session.sql(COUNT, epsilon=1)
    later = Session(desk.session.table, desk.engine, desk.ledger, lineage="people", snapshot="second")
    assert not later.sql(COUNT, epsilon=1).free


def test_an_exhausted_budget_never_touches_the_data(desk: Desk) -> None:
    desk.session.sql(COUNT, epsilon="0.5")
    with pytest.raises(BudgetExhausted):
        desk.session.sql(COUNT, epsilon="0.6")
    assert desk.engine.runs == 1
    assert desk.session.sql("SELECT COUNT(*) AS n FROM t", epsilon="0.5").rows == ((4,),)
    assert desk.spent == PureDP(epsilon=1)


@pytest.mark.parametrize(
    "given",
    [
        {"epsilon": 1},
        {"accuracy": "5 at 95%"},
        {"accuracy": "5% at 95%", "assuming": 100},
        {"mu": 1},
        {"rho": "0.5"},
    ],
)
def test_a_price_touches_nothing(desk: Desk, given: dict[str, Any]) -> None:
    desk.engine.fails = True
    priced = desk.session.price(COUNT, **given)
    assert desk.engine.runs == 0
    assert desk.session.budget.entries == 0
    assert priced.cost == priced.proof.conclusion
    assert priced.groups is not None
    assert len(priced.groups) >= 2


def test_a_price_is_what_is_charged() -> None:
    unit = Unit(column="person", rows=2)
    desk = Desk(GaussianDP(mu=5, neighbors=unit.neighbors), unit)
    priced = desk.session.price(COUNT, rho="0.5")
    assert priced.cost.neighbors == unit.neighbors
    assert 1 - Fraction(1, 10**12) < priced.cost.parameters["mu"] <= 1
    result = desk.session.sql(COUNT, rho="0.5")
    assert result.guarantee == priced.cost
    assert 1 - Fraction(1, 10**12) < desk.spent.parameters["mu"] <= 1
    assert result.notes == ("Of one person at most 2 rows count.",)


@pytest.mark.parametrize(
    ("cap", "given"),
    [
        (PureDP(epsilon=1), {"epsilon": 1}),
        (ZCDP(rho="0.5"), {"rho": "0.5"}),
        (ZCDP(rho="0.5"), {"mu": 1}),
        (ZCDP(rho="0.5"), {"epsilon": 1}),
        (GaussianDP(mu=1), {"mu": 1}),
        (GaussianDP(mu="1/3"), {"mu": "1/3"}),
        (ApproxDP(epsilon=1, delta="1e-6"), {"rho": "0.01"}),
        (ApproxDP(epsilon=1, delta="1e-6"), {"epsilon": "0.1"}),
    ],
)
@pytest.mark.parametrize("text", [COUNT, "SELECT AVG(amount) AS m, COUNT(*) AS n, SUM(amount) AS s FROM t"])
def test_every_kind_of_budget_can_be_spent_to_the_end(cap: Guarantee, given: dict[str, Any], text: str) -> None:
    desk = Desk(cap, Unit())
    assert desk.session.sql(text, **given).rows
    assert desk.engine.runs == 1


@pytest.mark.parametrize(
    ("text", "given", "error"),
    [
        (COUNT, {}, InvalidParameter),
        (COUNT, {"epsilon": 1, "accuracy": "5 at 95%"}, InvalidParameter),
        (COUNT, {"epsilon": 1, "mu": 1}, InvalidParameter),
        (COUNT, {"epsilon": 0}, InvalidParameter),
        (COUNT, {"epsilon": -1}, InvalidParameter),
        (COUNT, {"epsilon": float("nan")}, InvalidParameter),
        (COUNT, {"epsilon": "1e-30"}, InvalidParameter),
        (COUNT, {"epsilon": 1, "key": ""}, InvalidParameter),
        (COUNT, {"accuracy": "a lot"}, InvalidParameter),
        ("SELECT person, COUNT(*) AS n FROM t GROUP BY person", {"epsilon": 1}, DataDependentKeys),
        ("SELECT nothing FROM t", {"epsilon": 1}, Refused),
        ("SELECT COUNT(*) AS n FROM others", {"epsilon": 1}, Refused),
        ("SELECT * FROM t", {"epsilon": 1}, Refused),
        ("DROP TABLE t", {"epsilon": 1}, Refused),
        ("", {"epsilon": 1}, Refused),
        (COUNT, {"epsilon": 1, "keys": {"part": [1, 2]}}, PrivatelyError),
        (COUNT, {"epsilon": 1, "keys": {"nobody": ["a"]}}, PrivatelyError),
    ],
)
def test_what_is_refused_costs_nothing(desk: Desk, text: str, given: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        desk.session.sql(text, **given)
    assert desk.engine.runs == 0
    assert desk.session.budget.entries == 0


def test_keys_can_be_given(desk: Desk) -> None:
    text = "SELECT person, COUNT(*) AS n FROM t GROUP BY person"
    result = desk.session.sql(text, epsilon=1, keys={"person": [4, 9]})
    assert result.rows == ((4, 1), (9, 0))


def test_a_key_that_is_given_twice_is_answered_once(desk: Desk) -> None:
    assert desk.session.sql(COUNT, epsilon=1, keys={"part": ["a", "a"]}).rows == (("a", 3),)


def test_long_questions_are_recorded_by_their_hash(desk: Desk) -> None:
    text = "SELECT person, COUNT(*) AS n FROM t GROUP BY person"
    priced = desk.session.price(text, epsilon=1, keys={"person": list(range(90_000))})
    assert len(_recorded(priced.question, priced.budget)) < 10**6
    many = desk.session.price(text, epsilon=1, keys={"person": [10**15 + at for at in range(90_000)]})
    assert _recorded(many.question, many.budget).startswith("sha256:")
    with pytest.raises(InvalidParameter, match="groups"):
        desk.session.price(text, epsilon=1, keys={"person": list(range(100_001))})


def test_several_columns_share_the_cost(desk: Desk) -> None:
    text = "SELECT part, COUNT(amount) AS n, AVG(amount) AS mean, SUM(amount) AS total FROM t GROUP BY part"
    result = desk.session.sql(text, epsilon=1)
    assert result.to_dicts()[0] == {"part": "a", "n": 2, "mean": -1.0, "total": -2}
    assert desk.spent == PureDP(epsilon=1)


THREE = "SELECT COUNT(*) AS n, SUM(amount) AS s, MEDIAN(amount) AS m FROM t"


def test_an_account_of_squares_is_charged_for_the_parts() -> None:
    """Each third of an epsilon of 0.3 is 0.1: two noises and a choice, 0.1^2/2 twice and 0.1^2/8."""
    desk = Desk(ZCDP(rho=1), Unit())
    result = desk.session.sql(THREE, epsilon="0.3")
    assert result.guarantee == PureDP(epsilon="0.3")
    assert Fraction("0.011") < desk.spent.parameters["rho"] <= Fraction("0.01125")
    assert desk.session.sql(THREE, epsilon="0.3").free
    approximate = Desk(ApproxDP(epsilon=1, delta="1e-6"), Unit())
    approximate.session.sql(THREE, epsilon="0.3")
    assert approximate.spent.parameters["rho"] == desk.spent.parameters["rho"]
    pure = Desk(PureDP(epsilon=1), Unit())
    pure.session.sql(THREE, epsilon="0.3")
    assert pure.spent == PureDP(epsilon="0.3")


def test_what_a_relative_error_is_relative_to_is_explained(desk: Desk) -> None:
    found = desk.session.explain(COUNT, accuracy="5% at 95%", assuming=2000)
    assert "The error is 5 % of the most that a number could be, not of the answer: of 2,000 for a count" in str(found)
    assert "± 100" in found.steps[0].error
    assert "not of the answer" not in str(desk.session.explain(COUNT, accuracy="50 at 95%"))


@pytest.mark.parametrize(
    ("text", "rows", "rest"),
    [(COUNT, "at most 2 rows", ", at most 1 in each group"), ("SELECT COUNT(*) AS n FROM t", "at most 1 row", "")],
)
def test_notes_say_what_all_limits_together_mean(text: str, rows: str, rest: str) -> None:
    unit = Unit(column="person", rows=3, groups=2, rows_per_group=1)
    desk = Desk(PureDP(epsilon=9, neighbors=unit.neighbors), unit)
    told = f"Of one person {rows} {'count' if rest else 'counts'}{rest}."
    assert desk.session.sql(text, epsilon=1).notes == (told,)
    explained = desk.session.explain(text, epsilon=1)
    assert explained.notes == (told,)
    assert explained.plan[0].endswith(f", {rows} of each person{rest}")


def test_a_median() -> None:
    unit = Unit(column="person", rows=2)
    desk = Desk(PureDP(epsilon=10**6, neighbors=unit.neighbors), unit)
    result = desk.session.sql("SELECT MEDIAN(amount) AS m FROM t", epsilon=1000)
    assert result.rows == ((3.0,),)
    assert result.guarantee.parameters["epsilon"] <= 1000


def test_closing(desk: Desk) -> None:
    desk.session.close()
    assert desk.engine.closed


def test_an_account_that_counts_in_rho_says_so_when_it_refuses() -> None:
    """A promise of epsilon 3 that refuses a question of epsilon 1 needs a word more than an amount."""
    one = Desk(ApproxDP(epsilon=3, delta="1e-5"), Unit())
    with pytest.raises(BudgetExhausted, match=r"counting in terms of ApproxZCDP.*rho=\.\.\..*by=ApproxDP"):
        one.session.sql(COUNT, epsilon=1)
    with pytest.raises(BudgetExhausted) as caught:
        Desk(PureDP(epsilon=1), Unit()).session.sql(COUNT, epsilon=2)
    assert "rho" not in str(caught.value)
