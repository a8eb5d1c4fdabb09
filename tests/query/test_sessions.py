"""The line from a text to an answer: charged before anything is counted, and never answered twice for one price."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from privately.certificates import check
from privately.engines.protocol import Counts, Limits, TableReport
from privately.errors import (
    BudgetExhausted,
    DataDependentKeys,
    EngineFailed,
    InvalidParameter,
    PrivatelyError,
    Refused,
    Unanswered,
)
from privately.guarantees import ZCDP, ApproxDP, ApproxZCDP, GaussianDP, Guarantee, PureDP
from privately.ledger import Ledger
from privately.plans import Aggregation, Column, Unit
from privately.query import estimates, results
from privately.query.sessions import Session, _recorded
from tests.plans.small import COLUMNS, Row, scan
from tests.query.small_questions import NoNoise, counted

TABLE: list[Row] = [(1, "a", 3), (2, "a", -5), (3, "a", None), (4, "b", 8)]
COUNT = "SELECT part, COUNT(*) AS n FROM t GROUP BY part"


class Memory:
    """An engine with a table in memory, which notes how often it was asked, and can be told to fail."""

    def __init__(self, table: list[Row], *, fails: bool = False) -> None:
        self.table, self.fails, self.runs, self.closed, self.pause = table, fails, 0, False, 0.0
        self.spent_before: list[Guarantee] = []
        self.ledger: Ledger | None = None

    def ready(self) -> None:
        pass

    def check(self, table: str) -> TableReport:
        raise AssertionError(table)

    def run(self, aggregation: Aggregation, limits: Limits | None) -> Counts:
        self.runs += 1
        time.sleep(self.pause)
        assert limits is None
        if self.ledger is not None:
            self.spent_before.append(self.ledger.budget("people").spent)
        if self.fails:
            raise EngineFailed("the engine could not finish this question.")
        return counted(_Asked(aggregation), self.table)  # type: ignore[arg-type]

    def close(self) -> None:
        self.closed = True


class _Asked:
    def __init__(self, aggregation: Aggregation) -> None:
        self.aggregation = aggregation


class Desk:
    """A session with what is behind it."""

    def __init__(self, cap: Guarantee, unit: Unit, **options: Any) -> None:
        self.ledger = Ledger.open(":memory:")
        self.ledger.account("people", cap=cap, by=options.pop("by", None))
        self.engine = Memory(TABLE, fails=options.pop("fails", False))
        self.engine.ledger = self.ledger
        self.session = Session(
            scan(unit).table,
            self.engine,
            self.ledger,
            lineage="people",
            snapshot=options.pop("snapshot", "first"),
            randomness=options.pop("randomness", NoNoise()),
        )

    @property
    def spent(self) -> Guarantee:
        return self.session.budget.spent


@pytest.fixture
def desk() -> Iterator[Desk]:
    found = Desk(PureDP(epsilon=1), Unit())
    yield found
    found.ledger.close()


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


def test_a_median() -> None:
    unit = Unit(column="person", rows=2)
    desk = Desk(PureDP(epsilon=10**6, neighbors=unit.neighbors), unit)
    result = desk.session.sql("SELECT MEDIAN(amount) AS m FROM t", epsilon=10**4)
    assert result.rows == ((3.0,),)
    assert result.guarantee.parameters["epsilon"] <= Fraction(10**4)


# --- groups that nobody listed --------------------------------------------------------------------------------------

BY_PERSON = "SELECT person, COUNT(*) AS n FROM t GROUP BY person"


def crowd(cap: Guarantee, by: type[Guarantee] | None = None) -> Desk:
    """Five persons in each part that the table names, one in "c", and somebody whose part is missing."""
    found = Desk(cap, Unit(), by=by)
    found.engine.table = [(at, part, 1) for at, part in enumerate("aaaaabbbbbc")]
    found.engine.table += [(at + 20, None, 2) for at in range(5)]
    return found


def without_categories(desk: Desk) -> Session:
    part = Column(name="part", type="text")
    columns = [part if one.name == "part" else one for one in COLUMNS]
    table = scan(desk.session.table.unit, columns).table
    return Session(table, desk.engine, desk.ledger, lineage="people", snapshot="x", randomness=NoNoise())


def test_groups_that_nobody_listed() -> None:
    desk = crowd(ApproxDP(epsilon=30, delta="0.1"), by=ApproxDP)
    session = without_categories(desk)
    result = session.sql(COUNT, epsilon=4, delta="0.02")
    assert result.rows == (("a", 5), ("b", 5), (None, 5))
    assert isinstance(result.guarantee, ApproxDP)
    assert 0 < result.guarantee.parameters["delta"] <= Fraction("0.02")
    assert desk.spent == result.guarantee
    check(result.certificate)
    assert any("are not shown" in note for note in result.notes)
    again = session.sql(COUNT, epsilon=4, delta="0.02")
    assert again.free
    assert (again.rows, again.groups, again.noise) == (result.rows, result.groups, result.noise)
    assert again.intervals() == result.intervals()
    assert desk.engine.runs == 1


def test_other_deltas_are_other_questions() -> None:
    session = without_categories(crowd(ApproxDP(epsilon=20, delta="0.5"), by=ApproxDP))
    assert not session.sql(COUNT, epsilon=4, delta="0.02").free
    assert not session.sql(COUNT, epsilon=4, delta="0.03").free


def test_unknown_groups_with_gaussian_noise() -> None:
    desk = crowd(ApproxDP(epsilon=9, delta="0.1"))
    result = without_categories(desk).sql(COUNT.replace("n FROM", "n, MEDIAN(amount) AS m FROM"), rho="1", delta="0.02")
    assert isinstance(result.guarantee, ApproxZCDP)
    assert Fraction("0.999") < result.guarantee.parameters["rho"] <= 1
    assert [row[0] for row in result.rows] == ["a", "b", None]


def test_whoever_is_alone_is_not_shown_and_nothing_may_be() -> None:
    session = crowd(ApproxDP(epsilon=9, delta="0.1"), by=ApproxDP).session
    result = session.sql(BY_PERSON, epsilon=4, delta="0.02")
    assert result.rows == ()
    assert result.columns == ("person", "n")
    assert "person" in str(result)
    assert session.sql(BY_PERSON, epsilon=4, delta="0.02").free


def test_unknown_groups_without_a_delta_show_the_place(desk: Desk) -> None:
    with pytest.raises(DataDependentKeys) as refused:
        desk.session.sql(BY_PERSON, epsilon=1)
    assert refused.value.span is not None
    assert BY_PERSON[slice(*refused.value.span)] == "person"
    assert 'keys={"person": [...]}' in refused.value.hint
    assert "delta=1e-6" in refused.value.hint


@pytest.mark.parametrize("delta", [0, 1, 2, -1, "nothing", float("nan")])
def test_deltas_that_are_none(desk: Desk, delta: Any) -> None:
    with pytest.raises(InvalidParameter, match="delta"):
        desk.session.sql(BY_PERSON, epsilon=1, delta=delta)
    with pytest.raises(InvalidParameter, match="delta"):
        desk.session.sql(BY_PERSON, accuracy="5 at 95%", delta=delta)


def test_public_groups_need_no_delta(desk: Desk) -> None:
    with pytest.raises(InvalidParameter, match="delta: all groups of this question are public"):
        desk.session.sql(COUNT, epsilon=1, delta="1e-6")


@pytest.mark.parametrize("cap", [PureDP(epsilon=9), ZCDP(rho=9), GaussianDP(mu=9)])
@pytest.mark.parametrize("price", [{"epsilon": 1}, {"rho": 1}, {"mu": 1}, {"accuracy": "5 at 95%"}])
def test_accounts_without_a_delta(cap: Guarantee, price: dict[str, Any]) -> None:
    desk = Desk(cap, Unit())
    with pytest.raises(InvalidParameter, match="has no delta") as refused:
        desk.session.sql(BY_PERSON, delta="1e-6", **price)
    assert refused.value.field == "delta"
    assert (desk.engine.runs, desk.session.budget.entries) == (0, 0)


@pytest.mark.parametrize(
    ("cap", "by", "text", "given", "field"),
    [
        (PureDP(epsilon=1), None, COUNT, {"rho": "0.1"}, "rho"),
        (PureDP(epsilon=1), None, COUNT, {"mu": "0.1"}, "mu"),
        (PureDP(epsilon=1), None, "SELECT MEDIAN(amount) AS m FROM t", {"rho": "0.1"}, "rho"),
        (GaussianDP(mu=1), None, "SELECT MEDIAN(amount) AS m FROM t", {"mu": "0.1"}, "mu"),
        (ApproxDP(epsilon=1, delta="1e-6"), ApproxDP, COUNT, {"mu": "0.1"}, "mu"),
    ],
)
def test_what_an_account_cannot_count(
    cap: Guarantee, by: type[Guarantee] | None, text: str, given: dict[str, Any], field: str
) -> None:
    desk = Desk(cap, Unit(), by=by)
    with pytest.raises(InvalidParameter, match="epsilon=") as refused:
        desk.session.sql(text, **given)
    assert refused.value.field == field
    assert (desk.engine.runs, desk.session.budget.entries) == (0, 0)


@pytest.mark.parametrize("given", [{"rho": "0.5"}, {"mu": 1}])
def test_quantiles_with_a_rho(given: dict[str, Any]) -> None:
    desk = Desk(ZCDP(rho="0.5"), Unit())
    text = "SELECT MEDIAN(amount) AS m, COUNT(*) AS n, QUANTILE_CONT(amount, 0.25) AS q FROM t"
    result = desk.session.sql(text, **given)
    assert isinstance(result.guarantee, ZCDP)
    assert Fraction("0.4999") < result.guarantee.parameters["rho"] <= Fraction("0.5")
    check(result.certificate)


def test_an_accuracy_with_unknown_groups() -> None:
    session = crowd(ApproxDP(epsilon=9, delta="0.1"), by=ApproxDP).session
    priced = session.price(BY_PERSON, accuracy="5 at 95%", delta="1e-3")
    assert priced.groups is None
    assert isinstance(priced.cost, ApproxDP)
    assert (
        session.price(BY_PERSON, accuracy="2 at 95%", delta="1e-3").cost.parameters["epsilon"]
        > (priced.cost.parameters["epsilon"])
    )


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
