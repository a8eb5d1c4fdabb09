"""Sessions that are asked for groups that nobody listed: those are shown that enough people are in."""

from fractions import Fraction
from typing import Any

import pytest

from privately.certificates import check
from privately.errors import (
    DataDependentKeys,
    InvalidParameter,
)
from privately.guarantees import ZCDP, ApproxDP, ApproxZCDP, GaussianDP, Guarantee, PureDP
from privately.plans import Column, Unit
from privately.query.sessions import Session
from tests.plans.small import COLUMNS, scan
from tests.query.desks import COUNT, Desk, desk
from tests.query.small_questions import NoNoise

__all__ = ["desk"]


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
