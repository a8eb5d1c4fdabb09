"""Batches enter a filter as one entry, at what the accountant says."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest

from privately.accounting.events import Approx, Event, Gaussian, PoissonSample, Pure, Repeat
from privately.accounting.filters import Batch, Currency, Filter, Odometer
from privately.accounting.filters.batches import Evaluators, use_evaluators
from privately.accounting.filters.currencies import exact_orders
from privately.errors import BudgetExhausted, InvalidParameter, MixedNeighbors, NoSuchRule
from privately.guarantees import ZCDP, ApproxDP, ApproxZCDP, GaussianDP, Guarantee, Neighbors, PureDP, RenyiDP
from privately.rounding import Interval

ANSWERS = Repeat(event=Gaussian(noise_multiplier=10), times=25)
STEPS = Repeat(event=PoissonSample(event=Gaussian(noise_multiplier=1), rate="0.01"), times=1000)


def epsilon(event: Event, delta: Fraction) -> Interval:
    """Stands for the accountant: exact for the Gaussian of these tests, and made up for all else."""
    if event == Batch(events=[ANSWERS]).event:
        return GaussianDP(mu="1/2").epsilon(delta=delta)
    return Interval(Fraction(1), Fraction(123456789012345678, 10**17)) if delta else Interval(math.inf, math.inf)


def divergences(event: Event, orders: tuple[Fraction, ...]) -> RenyiDP:
    return RenyiDP(bounds=[(order, order * event.runs / 10**6) for order in orders], neighbors=event.neighbors)


@pytest.fixture(autouse=True)
def accountant(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Batch, "evaluators", Evaluators(epsilon=epsilon, divergences=divergences))


def currency(kind: type[Guarantee]) -> Currency:
    return Currency(kind=kind, orders=exact_orders([2, 8] if kind is RenyiDP else []))


def test_the_cost_in_every_currency() -> None:
    plain, tight = Batch(events=[ANSWERS]), Batch(events=[ANSWERS], delta="1e-6")
    for batch in (plain, tight):
        assert batch.cost(currency(GaussianDP)) == GaussianDP(mu="1/2")
        assert batch.cost(currency(ZCDP)) == ZCDP(rho="1/8")
        assert batch.cost(currency(RenyiDP)) == RenyiDP(bounds={2: "5e-5", 8: "2e-4"})
    assert plain.cost(currency(ApproxZCDP)) == ApproxZCDP(rho="1/8", delta=0)
    exact = GaussianDP(mu="1/2").epsilon(delta="1e-6").upper
    charged = tight.cost(currency(ApproxDP))
    assert charged.parameters["delta"] == Fraction(1, 10**6)
    assert 0 <= charged.parameters["epsilon"] - exact < Fraction(1, 10**13)
    assert tight.cost(currency(ApproxZCDP)) == currency(ApproxZCDP).statement(currency(ApproxZCDP).price(charged))


def test_what_only_the_accountant_can_price() -> None:
    with pytest.raises(NoSuchRule):
        Batch(events=[STEPS]).cost(currency(PureDP))
    with pytest.raises(NoSuchRule):
        Batch(events=[STEPS]).cost(currency(ApproxDP))
    unsampled = Repeat(event=STEPS.event.event, times=STEPS.times)  # type: ignore[attr-defined]
    assert Batch(events=[STEPS]).cost(currency(ZCDP)) == Batch(events=[unsampled]).cost(currency(ZCDP))
    charged = Batch(events=[STEPS], delta="1e-5").cost(currency(ApproxDP))
    assert charged == ApproxDP(epsilon="1.23456789012346", delta="1e-5"), "the upper end, rounded up"
    assert Batch(events=[STEPS]).cost(currency(RenyiDP)).parameters["bounds"][0] == (2, Fraction(2, 1000))
    with pytest.raises(NoSuchRule, match="finite"):
        Batch(events=[STEPS], delta=0).cost(currency(ApproxDP))


def test_a_batch_is_one_entry() -> None:
    budget = Filter(cap=ApproxDP(epsilon=2, delta="2e-5"))
    batch = Batch(events=[STEPS], delta="1e-5")
    assert budget.fits(batch)
    after = budget.spend(batch)
    assert (after.entries, after.remaining) == (1, ApproxDP(epsilon="0.76543210987654", delta="1e-5"))
    with pytest.raises(BudgetExhausted):
        after.spend(batch)
    assert Odometer(kind=GaussianDP).spend(Batch(events=[ANSWERS])).spent == GaussianDP(mu="1/2")


def test_costs_add_up_without_a_delta() -> None:
    mixed = Batch(events=[Pure(epsilon="0.1"), Approx(epsilon="0.2", delta="1e-6")])
    assert mixed.cost(currency(ApproxDP)) == ApproxDP(epsilon="0.3", delta="1e-6")


def test_neighbours() -> None:
    batch = Batch(events=[Pure(epsilon=1, neighbors=Neighbors.REPLACE)], delta="1e-6")
    for kind in (PureDP, ApproxDP, ApproxZCDP):
        with pytest.raises(MixedNeighbors):
            currency(kind).price(batch)


def test_without_an_accountant(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Batch, "evaluators", None)
    with pytest.raises(NoSuchRule, match="accounting"):
        Batch(events=[ANSWERS], delta="1e-6").cost(currency(ApproxDP))
    assert Batch(events=[ANSWERS]).cost(currency(RenyiDP)) == RenyiDP(bounds={2: "0.25", 8: "1"})
    use_evaluators(epsilon=epsilon, divergences=divergences)
    assert Batch(events=[ANSWERS]).cost(currency(RenyiDP)) == RenyiDP(bounds={2: "5e-5", 8: "2e-4"})


@pytest.mark.parametrize(
    "made", [{"events": []}, {"events": None}, {"events": ["Gaussian"]}, {"events": [ANSWERS], "delta": 2}]
)
def test_what_is_no_batch(made: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter):
        Batch(**made)


def test_batches_are_values() -> None:
    assert Batch(events=[ANSWERS], delta="0.1") == Batch(events=[ANSWERS], delta="1/10")
    assert hash(Batch(events=[ANSWERS])) == hash(Batch(events=[ANSWERS]))
    with pytest.raises(AttributeError):
        Batch(events=[ANSWERS]).delta = Fraction(1)  # type: ignore[misc]
