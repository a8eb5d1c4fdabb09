"""The caps found promise what they must, and hardly more could be promised."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from privately.accounting.filters import Filter
from privately.accounting.filters.caps import cap_for, check_promise, largest_mu, largest_rho
from privately.errors import InvalidParameter, NoSuchRule
from privately.guarantees import ZCDP, ApproxDP, ApproxZCDP, GaussianDP, Guarantee, Neighbors, PureDP, RenyiDP, curves

PROMISES = [
    ("1", "1e-6"),
    ("0.1", "1e-9"),
    ("0", "1e-6"),
    ("10", "1e-15"),
    ("5", "0.3"),
    ("0", "0.9"),
    ("1e-6", "1e-100"),
    ("100", "1e-300"),
    ("3/7", "1/1000"),
    ("1", "1e-900"),
    ("1500", "1e-9"),
    ("1e-30", "1e-30"),
]
MORE = 1 + Fraction(1, 10**7)


@pytest.mark.parametrize("by", [ApproxDP, ZCDP, ApproxZCDP, GaussianDP], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize(("epsilon", "delta"), PROMISES)
def test_the_cap_implies_the_promise(by: type[Guarantee], epsilon: str, delta: str) -> None:
    promise = ApproxDP(epsilon=epsilon, delta=delta, neighbors=Neighbors.REPLACE)
    budget = Filter.promising(promise, by=by)
    assert type(budget.cap) is by
    assert budget.promise == promise
    assert budget.cap.neighbors == Neighbors.REPLACE
    derived = budget.cap if by is ApproxDP else budget.cap.to(ApproxDP, delta=delta)
    assert derived.parameters["epsilon"] <= promise.parameters["epsilon"]
    assert Filter.from_state(budget.to_state()) == budget


@pytest.mark.parametrize(("epsilon", "delta"), PROMISES)
def test_little_more_would_not(epsilon: str, delta: str) -> None:
    promise = ApproxDP(epsilon=epsilon, delta=delta)
    exact, small = promise.parameters["epsilon"], promise.parameters["delta"]
    rho = cap_for(promise, ZCDP).parameters["rho"]
    with pytest.raises(NoSuchRule):
        check_promise(ZCDP(rho=rho * MORE), promise)
    kept = cap_for(promise, ApproxZCDP)
    with pytest.raises(NoSuchRule):
        check_promise(ApproxZCDP(rho=kept.parameters["rho"] * MORE, delta=small / 2), promise)
    mu = cap_for(promise, GaussianDP).parameters["mu"]
    assert curves.gaussian_delta(mu * MORE, exact).lower > small
    assert mu**2 / 2 >= rho * (1 - Fraction(1, 10**9)), "the exact profile is never worse than by zCDP"


def test_known_values() -> None:
    """sigma = 4.2247 for (1, 1e-6) by analytic calibration (Balle-Wang); rho by the conversion at the best order."""
    assert abs(1 / float(largest_mu(Fraction(1), Fraction(1, 10**6))) - 4.224679) < 1e-6
    rho = largest_rho(Fraction(1), Fraction(1, 10**6))
    interval = ZCDP(rho=rho).epsilon(delta="1e-6")
    assert abs(float(interval.upper) - 1) < 1e-12


def test_entries_may_have_deltas_of_their_own() -> None:
    promise = ApproxDP(epsilon=1, delta="1e-6")
    halved, none, most = (Filter.promising(promise, by=ApproxZCDP, entries_delta=kept) for kept in (None, 0, "9e-7"))
    assert halved.cap.parameters["delta"] == Fraction(1, 2 * 10**6)
    assert none.cap.parameters["rho"] == cap_for(promise, ZCDP).parameters["rho"]
    assert most.cap.parameters["rho"] < halved.cap.parameters["rho"] < none.cap.parameters["rho"]
    after = halved.spend(ApproxDP(epsilon="0.01", delta="4e-7"))
    assert after.remaining.parameters["delta"] == Fraction(1, 10**7)


@pytest.mark.parametrize("orders", [[16], [16, 32, "40.5"]])
def test_each_renyi_order_alone_gives_the_promise(orders: list[Any]) -> None:
    promise = ApproxDP(epsilon=1, delta="1e-6")
    cap = Filter.promising(promise, by=RenyiDP, orders=orders).cap
    assert len(cap.parameters["bounds"]) == len(orders)
    for order, bound in cap.parameters["bounds"]:
        assert curves.bound_to_epsilon(order, bound, Fraction(1, 10**6)).upper <= 1
        assert curves.bound_to_epsilon(order, bound * MORE, Fraction(1, 10**6)).lower > 1


def test_more_renyi_orders_allow_less() -> None:
    promise, cost = ApproxDP(epsilon=1, delta="1e-6"), ZCDP(rho="0.001")
    counts = []
    for orders in ([24], [24, 16], [24, 16, 64]):
        budget = Filter.promising(promise, by=RenyiDP, orders=orders)
        while budget.fits(cost):
            budget = budget.spend(cost)
        counts.append(budget.entries)
    assert counts[0] > counts[1] > counts[2]


@pytest.mark.parametrize(
    ("choice", "error"),
    [
        ({"by": PureDP}, NoSuchRule),
        ({"by": int}, NoSuchRule),
        ({"by": ZCDP, "entries_delta": "1e-7"}, InvalidParameter),
        ({"by": ZCDP, "orders": [2]}, InvalidParameter),
        ({"by": RenyiDP}, InvalidParameter),
        ({"by": RenyiDP, "orders": []}, InvalidParameter),
        ({"by": RenyiDP, "orders": [2]}, InvalidParameter),
        ({"by": RenyiDP, "orders": "16"}, InvalidParameter),
        ({"by": ApproxZCDP, "entries_delta": "1e-6"}, InvalidParameter),
        ({"by": ApproxZCDP, "entries_delta": -1}, InvalidParameter),
    ],
)
def test_choices_that_are_refused(choice: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        Filter.promising(ApproxDP(epsilon=1, delta="1e-6"), **choice)


def test_orders_at_which_no_bound_is_small_enough() -> None:
    with pytest.raises(InvalidParameter, match="at order 8 no bound"):
        Filter.promising(ApproxDP(epsilon=1, delta="1e-6"), by=RenyiDP, orders=[8, 16])


@pytest.mark.parametrize(
    "promise",
    [
        ApproxDP(epsilon=1, delta=0),
        ApproxDP(epsilon=1, delta=1),
        ApproxDP(epsilon=10**6, delta="1e-6"),
        PureDP(epsilon=1),
        None,
    ],
)
def test_promises_that_are_refused(promise: Any) -> None:
    with pytest.raises(InvalidParameter):
        Filter.promising(promise, by=GaussianDP)
