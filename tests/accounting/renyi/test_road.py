"""The road from an event to an interval."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privately.accounting import contour, events
from privately.accounting.compositions import compositions
from privately.accounting.renyi import (
    METHOD,
    delta,
    delta_at,
    delta_with_order,
    epsilon,
    epsilon_at,
    epsilon_with_order,
    renyi_bounds,
)
from privately.accounting.renyi.curves import curves
from privately.accounting.roads import NotApplicable
from privately.errors import InvalidParameter, NoSuchRule
from privately.guarantees import ZCDP, GaussianDP, Neighbors, PureDP, RenyiDP
from privately.guarantees.curves import bound_to_epsilon
from privately.rounding import Enclosure, End, Interval
from tests.accounting.exact_profiles import additions, hockey_stick, removals
from tests.accounting.renyi.exact_moments import OfPairs
from tests.guarantees.enumeration import Table, poisson_sampled, tables

WIDTH = Fraction(1, 10**6)
SMALL = Fraction(1, 10**5)
DELTAS = [Fraction(1, 10**3), SMALL, Fraction(1, 10**12)]
ONE = events.Gaussian(noise_multiplier=1)
STEP = events.PoissonSample(event=ONE, rate="0.01")
STEPS = events.Repeat(event=STEP, times=10_000)
GRID: list[events.Event] = [
    STEPS,
    events.Repeat(event=STEP, times=100),
    events.Repeat(event=events.PoissonSample(event=events.Gaussian(noise_multiplier=2), rate="0.5"), times=10),
    events.Repeat(event=events.PoissonSample(event=events.Laplace(scale=1), rate="0.05"), times=300),
    events.Repeat(event=events.Laplace(scale=10), times=100),
    events.Sequence(events=[ONE, events.Laplace(scale=1), events.Repeat(event=STEP, times=50)]),
    events.Sequence(events=[events.Approx(epsilon="0.1", delta="1e-15"), events.Repeat(event=STEP, times=50)]),
    events.Repeat(event=events.Gaussian(noise_multiplier=100), times=10**4),
]


def below(event: events.Event, amount: Fraction) -> Fraction:
    """What epsilon is not below, by the contour integral: the larger over the directions."""
    found: list[End] = [Fraction(0)]
    for one in compositions(event):
        rest = (amount - one.infinite) / (1 - one.infinite)
        finite = type(one)(parts=one.parts)
        found.append(contour.epsilon(finite, rest, WIDTH).lower)
    return Fraction(max(found))


@pytest.mark.parametrize("amount", DELTAS, ids=float)
@pytest.mark.parametrize("event", GRID, ids=str)
def test_the_upper_end_is_above_the_truth(event: events.Event, amount: Fraction) -> None:
    found = epsilon(event, amount)
    truth = below(event, amount)
    assert truth <= found.upper <= truth * 2 + Fraction(1, 10)


@pytest.mark.parametrize("order", ["1.01", "1.5", 2, "3.7", 16, "100.25", 5000])
def test_every_order_gives_a_bound(order: str | int) -> None:
    exact = Fraction(order)
    for event in GRID:
        assert epsilon_at(event, exact, SMALL) >= below(event, SMALL)
        at_one = delta_at(event, exact, Fraction(1))
        assert at_one == 1 or epsilon(event, at_one).upper <= 1 + Fraction(1, 10**6)


FALSE: dict[str, Callable[[events.Event, Fraction], End]] = {
    "a direction forgotten": lambda event, amount: _false(event, amount, directions=slice(1, 2)),
    "an order too low": lambda event, amount: _false(event, amount, moved=Fraction(1)),
    "the order for the excess": lambda event, amount: _false(event, amount, divided=Fraction(1)),
    "ln a with the wrong sign": lambda event, amount: _false(event, amount, delta_factor=lambda a: a**2),
    "infinite losses forgotten": lambda event, amount: _false(event, amount, infinite=False),
}
REVEALING = events.Sequence(events=[events.Approx(epsilon="1e-3", delta="9.9999999e-6"), STEPS])


def _false(
    event: events.Event,
    amount: Fraction,
    *,
    directions: slice = slice(0, 2),
    moved: Fraction = Fraction(0),
    divided: Fraction = Fraction(0),
    delta_factor: Callable[[Fraction], Fraction] = lambda _: Fraction(1),
    infinite: bool = True,
) -> End:
    """The road written again, with places for mistakes."""
    found: list[End] = []
    for curve in curves(event)[directions]:
        rest = (amount - curve.infinite) / (1 - curve.infinite) if infinite else amount
        tries = []
        for c in [Fraction(k, 8) for k in range(9, 200)]:
            bound = Fraction(curve.moments.above(c - moved)) / (c + divided)
            tries.append(Fraction(bound_to_epsilon(1 + c, bound, rest * delta_factor(1 + c)).upper))
        found.append(min(tries))
    return max(found)


def test_the_road_written_again_is_right_without_a_mistake() -> None:
    for event in (STEPS, REVEALING):
        again = _false(event, SMALL)
        assert again == pytest.approx(float(epsilon(event, SMALL).upper), rel=1e-3)
        assert again >= below(event, SMALL)


@pytest.mark.parametrize("false", FALSE)
def test_false_roads_are_refuted(false: str) -> None:
    assert any(FALSE[false](event, SMALL) < below(event, SMALL) for event in (STEPS, REVEALING))


def test_the_order_is_a_witness() -> None:
    for event in GRID:
        found = epsilon_with_order(event, SMALL)
        assert found.order is not None
        assert epsilon_at(event, found.order, SMALL) == found.interval.upper
        back = delta_with_order(event, Fraction(2))
        assert back.order is not None
        assert delta_at(event, back.order, Fraction(2)) == back.interval.upper
        assert back.interval.upper <= delta_at(event, Fraction(7), Fraction(2)) * (1 + Fraction(1, 10**6))


def test_it_agrees_with_the_statements() -> None:
    for event, statement in (
        (events.ZCDP(rho="0.1"), ZCDP(rho="0.1")),
        (events.Renyi(bounds={2: 1, 8: 2}), RenyiDP(bounds={2: 1, 8: 2})),
    ):
        for amount in DELTAS:
            expected = float(statement.epsilon(delta=amount).upper)
            assert float(epsilon(event, amount).upper) == pytest.approx(expected, rel=1e-6)
        expected = float(statement.delta(epsilon=1).upper)
        assert float(delta(event, Fraction(1)).upper) == pytest.approx(expected, rel=1e-5)


def test_upper_ends_are_above_exact_curves() -> None:
    for event, statement in (
        (events.GaussianDP(mu="0.7"), GaussianDP(mu="0.7")),
        (events.Pure(epsilon="0.7"), PureDP(epsilon="0.7")),
    ):
        for amount in DELTAS:
            assert epsilon(event, amount).upper >= statement.epsilon(delta=amount).lower
        for level in (Fraction(0), Fraction(1, 2), Fraction(2)):
            assert delta(event, level).upper >= statement.delta(epsilon=level).lower


def test_the_largest_loss_is_a_bound_too() -> None:
    event = events.Repeat(event=events.Pure(epsilon=1), times=3)
    found = epsilon_with_order(event, Fraction(0))
    assert (found.order, found.interval.upper) == (math.inf, 3)
    assert epsilon_with_order(event, Fraction(1, 10**30)).order == math.inf
    assert delta(event, Fraction(3)).upper == 0
    assert delta_with_order(event, Fraction(4)).order == math.inf
    assert epsilon_at(event, math.inf, Fraction(0)) == 3
    assert delta_at(event, math.inf, Fraction(2)) == 1


def test_mass_at_infinite_loss() -> None:
    tenth = Fraction(1, 10)
    event = events.Approx(epsilon=1, delta=tenth)
    assert epsilon(event, tenth / 2).upper == math.inf
    assert epsilon(event, tenth).upper == 1
    assert delta(event, Fraction(1)).upper == tenth
    assert epsilon(event, Fraction(1, 2)).upper < 1
    normal = events.Sequence(events=[event, ONE])
    assert epsilon(normal, tenth).upper == math.inf
    assert epsilon_at(normal, Fraction(2), tenth) == epsilon_at(normal, math.inf, tenth) == math.inf
    assert tenth < delta(normal, Fraction(3)).upper < 1
    inner = (Fraction(1, 2) - tenth) / (1 - tenth)
    without = events.Sequence(events=[events.Pure(epsilon=1), ONE])
    assert epsilon(normal, Fraction(1, 2)).upper == pytest.approx(float(epsilon(without, inner).upper))


def test_no_noise_and_no_limit() -> None:
    bare = events.Gaussian(noise_multiplier=0)
    found = epsilon_with_order(bare, SMALL)
    assert (found.interval.upper, found.order) == (math.inf, None)
    assert delta(bare, Fraction(5)).upper == 1
    assert epsilon(ONE, Fraction(0)).upper == math.inf
    assert epsilon_with_order(bare, Fraction(1)).interval == Interval(0, 0)
    assert epsilon(events.Repeat(event=ONE, times=0), SMALL).upper == 0
    assert delta(events.PoissonSample(event=ONE, rate=0), Fraction(0)).upper == 0
    assert delta(ONE, Fraction(10**1000)).upper < Fraction(1, 10**900)


@pytest.mark.parametrize("times", [1, 10**6, 10**12])
def test_very_many_steps(times: int) -> None:
    found = epsilon(events.Repeat(event=STEP, times=times), SMALL)
    assert 0 < found.upper < math.inf
    wide = events.PoissonSample(event=events.Gaussian(noise_multiplier=10**6), rate="1e-3")
    assert epsilon(events.Repeat(event=wide, times=times), SMALL).upper < Fraction(1, 100)


@pytest.mark.parametrize("amount", [Fraction(1, 10**300), Fraction(1, 10**900)])
def test_very_small_deltas(amount: Fraction) -> None:
    found = epsilon(STEPS, amount).upper
    assert epsilon(STEPS, SMALL).upper < found < math.inf
    assert epsilon(ONE, amount).upper >= GaussianDP(mu=1).epsilon(delta=amount).lower


def test_monotone() -> None:
    """In delta, in the number of steps and in the noise."""
    levels = [epsilon(STEPS, Fraction(1, 10**k)).upper for k in range(2, 12)]
    assert levels == sorted(levels)
    levels = [epsilon(events.Repeat(event=STEP, times=2**k), SMALL).upper for k in range(0, 16, 3)]
    assert levels == sorted(levels)
    levels = [delta(STEPS, Fraction(k)).upper for k in range(8)]
    assert levels == sorted(levels, reverse=True)


def test_lower_ends_come_from_another_road() -> None:
    asked: list[events.Event] = []

    def tight(event: events.Event, amount: Fraction) -> Interval:
        asked.append(event)
        if isinstance(event, events.Laplace):
            raise NotApplicable("not here")
        return Interval(below(event, amount), math.inf, method="told")

    event = events.ZCDP(rho="0.5")
    found = epsilon_with_order(event, SMALL, lower=tight).interval
    assert float(found.lower) == pytest.approx(4.37717809568, rel=1e-6)
    assert found.method.endswith("lower: told")
    assert isinstance(asked[0], events.GaussianDP)
    assert epsilon_with_order(events.Laplace(scale=1), SMALL, lower=tight).interval.lower == 0
    assert epsilon(event, SMALL).lower == 0
    assert epsilon(event, SMALL, WIDTH).method.startswith(METHOD)


def test_a_contradiction_is_not_hidden() -> None:
    with pytest.raises(InvalidParameter):
        epsilon_with_order(ONE, SMALL, lower=lambda event, amount: Interval(100, 100))


def test_renyi_bounds() -> None:
    found = renyi_bounds(STEPS, [2, "2.5"]).parameters["bounds"]
    expected = [
        max(Fraction(curve.moments.above(c)) / c for curve in curves(STEPS)) for c in (Fraction(1), Fraction(3, 2))
    ]
    assert [float(bound) for _, bound in found] == pytest.approx([float(bound) for bound in expected], rel=1e-12)
    assert found[0][1] >= expected[0]
    whole = renyi_bounds(events.Sequence(events=[ONE, events.Pure(epsilon=1)]), [2])
    assert float(whole.parameters["bounds"][0][1]) == pytest.approx(
        1 + math.log((math.e**2 + 1 / math.e) / (1 + math.e))
    )
    replaced = events.Gaussian(noise_multiplier=1, neighbors=Neighbors.REPLACE)
    assert renyi_bounds(replaced, [2]).neighbors == Neighbors.REPLACE


@pytest.mark.parametrize(
    "event",
    [
        events.Approx(epsilon=1, delta="1e-6"),
        events.Gaussian(noise_multiplier=0),
        events.Renyi(bounds={2: 1}),
        events.Gaussian(noise_multiplier="1e-9"),
        events.Group(event=STEP, size=10**6),
    ],
    ids=str,
)
def test_events_without_renyi_bounds(event: events.Event) -> None:
    with pytest.raises(NoSuchRule):
        renyi_bounds(event, [4])


def test_orders_are_checked() -> None:
    with pytest.raises(InvalidParameter):
        renyi_bounds(ONE, [1])
    with pytest.raises(InvalidParameter):
        renyi_bounds(ONE, [])


@settings(max_examples=20)
@given(tables(("a",), (0, 1), outcomes=3), st.sampled_from([Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)]))
def test_one_sample_dominates_enumeration(table: Table, rate: Fraction) -> None:
    bound = Fraction(OfPairs.of([*removals(table), *additions(table)]).above(Fraction(1)))
    base = events.Renyi(bounds=[(2, Enclosure.of(bound + Fraction(1, 10**20)).claim())])
    event = events.PoissonSample(event=base, rate=rate)
    whole = poisson_sampled(table, rate, table)
    pairs = [*removals(whole), *additions(whole)]
    for at in (Fraction(0), Fraction(1, 5), Fraction(1), Fraction(2)):
        alpha = Fraction(Enclosure.of(at).exp().upper)
        assert max(hockey_stick(*pair, alpha) for pair in pairs) <= delta(event, at).upper
    for amount in (Fraction(1, 100), Fraction(1, 10), Fraction(19, 20)):
        upper = epsilon(event, amount).upper
        assert isinstance(upper, Fraction)
        alpha = Fraction(Enclosure.of(upper).exp().upper)
        assert max(hockey_stick(*pair, alpha) for pair in pairs) <= amount


def test_samples_of_statements_are_amplified() -> None:
    """Far below what the divergences on the sample give, and never above the base."""
    for base in (events.ZCDP(rho="0.1"), events.Renyi(bounds={2: "0.1"}), events.Exponential(epsilon=1)):
        for rate in ("1e-6", "0.01", "0.5", "0.999"):
            sample = events.PoissonSample(event=base, rate=rate)
            for amount in DELTAS:
                assert epsilon(sample, amount).upper <= epsilon_with_order(sample, amount).interval.upper
                assert epsilon(sample, amount).upper <= epsilon(base, amount).upper
            assert delta(sample, Fraction(1)).upper <= Fraction(rate) * delta(base, Fraction(1)).upper
    seldom = events.PoissonSample(event=events.ZCDP(rho="0.1"), rate="0.01")
    assert epsilon(seldom, SMALL).upper < epsilon_with_order(seldom, SMALL).interval.upper / 4
    assert epsilon(seldom, Fraction(1, 100)).upper == 0
    alone = events.Repeat(event=events.Sequence(events=[seldom]), times=1)
    assert epsilon(alone, SMALL) == epsilon(seldom, SMALL)


def test_forgetting_that_delta_grows_is_seen() -> None:
    """The base at the same delta, sampled: too little, for a mechanism that reveals a row with probability delta."""
    revealing = events.PoissonSample(event=events.Approx(epsilon=0, delta="0.1"), rate="0.5")
    assert delta(revealing, Fraction(1)).upper >= Fraction(1, 20)
    assert epsilon(revealing, Fraction(1, 25)).upper > 0
