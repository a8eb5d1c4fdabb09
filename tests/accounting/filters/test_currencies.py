"""What a guarantee costs in each currency is never less than what the mechanism deserves."""

from __future__ import annotations

from fractions import Fraction
from itertools import repeat
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privately.accounting.filters.batches import Batch
from privately.accounting.filters.currencies import Currency, approx_to_approx_zcdp, exact_orders, root_down
from privately.errors import InvalidParameter, MixedNeighbors, NoSuchRule
from privately.guarantees import ZCDP, ApproxDP, ApproxZCDP, GaussianDP, Guarantee, Neighbors, PureDP, RenyiDP
from tests.accounting.filters.interactions import dish, lopsided, response, revealing
from tests.guarantees.rules.refutation import refutation, strongest

KINDS: list[type[Guarantee]] = [PureDP, ApproxDP, ZCDP, ApproxZCDP, GaussianDP, RenyiDP]
TENTH = Fraction(1, 10)
PAIRS = [response(2), response(Fraction(101, 100)), lopsided(Fraction(1, 2), Fraction(1, 5)), response(10**4)]
EDGES: dict[type[Guarantee], set[type[Guarantee]]] = {
    PureDP: {PureDP, ApproxDP, ZCDP, ApproxZCDP, GaussianDP, RenyiDP},
    ApproxDP: {ApproxDP, ApproxZCDP},
    ZCDP: {ZCDP, ApproxZCDP, RenyiDP},
    ApproxZCDP: {ApproxZCDP},
    GaussianDP: {GaussianDP, ZCDP, ApproxZCDP, RenyiDP},
    RenyiDP: {RenyiDP},
}


def currency(kind: type[Guarantee]) -> Currency:
    return Currency(kind=kind, orders=exact_orders([2, 3, 8] if kind is RenyiDP else []))


@pytest.mark.parametrize("start", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_prices_dominate_enumeration(start: type[Guarantee], kind: type[Guarantee]) -> None:
    for pair in PAIRS:
        told = revealing(pair, TENTH) if start is ApproxDP else pair
        known = dish(start, told, TENTH if start in (ApproxDP, ApproxZCDP) else Fraction(0))
        if kind not in EDGES[start]:
            with pytest.raises(NoSuchRule):
                currency(kind).price(known.cost)
            continue
        stated = currency(kind).statement(currency(kind).price(known.cost))
        assert type(stated) is kind
        assert refutation(stated, [known.pair]) == ""


def test_the_price_of_approx_in_approximate_zcdp_is_tight() -> None:
    """Randomized response that reveals all with probability delta: less rho, or less delta, is refuted."""
    pair = revealing(response(5), TENTH)
    priced = approx_to_approx_zcdp(strongest(ApproxDP, [pair], Neighbors.ADD_REMOVE, delta=TENTH))
    rho, delta = priced.parameters["rho"], priced.parameters["delta"]
    assert refutation(ApproxZCDP(rho=rho, delta=delta), [pair]) == ""
    assert refutation(ApproxZCDP(rho=rho * Fraction(99, 100), delta=delta), [pair])
    assert refutation(ApproxZCDP(rho=rho, delta=delta * Fraction(99, 100)), [pair])


@pytest.mark.parametrize(
    ("kind", "cost", "amounts"),
    [
        (ApproxDP, PureDP(epsilon="0.1"), ["1/10", 0]),
        (ApproxZCDP, ZCDP(rho="0.1"), ["1/10", 0]),
        (ZCDP, GaussianDP(mu=3), ["9/2"]),
        (GaussianDP, GaussianDP(mu=3), [9]),
        (RenyiDP, ZCDP(rho="0.5"), [1, "3/2", 4]),
        (RenyiDP, RenyiDP(bounds=[("3/2", 1), (2, 1), (4, 2), (16, 3)]), [1, "7/4", "19/7"]),
    ],
)
def test_amounts(kind: type[Guarantee], cost: Guarantee, amounts: list[Any]) -> None:
    assert list(currency(kind).price(cost)) == [Fraction(amount) for amount in amounts]


def test_names() -> None:
    assert list(currency(RenyiDP).names) == [2, 3, 8]
    assert currency(ApproxDP).names == ("epsilon", "delta")


def test_orders_above_those_of_the_cost_are_unknown() -> None:
    with pytest.raises(NoSuchRule, match="order 8"):
        currency(RenyiDP).price(RenyiDP(bounds={2: 1, 3: 1}))


def test_approx_wants_a_delta_to_be_chosen() -> None:
    with pytest.raises(NoSuchRule, match="delta="):
        currency(ApproxDP).price(GaussianDP(mu=1))


def test_neighbours() -> None:
    with pytest.raises(MixedNeighbors):
        currency(PureDP).price(PureDP(epsilon=1, neighbors=Neighbors.REPLACE))
    two = Neighbors.ADD_REMOVE.times(2)
    assert currency(PureDP).price(PureDP(epsilon=1, neighbors=two)) == (Fraction(1),)


@given(st.fractions(0, 10**6, max_denominator=10**9))
def test_roots_are_just_below(value: Fraction) -> None:
    root = root_down(value)
    assert root**2 <= value
    assert root_down(root**2) == root
    assert (root * (1 + Fraction(1, 10**30))) ** 2 >= value


def test_statements_round_up_and_rests_round_down() -> None:
    gaussian = currency(GaussianDP)
    assert (
        gaussian.statement((Fraction(2),)).parameters["mu"] ** 2
        > 2
        > gaussian.spendable((Fraction(2),)).parameters["mu"] ** 2
    )
    long = Fraction(2, 3**2000)
    assert currency(PureDP).statement((long,)).parameters["epsilon"] > long
    assert currency(PureDP).spendable((long,)).parameters["epsilon"] < long


@pytest.mark.parametrize(
    "made",
    [
        {"kind": int},
        {"kind": Guarantee},
        {"kind": "PureDP"},
        {"kind": PureDP, "neighbors": "all"},
        {"kind": PureDP, "orders": (2,)},
        {"kind": RenyiDP},
        {"kind": RenyiDP, "orders": (1,)},
        {"kind": RenyiDP, "orders": (2, 2)},
        {"kind": RenyiDP, "orders": "28"},
        {"kind": RenyiDP, "orders": 8},
        {"kind": RenyiDP, "orders": ("many",)},
    ],
)
def test_what_is_no_currency(made: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter):
        Currency(**made)


def test_orders() -> None:
    assert list(exact_orders([8, "1.5", 2.0])) == [Fraction(3, 2), 2, 8]
    with pytest.raises(InvalidParameter, match="orders"):
        exact_orders(repeat(2))


def test_what_prices_itself() -> None:
    class Itself:
        def cost(self, counted: Currency) -> Guarantee:
            return PureDP(epsilon=len(counted.names))

    assert currency(PureDP).price(Itself()) == (Fraction(1),)


@pytest.mark.parametrize("cost", [Batch, type("Odd", (), {"cost": lambda *_: 3})(), None, "0.1"])
def test_what_is_no_cost(cost: Any) -> None:
    with pytest.raises(InvalidParameter, match="give a guarantee"):
        Currency.of(PureDP(epsilon=1)).price(cost)
