"""What an odometer shows means what is said of it, at any time and for any strategy."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from functools import partial
from typing import Any

import pytest

from privately.accounting.filters import Filter, Odometer
from privately.errors import InvalidParameter, NoSuchRule
from privately.guarantees import ZCDP, ApproxDP, ApproxZCDP, GaussianDP, Guarantee, Neighbors, PureDP, RenyiDP
from privately.rounding import Enclosure
from tests.accounting.filters.interactions import (
    Dish,
    History,
    dish,
    interactions,
    lopsided,
    regrouped,
    response,
    revealing,
)
from tests.guarantees.rules.refutation import refutation

KINDS: list[type[Guarantee]] = [PureDP, ApproxDP, ZCDP, ApproxZCDP, GaussianDP, RenyiDP]
ORDERS = (2, 3, 8)


def started(kind: type[Guarantee]) -> Odometer:
    return Odometer(kind=kind, orders=ORDERS if kind is RenyiDP else ())


def menu(kind: type[Guarantee]) -> list[Dish]:
    if kind in (ApproxDP, ApproxZCDP):
        tenth = Fraction(1, 10)
        pair = response(2) if kind is ApproxZCDP else revealing(response(2), tenth)
        return [dish(kind, response(3)), dish(kind, pair, tenth)]
    return [dish(kind, response(2)), dish(kind, response(3)), dish(kind, lopsided(Fraction(1, 2), Fraction(1, 5)))]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_what_happened_below_a_cap_satisfies_it(kind: type[Guarantee]) -> None:
    dishes = menu(kind)
    costs = [one.cost for one in dishes]
    everything = interactions(started(kind), dishes, 2)

    def before(history: History, cap: Guarantee) -> History:
        """The part of a history before the odometer passes the cap."""
        kept, budget = [], Filter(cap=cap)
        for place, answer in history:
            if not budget.fits(costs[place]):
                break
            budget = budget.spend(costs[place])
            kept.append((place, answer))
        return tuple(kept)

    for cap in (costs[0], costs[1], costs[0].compose(costs[1])):
        assert refutation(cap, everything), "the whole passes the cap"
        assert refutation(cap, regrouped(everything, partial(before, cap=cap))) == ""


@pytest.mark.parametrize("kind", [PureDP, ZCDP, GaussianDP, RenyiDP], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("delta", ["1/20", "1/4"])
def test_the_loss_stays_below_its_bound(kind: type[Guarantee], delta: str) -> None:
    """The probability of ever being above the bound, exactly, for every strategy of two steps."""
    assert _worst(kind, delta, lambda odometer: odometer.loss_bound(delta=delta)) <= Fraction(delta)


def test_a_bound_without_its_surprise_is_refuted() -> None:
    def bare(odometer: Odometer) -> Fraction:
        return min(odometer.tally.amounts)

    assert _worst(RenyiDP, "1/20", bare) > Fraction(1, 20)


def _worst(kind: type[Guarantee], delta: str, bound: Any) -> Fraction:
    dishes = menu(kind)
    strategies = interactions(started(kind), dishes, 2)
    bounds: dict[tuple[int, ...], Fraction] = {}

    def ratio_bound(places: tuple[int, ...]) -> Fraction:
        if places not in bounds:
            odometer = started(kind)
            for place in places:
                odometer = odometer.spend(dishes[place].cost)
            bounds[places] = Fraction(Enclosure.of(bound(odometer)).exp().lower)
        return bounds[places]

    def ever_above(history: History, one: int) -> bool:
        ratio = Fraction(1)
        for step, (place, answer) in enumerate(history):
            pair = dishes[place].pair
            ratio *= pair[one][answer] / pair[1 - one][answer]
            if ratio > ratio_bound(tuple(place for place, _ in history[: step + 1])):
                return True
        return False

    return max(
        sum((mass for history, mass in pair[one].items() if ever_above(history, one)), Fraction(0))
        for pair in strategies
        for one in (0, 1)
    )


def test_bounds_by_hand() -> None:
    odometer = started(RenyiDP).spend(ZCDP(rho="0.5"))
    by_hand = min(order / 2 + math.log(3 / 0.01) / (order - 1) for order in ORDERS)
    assert float(odometer.loss_bound(delta="0.01")) == pytest.approx(by_hand, rel=1e-12)
    assert Odometer(kind=PureDP).spend(PureDP(epsilon=2)).loss_bound(delta=0) == 2
    gaussian = Odometer(kind=GaussianDP).spend(GaussianDP(mu=1)).loss_bound(delta="1e-6")
    assert gaussian == Odometer(kind=ZCDP).spend(ZCDP(rho="0.5")).loss_bound(delta="1e-6")


def test_it_counts() -> None:
    odometer = Odometer(kind=ApproxDP, neighbors=Neighbors.REPLACE)
    cost = ApproxDP(epsilon="0.1", delta="0.3", neighbors=Neighbors.REPLACE)
    for _ in range(10):
        odometer = odometer.spend(cost)
    assert odometer.entries == 10
    assert odometer.spent == ApproxDP(epsilon=1, delta=1, neighbors=Neighbors.REPLACE)
    assert Odometer(kind=GaussianDP).spend(GaussianDP(mu=3)).spend(GaussianDP(mu=4)).spent == GaussianDP(mu=5)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_states_come_back(kind: type[Guarantee]) -> None:
    odometer = started(kind).spend(PureDP(epsilon="1/7")).spend(PureDP(epsilon=0.3))
    state = json.loads(json.dumps(odometer.to_state()))
    assert Odometer.from_state(state) == odometer
    assert Odometer.from_state(state).spent == odometer.spent


def test_there_is_an_end() -> None:
    odometer = Odometer(kind=PureDP).spend(PureDP(epsilon=10**9))
    with pytest.raises(InvalidParameter, match="above 1000000000"):
        odometer.spend(PureDP(epsilon="1e-9"))
    mu = Odometer(kind=GaussianDP).spend(GaussianDP(mu=10**9))
    assert mu.spent == GaussianDP(mu=10**9)
    with pytest.raises(InvalidParameter):
        mu.spend(GaussianDP(mu=1))


@pytest.mark.parametrize("kind", [ApproxDP, ApproxZCDP], ids=lambda kind: kind.__name__)
def test_no_loss_bound_where_there_are_deltas(kind: type[Guarantee]) -> None:
    with pytest.raises(NoSuchRule):
        Odometer(kind=kind).loss_bound(delta="0.1")


@pytest.mark.parametrize("delta", [0, -1, 2, "some"])
def test_deltas_that_are_refused(delta: Any) -> None:
    with pytest.raises(InvalidParameter):
        Odometer(kind=ZCDP).loss_bound(delta=delta)


@pytest.mark.parametrize("made", [{"kind": None}, {"kind": RenyiDP}, {"kind": PureDP, "neighbors": None}])
def test_what_is_no_odometer(made: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter):
        Odometer(**made)
