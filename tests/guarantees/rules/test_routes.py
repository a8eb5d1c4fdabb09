"""The way from one kind to another: along proved edges, or not at all."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately.errors import InvalidParameter, NoSuchRule
from privately.guarantees import (
    ZCDP,
    ApproxDP,
    ApproxZCDP,
    GaussianDP,
    Guarantee,
    Neighbors,
    PureDP,
    RenyiDP,
    rules,
)
from privately.guarantees.rules.routes import ORDERS
from tests.guarantees.enumeration import response
from tests.guarantees.rules.knowns import ADD_REMOVE, FAST, KINDS, REPLACE, fault, know, knowns, renyi, stated

STATEMENTS: dict[type[Guarantee], Guarantee] = {
    PureDP: PureDP(epsilon=1),
    ApproxDP: ApproxDP(epsilon=1, delta="0.001"),
    ZCDP: ZCDP(rho=1),
    ApproxZCDP: ApproxZCDP(rho=1, delta="0.001"),
    RenyiDP: renyi({2: 1, 9: 4}),
    GaussianDP: GaussianDP(mu=1),
}
REACHED: dict[type[Guarantee], set[type[Guarantee]]] = {
    PureDP: {PureDP, ApproxDP, ZCDP, ApproxZCDP, RenyiDP, GaussianDP},
    ApproxDP: {ApproxDP, ApproxZCDP},
    ZCDP: {ZCDP, ApproxDP, ApproxZCDP, RenyiDP},
    ApproxZCDP: {ApproxZCDP, ApproxDP},
    RenyiDP: {RenyiDP, ApproxDP},
    GaussianDP: {GaussianDP, ApproxDP, ZCDP, ApproxZCDP, RenyiDP},
}
PAIRS = [(start, end) for start in KINDS for end in KINDS]


def choice(kind: type[Guarantee]) -> dict[str, Any]:
    return {"delta": "0.01"} if kind is ApproxDP else {}


@pytest.mark.parametrize(("start", "end"), PAIRS)
def test_only_proved_edges_exist(start: type[Guarantee], end: type[Guarantee]) -> None:
    premise = rules.suppose(STATEMENTS[start])
    if end in REACHED[start]:
        assert type(rules.convert(premise, end, **choice(end)).conclusion) is end
    else:
        with pytest.raises(NoSuchRule) as caught:
            rules.convert(premise, end, **choice(end))
        assert (caught.value.premise, caught.value.wanted) == (STATEMENTS[start], end.__name__)


@pytest.mark.thinned(2)
@pytest.mark.parametrize(("start", "end"), [(a, b) for a, b in PAIRS if b in REACHED[a] and a is not b])
@FAST
@given(data=st.data())
def test_converted_statements_dominate_enumeration(
    start: type[Guarantee], end: type[Guarantee], data: st.DataObject
) -> None:
    known = data.draw(knowns(start, ["0", "1"], [1, 2], REPLACE, outcomes=3))
    delta = known.statement.parameters.get("delta", Fraction(0)) / 2 + Fraction(1, 2)
    chosen = {"delta": delta} if end is ApproxDP else {}
    assert not fault(rules.convert(known.derivation, end, **chosen), known.table)


@pytest.mark.parametrize(
    ("start", "end"), [(ZCDP, GaussianDP), (ApproxDP, PureDP), (RenyiDP, ZCDP), (ZCDP, PureDP), (GaussianDP, PureDP)]
)
def test_missing_edges_would_be_false(start: type[Guarantee], end: type[Guarantee]) -> None:
    """The same number under another name is refuted by randomized response, or by what it leaves out."""
    known = know(start, [response(Fraction(3, 2))], REPLACE, share=Fraction(1, 3))
    numbers = known.statement.parameters
    number = numbers["bounds"][0][1] / 2 if start is RenyiDP else next(iter(numbers.values()))
    name = next(iter(STATEMENTS[end].parameters))
    renamed = stated(end, REPLACE, **{name: number if end is not PureDP else number / 2})
    assert fault(rules.suppose(renamed), known.table)
    with pytest.raises(NoSuchRule):
        rules.convert(known.derivation, end)


def test_nothing_to_do() -> None:
    for statement in STATEMENTS.values():
        if not isinstance(statement, ApproxDP):
            premise = rules.suppose(statement)
            assert rules.convert(premise, type(statement)) is premise


def test_the_listed_orders() -> None:
    found = rules.convert(rules.suppose(PureDP(epsilon=1)), RenyiDP).conclusion
    assert [order for order, _ in found.parameters["bounds"]] == [Fraction(order) for order in ORDERS]
    chosen = rules.convert(rules.suppose(GaussianDP(mu=1)), RenyiDP, orders=[3]).conclusion
    assert chosen == renyi({3: Fraction(3, 2)})


@given(st.fractions(min_value=0, max_value=4, max_denominator=50), st.sampled_from(["0.1", "1e-3", "1e-9"]))
def test_pure_to_approx_is_the_exact_curve(epsilon: Fraction, delta: str) -> None:
    statement = PureDP(epsilon=epsilon)
    found = statement.to(ApproxDP, delta=delta).parameters["epsilon"]
    assert statement.epsilon(delta=delta).lower <= found
    assert found <= statement.epsilon(delta=delta).upper + Fraction(1, 10**12)


@pytest.mark.parametrize("statement", [PureDP(epsilon=1), ZCDP(rho=1), GaussianDP(mu=1)])
def test_neighbors_change_to_replacement_only(statement: Guarantee) -> None:
    premise = rules.suppose(statement)
    replaced = rules.convert(premise, type(statement), neighbors=REPLACE)
    assert replaced.conclusion == rules.add_remove_to_replace(premise).conclusion
    with pytest.raises(NoSuchRule, match="would be false"):
        rules.convert(replaced, type(statement), neighbors=ADD_REMOVE)
    for other in (ADD_REMOVE.times(2), ADD_REMOVE.of_unit("person"), REPLACE.times(2)):
        with pytest.raises(NoSuchRule) as caught:
            rules.convert(premise, type(statement), neighbors=other)
        assert str(other) in str(caught.value.wanted)


@pytest.mark.parametrize("kind", [None, "ApproxDP", 3, PureDP(epsilon=1), Neighbors, dict])
def test_bad_kind(kind: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        rules.convert(rules.suppose(PureDP(epsilon=1)), kind)
    assert caught.value.field == "kind"


def test_delta_is_asked_for_where_it_matters() -> None:
    premise = rules.suppose(PureDP(epsilon=1))
    with pytest.raises(InvalidParameter) as caught:
        rules.convert(premise, ApproxDP)
    assert caught.value.field == "delta"
    with pytest.raises(InvalidParameter) as caught:
        rules.convert(premise, ZCDP, delta="0.1")
    assert caught.value.field == "delta"
    with pytest.raises(InvalidParameter) as caught:
        rules.convert(premise, ZCDP, orders=[2])
    assert caught.value.field == "orders"


@pytest.mark.parametrize("delta", [-1, 2, math.nan, math.inf, "tiny", True])
def test_bad_delta(delta: Any) -> None:
    for statement in STATEMENTS.values():
        with pytest.raises(InvalidParameter) as caught:
            rules.convert(rules.suppose(statement), ApproxDP, delta=delta)
        assert caught.value.field == "delta"
