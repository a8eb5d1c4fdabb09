"""What events cost when their parts are added up."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privately.accounting import events
from privately.accounting.filters.currencies import Currency, exact_orders
from privately.accounting.filters.event_costs import amounts_of
from privately.accounting.filters.sums import GRID
from privately.accounting.renyi import renyi_bounds
from privately.errors import MixedNeighbors, NoSuchRule
from privately.guarantees import ZCDP, ApproxDP, ApproxZCDP, GaussianDP, Guarantee, Neighbors, PureDP, RenyiDP, rules
from tests.accounting.exact_profiles import additions, hockey_stick, removals
from tests.guarantees.enumeration import Table, poisson_sampled, tables

KINDS: list[type[Guarantee]] = [PureDP, ApproxDP, ZCDP, ApproxZCDP, GaussianDP, RenyiDP]
REPLACE = Neighbors.REPLACE


def currency(kind: type[Guarantee], neighbors: Neighbors = Neighbors.ADD_REMOVE) -> Currency:
    return Currency(kind=kind, neighbors=neighbors, orders=exact_orders([2, 8] if kind is RenyiDP else []))


LEAVES: list[tuple[events.Event, Guarantee]] = [
    (events.Gaussian(noise_multiplier=4), GaussianDP(mu="1/4")),
    (events.Laplace(scale=5), PureDP(epsilon="1/5")),
    (events.DiscreteGaussian(variance=9, sensitivity=3), ZCDP(rho="1/2")),
    (events.DiscreteLaplace(scale=10, sensitivity=3), PureDP(epsilon="3/10")),
    (events.RandomizedResponse(epsilon=1, categories=5), PureDP(epsilon=1)),
    (events.Pure(epsilon="0.1"), PureDP(epsilon="0.1")),
    (events.Approx(epsilon="0.1", delta="1e-6"), ApproxDP(epsilon="0.1", delta="1e-6")),
    (events.ZCDP(rho="0.1"), ZCDP(rho="0.1")),
    (events.Renyi(bounds={2: 1, 8: 2}), RenyiDP(bounds={2: 1, 8: 2})),
    (events.GaussianDP(mu="0.1"), GaussianDP(mu="0.1")),
]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize(("event", "statement"), LEAVES)
def test_leaves(kind: type[Guarantee], event: events.Event, statement: Guarantee) -> None:
    try:
        expected = currency(kind).price(statement)
    except NoSuchRule:
        with pytest.raises(NoSuchRule):
            amounts_of(event, currency(kind))
    else:
        found = amounts_of(event, currency(kind))
        if kind in (ZCDP, ApproxZCDP) and isinstance(statement, PureDP) and not isinstance(event, events.Pure):
            assert Fraction(1, 4) * expected[0] < found[0] < expected[0]
            assert found[1:] == expected[1:]
        else:
            assert found == expected


@pytest.mark.parametrize("event", [event for event, _ in LEAVES], ids=str)
def test_the_rho_of_a_leaf_bounds_its_divergences(event: events.Event) -> None:
    """By the divergences of the accountant, at many orders; and hardly less would."""
    try:
        (amount,) = amounts_of(event, currency(ZCDP))
    except NoSuchRule:
        return
    orders = ["1.001", "1.5", "2", "4", "16", "256"]
    bounds = dict(renyi_bounds(event, orders).parameters["bounds"])
    assert all(bound <= order * amount * (1 + Fraction(1, 10**12)) for order, bound in bounds.items())
    assert any(bound >= order * amount * Fraction(99, 100) for order, bound in bounds.items())


BASES: list[events.Event] = [event for event, _ in LEAVES]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("event", BASES, ids=str)
def test_samples_cost_no_more_than_the_whole(kind: type[Guarantee], event: events.Event) -> None:
    try:
        whole = amounts_of(event, currency(kind))
    except NoSuchRule:
        return
    for rate in ("0.01", "0.5", 1):
        sample = amounts_of(events.PoissonSample(event=event, rate=rate), currency(kind))
        assert all(one <= other * (1 + Fraction(1, 10**12)) for one, other in zip(sample, whole, strict=True))


def test_amounts_that_hold_together_stay_together() -> None:
    """Amplified as a whole the sample has the smaller delta, added up step by step the smaller rho: not both."""
    event = events.Repeat(event=events.Approx(epsilon="0.1", delta="1e-6"), times=10)
    rho, delta = amounts_of(event, currency(ApproxZCDP))
    found, other = amounts_of(events.PoissonSample(event=event, rate="0.9"), currency(ApproxZCDP))
    assert (found > rho and other < delta) or (found, other) == (rho, delta)


@settings(max_examples=20)
@given(tables(("a",), (0, 1), outcomes=3), st.sampled_from([Fraction(1, 10), Fraction(9, 10)]))
def test_a_sample_keeps_every_profile(table: Table, rate: Fraction) -> None:
    """Written out: no H of the sample is above that of the mechanism; the base of what a sample is charged."""
    whole = poisson_sampled(table, rate, table)
    for way in (removals, additions):
        ((p, q),), ((sampled, other),) = way(table), way(whole)
        for alpha in (Fraction(1), Fraction(3, 2), Fraction(4)):
            assert hockey_stick(sampled, other, alpha) <= hockey_stick(p, q, alpha)


def test_bounded_range_is_cheaper_in_zcdp() -> None:
    event = events.Exponential(epsilon=2)
    assert list(amounts_of(event, currency(PureDP))) == [2]
    assert list(amounts_of(event, currency(ZCDP))) == [Fraction(1, 2)]
    assert list(amounts_of(event, currency(ApproxZCDP))) == [Fraction(1, 2), 0]
    assert list(amounts_of(event, currency(RenyiDP))) == [1, 4]


QUARTER = events.GaussianDP(mu="1/4")
TENTH = events.Pure(epsilon="1/10")
FIFTH = events.Pure(epsilon="1/5")


@pytest.mark.parametrize(
    ("event", "counted", "expected"),
    [
        (events.Sequence(events=[TENTH, FIFTH]), currency(PureDP), ["3/10"]),
        (events.Sequence(events=[QUARTER, QUARTER]), currency(GaussianDP), ["1/8"]),
        (
            events.Sequence(events=[TENTH, events.Approx(epsilon=1, delta="1e-6")]),
            currency(ApproxDP),
            ["11/10", "1e-6"],
        ),
        (events.Repeat(event=TENTH, times=10), currency(PureDP), [1]),
        (events.Repeat(event=TENTH, times=0), currency(PureDP), [0]),
        (events.Repeat(event=QUARTER, times=10**12), currency(ZCDP), [10**12 * Fraction(1, 32)]),
        (events.Parallel(events=[TENTH, FIFTH]), currency(PureDP), ["1/5"]),
        (
            events.Parallel(events=[events.Approx(epsilon=1, delta=0), events.Approx(epsilon=0, delta="0.1")]),
            currency(ApproxDP),
            [1, "1/10"],
        ),
        (events.Group(event=QUARTER, size=3), currency(GaussianDP, Neighbors.ADD_REMOVE.times(3)), ["9/16"]),
        (events.Group(event=QUARTER, size=3), currency(GaussianDP), ["9/16"]),
        (events.PoissonSample(event=TENTH, rate=0), currency(ZCDP), [0]),
        (
            events.FixedSizeSample(event=events.Pure(epsilon=1, neighbors=REPLACE), size=0, population=9),
            currency(PureDP, REPLACE),
            [0],
        ),
    ],
)
def test_combinations(event: events.Event, counted: Currency, expected: list[Any]) -> None:
    assert list(amounts_of(event, counted)) == [Fraction(amount) for amount in expected]


def test_samples_are_amplified() -> None:
    sampled = events.PoissonSample(event=events.Approx(epsilon=1, delta="0.1"), rate="0.01")
    derived = rules.poisson_sampling(rules.suppose(ApproxDP(epsilon=1, delta="0.1")), rate="0.01").conclusion
    assert amounts_of(sampled, currency(ApproxDP)) == currency(ApproxDP).price(derived)
    assert amounts_of(sampled, currency(ApproxZCDP)) == currency(ApproxZCDP).price(derived)
    few = events.FixedSizeSample(event=events.Pure(epsilon=1, neighbors=REPLACE), size=1, population=100)
    drawn = rules.sampling_without_replacement(
        rules.suppose(PureDP(epsilon=1, neighbors=REPLACE)), sample=1, population=100
    )
    assert amounts_of(few, currency(ZCDP, REPLACE)) == currency(ZCDP, REPLACE).price(drawn.conclusion)


def test_thousands_of_unrelated_parts_stay_short() -> None:
    parts = [events.Pure(epsilon=Fraction(1, 10**6 + n)) for n in range(2000)]
    (total,) = amounts_of(events.Sequence(events=parts), currency(PureDP))
    assert 0 <= total - sum(part.epsilon for part in parts) < Fraction(2000, GRID)


@pytest.mark.parametrize(
    "event",
    [
        events.Gaussian(noise_multiplier=0),
        events.Laplace(scale=0),
        events.DiscreteGaussian(variance=0),
        events.DiscreteLaplace(scale=0),
        events.PoissonSample(event=events.Gaussian(noise_multiplier=0), rate="0.01"),
        events.Group(event=events.Renyi(bounds={2: 1}), size=2),
    ],
)
@pytest.mark.parametrize("kind", [ZCDP, PureDP, RenyiDP], ids=lambda kind: kind.__name__)
def test_what_has_no_finite_cost_by_sums(event: events.Event, kind: type[Guarantee]) -> None:
    with pytest.raises(NoSuchRule):
        amounts_of(event, currency(kind))


class Unheard(events.Event):
    """A kind that filters were not told about."""

    __module__ = f"{events.__name__}.unheard"  # kinds are of that package
    neighbors = Neighbors.ADD_REMOVE

    def __init__(self) -> None:
        pass


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_an_unknown_event_is_called_so(kind: type[Guarantee]) -> None:
    for event in (Unheard(), events.Repeat(event=Unheard(), times=3)):
        with pytest.raises(NoSuchRule, match=r"Unheard\(\) .* unknown"):
            amounts_of(event, currency(kind))
    with pytest.raises(NoSuchRule, match="Without noise"):
        amounts_of(events.Gaussian(noise_multiplier=0), currency(kind))


def test_neighbours_must_agree() -> None:
    with pytest.raises(MixedNeighbors):
        amounts_of(events.Pure(epsilon=1, neighbors=REPLACE), currency(PureDP))
    with pytest.raises(MixedNeighbors):
        amounts_of(events.Gaussian(noise_multiplier=1, neighbors=REPLACE), currency(ApproxDP))


@pytest.mark.parametrize("kind", [PureDP, ApproxDP, ZCDP, ApproxZCDP, RenyiDP, GaussianDP])
def test_what_is_never_run_costs_nothing(kind: type[Guarantee]) -> None:
    revealing = events.Gaussian(noise_multiplier=0)
    assert set(amounts_of(events.Repeat(event=revealing, times=0), currency(kind))) == {0}
    assert set(amounts_of(events.PoissonSample(event=revealing, rate=0), currency(kind))) == {0}


@pytest.mark.parametrize("kind", [PureDP, ApproxDP, ZCDP, ApproxZCDP, RenyiDP, GaussianDP])
def test_a_delta_of_0_is_pure(kind: type[Guarantee]) -> None:
    approx, pure = events.Approx(epsilon="0.1", delta=0), events.Pure(epsilon="0.1")
    assert amounts_of(approx, currency(kind)) == amounts_of(pure, currency(kind))
