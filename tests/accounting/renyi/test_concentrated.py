"""The rho of events: that it bounds every order, and that it is reached."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from privately.accounting import events
from privately.accounting.filters.currencies import Currency
from privately.accounting.filters.event_costs import amounts_of
from privately.accounting.renyi import rho
from privately.accounting.renyi.curves import curves
from privately.errors import NoSuchRule
from privately.guarantees import ZCDP, Neighbors
from tests.accounting.renyi.exact_moments import PLACES

REPLACE = Neighbors.REPLACE
FINE = [*PLACES, *(Fraction(k, 4) for k in range(1, 80, 6)), Fraction(1, 10**6), Fraction(200), Fraction(10**4)]
EXACT = [
    events.Gaussian(noise_multiplier=3),
    events.GaussianDP(mu=2),
    events.Laplace(scale=1),
    events.Laplace(scale="0.2"),
    events.DiscreteLaplace(scale=1),
    events.DiscreteLaplace(scale=10, sensitivity=7),
    events.DiscreteLaplace(scale="0.5", sensitivity=3),
    events.RandomizedResponse(epsilon=1),
    events.RandomizedResponse(epsilon=1, categories=5),
    events.RandomizedResponse(epsilon=3, categories=19),
    events.Pure(epsilon="0.3"),
    events.ZCDP(rho=2),
]
OTHERS = [
    events.Exponential(epsilon=1),
    events.Exponential(epsilon=20),
    events.RandomizedResponse(epsilon="0.1", categories=1000),
    events.DiscreteGaussian(variance=2, sensitivity=3),
    events.PoissonSample(event=events.Laplace(scale=1), rate="0.1"),
    events.PoissonSample(event=events.Gaussian(noise_multiplier=1), rate="0.1"),
    events.PoissonSample(event=events.ZCDP(rho=1), rate="0.1"),
    events.FixedSizeSample(event=events.Laplace(scale=1, neighbors=REPLACE), size=1, population=10),
    events.Group(event=events.Pure(epsilon="0.3"), size=3),
    events.Group(event=events.RandomizedResponse(epsilon="0.3"), size=3),
    events.Group(event=events.PoissonSample(event=events.Gaussian(noise_multiplier=2), rate="0.1"), size=3),
    events.Parallel(events=[events.Laplace(scale=3), events.Gaussian(noise_multiplier=2)]),
    events.Sequence(events=[events.Laplace(scale=3), events.Gaussian(noise_multiplier=2), events.Laplace(scale=3)]),
    events.Repeat(event=events.Laplace(scale=3), times=10**6),
]


def divergences(event: events.Event) -> list[tuple[Fraction, Fraction]]:
    return [(c, max(Fraction(curve.moments.above(c)) for curve in curves(event))) for c in FINE]


@pytest.mark.parametrize("event", EXACT + OTHERS, ids=str)
def test_rho_bounds_every_order(event: events.Event) -> None:
    found = rho(event)
    assert all(moment <= c * (c + 1) * found * (1 + Fraction(1, 10**9)) for c, moment in divergences(event) if c >= 1)
    assert all(moment <= c * (c + 1) * found * (1 + Fraction(1, 100)) for c, moment in divergences(event))


@pytest.mark.parametrize("event", EXACT, ids=str)
def test_rho_is_reached(event: events.Event) -> None:
    """By orders near 1."""
    c = Fraction(1, 10**6)
    (curve,) = curves(event)
    assert float(curve.moments.above(c) / (c * (c + 1))) == pytest.approx(float(rho(event)), rel=1e-4)


def test_known_values() -> None:
    assert float(rho(events.Laplace(scale=2))) == pytest.approx(0.5 - 1 + math.exp(-0.5))
    assert float(rho(events.Pure(epsilon=1))) == pytest.approx(math.tanh(0.5))
    assert rho(events.Gaussian(noise_multiplier=2)) == Fraction(1, 8)
    assert rho(events.Exponential(epsilon=1)) == Fraction(1, 8)
    assert rho(events.Repeat(event=events.Laplace(scale=2), times=0)) == 0
    assert rho(events.PoissonSample(event=events.Gaussian(noise_multiplier=0), rate=0)) == 0


def test_many_categories_need_more_than_the_divergence_of_order_1() -> None:
    """The twin that takes it all the same is refuted."""
    event = events.RandomizedResponse(epsilon=1, categories=1000)
    false = Fraction(math.expm1(1) / (999 + math.e))
    assert any(moment > c * (c + 1) * false for c, moment in divergences(event))


MANY_CATEGORIES: list[tuple[str | int, int]] = [("0.1", 100), (1, 100), (1, 10**6), (4, 100), ("1e-3", 10)]


def largest_of(epsilon: str | int, categories: int, apart: float) -> float:
    """D/a of the worst of all orders that are so far apart, from this factor on."""
    e, order, largest = float(epsilon), apart, 0.0
    while order * e < 600 and largest < e / order:
        moment = math.fsum([math.exp(order * e), math.exp((1 - order) * e), -math.exp(e), -1])
        moment /= categories - 1 + math.exp(e)
        largest = max(largest, math.log1p(moment) / (order * (order - 1)))
        order *= apart
    return largest


@pytest.mark.parametrize(("epsilon", "categories"), MANY_CATEGORIES)
def test_many_categories_cost_the_largest_of_all_orders(epsilon: str | int, categories: int) -> None:
    """No less than any of some thousand orders needs, and hardly more."""
    found = float(rho(events.RandomizedResponse(epsilon=epsilon, categories=categories)))
    assert largest_of(epsilon, categories, 1.001) * (1 - 1e-9) <= found
    assert found <= largest_of(epsilon, categories, 1.001) * 1.03


def test_orders_between_those_that_are_looked_at_count() -> None:
    """The twin that takes the largest of those alone, or ends where it begins to fall, is refuted."""
    wrong = [largest_of(*one, 1 + 2.0**-6) for one in MANY_CATEGORIES]
    assert any(largest_of(*one, 1.001) > twin * (1 + 1e-7) for one, twin in zip(MANY_CATEGORIES, wrong, strict=True))


@pytest.mark.parametrize("event", EXACT + OTHERS, ids=str)
def test_never_more_than_the_sum_of_statements(event: events.Event) -> None:
    currency = Currency(kind=ZCDP, neighbors=event.neighbors)
    try:
        (simple,) = amounts_of(event, currency)
    except NoSuchRule:
        return
    assert rho(event) <= simple * (1 + Fraction(1, 10**14))


@pytest.mark.parametrize(
    "event",
    [
        events.Approx(epsilon=1, delta="1e-6"),
        events.Renyi(bounds={2: 1}),
        events.Gaussian(noise_multiplier=0),
        events.Laplace(scale=0),
        events.Group(event=events.Approx(epsilon=1, delta="1e-6"), size=2),
        events.PoissonSample(event=events.Approx(epsilon=1, delta="1e-6"), rate="0.1"),
        events.PoissonSample(event=events.Renyi(bounds={2: 1}), rate="0.1"),
    ],
    ids=str,
)
def test_without_a_rho(event: events.Event) -> None:
    with pytest.raises(NoSuchRule):
        rho(event)


def test_tiny_and_huge_noise() -> None:
    assert rho(events.Laplace(scale=10**30)) == Fraction(1, 2 * 10**60)
    assert rho(events.DiscreteLaplace(scale=10**30)) <= Fraction(1, 2 * 10**60)
    assert rho(events.Laplace(scale="1e-9")) <= 10**9
