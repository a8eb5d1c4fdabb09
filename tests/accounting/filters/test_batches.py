"""Batches enter a filter as one entry, at what the accountant says."""

from __future__ import annotations

import math
from contextlib import suppress
from fractions import Fraction
from typing import Any

import pytest

from privately import accounting
from privately.accounting import events
from privately.accounting.events import (
    Approx,
    Event,
    Exponential,
    Gaussian,
    Group,
    Laplace,
    PoissonSample,
    Pure,
    RandomizedResponse,
    Repeat,
)
from privately.accounting.filters import Batch, Currency, Filter, Odometer
from privately.accounting.filters.batches import Evaluators, use_evaluators
from privately.accounting.filters.currencies import Amounts, exact_orders
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


@pytest.fixture
def real_accountant(accountant: None, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Evaluators(epsilon=accounting._epsilon, divergences=accounting._divergences)
    monkeypatch.setattr(Batch, "evaluators", real)


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
    assert tight.cost(currency(ApproxZCDP)) == ApproxZCDP(rho="1/8", delta=0), "less than what (epsilon, delta) gives"
    assert currency(ApproxZCDP).price(charged)[0] > 1
    steps = Batch(events=[STEPS], delta="1e-5")
    converted = currency(ApproxZCDP).price(steps.cost(currency(ApproxDP)))
    assert steps.cost(currency(ApproxZCDP)) == currency(ApproxZCDP).statement(converted), "less than what sums give"


REPEATED = (
    Gaussian(noise_multiplier=100),
    Laplace(scale=100),
    RandomizedResponse(epsilon="0.01"),
    Exponential(epsilon="0.01"),
    Pure(epsilon="1/300"),
    Approx(epsilon="0.01", delta="1e-9"),
    PoissonSample(event=Gaussian(noise_multiplier=1), rate="0.001"),
)
MANY = [events.ZCDP(rho="1e-4"), *(Repeat(event=event, times=10) for event in REPEATED)]
DELTAS = ["0", "1e-8", "1e-6"]


def by_the_accountant(batch: Batch, kind: type[Guarantee]) -> Amounts:
    assert batch.delta is not None
    return currency(kind).price(batch._tight(batch.delta))


@pytest.mark.usefixtures("real_accountant")
@pytest.mark.parametrize("kind", [ApproxDP, ApproxZCDP], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("event", MANY, ids=str)
def test_a_delta_never_makes_both_amounts_larger(event: Event, kind: type[Guarantee]) -> None:
    """Nor leaves one as it is and makes the other larger."""
    try:
        plain = currency(kind).price(Batch(events=[event]))
    except NoSuchRule:
        return
    for delta in DELTAS:
        batch = Batch(events=[event], delta=delta)
        try:
            found = currency(kind).price(batch)
        except NoSuchRule:
            assert plain[1] > Fraction(delta)
        else:
            assert found == plain or found[0] < plain[0] or found[1] < plain[1], delta


@pytest.mark.thinned(2)
@pytest.mark.usefixtures("real_accountant")
@pytest.mark.parametrize("kind", [ApproxDP, ApproxZCDP], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("event", MANY, ids=str)
def test_either_cost_is_counted_whole(event: Event, kind: type[Guarantee]) -> None:
    """Both numbers of the sums or both of the accountant; and what follows from them is above the truth."""
    for delta in DELTAS[1:]:
        batch = Batch(events=[event], delta=delta)
        found, either = batch.cost(currency(kind)), [by_the_accountant(batch, kind)]
        with suppress(NoSuchRule):
            either.append(currency(kind).price(Batch(events=[event])))
        assert currency(kind).price(found) in either
        larger = 2 * Fraction(delta)
        claimed = found if kind is ApproxDP else found.to(ApproxDP, delta=larger)
        at = claimed.parameters["delta"]
        assert accounting.epsilon(event, at).lower <= claimed.parameters["epsilon"]


@pytest.mark.usefixtures("real_accountant")
def test_the_lesser_of_each_amount_would_be_false() -> None:
    """The epsilon of the accountant with the delta of the sums, which is 0."""
    event = Repeat(event=Laplace(scale=100), times=10)
    tight, (total, none) = Batch(events=[event], delta="1e-6"), currency(ApproxDP).price(Batch(events=[event]))
    epsilon, _ = by_the_accountant(tight, ApproxDP)
    assert min(epsilon, total) < accounting.epsilon(event, none).lower
    assert currency(ApproxDP).price(tight) == (epsilon, Fraction("1e-6"))


@pytest.mark.usefixtures("real_accountant")
def test_a_delta_that_no_epsilon_has() -> None:
    """Where the accountant has no finite epsilon, the sums hold if they stay within the delta."""
    gaussian, approx = Gaussian(noise_multiplier=10), Approx(epsilon="0.1", delta="1e-6")
    assert Batch(events=[gaussian], delta=0).cost(currency(ApproxZCDP)) == ApproxZCDP(rho="1/200", delta=0)
    with pytest.raises(NoSuchRule, match="finite"):
        Batch(events=[gaussian], delta=0).cost(currency(ApproxDP))
    with pytest.raises(NoSuchRule, match="finite"):
        Batch(events=[approx, approx], delta="1e-6").cost(currency(ApproxZCDP))


@pytest.mark.usefixtures("real_accountant")
def test_sums_that_are_no_statement_are_left_aside() -> None:
    """What would be sampled has too large an epsilon to say it; but hardly anybody is in the sample."""
    revealing = Repeat(event=Approx(epsilon=1000, delta="0.01"), times=10**12)
    event = PoissonSample(event=revealing, rate="0.001")
    with pytest.raises(InvalidParameter):
        Batch(events=[event]).cost(currency(ApproxDP))
    assert Batch(events=[event], delta="0.5").cost(currency(ApproxDP)) == ApproxDP(epsilon=0, delta="0.5")


def test_the_hint_of_a_batch_is_about_batches() -> None:
    for event in (Gaussian(noise_multiplier=10), events.ZCDP(rho="0.1"), STEPS, Group(event=ANSWERS, size=2)):
        with pytest.raises(NoSuchRule, match=r"Batch\(..., delta=...\)") as caught:
            Filter(cap=ApproxDP(epsilon=1, delta="1e-6", neighbors=event.neighbors)).spend(Batch(events=[event]))
        assert ".to(" not in str(caught.value)
    with pytest.raises(NoSuchRule, match=r"cost.to\(ApproxDP, delta=...\)"):
        Filter(cap=ApproxDP(epsilon=1, delta="1e-6")).spend(GaussianDP(mu="0.1"))


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
